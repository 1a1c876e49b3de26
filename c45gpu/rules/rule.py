"""A rule, and an ordered list of rules with a default class.

Glossary: a *condition* compares one attribute with a threshold or with values; a *rule* is conditions and a class; a
rule *fires* for a case if all of its conditions hold. An unknown value satisfies no condition.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute, Schema

if TYPE_CHECKING:
    from os import PathLike

    from c45gpu.data.table import Table

Sign = Literal["<=", ">", "=", "in"]


@dataclass(frozen=True)
class Condition:
    """One comparison.

    Parameters
    ----------
    attribute : int
        A number of the schema.
    sign : {"<=", ">", "=", "in"}
        The first two compare with `threshold`, "=" with the only one of `values`, "in" with all of them.
    threshold : float, optional
        None for a discrete attribute.
    values : tuple of int
        Codes of a discrete attribute.
    """

    attribute: int
    sign: Sign
    threshold: float | None = None
    values: tuple[int, ...] = ()

    def text(self, attribute: Attribute) -> str:
        """The condition in words, thresholds with six digits: ``humidity <= 75``, ``outlook in {sunny, rain}``.

        Parameters
        ----------
        attribute : Attribute
            The one that the condition is about.

        Returns
        -------
        str
            As it is printed.
        """
        if self.threshold is not None:
            return f"{attribute.name} {self.sign} {self.threshold:g}"
        names = [attribute.values[code] for code in self.values]
        return f"{attribute.name} = {names[0]}" if len(names) == 1 else f"{attribute.name} in {{{', '.join(names)}}}"


@dataclass(frozen=True)
class Rule:
    """If all conditions hold, it is this class.

    Parameters
    ----------
    number : int
        What the rule is called: its place among the candidates, from 1.
    conditions : tuple of Condition
        In the order in which they are printed.
    label : int
        The class, a number of the schema.
    error : float
        The pessimistic error rate on the training cases, between 0 and 1.
    covered : float
        Weight of the training cases that satisfy all conditions, in cases.
    wrong : float
        Weight of those that are of another class.
    """

    number: int
    conditions: tuple[Condition, ...]
    label: int
    error: float
    covered: float
    wrong: float

    @property
    def confidence(self) -> float:
        """One less the error."""
        return 1.0 - self.error


@dataclass(frozen=True)
class RuleSet:
    """Rules in the order in which they are tried, and what holds where none fires.

    Parameters
    ----------
    schema : Schema
        What attributes, values and classes are called.
    rules : tuple of Rule
        The rules in this order.
    default : int
        The class of cases for which no rule fires.
    class_weights : tuple of float
        Weight of the training cases of each class, in cases.
    uncovered : tuple of float
        Weight of those for which no rule fires.
    options : dict
        The options of the learner and of the rules, plain values.
    record : dict
        Facts about the making, plain values.
    """

    schema: Schema
    rules: tuple[Rule, ...]
    default: int
    class_weights: tuple[float, ...]
    uncovered: tuple[float, ...]
    options: dict[str, Any] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)

    def fired(self, table: Table) -> npt.NDArray[np.int32]:
        """The rule that fires first for each case.

        Parameters
        ----------
        table : Table
            Its attributes are those of the schema, its codes too; other codes are no value that a rule asks for.

        Returns
        -------
        ndarray of int32, shape (n_cases,)
            Positions in `rules`; -1 where none fires.
        """
        from c45gpu.rules.use import first_rules

        return first_rules(self, table)

    def predict(self, table: Table) -> npt.NDArray[np.int32]:
        """The class of each case: that of the first rule that fires, else the default.

        Parameters
        ----------
        table : Table
            As for :meth:`fired`.

        Returns
        -------
        ndarray of int32, shape (n_cases,)
            Class numbers.
        """
        labels = np.array([*(rule.label for rule in self.rules), self.default], np.int32)
        return labels[self.fired(table)]

    def predict_proba(self, table: Table) -> npt.NDArray[np.float64]:
        """How likely each class is for each case; see :func:`c45gpu.rules.use.probabilities`.

        Parameters
        ----------
        table : Table
            As for :meth:`fired`.

        Returns
        -------
        ndarray of float64, shape (n_cases, n_classes)
            Rows sum to 1 but for rounding.
        """
        from c45gpu.rules.use import probabilities

        return probabilities(self)[self.fired(table)]

    def save(self, path: str | PathLike[str]) -> None:
        """Write a rule file; see :func:`c45gpu.rules.store.save_rules`.

        Parameters
        ----------
        path : str or os.PathLike
            Where; what is there is replaced.
        """
        from c45gpu.rules.store import save_rules

        save_rules(self, path)

    def to_text(self) -> str:
        """The rules as plain sentences; see :func:`c45gpu.rules.export.to_text`.

        Returns
        -------
        str
            A rule a line.
        """
        from c45gpu.rules.export import to_text

        return to_text(self)

    def to_sql(self) -> str:
        """The rules as an SQL expression; see :func:`c45gpu.rules.export.to_sql`.

        Returns
        -------
        str
            A CASE expression.
        """
        from c45gpu.rules.export import to_sql

        return to_sql(self)

    def to_python(self, name: str = "classify") -> str:
        """The rules as the source of a function; see :func:`c45gpu.rules.export.to_python`.

        Parameters
        ----------
        name : str
            What the function is called.

        Returns
        -------
        str
            Source that imports nothing.
        """
        from c45gpu.rules.export import to_python

        return to_python(self, name)

    def __str__(self) -> str:
        from c45gpu.rules.text import rules_text

        return rules_text(self.schema, self.rules, self.default)
