"""How much device memory training needs, before any of it is allocated, and how many lists are moved at a time.

Lists lie in memory once; while some of them are moved, their next level lies beside them::

    sorting    lists  codes  classes  H   a column, its order and their scratch
    growing    lists  codes  classes  H   instances, twice  candidates  histograms   next level of as many lists as fit
                                          records of small nodes, until the host knows how many there are
    pruning                  classes      values that are tested, cases at leaves

Histograms and the lists of small nodes that are finished take turns in the same memory.

Which continuous columns have few values, and so are codes, is estimated from a sample; once they are sorted it is
known, and the chunks are planned again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from c45gpu.errors import MemoryPlanError
from c45gpu.kernels.cpu_plan import GROWING, PRUNING, SORTING, STAGES, MemoryPlan, Part, instances_of_case, size
from c45gpu.kernels.cpu_work import looks_short, sample_rows, share_of_unknown
from c45gpu.kernels.cuda_device import TABLE_UNITS, Layout, Sizes
from c45gpu.kernels.cuda_finish_plan import NUMBERS
from c45gpu.kernels.cuda_finish_plan import plan as finish_plan
from c45gpu.kernels.cuda_prune import placement_bytes
from c45gpu.kernels.level import Problem

INSTANCE_BYTES = 2 * 4 + 4 + 4 + 2  # case number on both levels, new number, branch, its bits while they are counted
WEIGHTED_BYTES = 2 * 8 + 3 * 8 + 1  # units on both levels, room for new numbers, its running sum and copy, unknown
CANDIDATE_BYTES = 6 * 8  # of a node and an attribute: those of level.Candidates, and the net gain
BATCH_BYTES = 80 << 20  # candidates that the host asks for at a time, at most
RECORDS_SHARE = 4  # of the memory for histograms: one in so many bytes holds records of small nodes
FEW_BRANCHES = Sizes().few  # of a test that only the device knows, with room in the counts of each tile
SLOT_BYTES = 16 << 20  # what is added up of branches, while only the device knows how many there are
MARGIN = 1.1  # memory pools round sizes up


class Needs(NamedTuple):
    """What a problem puts into device memory.

    Attributes
    ----------
    n_cases, n_classes, n_lists : int
    word_bytes : int
        Of an entry.
    code_bytes : int
        Of all columns of codes at one case.
    divided : bool
        Cases have weights of their own or unknown values.
    n_attributes : int
        Used ones.
    n_codes : int
        Codes of all columns.
    value_bytes : int
        Of a value in the widest continuous column.
    near : bool
        Values are compared as release 8 does.
    unknown : float
        Share of unknown values.
    placed : bool
        The cases are placed at the leaves, to prune the tree.
    """

    n_cases: int
    n_classes: int
    n_lists: int
    word_bytes: int
    code_bytes: int
    divided: bool
    n_attributes: int = 0
    n_codes: int = 0
    value_bytes: int = 0
    near: bool = False
    unknown: float = 0.0
    placed: bool = False

    @property
    def n_entries(self) -> int:
        """Entries of all lists and codes."""
        return self.n_cases * self.n_attributes

    def of_lists(self) -> int:
        """Bytes of the lists, which are there while anything else is."""
        return self.n_lists * self.n_cases * (self.word_bytes + 4 * self.near)

    def of_sorting(self) -> int:
        """Bytes for a column, its copy, its order, and as much scratch as both of the latter."""
        return self.n_cases * (4 * self.value_bytes + 16) if self.value_bytes else 0

    def of_instances(self) -> int:
        """Bytes for what is there once for each case."""
        return self.n_cases * (INSTANCE_BYTES + self.divided * WEIGHTED_BYTES)

    def of_cases(self) -> int:
        """Bytes for codes, and all that is there once for each case while a tree grows."""
        return self.n_cases * self.code_bytes + self.of_instances()

    def of_tiles(self, sizes: Sizes) -> int:
        """Bytes for the class weights of the tiles of all lists, which are kept from moving to scoring."""
        of_tile = 8 * self.n_classes if self.n_classes <= sizes.few else 0
        return self.n_lists * -(-self.n_cases // sizes.tile) * of_tile

    def of_moving_a_list(self, tile: int) -> int:
        """Bytes for the next level of one list, and the counts of its tiles."""
        branches = FEW_BRANCHES if self.divided else 2
        of_tile = 2 * 8 * self.n_classes + 2 * 8 * branches + 8 * 8
        return self.n_cases * self.word_bytes + -(-self.n_cases // tile) * of_tile

    def of_a_histogram(self) -> int:
        """Bytes for the histograms of one node."""
        return 8 * self.n_codes * self.n_classes

    def of_finishing(self, sizes: Sizes) -> int:
        """Bytes for the small nodes that are finished together."""
        shape, limits = (self.n_attributes, self.n_classes), (sizes.threads, sizes.histogram_bytes)
        number_bytes = 8 if self.divided else 4
        hows = (
            finish_plan(*shape, sizes.finish_cases, *limits, number_bytes=number_bytes, divided=divided)
            for divided in {False, self.divided}
        )
        return max(how.bytes_for(self.n_cases) for how in hows)

    def of_slots(self) -> int:
        """Bytes for what is added up of branches while only the device knows how many there are, at most."""
        of_node = 8 * max(2, self.n_codes) * (self.n_classes + 2 + self.n_lists * self.divided)
        return min(SLOT_BYTES, (self.n_cases // 4 + 1) * of_node)

    def of_records(self, sizes: Sizes) -> int:
        """Bytes for the records of small nodes that were finished, and for those that wait to be fetched."""
        of_case = 2 * (8 if self.divided else 4) * (NUMBERS + self.n_classes)
        return 2 * min(sizes.histogram_bytes // RECORDS_SHARE, self.n_cases * of_case)

    def of_pruning(self) -> int:
        """Bytes for the values that the tree tests, at most those of all attributes, and for cases at its leaves."""
        instances = int(self.n_cases * instances_of_case(self.unknown)) if self.unknown else None
        word = 4 if self.value_bytes <= 4 else 8
        return placement_bytes(self.n_cases, self.n_attributes, word, self.divided, instances) if self.placed else 0


def needs_of(problem: Problem, sizes: Sizes) -> Needs:
    """What a problem will put into device memory; a sample of its values is looked at."""
    table, n_classes = problem.table, problem.settings.n_classes
    rows = sample_rows(table.n_cases)
    codes, value_bytes, samples = [], [0], [table.rows(a, rows) for a in problem.used]
    for a, sample in zip(problem.used, samples, strict=True):
        attribute = table.schema.attributes[a]
        if attribute.kind == "discrete":
            codes.append(len(attribute.values))
        else:
            value_bytes.append(sample.dtype.itemsize)
            if looks_short(sample, len(sample) == table.n_cases, sizes.most_ranks):
                codes.append(len(np.unique(sample)))
    most = max(codes, default=0)
    return Needs(
        n_cases=table.n_cases,
        n_classes=n_classes,
        n_lists=len(problem.used) - len(codes),
        word_bytes=Layout.holding(table.n_cases, n_classes).bits // 8,
        code_bytes=len(codes) * (1 if most < 1 << 8 else 2 if most < 1 << 16 else 4),
        divided=not problem.whole or bool((problem.units != 1).any()),
        n_attributes=len(problem.used),
        n_codes=sum(codes),
        value_bytes=max(value_bytes),
        near=problem.settings.gap > 0,
        unknown=share_of_unknown(samples),
        placed=problem.placed,
    )


def plan(needs: Needs, sizes: Sizes, lists: int = 1) -> MemoryPlan:
    """The parts of device memory, where so many lists are moved at a time."""
    return MemoryPlan(tuple(part for part in _parts(needs, sizes, lists) if part.n_bytes))


def _parts(needs: Needs, sizes: Sizes, lists: int) -> Iterator[Part]:
    n, both = needs.n_cases, (SORTING, GROWING)
    yield Part("lists", needs.of_lists(), both)
    yield Part("codes", n * needs.code_bytes, both)
    yield Part("codes, column by column", n * needs.code_bytes, (SORTING,))
    yield Part("classes", 2 * n, STAGES)
    yield Part("table of H", 8 * (n + 1) if n < TABLE_UNITS and not needs.divided else 0, both)
    yield Part("a column and its order", needs.of_sorting(), (SORTING,))
    yield Part("instances", needs.of_instances(), (GROWING,))
    of_batch = CANDIDATE_BYTES * needs.n_attributes * (n // 4 + 1)  # an open node has four cases or more
    yield Part("tiles of lists", needs.of_tiles(sizes), (GROWING,))
    yield Part("candidates", max(min(BATCH_BYTES, of_batch), needs.of_slots()), (GROWING,))
    of_all = needs.of_a_histogram() * (n // 4 + 1)
    histograms = max(needs.of_a_histogram(), min(sizes.histogram_bytes, of_all))
    yield Part("histograms, small nodes", max(histograms, needs.of_finishing(sizes)), (GROWING,))
    yield Part("records of small nodes", needs.of_records(sizes), (GROWING,))
    yield Part("lists that move", min(lists, needs.n_lists) * needs.of_moving_a_list(sizes.tile), (GROWING,))
    yield Part("cases at leaves", needs.of_pruning(), (PRUNING,))


def smallest(needs: Needs, sizes: Sizes) -> int:
    """Bytes that are needed at the least: one list, the histograms of one node, and one branch to prune, at a time."""
    tight = plan(needs, sizes._replace(histogram_bytes=0))
    return int(MARGIN * tight.total)


def require(needs: Needs, free: int, sizes: Sizes) -> None:
    """See that training fits into free device memory, in the smallest chunks if need be.

    Raises
    ------
    MemoryPlanError
        When it does not; the message says how many cases would fit.
    """
    wanted = smallest(needs, sizes)
    if wanted > free:
        raise MemoryPlanError(
            f"{needs.n_cases} cases with {needs.n_attributes} attributes need {size(wanted)} of device memory, and "
            f"{size(free)} are free: about {cases_that_fit(needs, free, sizes)} cases would fit; train on a sample, "
            "with fewer attributes, or with engine='cpu'"
        )


def cases_that_fit(needs: Needs, free: int, sizes: Sizes) -> int:
    """The most cases of such a table that fit, in the smallest chunks."""
    low, high = 0, needs.n_cases
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if smallest(needs._replace(n_cases=middle), sizes) <= free else (low, middle)
    return low


def lists_that_fit(needs: Needs, free: int, sizes: Sizes) -> int:
    """How many lists can be moved at a time in free device memory that holds nothing yet; at least 1."""
    fits = int(
        (free - smallest(needs._replace(n_lists=0), sizes) - MARGIN * needs.of_lists()) // _of_a_list(needs, sizes)
    )
    return max(1, min(fits, needs.n_lists, sizes.lists_at_a_time))


def _of_a_list(needs: Needs, sizes: Sizes) -> float:
    return MARGIN * needs.of_moving_a_list(sizes.tile)


def planned(needs: Needs, free: int, sizes: Sizes) -> Sizes:
    """The sizes with as many lists at a time as fit into free memory, once the lists are there.

    Raises
    ------
    MemoryPlanError
        If not even one list at a time fits.
    """
    fixed = int(MARGIN * (needs.of_cases() + needs.of_tiles(sizes)))
    histogram_bytes = min(sizes.histogram_bytes, max(1, (free - fixed) // 6))
    left = free - fixed - histogram_bytes - needs.of_records(sizes._replace(histogram_bytes=histogram_bytes))
    fits = int(left // _of_a_list(needs, sizes))
    if left < 0 or (needs.n_lists > 0 and fits < 1):
        wanted = free - left + _of_a_list(needs, sizes)
        raise MemoryPlanError(
            f"a level needs {size(int(wanted))} of device memory beside the lists and {size(free)} are free: "
            "take fewer cases or attributes, or engine='cpu'"
        )
    return sizes._replace(lists_at_a_time=max(1, min(fits, sizes.lists_at_a_time)), histogram_bytes=histogram_bytes)
