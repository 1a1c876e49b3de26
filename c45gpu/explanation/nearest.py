"""What would have to be different for a case to be given another class."""

from __future__ import annotations

import math
from typing import NamedTuple

from c45gpu.data.schema import Attribute
from c45gpu.explanation.asked import Asked
from c45gpu.explanation.told import Change
from c45gpu.model.tree import LEAF
from c45gpu.rules.paths import conditions_of


def nearest_change(asked: Asked, case: int, leaf: int, label: int) -> Change | None:
    """The way to the nearest leaf of another class."""
    for node, branch, _ in reversed(asked.path(leaf)):
        for other in _others(asked, case, node, branch, label):
            conditions = _merged(asked, case, other)
            if conditions is not None:
                return Change(asked.schema.classes[asked.labels[other]], conditions)
    return None


def _others(asked: Asked, case: int, top: int, avoided: int, label: int) -> list[int]:
    """Leaves of other classes below a node's other branches; first those for which the fewest values must change."""
    tree, found = asked.tree, []
    pending: list[tuple[int, frozenset[int]]] = [(top, frozenset())]
    while pending:
        node, unmet = pending.pop()
        if tree.kind[node] == LEAF:
            if tree.weight[node] > 0 and asked.labels[node] != label:
                found.append((len(unmet), node))
            continue
        for branch, condition in enumerate(conditions_of(tree, node)):
            if node == top and branch == avoided:
                continue
            lacking = unmet if asked.holds(case, condition) else unmet | {condition.attribute}
            pending.append((int(tree.branches(node)[branch]), lacking))
    return [node for _, node in sorted(found)]


class _Wanted(NamedTuple):
    """What a path wants of an attribute: above the one, up to the other, or one of some values."""

    above: float = -math.inf
    below: float = math.inf
    values: frozenset[int] | None = None


def _merged(asked: Asked, case: int, leaf: int) -> tuple[str, ...] | None:
    """What would have to hold for a case to reach a leaf, an attribute at a time; None if nothing can."""
    wanted: dict[int, _Wanted] = {}
    unmet: dict[int, None] = {}
    for _, _, condition in asked.path(leaf):
        a, so_far = condition.attribute, wanted.get(condition.attribute, _Wanted())
        if not asked.holds(case, condition):
            unmet[a] = None
        if condition.threshold is None:
            values = frozenset(condition.values)
            wanted[a] = so_far._replace(values=values if so_far.values is None else values & so_far.values)
        elif condition.sign == "<=":
            wanted[a] = so_far._replace(below=min(so_far.below, condition.threshold))
        else:
            wanted[a] = so_far._replace(above=max(so_far.above, condition.threshold))
    if any(want.above >= want.below or (want.values is not None and not want.values) for want in wanted.values()):
        return None
    return tuple(_in_words(asked, case, a, wanted[a]) for a in unmet)


def _in_words(asked: Asked, case: int, attribute: int, wanted: _Wanted) -> str:
    of, value = asked.schema.attributes[attribute], asked.value(case, attribute)
    return f"{_range(of, wanted)} (it is {'unknown' if value is None else value})"


def _range(attribute: Attribute, wanted: _Wanted) -> str:
    if wanted.values is not None:
        values = [attribute.values[code] for code in sorted(wanted.values)]
        return f"{attribute.name} = {values[0]}" if len(values) == 1 else f"{attribute.name} in {{{', '.join(values)}}}"
    if math.isinf(wanted.above):
        return f"{attribute.name} <= {wanted.below!r}"
    low = f"{attribute.name} > {wanted.above!r}"
    return low if math.isinf(wanted.below) else f"{low} and <= {wanted.below!r}"
