"""Several engines that share the attributes of a problem, in one process: each is told the others' branches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from c45gpu.choose import Facts
from c45gpu.data.schema import Schema
from c45gpu.data.table import Floats, Table
from c45gpu.kernels.engine import LocalEngine, PlacedCases
from c45gpu.kernels.level import ELSEWHERE, Candidates, Children, Frontier, Int64s, Problem, Splits
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import Tree, ranges


def with_attributes(problem: Problem, chosen: Int64s) -> Problem:
    """A problem in which the other used attributes are ignored."""
    table, kept = problem.table, {problem.used[k] for k in chosen}
    attributes = [x if a in kept else replace(x, kind="ignored") for a, x in enumerate(table.schema.attributes)]
    columns = [column if a in kept else None for a, column in enumerate(table.columns)]
    part = Table(Schema(tuple(attributes), table.schema.classes), columns, table.classes, table.weights)
    most = max([2, *(len(attribute.values) for attribute in table.schema.attributes)])
    facts = Facts(*(x[chosen] for x in problem.facts))
    return replace(problem, table=part, facts=facts, may_finish=False, other_branches=most)


class SharedAttributes(ReferenceEngine):
    """An engine of engines: attribute k belongs to engine k modulo their number."""

    def __init__(self, makers: list[Callable[[], LocalEngine]]) -> None:
        self._engines = [make() for make in makers]

    def load(self, problem: Problem) -> Frontier:
        self._problem = problem
        n = len(self._engines)
        self._owned = [np.arange(len(problem.used))[w::n] for w in range(n)]
        pairs = zip(self._engines, self._owned, strict=True)
        return same([engine.load(with_attributes(problem, owned)) for engine, owned in pairs])

    def distinct(self, attribute: int) -> Floats:
        return self._engines[attribute % len(self._engines)].distinct(attribute // len(self._engines))

    def score(self, first: int, stop: int) -> Candidates:
        whole = Candidates.none(stop - first, len(self._problem.used))
        for engine, owned in zip(self._engines, self._owned, strict=True):
            part = engine.score(first, stop)
            for name in ("gain", "split", "tries", "possible", "cut"):
                getattr(whole, name)[:, owned] = getattr(part, name)
        return whole

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        return self._engines[attribute % len(self._engines)].tables(attribute // len(self._engines), first, stop)

    def split(self, splits: Splits) -> Children:
        n, k = len(self._engines), len(splits)
        branches: list[np.ndarray] = [np.zeros(0, np.int32)] * k
        below, above = np.full((2, k), -1, np.int64)
        for w, engine in enumerate(self._engines):
            own = np.flatnonzero(splits.attribute % n == w)
            taken = engine.taken(part_of(splits, own, splits.attribute[own] // n))
            start = engine.instances(splits.node[own]).start
            below[own], above[own] = taken.below, taken.above
            for i, s in enumerate(own):
                branches[s] = taken.branch[start[i] : start[i + 1]]
        group_start = np.cumsum([0, *map(len, branches)])
        given = replace(
            splits,
            attribute=np.full(k, ELSEWHERE),
            group_start=group_start,
            group_branch=np.concatenate([np.zeros(0, np.int32), *branches]),
        )
        children = [engine.split(given) for engine in self._engines]
        frontier = same([c.frontier for c in children])
        return Children(frontier, children[0].split, children[0].branch, below, above)

    def place(self, tree: Tree) -> PlacedCases:
        self._engines[0].hold(self._problem)
        return self._engines[0].place(tree)

    def close(self) -> None:
        for engine in self._engines:
            engine.close()


def part_of(splits: Splits, own: Int64s, attribute: Int64s) -> Splits:
    """Some of the splits, by the attributes' numbers among those of an engine."""
    first, stop = splits.group_start[own], splits.group_start[own + 1]
    group_branch = splits.group_branch[ranges(first, stop)]
    return Splits(splits.node[own], attribute, splits.cut[own], np.cumsum([0, *(stop - first)]), group_branch)


def same(frontiers: list[Frontier]) -> Frontier:
    """The frontier that all engines agree about."""
    for frontier in frontiers[1:]:
        np.testing.assert_array_equal(frontier.class_weights, frontiers[0].class_weights)
        np.testing.assert_array_equal(frontier.open, frontiers[0].open)
    return frontiers[0]
