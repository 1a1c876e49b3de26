"""Tests on groups of values, for all open nodes: an engine tells class weights by value, the groups are found here.

What :mod:`c45gpu.grouping` finds takes the place of the engine's candidates of attributes with more than two values;
which value goes to which branch is kept until the nodes' tests are chosen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.errors import DataError
from c45gpu.grouping import GROUPS, NO_GROUPS, group_nodes
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Candidates, Int32s, Int64s, Problem
from c45gpu.partition import Room

CELLS_AT_A_TIME = 1 << 22  # of tables: 32 MB
LITTLE_WORK = 1 << 17  # nodes times values^2 times values and classes: done before compiled code is loaded
MOST_VALUES = 4096  # of an attribute: all pairs of groups take 256 MB, and the time grows with the third power
MAP_BYTES = 4  # of a value of a node


class Groups:
    """The groups that the host has found for some open nodes.

    Parameters
    ----------
    engine : Engine
    problem : Problem

    Raises
    ------
    DataError
        When an attribute has more than :data:`MOST_VALUES` values to be grouped.
    """

    def __init__(self, engine: Engine, problem: Problem) -> None:
        self._engine, self._problem = engine, problem
        used = [problem.table.schema.attributes[a] for a in problem.used]
        asked = problem.grouping != NO_GROUPS
        self._n_values = {a: len(x.values) for a, x in enumerate(used) if asked and len(x.values) > 2}
        for a, n_values in self._n_values.items():
            if n_values > MOST_VALUES and problem.grouping == GROUPS:
                raise DataError(
                    f"attribute {used[a].name!r} has {n_values} values, and grouping compares all pairs of up to "
                    f"{MOST_VALUES}: ignore it, or take binary_splits instead of group_values"
                )
        self._branches: dict[int, Int32s] = {}

    @property
    def bytes_of_a_node(self) -> int:
        """Memory for what is kept of a node."""
        return MAP_BYTES * sum(self._n_values.values())

    def put_in(self, candidates: Candidates, first: int, weight: Int64s) -> Candidates:
        """The candidates of open nodes from `first` on, given their weights, with the tests on groups of values."""
        if not self._n_values:
            return candidates
        gain, split, possible = candidates.gain.copy(), candidates.split.copy(), candidates.possible.copy()
        for a, n_values in self._n_values.items():
            self._branches[a] = np.empty((len(weight), n_values), np.int32)
            step = max(1, CELLS_AT_A_TIME // (n_values * self._problem.settings.n_classes))
            for start in range(0, len(weight), step):
                here = slice(start, min(start + step, len(weight)))
                tables = self._engine.tables(a, first + here.start, first + here.stop)
                found = gain[here, a], split[here, a], possible[here, a], self._branches[a][here]
                self._group(tables, weight[here], int(self._problem.facts.zero_bound[a]), found)
        return replace(candidates, gain=gain, split=split, possible=possible)

    def branches(self, node: Int64s, attribute: Int64s) -> list[Int32s]:
        """Of chosen tests the branch of each value, empty where values are not grouped; nodes counted from `first`."""
        none = np.zeros(0, np.int32)
        pairs = zip(node.tolist(), attribute.tolist(), strict=True)
        return [self._branches[a][m] if a in self._n_values else none for m, a in pairs]

    def _group(self, tables: Int64s, weight: Int64s, zero_bound: int, found: tuple[npt.NDArray[Any], ...]) -> None:
        problem = self._problem
        n_nodes, n_values, n_classes = tables.shape
        room = room_for(n_classes, n_values if problem.grouping == GROUPS else 0)
        if n_nodes * n_values**2 * (n_values + n_classes) <= LITTLE_WORK:
            room = Room(*(x.tolist() for x in room))
            group_nodes(tables.tolist(), weight.tolist(), zero_bound, problem.grouping, problem.settings, room, found)
            return
        from c45gpu.kernels.cpu_groups import group_nodes_compiled

        group_nodes_compiled(tables, weight, zero_bound, problem.grouping, problem.settings, room, found)


def room_for(n_classes: int, n_groups: int) -> Room:
    """Memory for an attribute; by one value against all others no groups are made."""
    by_value, by_class = (n_groups,), (n_classes,)
    by_pair, by_both = (n_groups, n_groups), (n_groups, n_classes)
    shapes = (by_class, by_both, by_value, by_value, by_value, by_pair, by_pair, by_class)
    return Room(*(np.zeros(shape, np.int64) for shape in shapes))


def ragged(branches: list[Int32s]) -> tuple[Int64s, Int32s]:
    """The arrays `group_start` and `group_branch` of :class:`c45gpu.kernels.level.Splits`."""
    start = np.cumsum([0, *map(len, branches)], dtype=np.int64)
    return start, np.concatenate([np.zeros(0, np.int32), *branches])
