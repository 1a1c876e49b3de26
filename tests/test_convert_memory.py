"""What converting holds in memory does not grow with the file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

STATUS = Path("/proc/self/status")
HELD = 6 << 20  # bytes: a block of rows as text, as columns and as Python's objects, and then some
LARGE = 3 * HELD  # of the file
ROWS = 20_000  # of the small file, which fills every buffer once

CODE = """
import os, sys
from c45gpu.cli import main
from c45gpu.data import arrowfile, blocks, textblocks

textblocks.BYTES_OF_A_BLOCK, blocks.CASES_OF_A_BLOCK, arrowfile.CASES_OF_A_BLOCK = 1 << 17, 1 << 11, 1 << 11

def highest():
    with open("/proc/self/status") as status:
        return 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])

def convert(folder, source, output):
    target = ["--target", "class"] if source.endswith(("csv.gz", "csv", "parquet")) else []
    assert main(["convert", os.path.join(folder, source), os.path.join(folder, output), *target]) == 0

small, large, *names = sys.argv[1:]
for source, output in zip(names, names[1:]):
    convert(small, source, output)
for source, output in zip(names, names[1:]):
    before = highest()
    convert(large, source, output)
    print(source, output, highest() - before)
"""
CHAIN = ["t.csv", "t.parquet", "t", "u.csv.gz", "u.arff.zst", "v.parquet"]


def write_rows(folder: Path, size: int) -> None:
    """A file of CSV with the same rows, over and over, of about so many bytes."""
    chance = np.random.default_rng(4)
    numbers = chance.standard_normal((ROWS, 4)).astype(np.float32).tolist()
    words = chance.integers(0, 30, ROWS).tolist()
    rows = "".join(
        f"{a:.6f},{b:.6f},{c:.6f},{d:.6f},w{w},c{w % 3}\n" for (a, b, c, d), w in zip(numbers, words, strict=True)
    )
    folder.mkdir()
    with open(folder / "t.csv", "w") as stream:
        stream.write("a,b,c,d,word,class\n")
        for _ in range(max(1, size // len(rows))):
            stream.write(rows)


@pytest.mark.skipif(not STATUS.exists(), reason="the highest resident memory so far is read from /proc")
def test_the_peak_does_not_grow_with_the_file(tmp_path: Path) -> None:
    for name, size in (("small", 0), ("large", LARGE)):
        write_rows(tmp_path / name, size)
    told = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path / "small"), str(tmp_path / "large"), *CHAIN],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)},
    ).stdout
    grown = {" -> ".join(line.split()[:2]): int(line.split()[2]) for line in told.splitlines()}
    assert len(grown) == len(CHAIN) - 1
    assert {pair: extra for pair, extra in grown.items() if extra > HELD} == {}
