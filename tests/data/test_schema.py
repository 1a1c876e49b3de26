from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.schema import Attribute, Schema, first_duplicate

PLAY = Schema(
    (
        Attribute("outlook", "discrete", ("sunny", "overcast", "rain")),
        Attribute("day", "ignored"),
        Attribute("humidity", "continuous"),
        Attribute("wind", "discrete", ("weak",), 4),
    ),
    ("play", "don't"),
    "golf",
)

ATTRIBUTES = st.builds(
    Attribute,
    st.text(),
    st.sampled_from(["continuous", "discrete", "ignored"]),
    st.lists(st.text()).map(tuple),
    st.none() | st.integers(2),
)
SCHEMAS = st.builds(Schema, st.lists(ATTRIBUTES).map(tuple), st.lists(st.text()).map(tuple), st.text())


def test_numbers_follow_the_order_of_declaration() -> None:
    assert PLAY.n_classes == 2
    assert PLAY.used == (0, 2, 3)
    assert PLAY.class_number == {"play": 0, "don't": 1}
    assert PLAY.attributes[0].code_of == {"sunny": 0, "overcast": 1, "rain": 2}
    assert PLAY.attributes[2].code_of == {}


def test_the_class_is_called_class_unless_a_file_says_otherwise() -> None:
    assert Schema((), ("a",)).target == "class"


def test_what_is_derived_plays_no_part_in_equality() -> None:
    fresh = dataclasses.replace(PLAY)
    assert fresh.class_number == PLAY.class_number
    assert fresh == PLAY
    assert hash(fresh) == hash(dataclasses.replace(PLAY))
    assert fresh != dataclasses.replace(PLAY, target="class")


def test_a_schema_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PLAY.target = "other"  # type: ignore[misc]


@given(SCHEMAS)
def test_a_schema_survives_json(schema: Schema) -> None:
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@pytest.mark.parametrize(
    ("names", "duplicate"),
    [([], None), (["a"], None), (["a", "b", "A"], None), (["a", "b", "c", "b", "a"], "b"), (["", ""], "")],
)
def test_first_duplicate(names: list[str], duplicate: str | None) -> None:
    assert first_duplicate(iter(names)) == duplicate
