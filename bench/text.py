"""Rows as text: C4.5's ``.names``, ``.data`` and ``.test``, and Weka's ARFF; floats as short as they can be."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from bench.rows import Column, Rows

STEM = "rows"
CLASS = "class"


def write_text(train: Rows, held_out: Rows, folder: Path) -> None:
    """Write a training and a held-out table in both forms to a new folder."""
    folder.mkdir(parents=True)
    (folder / f"{STEM}.names").write_text(_names(train))
    for rows, suffix in ((train, ".data"), (held_out, ".test")):
        _write_body(rows, folder / f"{STEM}{suffix}")
        with (folder / f"{STEM}{suffix}.arff").open("wb") as whole, (folder / f"{STEM}{suffix}").open("rb") as body:
            whole.write(_arff_head(rows).encode())
            shutil.copyfileobj(body, whole)


def _names(rows: Rows) -> str:
    lines = [
        f"{name}: {', '.join(values) or 'continuous'}." for name, values in zip(rows.names, rows.values, strict=True)
    ]
    return "\n".join([", ".join(rows.class_names) + ".", "", *lines, ""])


def _arff_head(rows: Rows) -> str:
    described = zip((*rows.names, CLASS), (*rows.values, rows.class_names), strict=True)
    lines = [f"@attribute {name} {'{' + ','.join(values) + '}' if values else 'numeric'}" for name, values in described]
    return "\n".join([f"@relation {STEM}", *lines, "@data", ""])


def _write_body(rows: Rows, path: Path) -> None:
    import pyarrow
    from pyarrow import csv

    columns = [_as_text(column, values) for column, values in zip(rows.columns, rows.values, strict=True)]
    columns.append(_as_text(rows.classes, rows.class_names))
    table = pyarrow.table(columns, names=[*rows.names, CLASS])
    csv.write_csv(table, path, csv.WriteOptions(include_header=False, quoting_style="none"))


def _as_text(column: Column, values: tuple[str, ...]) -> object:
    import pyarrow

    if values:
        words = pyarrow.array([*values, "?"])
        return words.take(pyarrow.array(np.where(column < 0, len(values), column)))
    return pyarrow.array(column, from_pandas=True).cast(pyarrow.string()).fill_null("?")
