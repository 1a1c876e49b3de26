"""Bytes that each kernel reads and writes for each item of its work, as its threads ask for them.

Counted are the arrays that grow with the cases; those of tiles, nodes and slots and the table of H stay in caches. An
entry of a list costs 16 bytes a level, as designed: 4 to be scored, 4 to be counted by branch, 8 to be moved; at the
root 4 more, since nobody has counted the classes of its tiles. Where it goes is looked up twice in the bits of the
instances, 8 bytes for 32 of them (HALVES): a quarter of a byte for each case, which stays in a card's cache. Divided
cases cost more, since their units and their new numbers are looked up.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_codes import packs_of
from tests.cuda_emulator import Emulation, Launch
from tests.kernels import seeded
from tests.kernels.cuda_here import SMALL, EmulatedLauncher

N, LISTS, COLUMNS = 512, 2, 3
HALVES = "halves.words"
LARGE = (
    *("entries", "branch", "units", "place", "spread", "room", "cases", "classes", "codes.codes", "near_values"),
    *("bits", "ones"),
)
OF_SMALL_NODES = (*LARGE, "owner", "marks", "heirs.row", "following")

# Of each kernel: items, and bytes read and written for one, of cases that count 1; then of divided ones.
ENTRIES, INSTANCES, CODES = N * LISTS, N, N * COLUMNS
MOST: dict[str, tuple[int, tuple[float, float], tuple[float, float]]] = {
    "count_tiles": (ENTRIES, (4, 0), (12, 0)),
    "score_tiles": (ENTRIES, (4, 0), (12, 0)),
    "count_entries": (ENTRIES, (4, 0), (5.6, 0)),
    "move_entries": (ENTRIES, (4, 4), (19, 4)),
    "count_codes": (CODES, (3, 0), (5.8, 0)),  # a case and its class are read once for the three columns
    "mark_codes": (INSTANCES, (0, 1), (0, 1)),
    "mark_lists": (INSTANCES, (4.1, 1), (4.1, 1)),
    "count_branches": (INSTANCES, (7, 0), (14, 0)),
    "share_unknown": (INSTANCES, (0, 0), (2.5, 1)),
    "pack_halves": (INSTANCES, (1, 0.5), (0, 0)),
    "move_halves": (INSTANCES, (4, 4), (0, 0)),
    "count_instances": (INSTANCES, (0, 0), (2.8, 0)),
    "move_instances": (INSTANCES, (0, 0), (20, 20.5)),
}

OF_WHOLE_CASES = {"pack_halves", "move_halves"}
OF_DIVIDED_CASES = {"share_unknown", "count_instances", "move_instances"}


def cases(unknown: bool) -> Table:
    """Two long columns, of which the first decides the class, and three of codes."""
    random = np.random.default_rng(0)
    x, y = random.random((2, N)).astype(np.float32)
    classes = (x > 0.5) ^ (random.random(N) < 0.1)
    if unknown:
        x[::10] = np.nan
    codes = random.integers(0, 3, (COLUMNS, N))
    return seeded.table_of([x, y, *((code, 3) for code in codes)], classes.astype(np.int32), 2)


def launches_of_a_level(unknown: bool) -> list[Launch]:
    gpu = Emulation(0)
    engine = CudaEngine(
        gpu.xp, EmulatedLauncher(gpu), SMALL._replace(threads=8, tile=128, most_ranks=8, shared_cells=256)
    )
    next(iter(Grower(engine, pose(cases(unknown), Options()))))
    return gpu.launches


def moved(launch: Launch, names: tuple[str, ...] = LARGE) -> tuple[int, int]:
    """Bytes read and written of large arrays; what is done with atomics counts as both."""
    large: list[Any] = [bytes_ for name, bytes_ in launch.traffic.items() if name.endswith(names)]
    return sum(b.read + b.atomic for b in large), sum(b.written + b.atomic for b in large)


@pytest.mark.parametrize("unknown", [False, True])
def test_bytes_of_each_kernel(unknown: bool) -> None:
    """None moves more than is written down, nor less than nine tenths: then the figures are out of date."""
    seen = set()
    for launch in launches_of_a_level(unknown):
        if launch.kernel in MOST:
            items, *most = MOST[launch.kernel]
            seen.add(launch.kernel)
            for bytes_, limit in zip(moved(launch), most[unknown], strict=True):
                assert 0.9 * limit - 0.5 <= bytes_ / items <= limit, (launch.kernel, bytes_ / items)
    assert seen == MOST.keys() - (OF_WHOLE_CASES if unknown else OF_DIVIDED_CASES)


def test_bytes_of_an_entry_and_a_level() -> None:
    """Below the root, whose tiles are counted first."""
    launches = [one for one in launches_of_a_level(False) if MOST.get(one.kernel, (0,))[0] == ENTRIES]
    by_kernel = {one.kernel: sum(moved(one)) / ENTRIES for one in launches}
    assert by_kernel.pop("count_tiles") == 4
    assert sum(by_kernel.values()) == 16
    looked_up = [one.traffic[name].read for one in launches for name in one.traffic if name.endswith(HALVES)]
    assert looked_up == [8 * ENTRIES, 8 * ENTRIES]


def test_tiles_are_counted_at_the_root_only() -> None:
    gpu = Emulation(0, checks=False)
    engine = CudaEngine(gpu.xp, EmulatedLauncher(gpu), SMALL)
    assert len(list(islice(Grower(engine, pose(cases(False), Options())), 3))) == 3
    kernels = [launch.kernel for launch in gpu.launches]
    assert (kernels.count("count_tiles"), kernels.count("score_tiles")) == (1, 3)


# A small node of N cases that is tested once; what a block reads of its lists is in its caches. Where values are
# unknown, an entry and its units are read twice to be scored, and once more in the list that is tested.
FINISHING = {
    "copy_lists": (ENTRIES, (12, 4), (12, 4)),
    "sort_codes": (CODES, (11, 4), (11, 4.01)),  # lists know how long they are
    "finish": (ENTRIES + CODES, (8, 1), (0, 0)),
    "finish_divided": (ENTRIES + CODES, (0, 0), (32, 2.4)),
}
OF_BLOCKS = {False: "finish", True: "finish_divided"}


@pytest.mark.parametrize("unknown", [False, True])
def test_bytes_of_a_small_node(unknown: bool) -> None:
    gpu = Emulation(0)
    sizes = SMALL._replace(threads=8, most_ranks=8, finish_cases=N, histogram_bytes=1 << 22)
    engine = CudaEngine(gpu.xp, EmulatedLauncher(gpu), sizes)
    assert engine.load(pose(cases(unknown), Options(min_samples_split=N))).finished is not None
    assert [launch.kernel for launch in gpu.launches] == ["copy_lists", "sort_codes", OF_BLOCKS[unknown]]
    for launch in gpu.launches:
        items, *most = FINISHING[launch.kernel]
        for bytes_, limit in zip(moved(launch, OF_SMALL_NODES), most[unknown], strict=True):
            assert 0.9 * limit - 0.5 <= bytes_ / items <= limit, (launch.kernel, bytes_ / items)


def test_columns_of_a_pack() -> None:
    """As many as leave room for four copies of their counters, sixteen at most; a long column is alone."""
    first = np.concatenate([[0], np.cumsum([2] * 40 + [100, 2])])
    assert packs_of(first, 2, 2048).tolist() == [0, 16, 32, 42]
    assert packs_of(first, 2, 256).tolist() == [0, 16, 32, 40, 41, 42]
    assert packs_of(first, 2, 0).tolist() == list(range(43))
    assert packs_of(np.zeros(1, np.int64), 2, 2048).tolist() == [0, 0]
