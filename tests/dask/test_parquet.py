"""Parquet data sets are read by row groups on the workers, and are what one machine reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from c45gpu.dask import rows_of_parquet
from c45gpu.data.frames import read_file
from c45gpu.data.rowgroups import cut_by_row_groups, files_of, footer_of
from c45gpu.errors import DataError, OptionError
from tests.dask.threads import assert_is, client, joined

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["client"]

N = 40


def sky() -> Any:
    """A table with a column of every kind; values and nulls differ from row group to row group."""
    chance = np.random.default_rng(0)
    texts = np.array(["sun", "rain", "?", "", "hail", "10", "9"])[chance.integers(0, 7, N)]
    texts[:10] = "sun"
    categories = pa.DictionaryArray.from_arrays(pa.array(chance.integers(0, 2, N), pa.int32()), ["warm", "cold", "hot"])
    return pa.table(
        {
            "sky": pa.array(texts.tolist()),
            "wind": pa.array(chance.normal(size=N).astype(np.float32), mask=chance.random(N) < 0.2),
            "gust": pa.array(np.where(np.arange(N) < 20, None, chance.integers(0, 9, N)).tolist(), pa.int64()),
            "air": categories,
            "wet": pa.array((chance.random(N) < 0.5).tolist()),
            "day": pa.array(chance.integers(0, 9, N).astype(np.int32)).cast(pa.date32()),
            "null": pa.nulls(N),
            "w": pa.array(np.where(np.arange(N) < 10, 0.0, 1.5)),
            "play": pa.array(np.where(np.arange(N) < 8, "2", np.where(chance.random(N) < 0.5, "10", "1")).tolist()),
        }
    )


@pytest.mark.parametrize("how", [{}, {"weight": "w", "categorical": ("gust",), "ignore": ("day", "null")}], ids=str)
def test_row_groups_of_a_file_are_the_file(client: Client, tmp_path: Path, how: dict[str, Any]) -> None:
    path = tmp_path / "sky.parquet"
    parquet.write_table(sky(), path, row_group_size=7)
    rows = rows_of_parquet(client, path, target="play", **how)
    assert len(rows.parts) == 6
    assert_is(joined(client, rows), read_file(path, target="play", **how))


def test_files_of_a_folder_are_one_table(client: Client, tmp_path: Path) -> None:
    whole = sky()
    parquet.write_table(whole, tmp_path / "whole.parquet")
    folder = tmp_path / "set"
    (folder / "inner").mkdir(parents=True)
    (folder / "_metadata").write_bytes(b"not a part")
    (folder / ".part-9.parquet").write_bytes(b"nor this")
    names = whole.column_names
    for i, place in enumerate(["inner/a.parquet", "part-0.parquet", "part-1.parquet", "part-2.parquet"]):
        part = whole.slice(10 * i, 10)
        parquet.write_table(part.select(names[::-1] if i == 2 else names), folder / place, row_group_size=4)
    expected = read_file(tmp_path / "whole.parquet", target="play")
    assert_is(joined(client, rows_of_parquet(client, folder, target="play")), expected)
    paths = [folder / "inner" / "a.parquet", folder / "part-*.parquet"]
    assert_is(joined(client, rows_of_parquet(client, paths, target="play")), expected)


def test_row_groups_are_put_together_as_far_as_they_fit(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(sky(), path, row_group_size=7)
    footer = footer_of(str(path))
    assert footer.rows == (7, 7, 7, 7, 7, 5)
    [whole] = cut_by_row_groups([footer], sum(footer.sizes))
    assert (whole.first, whole.rows, whole.before) == (0, footer.rows, 0)
    parts = cut_by_row_groups([footer._replace(sizes=(10, 10, 10, 25, 5, 5))], 20)
    assert [(p.first, p.rows, p.before) for p in parts] == [
        (0, (7, 7), 0),
        (2, (7,), 14),
        (3, (7,), 21),
        (4, (7, 5), 28),
    ]
    assert [p.place for p in parts[:2]] == [f"{path}, row groups 0 to 1", f"{path}, row group 2"]


def test_a_fault_names_file_row_and_row_group(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    table = pa.table({"x": pa.array([1.0] * 9), "y": pa.array([*"abababab", None])})
    parquet.write_table(table, path, row_group_size=4)
    with pytest.raises(
        DataError, match=rf"^{path}: column 'y', row 9 \(row group 2\): the case has no class: give it one"
    ):
        rows_of_parquet(client, path, target="y")


def test_a_damaged_file_is_named(client: Client, tmp_path: Path) -> None:
    parquet.write_table(sky(), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"b\.parquet: cannot be read \(.*\): check the file$"):
        rows_of_parquet(client, tmp_path, target="play")
    (tmp_path / "b.parquet").write_bytes(whole[:100] + bytes(800) + whole[900:])
    with pytest.raises(DataError, match=r"b\.parquet: cannot be read \(.*\): check the file$"):
        rows_of_parquet(client, tmp_path, target="play")


def test_files_with_other_columns_are_named(client: Client, tmp_path: Path) -> None:
    parquet.write_table(sky(), tmp_path / "a.parquet")
    parquet.write_table(sky().drop_columns(["wind"]), tmp_path / "b.parquet")
    with pytest.raises(
        DataError, match=r"b\.parquet: lacks the column 'wind' of .*a\.parquet: give all files the same"
    ):
        rows_of_parquet(client, tmp_path, target="play")
    parquet.write_table(sky().append_column("more", pa.nulls(N)), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: has a column 'more' beside those of .*a\.parquet: give all"):
        rows_of_parquet(client, tmp_path, target="play")


def test_numbers_in_one_file_and_texts_in_another_are_told(client: Client, tmp_path: Path) -> None:
    parquet.write_table(pa.table({"x": [1, 2], "y": ["a", "b"]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": ["1", "3"], "y": ["a", "b"]}), tmp_path / "b.parquet")
    with pytest.raises(
        DataError, match=r"^column 'x' holds numbers in .*a\.parquet, row group 0 and texts in .*b\.parq"
    ):
        rows_of_parquet(client, tmp_path, target="y")
    rows = rows_of_parquet(client, tmp_path, target="y", categorical=["x"])
    assert rows.schema.attributes[0].values == ("1", "2", "3")


def test_weights_that_are_all_zero_are_refused(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"x": [1, 2, 3], "w": [0.0, 0, 0], "y": ["a", "b", "a"]}), path, row_group_size=1)
    with pytest.raises(DataError, match=r"^every weight is zero: give some case a weight above 0"):
        rows_of_parquet(client, path, target="y", weight="w")


def test_columns_that_are_not_there_or_have_two_roles(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(sky(), path)
    with pytest.raises(DataError, match="there is no column 'class': the columns are sky, wind"):
        rows_of_parquet(client, path, target="class")
    with pytest.raises(OptionError, match="column 'sky' has two roles: give it one"):
        rows_of_parquet(client, path, target="play", ignore=["sky"], categorical=["sky"])


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "*.parquet"):
        with pytest.raises(DataError, match=r"holds no \.parquet files: check the path"):
            files_of(path)
    with pytest.raises(DataError, match="no path is given: name a Parquet file"):
        files_of([])
    with pytest.raises(DataError, match=r"none\.parquet: cannot be read \(.*\): check the file"):
        footer_of(*files_of(tmp_path / "none.parquet"))


def test_folders_that_stand_for_a_column_are_refused(tmp_path: Path) -> None:
    (tmp_path / "year=2020").mkdir()
    parquet.write_table(sky(), tmp_path / "year=2020" / "a.parquet")
    with pytest.raises(
        DataError, match="the folder 'year=2020' stands for a column, which its files lack: read the data"
    ):
        files_of(tmp_path)


def test_a_file_without_rows_is_refused_and_an_empty_part_is_not(client: Client, tmp_path: Path) -> None:
    parquet.write_table(sky().slice(0, 0), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: has columns but no rows: give at least one case"):
        rows_of_parquet(client, tmp_path, target="play")
    parquet.write_table(sky(), tmp_path / "b.parquet")
    rows = rows_of_parquet(client, tmp_path, target="play")
    assert_is(joined(client, rows), read_file(tmp_path / "b.parquet", target="play"))
