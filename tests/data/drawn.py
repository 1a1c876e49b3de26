"""Tables for the writers' tests: names of every kind, numbers of both sizes, unknown values, weights or none."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table

TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6),
    st.text("a.,:;|\\?%{}\"' \t\r\n\ufeffé0-", min_size=1, max_size=6),
    st.sampled_from(["NA", "nan", "12", "1e3", "true", "2020-01-02", "@data", "it's"]),
)


@st.composite
def tables(
    draw: st.DrawFn,
    texts: st.SearchStrategy[str],
    *,
    names: st.SearchStrategy[str] | None = None,
    single: bool = False,
    weighted: bool = True,
) -> Table:
    """A table without ignored attributes; `texts` are values, and names too unless told; float32 may be `single`."""
    n_cases = draw(st.integers(1, 5))
    *of_attributes, target = draw(st.lists(texts if names is None else names, min_size=2, max_size=5, unique=True))
    attributes: list[Attribute] = []
    columns: list[Any] = []
    for name in of_attributes:
        values = tuple(draw(st.lists(texts, min_size=1, max_size=4, unique=True))) if draw(st.booleans()) else ()
        attributes.append(Attribute(name, "discrete" if values else "continuous", values))
        width = draw(st.sampled_from([32, 64])) if single else 64
        cell = st.integers(-1, len(values) - 1) if values else st.floats(width=width)
        kind = np.int32 if values else np.float32 if width == 32 else np.float64
        columns.append(np.array(draw(st.lists(cell, min_size=n_cases, max_size=n_cases)), kind))
    classes = tuple(draw(st.lists(texts, min_size=1, max_size=3, unique=True)))
    codes = np.array(draw(st.lists(st.integers(0, len(classes) - 1), min_size=n_cases, max_size=n_cases)), np.int32)
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 2.0, 1 / 3]), min_size=n_cases, max_size=n_cases))
    return Table(
        Schema(tuple(attributes), classes, target),
        columns,
        codes,
        np.array(weights) if weights is not None and weighted else None,
    )


def named_values(table: Table) -> list[tuple[str, list[Any]]]:
    """What a table says in words: each column's name and its values by name, NaN as None; the class comes last."""
    found = []
    for a in table.schema.used:
        attribute, column = table.schema.attributes[a], table.column(a).tolist()
        values = [*attribute.values, None]
        said = [values[v] if attribute.kind == "discrete" else None if v != v else v for v in column]
        found.append((attribute.name, said))
    return [*found, (table.schema.target, [table.schema.classes[c] for c in table.classes])]
