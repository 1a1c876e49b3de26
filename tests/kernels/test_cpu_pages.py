"""Lists whose memory is given up part by part."""

from __future__ import annotations

import mmap
import sys

import numpy as np
import pytest

from c45gpu.kernels import cpu_pages, cpu_prune_divided
from c45gpu.kernels.cpu_pages import LITTLE, paged_lists
from tests.kernels.seeded import TABLES, on_cpu, reference_model, same

WORDS = mmap.PAGESIZE // 4  # of 32 bits in a page


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere given up pages may be kept for a while")
def test_only_whole_pages_of_the_part_are_given_up() -> None:
    paged = paged_lists(3, LITTLE // 4 + 5, np.uint32)
    assert paged.entries.shape == (3, LITTLE // 4 + WORDS)
    paged.entries[:] = 7
    paged.give_up(1, 10, 4 * WORDS + 10)
    assert (paged.entries[[0, 2]] == 7).all()
    assert np.flatnonzero(paged.entries[1] != 7).tolist() == list(range(WORDS, 4 * WORDS))
    paged.give_up(0, 1, WORDS)  # no whole page
    assert (paged.entries[0] == 7).all()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere given up pages may be kept for a while")
def test_a_part_of_all_lists_is_given_up() -> None:
    paged = paged_lists(2, LITTLE // 4, np.uint32)
    paged.entries[:] = 7
    paged.give_up_all(WORDS, 2 * WORDS - 1)  # less than a page
    assert (paged.entries == 7).all()
    paged.give_up_all(WORDS, 3 * WORDS)
    assert [np.flatnonzero(list_ != 7).tolist() for list_ in paged.entries] == 2 * [list(range(WORDS, 3 * WORDS))]


def test_only_an_array_where_the_lists_are_can_be_given_up() -> None:
    paged = paged_lists(1, LITTLE // 4, np.uint32)
    paged.entries[:] = 7
    here, copy = paged.entries[0, : 2 * WORDS], paged.entries[0].copy()
    assert paged.of_part(here).memory is paged.memory
    assert paged.of_part(copy).memory is None
    paged.of_part(copy).give_up(0, 0, len(copy))
    assert (paged.entries == 7).all()


def test_a_little_memory_is_kept() -> None:
    paged = paged_lists(2, 10, np.uint64)
    assert (paged.entries.shape, paged.memory) == ((2, 10), None)
    paged.entries[:] = 3
    paged.give_up(0, 0, 10)
    assert (paged.entries == 3).all()


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("name", ["unknown values", "unknown values and weights"])
def test_trees_do_not_depend_on_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_pages, "LITTLE", 1)
    monkeypatch.setattr(cpu_prune_divided, "JOINED_AT_A_TIME", 1500)  # a page or so of them is given up at a time
    assert same(on_cpu(TABLES[name]()), reference_model(name))
