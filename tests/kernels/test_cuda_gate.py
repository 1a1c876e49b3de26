"""Every kernel of the engine compiles, for every card, to code that fits it and rounds as the other engines do."""

from __future__ import annotations

import pytest

from tests.cuda_compile import CAPABILITIES, HEADING, missing, table

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.kernels.cuda_counts import MOST_THREADS, scan_cells, scan_size
from c45gpu.kernels.cuda_device import Sizes
from c45gpu.kernels.cuda_finish_plan import SHARED_CELLS
from c45gpu.kernels.cuda_tally import tally_cells
from tests.kernels.cuda_gate import FIGURES, launched, report_of, versions

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")

HERE = (9, 0)
FOUND = FIGURES.read_text("utf-8").splitlines()
ROWS = [line.split() for line in FOUND[2:]]
SCAN = scan_cells(Sizes().few, Sizes().threads) + 2 * Sizes().tile
MOVING = SCAN + 2 * Sizes().threads + tally_cells(Sizes().few, Sizes().few)
DYNAMIC = {"score_tiles": SCAN, "count_entries": MOVING, "move_entries": MOVING}  # cells; of the others:
LESS = max(scan_cells(Sizes().few, Sizes().threads), Sizes().shared_cells, SHARED_CELLS)


@pytest.mark.parametrize("number", range(len(ROWS) // len(CAPABILITIES)))
def test_kernel(number: int) -> None:
    report = report_of(launched()[number], HERE)
    print(table([report]))
    assert (report.spills, report.stack, report.fused, report.fusible, report.gaps) == (0, 0, 0, 0, ())
    dynamic = 8 * DYNAMIC.get(report.kernel, LESS)
    assert report.fits(MOST_THREADS, dynamic)
    assert report.shared + dynamic <= 48 * 1024
    assert FOUND[0] != versions() or report.row() in FOUND


def test_figures_are_of_every_kernel_and_card() -> None:
    assert FOUND[1] == HEADING
    expected = [[one.name, f"{major}.{minor}"] for major, minor in CAPABILITIES for one in launched()]
    assert [row[:2] for row in ROWS] == expected
    columns = HEADING.split()
    for name in ("stack", "spills", "fused"):
        assert {row[columns.index(name)] for row in ROWS} == {"0"}


@pytest.mark.parametrize("threads", [1, 2, 16, 17, 18, 33, 128])
def test_both_say_how_much_a_scan_needs(threads: int) -> None:
    assert [scan_size(rows, threads) for rows in range(5)] == [scan_cells(rows, threads) for rows in range(5)]
