"""The model on paper has the sizes that the package has, and its formulas say what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import dask_model
from bench.data import train_and_held_out
from bench.peers.ours import Ours
from c45gpu import train
from c45gpu.model.validate import FIELD_TYPES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scaling.md").read_text("utf-8")
GIVEN = dask_model.Given(10**9, 100, 100, 16, 4, 10**7, 16, 1.25e9)


def test_bytes_of_a_node_are_those_of_a_tree() -> None:
    rows, _ = train_and_held_out("mc", 2000, held_out=1)
    tree = train(Ours("reference").read(rows, 1), engine="reference").unpruned
    assert tree.n_nodes > 100
    n_bytes = sum(getattr(tree, name).nbytes for name in FIELD_TYPES)
    assert round(n_bytes / tree.n_nodes) == dask_model.NODE_BYTES


def test_the_page_has_what_the_formulas_give(capsys: pytest.CaptureFixture[str]) -> None:
    dask_model.main([])
    printed = capsys.readouterr().out
    for what, _, n_bytes in dask_model.traffic(GIVEN):
        [told] = re.findall(rf"^\| {re.escape(what)}[^|]*\|[^|]*\| ([^|]*) \|", printed, re.MULTILINE)
        assert told == dask_model.size(n_bytes)
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| ([0-9.]+ [GMk]B) \| ([0-9.]+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == len(list(dask_model.traffic(GIVEN)))
    for (_, told, seconds), (_, _, n_bytes) in zip(rows, dask_model.traffic(GIVEN), strict=True):
        assert float(told.split()[0]) == pytest.approx(float(dask_model.size(n_bytes).split()[0]), rel=0.01)
        assert float(seconds) == pytest.approx(n_bytes / GIVEN.link, rel=0.06)


def test_fewer_workers_have_more_to_carry() -> None:
    few = GIVEN._replace(workers=8)
    one, other = ({what: n for what, _, n in dask_model.traffic(x)} for x in (GIVEN, few))
    assert other["columns to their shares"] > one["columns to their shares"]
    assert other["branches of the root"] < one["branches of the root"]
    assert sum(n_bytes for _, n_bytes in dask_model.memory(few)) > sum(n for _, n in dask_model.memory(GIVEN))
    assert sum(s for _, s in dask_model.computing(few, 1e-8)) > sum(s for _, s in dask_model.computing(GIVEN, 1e-8))
    assert dask_model.pace() == pytest.approx(8.7e-9, rel=0.05)
