"""A tree as an SQL expression: a CASE with a line for each leaf."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from c45gpu.data.schema import Attribute
from c45gpu.data.values import listed, shown
from c45gpu.errors import OptionError
from c45gpu.exchange.exported import Exported, Unknown, exported, most_common_branches, require_unknown
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.tree import LEAF, THRESHOLD
from c45gpu.rules.export import sql_name, sql_number, sql_text


@dataclass(frozen=True)
class _Admitted:
    """The values of an attribute that a path lets through.

    Parameters
    ----------
    unknown : bool
        Whether unknown ones are, and values that the tree has no branch for.
    above, below : float or None
        Continuous: above the one, and not above the other; None for no bound.
    values : frozenset of int or None
        Discrete: codes.
    """

    unknown: bool = True
    above: float | None = None
    below: float | None = None
    values: frozenset[int] = field(default_factory=frozenset)


_Path = dict[int, _Admitted]


def to_sql(
    model: Any, *, unknown: Unknown = "refuse", probability_of: str | None = None, unpruned: bool = False
) -> str:
    """A CASE expression over columns that have the attributes' names; NULL is unknown.

    SQL has no fractions of a case, so it cannot say what C4.5 does with a case whose value is unknown, or one that
    the tree has no branch for; `unknown` chooses what is done instead.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        Whose tree is written.
    unknown : {"refuse", "most_common"}
        Where a value is unknown that the tree asks for, "refuse" gives NULL, "most_common" goes on in the branch that
        most of the training cases took.
    probability_of : str, optional
        The class whose probability the expression is; without it, it is the name of the class.
    unpruned : bool
        The tree as grown, not the pruned one.

    Returns
    -------
    str
        A line for each leaf, with all conditions on its path, those on one attribute merged.

    Raises
    ------
    OptionError
        When there is no such class, or no tree in the model.
    DataError
        When a threshold is infinite, which SQL cannot say.
    """
    require_unknown(unknown)
    what = exported(model, unpruned=unpruned)
    results = _results(what, probability_of)
    lines = []
    for node, path in _leaves(what, unknown == "most_common"):
        conditions = [_in_sql(what, a, path[a]) for a in sorted(path)]
        said = " AND ".join(condition for condition in conditions if condition)
        lines.append(f"  WHEN {said or '1 = 1'} THEN {results[node]}")
    return "\n".join(["CASE", *lines, "END"]) if lines else "NULL"


def _results(what: Exported, probability_of: str | None) -> list[str]:
    """What each node's cases get."""
    probabilities = leaf_probabilities(what.tree)
    classes = what.schema.classes
    if probability_of is None:
        return [sql_text(classes[c]) for c in what.classes_of(probabilities)]
    if probability_of not in classes:
        raise OptionError(f"there is no class {shown(probability_of)}: the classes are {listed(classes)}")
    return [repr(p) for p in probabilities[:, classes.index(probability_of)].tolist()]


def _leaves(what: Exported, most_common: bool) -> list[tuple[int, _Path]]:
    """Leaves in order, each with what its path admits."""
    tree, heaviest = what.tree, most_common_branches(what.tree)
    found: list[tuple[int, _Path]] = []
    pending: list[tuple[int, _Path]] = [(0, {})]
    while pending:
        node, path = pending.pop()
        if tree.kind[node] == LEAF:
            found.append((node, path))
            continue
        attribute, children = int(tree.attribute[node]), tree.branches(node).tolist()
        taken = _values_taken(what, node, heaviest[node] if most_common else -1)
        for branch in reversed(range(len(children))):
            takes_unknown = most_common and branch == heaviest[node]
            narrowed = _narrowed(what, path.get(attribute), node, branch, taken[branch])
            admitted = replace(narrowed, unknown=narrowed.unknown and takes_unknown)
            pending.append((children[branch], path | {attribute: admitted}))
    return [(node, path) for node, path in found if not any(_none(what, a, path[a]) for a in path)]


def _values_taken(what: Exported, node: int, others: int) -> list[frozenset[int]]:
    """The codes that take each branch; `others` is the branch of those that have none, -1 for none."""
    tree = what.tree
    taken: list[set[int]] = [set() for _ in tree.branches(node)]
    mapped = tree.value_map(node).tolist()
    for code in range(len(what.schema.attributes[tree.attribute[node]].values)):
        branch = mapped[code] if code < len(mapped) and mapped[code] >= 0 else others
        if branch >= 0:
            taken[branch].add(code)
    return [frozenset(codes) for codes in taken]


def _narrowed(what: Exported, so_far: _Admitted | None, node: int, branch: int, taken: frozenset[int]) -> _Admitted:
    """What is admitted after one more test."""
    if so_far is None:
        so_far = _Admitted(values=taken)
    if what.tree.kind[node] != THRESHOLD:
        return replace(so_far, values=so_far.values & taken)
    cut = float(what.tree.threshold[node])
    if branch == 0:
        return replace(so_far, below=cut if so_far.below is None else min(cut, so_far.below))
    return replace(so_far, above=cut if so_far.above is None else max(cut, so_far.above))


def _none(what: Exported, attribute: int, admitted: _Admitted) -> bool:
    """Whether no value is admitted at all, known or unknown."""
    if admitted.unknown:
        return False
    if what.schema.attributes[attribute].kind == "discrete":
        return not admitted.values
    return admitted.above is not None and admitted.below is not None and admitted.above >= admitted.below


def _in_sql(what: Exported, attribute: int, admitted: _Admitted) -> str:
    """A condition; empty where everything is admitted."""
    of = what.schema.attributes[attribute]
    return _discrete(of, admitted) if of.kind == "discrete" else _continuous(of, admitted, what.unknown)


def _discrete(attribute: Attribute, admitted: _Admitted) -> str:
    name = sql_name(attribute.name)
    if not admitted.unknown:
        return f"{name} {_one_of(attribute, admitted.values)}"
    others = frozenset(range(len(attribute.values))) - admitted.values
    return f"({name} IS NULL OR NOT {name} {_one_of(attribute, others)})" if others else ""


def _one_of(attribute: Attribute, codes: frozenset[int]) -> str:
    values = [sql_text(attribute.values[code]) for code in sorted(codes)]
    return f"= {values[0]}" if len(values) == 1 else f"IN ({', '.join(values)})"


def _continuous(attribute: Attribute, admitted: _Admitted, unknown: tuple[float, float] | None) -> str:
    name = sql_name(attribute.name)
    bounds = [] if admitted.above is None else [f"{name} > {sql_number(admitted.above, attribute.name)}"]
    bounds += [] if admitted.below is None else [f"{name} <= {sql_number(admitted.below, attribute.name)}"]
    inside = " AND ".join(bounds)
    range_of_unknown = "" if unknown is None else f"{name} BETWEEN {unknown[0]!r} AND {unknown[1]!r}"
    if not admitted.unknown:
        return f"{inside} AND NOT {range_of_unknown}" if unknown else inside
    return f"({' OR '.join(filter(None, [f'{name} IS NULL', range_of_unknown, inside]))})"
