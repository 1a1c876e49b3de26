"""Trees grown from the ends of lists too long to be here: kernels must not keep an offset in 32 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.kernels import cuda_entries, cuda_mark, cuda_score
from c45gpu.kernels.cuda import CudaEngine
from c45gpu.kernels.cuda_device import Tiles
from c45gpu.kernels.cuda_entries import Target
from c45gpu.kernels.cuda_moving import place_type
from c45gpu.kernels.cuda_score import Lists
from tests.cuda_emulator import Emulation, Shifted
from tests.kernels.cuda_gate import table, wide_numbers
from tests.kernels.cuda_here import SMALL, EmulatedLauncher

READERS = {
    cuda_score.count_tiles,
    cuda_score.count_tiles_of_many,
    cuda_score.score_tiles,
    cuda_score.score_tiles_of_many,
    cuda_mark.mark_lists,
    cuda_entries.count_entries,
    cuda_entries.count_entries_of_many,
}
MOVERS = {cuda_entries.move_entries: 3, cuda_entries.move_entries_of_many: 3}  # where they take the places to write to


class Far(EmulatedLauncher):
    """Hands every list to its kernels as the end of one that begins so many entries before."""

    def __init__(self, gpu: Emulation, offset: int) -> None:
        super().__init__(gpu)
        self.offset, self.seen = offset, set[Any]()

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        if kernel in READERS or kernel in MOVERS:
            self.seen.add(kernel)
            places = MOVERS.get(kernel)
            kept = arguments[3] if kernel is cuda_mark.mark_lists else None  # its tiles are of instances
            arguments = tuple(
                a if a is kept else a + self.offset if i == places else self._moved(a) for i, a in enumerate(arguments)
            )
        super().__call__(kernel, blocks, threads, shared_bytes, arguments)

    def _moved(self, argument: Any) -> Any:
        if isinstance(argument, Tiles):
            return argument._replace(start=argument.start + self.offset, stop=argument.stop + self.offset)
        if isinstance(argument, cuda_mark.Tests):
            return argument._replace(first=argument.first + self.offset, stop=argument.stop + self.offset)
        if isinstance(argument, Target):
            tally = argument.tally._replace(start=argument.tally.start + self.offset)
            return argument._replace(entries=Shifted(argument.entries, self.offset), tally=tally)
        if isinstance(argument, Lists):
            return argument._replace(entries=Shifted(argument.entries, self.offset))
        return argument


@pytest.mark.parametrize("offset", [(1 << 31) - 7, (1 << 32) - 7])
def test_trees_from_far_lists(offset: int) -> None:
    seen = set[Any]()
    options = Options(prune="none", min_cases=1, criterion="gain")
    for cases in (table(40, 2, 3, 0.0), table(40, 20, 3, 0.3), table(40, 2, 20, 0.3)):
        launcher = Far(Emulation(0, checks=False), offset)
        found = train(cases, options, CudaEngine(launcher.gpu.xp, launcher, SMALL))
        assert found.unpruned.equals(train(cases, options, "reference").unpruned)
        seen |= launcher.seen
    assert seen == READERS | MOVERS.keys()


class FarPlaces(EmulatedLauncher):
    """Moves entries as if the instances of the next level were numbered from far on, and takes that off again."""

    def __init__(self, gpu: Emulation, offset: int) -> None:
        super().__init__(gpu)
        self.offset, self.seen = offset, set[str]()

    def __call__(self, kernel: Any, blocks: int, threads: int, shared_bytes: int, arguments: tuple[Any, ...]) -> None:
        if kernel in MOVERS:
            *given, places, target = arguments
            place = places.place + self.offset  # of an unknown value where its numbers stand in `spread`
            spread = Shifted(places.spread + self.offset, self.offset)
            halves = given[1].halves._replace(shift=given[1].halves.shift + self.offset)
            given[1] = given[1]._replace(halves=halves)
            arguments = (*given, places._replace(place=place, spread=spread), target)
            self.seen |= {kernel.__name__, *(["halves"] if len(halves.words) else [])}
        super().__call__(kernel, blocks, threads, shared_bytes, arguments)
        if kernel in MOVERS:
            far = target.entries & np.uint64((1 << target.layout.id_bits) - 1) >= self.offset
            target.entries[far] -= np.uint64(self.offset)


@pytest.mark.parametrize("offset", [(1 << 31) - 7, (1 << 32) - 7])
def test_trees_of_instances_with_far_numbers(offset: int) -> None:
    seen, options = set[str](), Options(prune="none", min_cases=1, criterion="gain")
    for cases in (table(40, 2, 3, 0.0), table(40, 2, 20, 0.3)):
        launcher = FarPlaces(Emulation(0, checks=False), offset)
        with wide_numbers():
            found = train(cases, options, CudaEngine(launcher.gpu.xp, launcher, SMALL))
        assert found.unpruned.equals(train(cases, options, "reference").unpruned)
        seen |= launcher.seen
    assert seen == {"halves", *(kernel.__name__ for kernel in MOVERS)}


def test_numbers_of_instances_are_as_wide_as_they_must_be() -> None:
    assert place_type((1 << 31) - 1) is np.int32
    assert place_type(1 << 31) is np.int64
