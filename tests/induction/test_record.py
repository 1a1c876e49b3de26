"""How training went is taken down beside the model, and shown where it is asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from c45gpu import __version__
from c45gpu.cli import main
from c45gpu.data.c45files import read_cases, read_names
from c45gpu.data.table import Table
from c45gpu.errors import ModelError
from c45gpu.induction.options import Options
from c45gpu.induction.record import Recording, digest_of, load_record, save_record
from c45gpu.induction.train import train
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.store import Model, load, model_bytes
from c45gpu.report import report_html
from tests.report.made import Cases, report_document


@pytest.fixture
def penguins(examples: Path) -> Table:
    return read_cases(examples / "penguins.data", read_names(examples / "penguins.names"))


def recorded(
    table: Table, engine: str | Engine = "reference", reading: float | None = None, **options: Any
) -> tuple[Model, dict[str, Any]]:
    recording = Recording(reading)
    model = train(table, Options(**options), engine, recording=recording)
    return model, recording.record(model)


def test_a_record_tells_what_a_model_does_not(penguins: Table) -> None:
    levels: list[Any] = []
    model, record = recorded(penguins, reading=0.5, min_cases=3)
    again = train(penguins, Options(min_cases=3), progress=levels.append)
    assert model_bytes(again) == model_bytes(model)
    assert (record["engine"], record["threads"], record["c45gpu"]) == ("reference", 1, __version__)
    assert record["options"] == Options(min_cases=3).to_dict()
    assert (record["cases"], record["attributes"], record["classes"]) == (344, 7, 3)
    assert record["nodes"] == {"unpruned": model.unpruned.n_nodes, "pruned": model.pruned.n_nodes}
    assert record["levels"] == len(levels)
    assert record["model"] == digest_of(model)
    assert record["resumed"] is False
    assert record["peak_memory"] > 1 << 20


def test_the_stages_take_what_all_takes_or_less(penguins: Table) -> None:
    _, record = recorded(penguins, reading=0.5, soft_thresholds=True)
    seconds = record["seconds"]
    assert list(seconds) == ["reading", "sorting", "growing", "pruning", "softening", "all"]
    assert seconds["reading"] == 0.5
    assert 0 < sum(seconds.values()) - seconds["all"] <= seconds["all"]
    _, without = recorded(penguins)
    assert list(without["seconds"]) == ["sorting", "growing", "pruning", "all"]


def test_windows_are_sorted_and_grown_in_turns(penguins: Table) -> None:
    _, record = recorded(penguins, n_trials=2)
    assert list(record["seconds"]) == ["sorting", "growing", "pruning", "all"]


def test_the_threads_of_an_engine_are_its_own(penguins: Table) -> None:
    class Many(ReferenceEngine):
        name = "many"
        threads = 7

    _, record = recorded(penguins, Many())
    assert (record["engine"], record["threads"]) == ("many", 7)


def test_training_that_went_on_says_so(penguins: Table, tmp_path: Path) -> None:
    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    kept = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        train(penguins, progress=interrupt, checkpoint=kept, every=0)
    recording = Recording()
    model = train(penguins, checkpoint=kept, recording=recording)
    assert recording.record(model)["resumed"] is True


def test_a_record_is_of_one_model(penguins: Table, tmp_path: Path) -> None:
    model, record = recorded(penguins)
    path = tmp_path / "record.json"
    save_record(record, path)
    assert load_record(path, model) == record
    other = replace(model, pruned=model.unpruned)
    with pytest.raises(ModelError, match="of another model"):
        load_record(path, other)
    with pytest.raises(ModelError, match="of another model"):
        report_html(other, record=record)


@pytest.mark.parametrize("content", ["", "[1]", "{}", '{"format": "c45gpu-training", "format_number": 2}', "\0"])
def test_what_is_no_record(content: str, penguins: Table, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(content)
    with pytest.raises(ModelError, match=r"record\.json: is no training record"):
        load_record(path, train(penguins))
    with pytest.raises(ModelError, match="is no training record"):
        load_record(tmp_path / "none.json", train(penguins))


def test_the_report_has_the_record(penguins: Table) -> None:
    model, record = recorded(penguins)
    assert report_document(model, Cases.of(model, penguins, "cases"), "title", record)["training"] == record
    assert "training" not in report_document(model, None, "title")
    assert json.dumps(record["system"]) in report_html(model, record=record)


def test_the_command_saves_and_shows_it(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, path, page = (str(tmp_path / name) for name in ("m.c45", "record.json", "page.html"))
    asked = ["train", str(examples / "penguins"), "-o", model, "--record", path, "--json"]
    assert main(asked) == 0
    told = json.loads(capsys.readouterr().out)["training"]
    record = load_record(path, load(model))
    assert told == record
    assert record["seconds"]["reading"] > 0
    assert main(["report", model, "--record", path, "-o", page]) == 0
    assert f'"finished": "{record["finished"]}"'.replace(": ", ":") in Path(page).read_text().replace(": ", ":")
    assert main(["report", model, "--record", model, "-o", page]) == 1
    assert main([*asked[:4], "--record", str(tmp_path)]) == 1
    assert "the record is not saved" in capsys.readouterr().err
