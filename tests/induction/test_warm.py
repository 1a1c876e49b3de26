"""After a warm-up a new process has nothing to compile."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from c45gpu.cli import main
from c45gpu.induction.warm import kernels_kept
from c45gpu.rules.warm import warm_up as compile_rules

pytestmark = pytest.mark.usefixtures("kernels")

ROOT = Path(__file__).resolve().parents[2]
USUAL = [
    "whole cases",
    "float64",
    "3 classes",
    "only codes",
    "around a byte of values",
    "100,000 values",
    "whole weights",
    "fractional weights",
    "unknown values",
    "unknown among many values",
    "closer than float32",
]
PROGRAM = """
import json, sys
from c45gpu.induction.options import Options
from c45gpu.kernels.compiled import KERNELS
from c45gpu.kernels.cpu import CpuEngine
from tests.kernels.seeded import TABLES, on_cpu, three_codes
for name in json.loads(sys.argv[1]):
    for options in (Options(), Options(compat="r8", criterion="gain")):
        model, engine = on_cpu(TABLES[name](), options), CpuEngine(1)
        engine.route(model.pruned, TABLES[name]())
        engine.close()
for n_values in (60, 300):
    on_cpu(three_codes(n_values, 10_000), Options(prune="none"))
print(json.dumps({k.__name__: str(k.stats.cache_misses) for k in KERNELS if k.stats.cache_misses}))
"""


def test_usual_tables_find_all_they_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(USUAL)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {}
    assert done.stderr == ""


def test_every_kernel_is_kept() -> None:
    compile_rules()
    ready, all_kernels, folder = kernels_kept()
    assert ready == all_kernels > 50
    assert folder is not None


def test_info_tells_engines_threads_and_what_is_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    ready, all_kernels, folder = kernels_kept()
    assert "engine reference: ready" in lines
    assert "engine cpu: ready" in lines
    assert f"compiled {ready} of {all_kernels} kernels, kept in {folder}" in lines
    assert any(line.startswith("threads ") and int(line.split()[1]) > 0 for line in lines)


def test_info_warms_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--warm-up", "--json"]) == 0
    compiled = json.loads(capsys.readouterr().out)["compiled"]
    assert compiled["ready"] == compiled["all"]
