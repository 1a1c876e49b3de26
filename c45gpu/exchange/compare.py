"""Two trees side by side, from the root down, as far as they ask the same.

Attributes, values and classes are matched by name, so the schemas may have them in different orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from c45gpu.data.schema import Schema
from c45gpu.exchange.exported import model_of
from c45gpu.exchange.sklearn import read_sklearn
from c45gpu.model.tree import LEAF, THRESHOLD, Tree
from c45gpu.rules.export import in_words
from c45gpu.rules.paths import conditions_of

Kind = Literal["threshold", "test", "class", "branch"]
_ROOT: Final = "the root"


@dataclass(frozen=True)
class Difference:
    """Where two trees part.

    Parameters
    ----------
    kind : {"threshold", "test", "class", "branch"}
        The same attribute with another threshold (what is below is compared all the same); another test, or a leaf
        against a test; leaves of different classes; a group of values that only one of the trees has a branch for.
    where : str
        The conditions on the path in the first tree, or "the root".
    one, other : str
        What each tree has there; empty where it has nothing.
    """

    kind: Kind
    where: str
    one: str
    other: str


@dataclass(frozen=True)
class Comparison:
    """What two trees have in common.

    Parameters
    ----------
    nodes : (int, int)
        How many nodes each of them has.
    same : int
        Nodes that are in both, at the same place: with the same test, or leaves of the same class.
    reweighted : int
        Leaves among them whose class weights are not the same.
    differences : tuple of Difference
        In the order of the first tree's nodes.
    """

    nodes: tuple[int, int]
    same: int
    reweighted: int
    differences: tuple[Difference, ...]

    @property
    def summary(self) -> str:
        """How many nodes there are, and how many are the same."""
        told = f"nodes: {self.nodes[0]} | {self.nodes[1]}, {self.same} of them the same"
        weights = f"\nleaves of the same class with other weights: {self.reweighted}" if self.reweighted else ""
        return told + weights

    def __str__(self) -> str:
        lines = [self.summary]
        lines += [f"{d.where}: {d.one or 'nothing'} | {d.other or 'nothing'}" for d in self.differences]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The comparison in plain values for JSON.

        Returns
        -------
        dict
            Its attributes by their names, and so within.
        """
        differences = [vars(difference).copy() for difference in self.differences]
        plain = {"nodes": list(self.nodes), "same": self.same, "reweighted": self.reweighted}
        return plain | {"differences": differences}


def compare(one: Any, other: Any, *, unpruned: bool = False) -> Comparison:
    """The difference between two trees, node by node.

    Parameters
    ----------
    one, other : Model, fitted C45Classifier, or fitted DecisionTreeClassifier of scikit-learn
        What is held against each other.
    unpruned : bool
        The trees as grown, not the pruned ones.

    Returns
    -------
    Comparison
        ``str()`` of it is a line for each difference.

    Raises
    ------
    OptionError
        When one of them holds no tree.
    """
    return _Walk(_side(one, unpruned), _side(other, unpruned)).compared()


class _Side(NamedTuple):
    tree: Tree
    schema: Schema


def _side(model: Any, unpruned: bool) -> _Side:
    of_scikit_learn = hasattr(getattr(model, "tree_", None), "children_left")
    kept = read_sklearn(model) if of_scikit_learn else model_of(model)
    return _Side(kept.unpruned if unpruned else kept.pruned, kept.schema)


class _Pair(NamedTuple):
    """Two nodes at the same place, and the first tree's conditions on the way to it."""

    one: int
    other: int
    path: tuple[str, ...]


