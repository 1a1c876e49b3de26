"""What is written is read back."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.c45files import read_cases, read_names, write_cases, write_names
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError
from tests.data.same import assert_same

SCHEMA = Schema((Attribute("d", "discrete", ("a", "b")), Attribute("x", "continuous")), ("yes", "no"))

NAMES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1, max_size=6),
    st.text("a.,:|\\?\" '\t\ufeffé", min_size=1, max_size=6),
).filter(lambda name: name != "?")


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n_cases = draw(st.integers(1, 5))
    attributes: list[Attribute] = []
    columns: list[Any] = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        kind = draw(st.sampled_from(["continuous", "discrete", "ignored"]))
        values = tuple(draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))) if kind == "discrete" else ()
        attributes.append(Attribute(name, kind, values))
        cell = (
            st.integers(-1, len(values) - 1) if kind == "discrete" else st.floats(width=draw(st.sampled_from([32, 64])))
        )
        column = np.array(draw(st.lists(cell, min_size=n_cases, max_size=n_cases)))
        columns.append(None if kind == "ignored" else column.astype(np.int32) if kind == "discrete" else column)
    classes = tuple(draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)))
    numbers = draw(st.lists(st.integers(-1, len(classes) - 1), min_size=n_cases, max_size=n_cases))
    return Table(Schema(tuple(attributes), classes), columns, np.array(numbers, np.int32))


@given(tables())
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, table: Table) -> None:
    folder = tmp_path_factory.mktemp("written")
    write_names(table.schema, folder / "t.names")
    write_cases(table, folder / "t.data")
    schema = read_names(folder / "t.names")
    assert_same(read_cases(folder / "t.data", schema, training=False), table)
    assert sorted(path.name for path in folder.iterdir()) == ["t.data", "t.names"]


def test_numbers_are_written_with_the_digits_they_need(tmp_path: Path) -> None:
    values = np.array([1, 0.1, 1e300, np.inf, np.nan, np.float32(0.1)])
    schema = Schema((Attribute("x", "continuous"),), ("yes",))
    write_cases(Table(schema, [values], np.zeros(6, np.int32)), tmp_path / "t.data")
    text = (tmp_path / "t.data").read_text()
    assert text == "1,yes\n0.1,yes\n1e+300,yes\ninf,yes\n?,yes\n0.10000000149011612,yes\n"


def test_attributes_with_few_values_are_written_as_discrete_n(tmp_path: Path) -> None:
    attributes = (
        Attribute("none", "discrete"),
        Attribute("one", "discrete", ("p",)),
        Attribute("n", "discrete", ("q",), 9),
    )
    write_names(Schema(attributes, ("yes",)), tmp_path / "t.names")
    assert (tmp_path / "t.names").read_text() == "yes.\n\nnone: discrete 2.\none: discrete 2.\nn: discrete 9.\n"


@pytest.mark.parametrize("name", ["", "?", "a\nb", "a\rb", "a\0b", "\ud800"])
def test_names_that_cannot_be_written_are_refused_and_nothing_is_left(tmp_path: Path, name: str) -> None:
    schema = Schema((Attribute("d", "discrete", ("a", name)),), ("yes",))
    with pytest.raises(DataError, match="cannot be written"):
        write_names(schema, tmp_path / "t.names")
    with pytest.raises(DataError, match="cannot be written"):
        write_cases(Table(schema, [np.zeros(1, np.int32)], np.zeros(1, np.int32)), tmp_path / "t.data")
    assert not list(tmp_path.iterdir())


def test_what_the_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    table = Table(SCHEMA, [np.zeros(1, np.int32), np.zeros(1)], np.zeros(1, np.int32), np.full(1, 0.5))
    with pytest.raises(DataError, match="weights"):
        write_cases(table, tmp_path / "t.data")
    with pytest.raises(DataError, match="no classes"):
        write_names(Schema(SCHEMA.attributes, ()), tmp_path / "t.names")


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        write_names(SCHEMA, tmp_path / "none" / "t.names")


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "t.names").write_text("before")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DataError, match=r"t\.names: cannot be written \(No space left on device\)"):
        write_names(SCHEMA, tmp_path / "t.names")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_writing_replaces_a_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.names"
    path.write_text("what was there before, and is longer than what comes\n" * 9)
    write_names(SCHEMA, path)
    assert read_names(path) == SCHEMA
