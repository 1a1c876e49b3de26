"""The device check and its parts, on an emulator where there is no GPU; times are looked at by nobody here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import device_check, gpu_vs_cpu
from bench.device import big, tables, trees
from bench.device.steps import STEPS, scale_of
from bench.device.summary import summary
from c45gpu.data.table import Table
from c45gpu.kernels.reference import ReferenceEngine

SMALL_CASES = 2000
SMALL_TABLES = sorted(name for name, kept in tables.kept().items() if kept["cases"] <= SMALL_CASES)
ABSENT = ("pyarrow", "narwhals", "cyclopts", "rich", "sklearn", "pandas", "scipy", "hypothesis", "matplotlib")


def test_forty_tables_are_kept() -> None:
    assert list(tables.kept()) == list(tables.TABLES)
    assert len(tables.TABLES) == 40
    assert len({kept["unpruned"] for kept in tables.kept().values()}) == 40
    assert len(SMALL_TABLES) >= 30
    assert json.loads(tables.FILE.read_text("utf-8"))["made_by"] == tables.COMMAND


@pytest.mark.parametrize("engine", ["reference", "cpu"])
@pytest.mark.parametrize("name", SMALL_TABLES)
def test_trees_have_the_digests_that_are_kept(name: str, engine: str) -> None:
    table, kept = tables.TABLES[name].make(), tables.kept()[name]
    assert (table.n_cases, len(table.columns)) == (kept["cases"], kept["attributes"])
    assert tables.digest_of_table(table) == kept["table"]
    assert tables.digests_of(name, table, engine) == {tree: kept[tree] for tree in ("unpruned", "pruned")}


def test_digests_are_written_by_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = ("tiny whole", "tiny weights")
    monkeypatch.setattr(tables, "TABLES", {name: tables.TABLES[name] for name in some})
    tables.main([str(tmp_path / "digests.json")])
    written = json.loads((tmp_path / "digests.json").read_text("utf-8"))
    assert written == {"made_by": tables.COMMAND, "tables": {name: tables.kept()[name] for name in some}}


def test_any_change_of_a_table_changes_its_digest() -> None:
    table = tables.TABLES["tiny weights"].make()
    first = tables.digest_of_table(table)
    for array in (table.columns[0], table.classes, table.weights):
        assert array is not None
        before = array[3]
        array[3] = before + 1
        assert tables.digest_of_table(table) != first
        array[3] = before
    assert tables.digest_of_table(table) == first


@pytest.mark.parametrize("name", big.BIG)
def test_large_tables_at_a_small_scale(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(big, "CHUNK", 40)
    scale = big.Scale(rows=150)
    one, again, holed = big.table(name, scale), big.table(name, scale), big.table(name, scale, unknown=0.5)
    assert tables.digest_of_table(one) == tables.digest_of_table(again)
    assert one.n_cases == 150
    assert not one.has_unknown()
    assert len(one.columns) == {"covertype": 54, "agrawal": 9}.get(name, 28)
    unknown = [np.mean(c != c) if c.dtype.kind == "f" else np.mean(c < 0) for c in holed.columns if c is not None]
    assert 0.3 < np.mean(unknown) < 0.7
    assert (one.columns[0][:40] != one.columns[0][40:80]).any()  # type: ignore[index]


def test_scales() -> None:
    assert scale_of(small=False, emulate=False).rows_of(11_000_000) == 11_000_000
    assert scale_of(small=True, emulate=False).rows_of(11_000_000) == 110_000
    assert scale_of(small=True, emulate=True).rows_of(11_000_000) == big.EMULATED.rows
    assert len(big.table("higgs", big.EMULATED).columns) <= big.EMULATED.columns


def test_growing_stops_where_it_is_asked_to() -> None:
    table = big.table("agrawal", big.Scale(rows=400))
    whole, tree = trees.grown(table, ReferenceEngine(), trees.Asked(prune=True))
    assert set(whole["seconds"]) == {"pose", "load", "levels", "finish", "prune"}
    assert len(whole["each_level"]) > 2
    part, cut = trees.grown(table, ReferenceEngine(), trees.Asked(levels=2))
    assert set(part["seconds"]) == {"pose", "load", "levels", "finish"}
    assert [level["depth"] for level in part["each_level"]] == [1, 2]
    assert cut.depth == 2
    assert cut.n_leaves < trees.grown(table, ReferenceEngine(), trees.Asked())[1].n_leaves
    assert tree.depth > 2


def checked(out: Path, *words: str) -> int:
    return device_check.main(["--emulate", "--out", str(out), *words])


@pytest.fixture
def emulator() -> None:
    pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
    pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")


@pytest.mark.usefixtures("emulator")
def test_check_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "device.json"
    assert checked(out, "--seconds", "0") == device_check.NOT_ALL
    assert "call again: device, digest/tiny whole" in capsys.readouterr().out
    assert checked(out, "--only", "digest/tiny whole") == device_check.ALL_DONE
    first = json.loads(out.read_text("utf-8"))
    assert list(first["steps"]) == ["device", "digest/tiny whole"]
    assert checked(out, "--only", "digest/tiny *") == device_check.ALL_DONE
    second = json.loads(out.read_text("utf-8"))
    assert second["steps"]["digest/tiny whole"] == first["steps"]["digest/tiny whole"]
    assert len(second["steps"]) == 5
    assert {outcome["status"] for outcome in second["steps"].values()} == {"done"}
    assert "trees equal to the digests: 4 of 4 tables" in capsys.readouterr().out
    assert checked(out, "--commit", "another", "--only", "device") == device_check.NO_DEVICE


@pytest.mark.usefixtures("emulator")
def test_steps_that_an_emulator_can_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "device.json"
    only = "micro/*,tree/covertype,tree/agrawal,tree/higgs unknown,prune/covertype,predict/higgs"
    assert checked(out, "--only", only) == device_check.ALL_DONE
    steps = json.loads(out.read_text("utf-8"))["steps"]
    assert {name for name, outcome in steps.items() if outcome["status"] != "done"} == set()
    assert steps["micro/copy"]["bytes"] == 8 * big.EMULATED.rows
    assert steps["tree/agrawal"]["depth"] <= 10
    for name in ("tree/covertype", "tree/agrawal", "tree/higgs unknown", "prune/covertype"):
        outcome = steps[name]
        assert {"pose", "transfer", "load", "sort", "levels", "finish"} <= set(outcome["seconds"])
        assert outcome["work"]["launches"] >= outcome["work"]["launches_a_level"] > 0
        assert outcome["work"]["transfers_a_level"] >= 2
    assert steps["predict/higgs"]["rows"] == big.EMULATED.rows
    printed = capsys.readouterr().out
    assert "no figure below is one of a GPU" in printed
    assert all(name in printed for name in steps if name not in ("device", "micro/launch"))


@pytest.mark.usefixtures("emulator")
def test_runs_where_little_is_installed(tmp_path: Path) -> None:
    hidden = f"import sys; sys.modules.update(dict.fromkeys({ABSENT!r}))"
    for name in ABSENT:  # the worker inherits the folder, and finds packages there that are none
        (tmp_path / f"{name}.py").write_text(f"raise ModuleNotFoundError('no {name}', name={name!r})\n")
    only = "digest/tiny unknown,micro/copy,tree/covertype"
    words = ["--emulate", "--only", only, "--out", str(tmp_path / "device.json")]
    code = f"{hidden}; from bench.device_check import main; sys.exit(main({words!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=device_check.ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == device_check.ALL_DONE, done.stdout + done.stderr


def outcomes(*failures: tuple[str, str]) -> dict[str, Any]:
    return {name: {"status": status, "reason": "a reason"} for name, status in failures}


def test_a_step_that_fails_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "device.json"
    worker = tmp_path / "worker.py"
    worker.write_text(WORKER)
    real = subprocess.Popen

    def instead(command: list[str], **rest: Any) -> Any:
        mine = "bench.device.worker" in command
        return real([sys.executable, str(worker), *command[3:]] if mine else command, **rest)

    monkeypatch.setattr(subprocess, "Popen", instead)
    monkeypatch.setattr(device_check, "STEPS", dict(list(STEPS.items())[:6]))
    monkeypatch.setitem(device_check.STEPS, "digest/tiny weights", STEPS["digest/tiny weights"]._replace(limit=0.5))
    assert checked(out) == device_check.SOME_FAILED
    steps = json.loads(out.read_text("utf-8"))["steps"]
    assert {name: outcome["status"] for name, outcome in steps.items()} == {
        "device": "done",
        "digest/tiny whole": "failed",
        "digest/tiny unknown": "failed",
        "digest/tiny weights": "failed",
        "digest/tiny many classes": "skipped",
        "digest/agr1": "done",
    }
    assert "0.5 s" in steps["digest/tiny weights"]["reason"]
    assert device_check.chosen("", steps, retry=False) == []
    assert len(device_check.chosen("", steps, retry=True)) == 3


WORKER = """
import json, os, sys, time

