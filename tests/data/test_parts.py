"""Parts that were read apart become rows of one table."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.frames import from_frame
from c45gpu.data.parts import columns_with_order, facts_of, under, united
from c45gpu.data.table import Table
from c45gpu.errors import DataError
from tests.data.same import assert_same


def together(frames: list[pd.DataFrame], labels: list[Any]) -> Table:
    """What the parts are, brought under one schema."""
    parts = [from_frame(frame, y) for frame, y in zip(frames, labels, strict=True)]
    facts = [
        facts_of(part, f"part {i}", columns_with_order(frame))
        for i, (part, frame) in enumerate(zip(parts, frames, strict=True))
    ]
    whole = united(facts)
    tables = [under(whole, part) for part in parts]
    columns = [np.concatenate(column) for column in zip(*(table.columns for table in tables), strict=True)]
    return Table(whole.schema, columns, np.concatenate([table.classes for table in tables]))


VALUES = {
    "text": st.sampled_from(["b", "a", "10", "9", ""]) | st.none(),
    "float": st.sampled_from([1.5, -0.0, np.inf]) | st.none(),
    "truth": st.booleans(),
    "whole": st.integers(-3, 3),
}


@given(st.data())
def test_parts_of_a_frame_are_its_rows(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    columns = {name: data.draw(st.lists(of, min_size=n, max_size=n)) for name, of in VALUES.items()}
    types = {"text": "object", "float": data.draw(st.sampled_from(["float32", "float64"]))}
    frame = pd.DataFrame({name: pd.Series(x, dtype=types.get(name)) for name, x in columns.items()})
    frame["declared"] = pd.Categorical(columns["text"], categories=["a", "zz", "b", "10", "9", ""])
    frame["truth or null"] = pd.Series(columns["truth"], dtype="boolean").mask(np.arange(n) % 3 == 0)
    y = np.array(data.draw(st.lists(st.sampled_from(["no", "yes", "2", "10"]), min_size=n, max_size=n)))
    edges = sorted({0, n, *data.draw(st.lists(st.integers(0, n), max_size=3))})
    cuts = [slice(*ends) for ends in pairwise(edges)]
    found = together([frame[cut] for cut in cuts], [y[cut] for cut in cuts])
    whole = from_frame(frame, y)
    assert set(found.schema.classes) == set(whole.schema.classes)  # labels are sorted by who knows their type
    again = under(united([facts_of(whole, "whole", columns_with_order(frame))]), whole)
    assert_same(found, again)
    assert again.schema.attributes == whole.schema.attributes


def test_categories_that_differ_come_in_the_order_in_which_they_appear() -> None:
    frames = [pd.DataFrame({"x": pd.Categorical(list(values))}) for values in ("cb", "ac", "bd")]
    assert together(frames, [[0, 1]] * 3).schema.attributes[0].values == ("b", "c", "a", "d")


def test_a_part_of_nulls_takes_the_kind_and_the_width_of_the_others() -> None:
    frames = [
        pd.DataFrame({"x": pd.Series([None, None], dtype=object), "y": np.float64([np.nan, np.nan])}),
        pd.DataFrame({"x": pd.Series(["b", "a"]), "y": np.float32([1, 2])}),
    ]
    table = together(frames, [[0, 1]] * 2)
    assert table.schema.attributes[0].values == ("a", "b")
    assert table.column(0).tolist() == [-1, -1, 1, 0]
    assert table.column(1).dtype == np.float32


def test_the_widest_numbers_are_everybodys() -> None:
    frames = [pd.DataFrame({"x": np.array([0.1, 0.2], kind)}) for kind in ("f4", "f8")]
    np.testing.assert_array_equal(
        together(frames, [[0, 1]] * 2).column(0), np.float64([np.float32(0.1), np.float32(0.2), 0.1, 0.2])
    )


def test_numbers_and_texts_in_one_column_are_refused() -> None:
    frames = [pd.DataFrame({"x": ["a", "b"]}), pd.DataFrame({"x": [1.0, 2.0]})]
    with pytest.raises(DataError, match=r"^column 'x' holds numbers in part 1 and texts in part 0: give it one type"):
        together(frames, [[0, 1]] * 2)


def test_parts_with_other_columns_are_refused() -> None:
    with pytest.raises(DataError, match=r"^part 1 has the columns y where part 0 has x: give every part the same"):
        together([pd.DataFrame({"x": [1.0]}), pd.DataFrame({"y": [1.0]})], [[0], [1]])


def test_columns_with_order() -> None:
    frame = pd.DataFrame(
        {
            "categories": pd.Categorical(list("xy")),
            "ordered": pd.Categorical(list("xy"), ordered=True),
            "text": list("xy"),
            "arrow": pd.Series(list("xy"), dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
            "number": [1, 2],
        }
    )
    assert columns_with_order(frame) == ["categories", "ordered", "arrow"]
