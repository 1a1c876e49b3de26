"""The fast way of reading records gives the exact one's table, or none."""

from __future__ import annotations

from typing import Literal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.arrowrecords import quick_table
from c45gpu.data.records import Reading, read_records
from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import DataError
from tests.data.same import assert_same

Unseen = Literal["error", "unknown"]

MESSY_DISCRETE = ["a", "b", "?", " a", "b ", "a  b", "a b", "a.", "a..", "a. ", "a:b", "\\a", "", " ", "zz", '"a"', "é"]
MESSY_NUMBER = [
    *["1", "-2.5", "?", " ?", "? ", "\t?", " 3 ", "\t4", "5.", "1. ", ".", "?.", "1e5.", "1 2", "", " ", "x", "\u0661"],
    *["inf", "nan", "-nan", "nan(1)", "0x1F", "1e400", "+1", "1_0"],
]
MESSY_IGNORED = ["-", "", " ", "x. y", "x.\ty", "x. ", "x.", ".", "x:", "x:y", "\\,", "|", '"', "?"]
MESSY_CLASS = ["yes", "no", "yes.", " no ", "no .", "?", "", "maybe", "yes|why", "yes. |why", "n o"]
MESSY = {"d": MESSY_DISCRETE, "i": MESSY_IGNORED, "x": MESSY_NUMBER, "c": MESSY_CLASS}
PLAIN = {
    "d": ["a", "b", "?", " b", "a b"],
    "i": ["-", "", "any"],
    "x": ["1", "-2.5", "?", " ?", " 3 ", "1e5"],
    "c": ["yes", "no.", " yes"],
}
ODD_LINES = ["", "  ", "|c", "a,1,yes", ",", ".", "a,-,1,yes,", "a,-,1"]
ORDERS = ["dixc", "xdic", "dxi", "idx", "i", "x", "d"]  # of the fields; "c" is the class
KINDS = {
    "d": Attribute("d", "discrete", ("a", "b", "a b")),
    "i": Attribute("i", "ignored"),
    "x": Attribute("x", "continuous"),
}


def schema_in(order: str) -> Schema:
    return Schema(tuple(KINDS[letter] for letter in order if letter != "c"), ("yes", "no", "n o"))


def check_both_ways(schema: Schema, text: str, training: bool, unseen: Unseen) -> None:
    """The fast way gives the table that the exact one gives, or none; none where the exact one refuses the text."""
    quick = quick_table(text.encode(), Reading(schema, training=training, unseen=unseen))
    try:
        exact = read_records(text, "t.data", Reading(schema, training=training, unseen=unseen))
    except DataError:
        assert quick is None
    else:
        assert quick is None or assert_same(quick, exact) is None


@st.composite
def files(draw: st.DrawFn) -> tuple[Schema, str]:
    order = draw(st.sampled_from(ORDERS))
    schema = schema_in(order)
    if draw(st.booleans()):
        attributes = [Attribute(a.name, a.kind, (), 3) if a.kind == "discrete" else a for a in schema.attributes]
        schema = Schema(tuple(attributes), schema.classes)
    cell = {letter: st.sampled_from(PLAIN[letter] * 4 + MESSY[letter]) for letter in order}
    record = st.tuples(*(cell[letter] for letter in order)).map(",".join)
    lines = draw(st.lists(st.one_of(record, record, record, st.sampled_from(ODD_LINES)), min_size=1, max_size=5))
    return schema, "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@given(files(), st.booleans(), st.sampled_from(["error", "unknown"]))
def test_the_fast_way_gives_the_same_table_or_none(file: tuple[Schema, str], training: bool, unseen: Unseen) -> None:
    check_both_ways(*file, training, unseen)


def test_no_oddity_is_read_in_two_ways() -> None:
    for order in ORDERS:
        for odd in order:
            for text in MESSY[odd]:
                line = ",".join(text if letter == odd else PLAIN[letter][0] for letter in order)
                check_both_ways(schema_in(order), f"{line}\n", "c" in order, "error")


@given(
    st.lists(st.tuples(*(st.sampled_from(PLAIN[letter]) for letter in "dixc")).map(",".join), min_size=1, max_size=5)
)
def test_plain_files_take_the_fast_way(lines: list[str]) -> None:
    reading = Reading(schema_in("dixc"), training=True, unseen="error")
    assert quick_table("\n".join(lines).encode(), reading) is not None


def test_values_of_a_large_file_come_in_the_order_of_appearance() -> None:
    chance = np.random.default_rng(5)
    numbers = np.minimum(np.arange(400_000) // 100, chance.integers(0, 4000, 400_000))  # new values turn up everywhere
    text = "".join(f"{'value' * 3}{n},yes\n" for n in numbers.tolist())
    assert len(text) > 4 << 20  # several of Arrow's blocks
    schema = Schema((Attribute("d", "discrete", (), 4000),), ("yes",))
    quick = quick_table(text.encode(), Reading(schema, training=True, unseen="error"))
    assert quick is not None
    assert_same(quick, read_records(text, "t.data", Reading(schema, training=True, unseen="error")))
