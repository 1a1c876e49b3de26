"""The scans that skip blocks of cuts find what a look at every cut finds, ties and tries included."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from c45gpu.choose import Settings
from c45gpu.formulas import q_log_q, scale_bits_for
from c45gpu.kernels.cpu_entry import Layout
from c45gpu.kernels.cpu_score import MOST, block_size, cut_range, new_room, room_bytes, scan_list
from c45gpu.kernels.cpu_units import margin_of, rough_h, rough_log2, scan_units, sum_blocks

pytestmark = pytest.mark.usefixtures("kernels")

Int64s = npt.NDArray[np.int64]
LAYOUT = Layout(20, 4, 31)
CASES = [
    (n, c, kind) for n in (1, 7, 300, 6000, 40_000) for c in (2, 3, 9) for kind in ("noise", "wave", "ties", "pure")
]


def classes_of(n: int, n_classes: int, kind: str, chance: np.random.Generator) -> Int64s:
    """Classes in the order of a column that has nothing to do with them, something, or that repeats itself."""
    at = np.arange(n)
    if kind == "noise":
        return chance.integers(0, n_classes, n)
    if kind == "wave":
        return np.where(chance.random(n) < 0.6, (at * n_classes * 3 // n) % n_classes, chance.integers(0, n_classes, n))
    if kind == "ties":
        return at // 2 % n_classes
    return (at > n // 3).astype(np.int64)


def entries_of(classes: Int64s, kind: str, chance: np.random.Generator) -> npt.NDArray[np.uint32]:
    """List entries with rows in any order; some repeat the value before them, in ties every other one."""
    n = len(classes)
    new = np.arange(n) % 2 == 0 if kind == "ties" else chance.random(n) < 0.9
    new[0] = True
    packed = new.astype(np.uint32) << np.uint32(31) | classes.astype(np.uint32) << np.uint32(20)
    return packed | chance.permutation(n).astype(np.uint32)


def least_cut(entries: npt.NDArray[np.uint32], units: Int64s, n_classes: int, settings: Settings) -> tuple[int, ...]:
    """The information that the best cut leaves, its position and tries, by a look at each."""
    classes, new = entries >> np.uint32(20) & np.uint32(15), entries >> np.uint32(31) == 1
    of_classes = (classes[:, None] == np.arange(n_classes)) * units[:, None]
    low = of_classes.cumsum(0) - of_classes
    totals, weight = of_classes.sum(0), low.sum(1)
    known = int(totals.sum())
    if known < 2 * settings.min_units:
        return int(MOST), -1, 0
    side, _, ample, _ = cut_range(known, settings)
    tried = new & (weight >= side) & (weight <= known - side)
    taken = tried & (weight >= ample) & (weight <= known - ample)
    h = lambda q: q_log_q(np.asarray(q, np.int64), settings.scale_bits)  # noqa: E731
    inner = h(weight) + h(known - weight) - (h(low) + h(totals - low)).sum(1)
    if not taken.any():
        return int(MOST), -1, int(tried.sum())
    best = int(inner[taken].min())
    return best, int(np.flatnonzero(taken & (inner == best))[0]), int(tried.sum())


def settings_for(total: int, n_classes: int, case_units: int) -> Settings:
    bits = scale_bits_for(total)
    return Settings(True, n_classes, 2 * case_units, 25 * case_units, case_units, bits, 2.0**bits, 0.0)


@pytest.mark.parametrize(("n", "n_classes", "kind"), CASES)
def test_scan_of_counts(n: int, n_classes: int, kind: str) -> None:
    chance = np.random.default_rng(n)
    entries = entries_of(classes_of(n, n_classes, kind, chance), kind, chance)
    settings, ones = settings_for(n, n_classes, 1), np.ones(n, np.int64)
    totals = np.bincount(entries >> np.uint32(20) & np.uint32(15), minlength=n_classes)
    h = q_log_q(np.arange(n + 1), settings.scale_bits)
    found = scan_list(entries, LAYOUT, totals, h, cut_range(n, settings), new_room(n, n_classes))
    assert tuple(map(int, found)) == least_cut(entries, ones, n_classes, settings)


@pytest.mark.parametrize("pool", [[1 << 20], [1, 3, 1 << 20, 5 << 18]])
@pytest.mark.parametrize(("n", "n_classes", "kind"), CASES)
def test_scan_of_units(n: int, n_classes: int, kind: str, pool: list[int]) -> None:
    chance = np.random.default_rng(n)
    entries = entries_of(classes_of(n, n_classes, kind, chance), kind, chance)
    units = chance.choice(np.array(pool, np.int64), n)
    settings, totals = settings_for(n << 20, n_classes, 1 << 20), np.empty(n_classes, np.int64)
    room = new_room(n, n_classes)
    known, *blocks = sum_blocks(entries, LAYOUT, units, room, totals)
    assert known == units.sum()
    inner, at, low, tries = scan_units(entries, LAYOUT, units, totals, known, tuple(blocks), settings, room)
    in_order = units[entries & np.uint32((1 << 20) - 1)]
    assert (int(inner), int(at), int(tries)) == least_cut(entries, in_order, n_classes, settings)
    assert low == (in_order[:at].sum() if at >= 0 else 0)


def test_blocks_are_skipped() -> None:
    """Otherwise the tests above say nothing."""
    chance, n = np.random.default_rng(1), 40_000
    entries = entries_of(classes_of(n, 2, "noise", chance), "noise", chance)
    settings, room = settings_for(n, 2, 1), new_room(n, 2)
    totals = np.bincount(entries >> np.uint32(20) & np.uint32(15), minlength=2)
    h = q_log_q(np.arange(n + 1), settings.scale_bits)
    inner, _, _ = scan_list(entries, LAYOUT, totals, h, cut_range(n, settings), room)
    blocks = n // block_size(n, 2) - 1
    assert (room.bound[:blocks] <= inner).mean() < 0.2
    known, size, n_blocks = sum_blocks(entries, LAYOUT, np.full(n, 1 << 20), room, totals)
    settings = settings_for(n << 20, 2, 1 << 20)
    inner, *_ = scan_units(entries, LAYOUT, np.full(n, 1 << 20), totals, known, (size, n_blocks), settings, room)
    assert (room.rough_bound[:n_blocks] <= inner / settings.scale).mean() < 0.2


@pytest.mark.parametrize("n_classes", [2, 7, 1000])
def test_room_is_large_enough(n_classes: int) -> None:
    for most in (1, 15, 16, 1000, 18_496, 18_497, 1_000_003):
        room = new_room(most, n_classes)
        assert sum(array.nbytes for array in room) == room_bytes(most, n_classes)
        for n in {most, most - 1, most // 2, most * 9 // 10} - {0}:
            assert -(-n // block_size(n, n_classes)) <= len(room.bound)


def test_rough_logarithm() -> None:
    chance = np.random.default_rng(0)
    weights = [1, 2, 3, 5, (1 << 52) - 1, *(1 << chance.integers(1, 52, 200)), *chance.integers(1, 1 << 52, 200)]
    totals: Any = np.zeros(2, np.int64)
    for q in map(int, weights):
        assert abs(rough_log2(q) - np.log2(q)) < 2e-12
        assert abs(rough_h(q) - float(q_log_q(q, 4)) / 16) < margin_of(q, totals) / 2
    assert rough_h(0) == 0