for name in sys.argv[2:]:
    print("noise that a library prints")
    print("@step " + json.dumps({"begin": name}), flush=True)
    if name == "digest/tiny unknown":
        os._exit(11)
    if name == "digest/tiny weights":
        time.sleep(60)
    status = {"digest/tiny whole": "failed", "digest/tiny many classes": "skipped"}.get(name, "done")
    print("@step " + json.dumps({"end": name, "outcome": {"status": status, "reason": "so"}}), flush=True)
    if status == "failed":
        break
"""


def test_without_a_device_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from c45gpu.kernels.engine import available

    if available()["cuda"] is None:
        pytest.skip("there is a GPU here")
    assert device_check.main(["--out", str(tmp_path / "device.json")]) == device_check.NO_DEVICE
    assert "no GPU to check: EngineError: engine='cuda'" in capsys.readouterr().err
    assert device_check.chosen("digest/tiny whole", outcomes(("device", "failed")), retry=False)[0] == "device"


def test_summary_tells_what_went_wrong() -> None:
    steps = outcomes(("digest/agr1", "different"), ("tree/higgs", "failed"), ("sklearn/covertype", "skipped"))
    steps["digest/agr2"] = {"status": "done"}
    steps["micro/copy"] = {"status": "done", "bytes": 2000, "time": 0.5, "bytes_per_second": 4000.0}
    steps["micro/sort"] = {"status": "done", "bytes": 1000, "time": 1.0, "bytes_per_second": 1000.0}
    shape = {"status": "done", "rows": 7, "all": 1.0, "seconds": {"levels": 1.0}, "leaves": 3, "depth": 2}
    steps["tree/agrawal"], steps["cpu/agrawal"] = shape | {"digest": "a"}, shape | {"digest": "b"}
    steps["tree/higgs-1m"] = steps["cpu/higgs-1m"] = shape | {"digest": "a"}
    steps["tree/covertype"], steps["cpu/covertype"] = (shape | {"digest": one, "stopped": 10} for one in "ab")
    text = summary({"steps": steps, "commit": "abc"}, ["prune/higgs"])
    for line in ("digest/agr1: different, a reason", "tree/higgs: failed, a reason", "not reached, call again"):
        assert line in text
    assert "trees equal to the digests: 1 of 2 tables" in text
    assert "25.0%" in text
    assert "cpu/agrawal: ANOTHER TREE than on the device" in text
    assert "cpu/higgs-1m: the same tree as on the device" in text
    assert "cpu/covertype: not compared" in text


def test_names_of_all_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert device_check.main(["--list"]) == 0
    names = capsys.readouterr().out.split("\n")
    assert names[:-1] == list(STEPS)
    assert sum(name.startswith("digest/") for name in names) == 40
    assert not any("," in name for name in names)  # which stands between the patterns of --only


def test_gpu_vs_cpu_measures_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_vs_cpu, "hindrance", lambda engine: "no GPU is measured: so" if engine == "cuda" else None)
    out = tmp_path / "figures.json"
    gpu_vs_cpu.main(["--rows", "90,120", "--columns", "3", "--engines", "cuda,cpu", "--out", str(out)])
    said = capsys.readouterr()
    assert said.err.count("no GPU is measured: so") == 1
    results = json.loads(out.read_text("utf-8"))["results"]
    assert [(one["engine"], one["rows"], one["reason"] is None) for one in results] == [
        ("cuda", 90, False),
        ("cpu", 90, True),
        ("cuda", 120, False),
        ("cpu", 120, True),
    ]
    assert "prune" in said.out
    assert "cuda" not in said.out


def result(engine: str, seconds: dict[str, float], digest: str | None = None) -> dict[str, Any]:
    whole = {"engine": engine, "rows": 10, "reason": None, "seconds": seconds, "all": sum(seconds.values())}
    return whole | {"leaves": 4} | ({"digest": digest} if digest else {})


def test_gpu_vs_cpu_tells_transfer_from_sort_and_trees_apart() -> None:
    gpu = result("cuda", {"load": 3.0, "levels": 1.0}, "a")
    gpu["seconds"] |= {"transfer": 2.0, "sort": 1.0}
    assert gpu_vs_cpu.parts_of(gpu) == {"transfer": 2.0, "sort": 1.0, "levels": 1.0}
    cpu, other = result("cpu", {"load": 4.0, "levels": 4.0}, "b"), result("sklearn", {"fit": 6.0})
    text = gpu_vs_cpu.as_text([gpu, cpu, other])
    assert "cpu takes 2.00 times as long as cuda, and its tree is ANOTHER ONE" in text
    assert text.endswith("sklearn takes 1.50 times as long as cuda")


def test_gpu_vs_cpu_goes_on_when_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_fails(engine: str, table: Table, prune: bool) -> dict[str, Any]:
        if engine == "cpu":
            raise MemoryError("no room")
        return result(engine, {"fit": 1.0})

    monkeypatch.setattr(gpu_vs_cpu, "measured", one_fails)
    monkeypatch.setattr(gpu_vs_cpu, "hindrance", lambda engine: None)
    failed, done = gpu_vs_cpu.compare(["cpu", "sklearn"], [50], 3, 0.0, 0, prune=True)
    assert failed["reason"] == "MemoryError: no room"
    assert done["reason"] is None


def test_picture_of_gpu_vs_cpu(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    gpu_vs_cpu.draw([result("cpu", {"load": 1.0, "levels": 2.0})], tmp_path / "bars.png")
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")