class _Walk:
    def __init__(self, one: _Side, other: _Side) -> None:
        self._one, self._other = one, other
        self._same = self._reweighted = 0
        self._differences: list[Difference] = []
        self._pending = [_Pair(0, 0, ())]

    def compared(self) -> Comparison:
        while self._pending:
            pair = self._pending.pop()
            leaves = [side.tree.kind[node] == LEAF for side, node in self._both(pair)]
            if all(leaves):
                self._leaves(pair)
            elif any(leaves) or self._asked(self._one, pair.one) != self._asked(self._other, pair.other):
                self._tell("test", pair)
            else:
                self._tests(pair)
        nodes = self._one.tree.n_nodes, self._other.tree.n_nodes
        return Comparison(nodes, self._same, self._reweighted, tuple(self._differences))

    def _both(self, pair: _Pair) -> Iterator[tuple[_Side, int]]:
        return zip((self._one, self._other), (pair.one, pair.other), strict=True)

    def _asked(self, side: _Side, node: int) -> tuple[str, bool]:
        """The attribute that a node tests, and whether by a threshold."""
        return side.schema.attributes[side.tree.attribute[node]].name, bool(side.tree.kind[node] == THRESHOLD)

    def _leaves(self, pair: _Pair) -> None:
        labels = [side.schema.classes[side.tree.label[node]] for side, node in self._both(pair)]
        if labels[0] != labels[1]:
            self._tell("class", pair)
            return
        self._same += 1
        weights = [
            {name: w for name, w in zip(side.schema.classes, side.tree.class_weights[node].tolist(), strict=True) if w}
            for side, node in self._both(pair)
        ]
        self._reweighted += weights[0] != weights[1]

    def _tests(self, pair: _Pair) -> None:
        """Nodes that ask for the same attribute in the same way."""
        one, other = (_branches(side, node) for side, node in self._both(pair))
        words = dict(zip(one, _conditions(self._one, pair.one), strict=True))
        if self._one.tree.kind[pair.one] == THRESHOLD:
            if self._one.tree.threshold[pair.one] != self._other.tree.threshold[pair.other]:
                self._tell("threshold", pair)
            else:
                self._same += 1
        elif one.keys() & other.keys():
            self._same += one.keys() == other.keys()
            self._tell_groups(pair, one, other)
        else:
            self._tell("test", pair)
        common = [key for key in one if key in other]
        self._pending += [_Pair(one[key], other[key], (*pair.path, words[key])) for key in reversed(common)]

    def _tell_groups(self, pair: _Pair, one: dict[Any, int], other: dict[Any, int]) -> None:
        """Groups of values that only one of two nodes has a branch for."""
        for mine, yours, side, node in ((one, other, self._one, pair.one), (other, one, self._other, pair.other)):
            words = _conditions(side, node)
            for key, condition in zip(mine, words, strict=True):
                if key not in yours:
                    said = (condition, "") if mine is one else ("", condition)
                    self._differences.append(Difference("branch", _where(pair), *said))

    def _tell(self, kind: Kind, pair: _Pair) -> None:
        said = [_said(side, node) for side, node in self._both(pair)]
        self._differences.append(Difference(kind, _where(pair), *said))


def _where(pair: _Pair) -> str:
    return ", ".join(pair.path) or _ROOT


def _branches(side: _Side, node: int) -> dict[Any, int]:
    """The branches of a node by what they are for: a side of the threshold, or a set of values."""
    tree, children = side.tree, side.tree.branches(node).tolist()
    if tree.kind[node] == THRESHOLD:
        return dict(enumerate(children))
    values, mapped = side.schema.attributes[tree.attribute[node]].values, tree.value_map(node)
    groups = (frozenset(values[code] for code in np.flatnonzero(mapped == b).tolist()) for b in range(len(children)))
    return {group or b: child for b, (group, child) in enumerate(zip(groups, children, strict=True))}


def _conditions(side: _Side, node: int) -> list[str]:
    attribute = side.schema.attributes[side.tree.attribute[node]]
    return [in_words(condition, attribute) for condition in conditions_of(side.tree, node)]


def _said(side: _Side, node: int) -> str:
    """A leaf with its class, or a test with the size of what is below it."""
    tree = side.tree
    if tree.kind[node] == LEAF:
        return f"{side.schema.classes[tree.label[node]]} ({tree.weight[node]:g})"
    attribute = side.schema.attributes[tree.attribute[node]].name
    below = f"{tree.end[node] - node} nodes"
    if tree.kind[node] == THRESHOLD:
        return f"{attribute} <= {float(tree.threshold[node])!r} ({below})"
    return f"{attribute} by {len(tree.branches(node))} branches ({below})"
