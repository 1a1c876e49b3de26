"""How small nodes are finished: which, how many of them together, on how many blocks, in how much device memory."""

from __future__ import annotations

from typing import NamedTuple

from c45gpu.kernels.cuda_counts import scan_cells
from c45gpu.kernels.cuda_device import Layout
from c45gpu.kernels.cuda_finish_divided import MOST_DEPTH, shared_cells
from c45gpu.kernels.cuda_finish_move import STATE_BITS, Records
from c45gpu.kernels.cuda_score import Found

THREADS = 64  # of a block at most: a record has few lists, and small blocks leave room for more of them
FEWEST_THREADS = 32  # with fewer, since the class weights of more have no room, a level is quicker
SHARED_CELLS = 4096  # counters (int64) in shared memory of a block: 32 of the 48 KB that any block may have
ROOM_CELLS = 512  # candidates that a block has room for, if a record does not need more
MOST_BLOCKS = 2048  # about as many as a large card runs at once
NUMBERS = len(Records._fields) - 1  # of a record, beside its class weights
PLACE_BYTES = 4 + 8 + 4 + 8 + 4 * 8  # case, node, mark, units, and numbers of rows while those are gathered
HEIR_BYTES = 2 * (4 + 4 + 8 + 4 + 4)  # case, mark, units, record and next instance, of a place in each buffer
ROW_BYTES = 2 * (4 + 8)  # branches and fraction, of the rows for a case
# Places of each buffer for a case of a node with unknown values. A test with nine branches makes 3.4 instances of each
# where three values in ten are unknown.
ROOM = 4


class Plan(NamedTuple):
    """How the small nodes of a problem are finished.

    Attributes
    ----------
    room : int
        Places of a case in each of two buffers; 1 where cases are whole.
    most_cases : int
        Of a node that is finished; 0 for none.
    together : int
        Cases of the nodes that are finished together, at most.
    blocks, threads : int
    group : int
        Records that a block works on at once.
    case_bytes, block_bytes : int
        Device memory for a case of the nodes that are finished together, and for a block.
    """

    room: int
    most_cases: int
    together: int
    blocks: int
    threads: int
    group: int
    case_bytes: int
    block_bytes: int

    def places(self, n_cases: int) -> int:
        """How many places have an instance; whole cases keep theirs in both buffers."""
        return 2 * self.room * n_cases if self.room > 1 else n_cases

    def shared_cells(self, n_classes: int) -> int:
        """Counters in shared memory of a block: class weights of each thread, once or twice, and what waits."""
        if self.room > 1:
            return shared_cells(n_classes, self.threads)
        return scan_cells(1, self.threads) + 1 + n_classes * self.threads

    def bytes_for(self, n_cases: int) -> int:
        """Device memory that is needed at a time, at most, for a table of so many cases."""
        if not self.most_cases:
            return 0
        nodes = 1 if n_cases <= self.most_cases else n_cases // 4 + 1  # an open node has four cases or more
        return min(n_cases, self.together) * self.case_bytes + min(nodes, self.blocks) * self.block_bytes


def plan(
    n_attributes: int,
    n_classes: int,
    most_cases: int,
    threads: int,
    n_bytes: int,
    number_bytes: int = 4,
    divided: bool = False,
) -> Plan:
    """How the small nodes of a problem are finished.

    Parameters
    ----------
    n_attributes, n_classes : int
    most_cases : int
        Of a node that is worth it.
    threads : int
        Of a block at most.
    n_bytes : int
        Device memory for it.
    number_bytes : int
        Of a number of a record.
    divided : bool
        Their cases have unknown values.
    """
    room, rows_of_classes = (ROOM, 2) if divided else (1, 1)
    fits = min(threads, THREADS, (SHARED_CELLS - divided * 2 * (MOST_DEPTH + 1)) // (rows_of_classes * n_classes + 3))
    group = max(1, min(fits, ROOM_CELLS // max(1, n_attributes)))
    block_bytes = 8 * (len(Found._fields) + 1) * group * max(1, n_attributes)
    blocks = min(MOST_BLOCKS, max(1, n_bytes // (4 * block_bytes)))
    # Both buffers of each list, and rows for twice as many records as cases; as much again while a half of them is
    # brought to the host.
    case_bytes = 8 * room * n_attributes + PLACE_BYTES + 3 * number_bytes * (NUMBERS + n_classes)
    case_bytes += room * HEIR_BYTES + ROW_BYTES if divided else 0
    places = (1 << layout_of(n_classes).id_bits) // (2 * room)
    together = max(0, min((n_bytes - blocks * block_bytes) // case_bytes, places))
    possible = n_attributes > 0 and fits >= min(threads, FEWEST_THREADS)
    most = min(most_cases, together, SHARED_CELLS, ((1 << STATE_BITS) - 1) // room) if possible else 0
    return Plan(room, most, together, blocks, fits, group, case_bytes, block_bytes)


def layout_of(n_classes: int) -> Layout:
    """Of entries of 32 bits."""
    return Layout(31 - max(1, (n_classes - 1).bit_length()), 31)
