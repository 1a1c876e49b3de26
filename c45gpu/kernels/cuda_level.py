"""What the CUDA engine holds: the training cases for good, and the instances and lists of one level.

cases      |    node 0     |  node 1  |   .   |      instances, node by node; those of finished nodes stay unused
units      |               |          |       |      (only where cases count other than 1)
           ^start[0]       ^start[1]
                           ^stop[0]
entries    | list 0: node 0 | node 1 || list 1: node 0 | node 1 |
           ^list_start[0, 0]          ^list_start[1, 0]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from c45gpu.choose import Facts, Settings
from c45gpu.kernels.cuda_counts import Layout, Weights
from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.cuda_score import Lists
from c45gpu.kernels.cuda_sort import Chunk, Columns
from c45gpu.kernels.level import Bools, Int64s


@dataclass(frozen=True, eq=False)
class Level:
    """The open nodes and their cases. Arrays named with "device" are there, the others on the host.

    Parameters
    ----------
    start, stop : ndarray of int64, shape (m,)
        First instance of each node, and the one after its last.
    class_weights : ndarray of int64, shape (m, C)
        Units of each class at each node.
    cases : device array of int32, shape (instances,)
    units : device array of int64, shape (instances,)
        Of length 0 where every case counts 1.
    list_start, list_stop : ndarray of int64, shape (n_lists, m)
        The entries of each list at each node, within their chunk.
    list_tile : ndarray of int64, shape (n_lists, m)
        The first tile of each list at each node, where its chunk knows the class weights of its tiles.
    chunks : list of Chunk
    layout : Layout
    parent, siblings : ndarray of int64, shape (m,)
        The node of the level before that each is a branch of, and how many branches of that one hold cases.
    is_flawed : ndarray of bool, shape (m,)
        It has a case with an unknown code.
    """

    start: Int64s
    stop: Int64s
    class_weights: Int64s
    cases: Any
    units: Any
    list_start: Int64s
    list_stop: Int64s
    list_tile: Int64s
    chunks: list[Chunk]
    layout: Layout
    parent: Int64s
    siblings: Int64s
    is_flawed: Bools

    @property
    def weight(self) -> Int64s:
        """Units of each node, shape (m,)."""
        weight: Int64s = self.class_weights.sum(1)
        return weight

    def only(self, nodes: Int64s) -> Level:
        """The same with some of the nodes."""
        names = ("start", "stop", "class_weights", "parent", "siblings", "is_flawed")
        of_nodes = {name: getattr(self, name)[nodes] for name in names}
        of_lists = {name: getattr(self, name)[:, nodes] for name in ("list_start", "list_stop", "list_tile")}
        return replace(self, **of_nodes, **of_lists)


@dataclass(frozen=True, eq=False)
class Training:
    """What stays the same on all levels.

    Parameters
    ----------
    settings : Settings
    facts : Facts
        On the device.
    counted : bool
        Every case counts 1 and no value is unknown.
    even : bool
        All cases count the same before they are divided.
    columns : Columns
    classes : device array of uint16, shape (n_cases,)
    h : device array of int64
        H of every weight up to its length.
    n_branches : ndarray of int64, shape (n_used,)
        Of a test on each attribute.
    listed : ndarray of int64
        The attribute of each list.
    continuous : ndarray of bool, shape (n_used,)
    places : device array of int64, shape (3, n_used + 1)
        Of no attribute, then of each, the list and the column of codes, -1 where there is none, and the branches.
    n_codes : int
        Codes of all columns.
    packs : device array of int64
        Columns of codes that are counted together.
    unknown_codes : device array of bool
        Cases with an unknown code; of length 0 where there are none.
    """

    settings: Settings
    facts: Facts
    counted: bool
    even: bool
    columns: Columns
    classes: Any
    h: Any
    n_branches: Int64s
    listed: Int64s
    continuous: Bools
    places: Any
    n_codes: int
    packs: Any
    unknown_codes: Any

    @property
    def n_code_columns(self) -> int:
        """Columns of codes."""
        return int(np.sum(self.columns.code_of >= 0))

    def weights(self, level: Level) -> Weights:
        """What cases count at a level."""
        return Weights(level.units, self.h, self.settings.scale_bits)


def lists_of(device: Device, training: Training, level: Level, chunk: Chunk, near_of: Any = None) -> Lists:
    """A chunk's lists as kernels see them; `near_of` is of use for scoring only."""
    near = device.xp.zeros(1, np.int64) if near_of is None else near_of
    return Lists(chunk.entries, level.layout, level.cases, near, training.columns.near_values)
