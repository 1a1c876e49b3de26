"""What stands in a node and at a branch of a picture, in lines that are short enough."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.data.values import listed
from c45gpu.errors import DataError, OptionError
from c45gpu.exchange.encoded import table_of
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.store import Model
from c45gpu.model.tree import LEAF, THRESHOLD, Tree
from c45gpu.show.text import amount

LONGEST_LINE: Final = 32  # characters
MOST_LINES: Final = 3  # of a branch for many values
DOTS: Final = "…"
Saying = Callable[[str], str]
STUB: Final = f"({DOTS})"


class Drawn(NamedTuple):
    """A tree to be drawn, with the names it needs."""

    tree: Tree
    schema: Schema
    soft: SoftThresholds | None = None


def model_in(model: Any) -> Model:
    """The model in a fitted classifier, or in rules that were fitted; a model itself.

    Raises
    ------
    OptionError
        When there is none.
    """
    kept = getattr(model, "model_", model)
    if not isinstance(kept, Model):
        kind = type(model).__name__
        raise OptionError(f"{kind} holds no tree: give a fitted C45Classifier or C45Rules, or what c45gpu.load gave")
    return kept


def drawn(model: Model, unpruned: bool) -> Drawn:
    """One of the trees of a model."""
    return Drawn(model.unpruned, model.schema) if unpruned else Drawn(model.pruned, model.schema, model.soft)


def training_cases(model: Model, X: Any, y: Any = None, weights: Any = None) -> Table:
    """Cases with their classes; a Table has both.

    Raises
    ------
    DataError
        When they do not fit the model, or have classes that it does not know.
    """
    table = table_of(model, X)
    if y is None:
        return table
    number = model.schema.class_number
    names = [str(name) for name in np.asarray(y).tolist()]
    strange = next((name for name in names if name not in number), None)
    if strange is not None:
        raise DataError(f"{strange!r} is not one of the classes ({listed(list(model.schema.classes))})")
    if len(names) != table.n_cases:
        raise DataError(f"{len(names)} classes for {table.n_cases} cases: give as many")
    given = None if weights is None else np.asarray(weights, np.float64)
    return replace(table, classes=np.array([number[name] for name in names], np.int32), weights=given)


def short(name: str, longest: int = LONGEST_LINE) -> str:
    """A name in one line: what cannot be printed is a blank, and a long one ends in dots."""
    line = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    if not line:
        return "''"
    return line if len(line) <= longest else line[: longest - 1] + DOTS


def node_lines(drawn: Drawn, node: int, below: int = 0, say: Saying = short) -> list[str]:
    """The lines in a node: what it tests or says, and how many cases it has.

    `below` is how many nodes below it are left out of the picture, `say` how a name is written.
    """
    tree, schema = drawn.tree, drawn.schema
    weight, label = float(tree.weight[node]), int(tree.label[node])
    if tree.kind[node] != LEAF:
        test = say(schema.attributes[tree.attribute[node]].name)
        return [STUB, f"{_cases(weight)}, {below} nodes"] if below else [test, _cases(weight)]
    if weight <= 0:
        return [say(schema.classes[label]), "no case"]
    wrong = round(weight - float(tree.class_weights[node, label]), 1)
    return [say(schema.classes[label]), _cases(weight) + (f", {amount(wrong)} wrong" if wrong > 0 else "")]


def branch_labels(drawn: Drawn, node: int) -> list[str]:
    """What each branch of an inner node is for, in up to :data:`MOST_LINES` lines."""
    if drawn.tree.kind[node] == THRESHOLD:
        return list(threshold_labels(drawn, node))
    return [_group([short(value) for value in values]) for values in branch_values(drawn, node)]


def threshold_labels(drawn: Drawn, node: int) -> tuple[str, str]:
    """The two sides of a threshold, with its bounds where it is soft."""
    threshold = f"{drawn.tree.threshold[node]:g}"
    if drawn.soft is not None and drawn.soft.lower[node] != drawn.soft.upper[node]:
        threshold += f" [{drawn.soft.lower[node]:g}, {drawn.soft.upper[node]:g}]"
    return f"≤ {threshold}", f"> {threshold}"


def branch_values(drawn: Drawn, node: int) -> list[list[str]]:
    """The values of a discrete attribute that each branch of a node is for."""
    values, mapped = drawn.schema.attributes[drawn.tree.attribute[node]].values, drawn.tree.value_map(node)
    branches = range(len(drawn.tree.branches(node)))
    return [[values[code] for code in np.flatnonzero(mapped == b).tolist()] for b in branches]


def _cases(weight: float) -> str:
    return f"{amount(round(weight, 1))} case{'' if weight == 1 else 's'}"


def _group(values: list[str]) -> str:
    if not values:
        return "no value"
    lines = textwrap.wrap(", ".join(values), LONGEST_LINE, break_long_words=False, break_on_hyphens=False)
    if len(lines) <= MOST_LINES:
        return "\n".join(lines)
    kept = lines[: MOST_LINES - 1]
    told = sum(line.count(",") for line in kept)
    return "\n".join([*kept, f"{DOTS} {len(values)} values"]) if told else "\n".join([*kept, DOTS])
