from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench import report
from bench.__main__ import main, parser
from bench.measure import Plan, Result, measure
from bench.peers import PEERS
from bench.peers.c4_5 import errors_on_test
from bench.peers.c5_0 import depth_of_tree_file
from bench.peers.peer import Size
from bench.peers.weka import depth_of_printed_tree
from bench.peers.xgboost import shape_of_arrays

TINY = Plan(sets=("agr1",), rows=(300,), peers=("c45gpu-reference", "sklearn"), held_out=2_000, runs=2)


def timed_result(peer: str, rows: int, *train: float, prune: float | None = None) -> Result:
    run = {"accuracy": 0.9, "leaves": 5, "depth": 2, "peak_mb": 100.0, "predict_rows": 100}
    seconds = {"read": 0.1, "prune": prune, "predict": 0.5}
    runs = [run | {"seconds": seconds | {"train": one}} for one in train]
    return Result(peer, {"set": "mc", "rows": rows}, "", None, runs)


def test_two_peers_on_the_same_rows() -> None:
    said: list[str] = []
    ours, theirs = measure(TINY, said.append)
    for result in (ours, theirs):
        assert result.reason is None
        assert len(result.runs) == 2
        for run in result.runs:
            assert run["predict_rows"] == 2_000
            assert run["accuracy"] > 0.8
            assert run["leaves"] >= 2
            assert run["depth"] >= 1
            assert run["peak_mb"] >= run["base_mb"] > 1
            assert run["version"]
            assert min(run["seconds"][phase] for phase in ("import", "warm_up", "read", "train", "predict")) >= 0
        assert result.runs[0]["accuracy"] == result.runs[1]["accuracy"]
    assert ours.runs[0]["seconds"]["prune"] > 0
    assert theirs.runs[0]["seconds"]["prune"] is None
    assert [line.split()[0] for line in said] == ["making", *["c45gpu-reference", "sklearn"] * 2]


def test_a_peer_that_is_too_slow_is_ended_and_not_tried_on_more_rows() -> None:
    plan = Plan(sets=("agr1",), rows=(200, 100), peers=("sklearn",), held_out=100, limit=0.05)
    first, second = measure(plan, lambda _: None)
    assert (first.table["rows"], first.reason) == (100, "not finished in 0.05 s")
    assert second.reason == "did not get through 100 rows: not finished in 0.05 s"
    assert first.runs == second.runs == []


def test_what_is_not_there_is_skipped_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert PEERS["c4.5"].missing() == "there is no c4.5 on the PATH"
    assert PEERS["j48"].missing() == "there is no java"
    assert PEERS["snapml-exact"].refuses(Size(10, unknown=True)) == "does not take unknown values"
    assert PEERS["c45gpu-reference"].refuses(Size(10**6, unknown=False)) == "not run beyond 100000 rows"
    assert PEERS["sklearn"].refuses(Size(10**6, unknown=True)) is None


def test_names_are_unique_and_ours_lead() -> None:
    assert len(PEERS) == 17
    assert next(iter(PEERS)) == report.OURS


def test_medians_and_slopes() -> None:
    results = [timed_result("sklearn", 1_000, 1.0, 9.0, 2.0), timed_result("sklearn", 10_000, 20.0, prune=180.0)]
    assert results[0].second("fit") == 2.0
    assert results[1].second("fit") == 200.0
    assert results[0].second("prune") is None
    [(rows, larger, slope)] = report.slopes(results, "sklearn", "mc")
    assert (rows, larger) == (1_000, 10_000)
    assert slope == pytest.approx(2.0)


def test_markdown_compares_with_ours_and_gives_reasons() -> None:
    results = [timed_result("c45gpu-cpu", 1_000, 0.5), timed_result("sklearn", 1_000, 1.0, 9.0, 2.0)]
    results.append(Result("ydf", {"set": "mc", "rows": 1_000}, "", "ydf is not installed"))
    lines = report.markdown(results).splitlines()
    row = "| sklearn | 2.00 (1.00 to 9.00) | 2.00 | - | 0.100 | 4.00 | 3 | 5 | 2 | 0.9000 | 100 | 0.00 |"
    assert row in lines
    assert "- ydf: ydf is not installed" in lines


def test_command_prints_keeps_and_reads_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    out = tmp_path / "new" / "figures.json"
    main(["--rows", "200", "--sets", "agr1", "--peers", "c4.5", "--threads", "1", "--out", str(out)])
    whole = json.loads(out.read_text())
    assert whole["command"].startswith("python -m bench --rows 200")
    assert whole["machine"]["cores"] >= 1
    assert whole["packages"]["numpy"] == np.__version__
    printed = capsys.readouterr().out
    assert "- c4.5: there is no c4.5 on the PATH" in printed
    assert (
        report.markdown(report.results_of(whole)) == out.with_suffix(".md").read_text() == printed.rstrip("\n") + "\n"
    )


def test_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    report.draw([timed_result("sklearn", rows, rows / 1e4) for rows in (10, 100)], tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("words", [["--rows", "0.5"], ["--sets", "iris"], ["--peers", "sklearn,oracle"]])
def test_bad_arguments_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(words)
    assert words[1].split(",")[-1] in capsys.readouterr().err


def test_c4_5_prints_its_errors() -> None:
    head = "Evaluation on training data (300 items):\n\n\t  31   17( 5.7%)     11   20( 6.7%)    (10.1%)   <<\n\n"
    table = "\t Before Pruning           After Pruning\n\t  31   12( 8.9%)     11    4( 3.0%)    (10.1%)   <<\n"
    assert errors_on_test(f"{head}Evaluation on test data (135 items):\n\n{table}") == (135, 4)
    with pytest.raises(RuntimeError, match="no evaluation on test data"):
        errors_on_test(head)


def test_depth_of_a_c5_0_tree_file(tmp_path: Path) -> None:
    lines = [
        'id="a title"',
        'type="2" class="a" att="x" forks="3" cut="1"',
        'type="0" class="a"',
        'type="1" class="a" att="y" forks="2"',
        'type="0" class="a"',
        'type="2" class="b" att="x" forks="3" cut="0"',
        *['type="0" class="b"'] * 3,
        'type="0" class="b"',
    ]
    (tmp_path / "rows.tree").write_text("\n".join(lines) + "\n")
    assert depth_of_tree_file(tmp_path / "rows.tree") == 3


def test_depth_of_a_printed_j48_tree() -> None:
    tree = (
        "x <= 1\n|   y = a: no (3.0)\n|   y = b\n|   |   z > 2: yes (1.0)\n|   |   z <= 2: no\nx > 1: yes (5.0/1.0)\n"
    )
    assert depth_of_printed_tree(f"J48 pruned tree\n------\n\n{tree}\nNumber of Leaves  : \t4\n") == 3
    assert depth_of_printed_tree("J48 pruned tree\n------\n: yes (5.0)\n\nNumber of Leaves  : \t1\n") == 0


def test_shape_of_a_tree_of_arrays() -> None:
    assert shape_of_arrays(np.array([1, -1, 3, -1, -1]), np.array([2, -1, 4, -1, -1])) == (3, 2)
