"""The page about many machines: its code runs, and its options and names are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet
import pytest

import c45gpu.dask
from c45gpu import C45Classifier, load
from c45gpu.cli import main
from c45gpu.data.frames import read_file
from c45gpu.model.store import model_bytes
from tests.dask.threads import client

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["client"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "scaling.md").read_text("utf-8")


def test_the_code_of_the_page(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, of_collections, of_files, _ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "penguins").mkdir()
    parquet.write_table(arrow_csv.read_csv(ROOT / "examples" / "penguins.csv"), tmp_path / "penguins" / "a.parquet")
    names = {"client": client}
    exec(of_collections, names)
    assert capsys.readouterr().out == "True 122\n"
    assert model_bytes(load("penguins.c45")) == model_bytes(names["classifier"].model_)  # type: ignore[attr-defined]
    exec(of_files, names)
    table = read_file(tmp_path / "penguins" / "a.parquet", target="species")
    expected = c45gpu.train(table, c45gpu.Options(min_cases=5))
    assert model_bytes(names["model"]) == model_bytes(expected)  # type: ignore[arg-type]


def test_names_of_the_page() -> None:
    named = set(re.findall(r"\b(rows_of_[a-z]+|train_on)\b", PAGE))
    assert named == {"rows_of_parquet", "rows_of_table", "train_on"}
    assert named < set(c45gpu.dask.__all__)
    parameters = C45Classifier().get_params()
    assert {"screen", "soft_thresholds", "prune", "min_cases", "min_samples_split"} <= set(parameters)


def test_options_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--help"]) == 0
    told = capsys.readouterr().out
    in_commands = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
    options = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", in_commands))
    assert options == {"--target", "--dask", "--dry-run", "-o"}
    assert all(option in told for option in options)
