"""Tables as files of other formats: CSV, TSV, ARFF, Parquet and Arrow IPC, which `frames.read_file` reads back.

Values and names that the reader would take for something else, such as the text "NA" in a CSV file, are refused.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from c45gpu.data.arffwriting import arff_lines
from c45gpu.data.arrowcolumns import TEXT, is_discrete
from c45gpu.data.blocks import Cases, Progress, cases_of, numeral, small_blocks, spelled
from c45gpu.data.compressed import codec_of, without_codec
from c45gpu.data.csvfile import UNKNOWN_TEXTS
from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.data.textlines import put_lines, whole_or_told
from c45gpu.data.tokens import FilePath
from c45gpu.data.values import UNKNOWN, listed, shown
from c45gpu.errors import DataError, OptionError

_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_PARQUET: Final = (".parquet", ".pq")
_IPC: Final = (".arrow", ".feather", ".ipc")
SUFFIXES: Final = (*_DELIMITERS, ".arff", *_PARQUET, *_IPC)
WRITABLE_CODECS: Final = (".gz", ".bz2", ".zst", ".lz4")

_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
_CHANGED_BY_CSV: Final = re.compile("[\0\r\ud800-\udfff]|\\A\\s|\\s\\Z|\\A\ufeff")


def format_of(path: FilePath) -> tuple[str, str | None]:
    """The suffix that tells the format of a file, "" where there is none, and Arrow's name of its compression.

    Raises
    ------
    OptionError
        When a format is to be compressed that compresses by itself.
    """
    codec, kind = codec_of(path), Path(without_codec(path)).suffix.lower()
    if codec is not None and kind in (*_PARQUET, *_IPC):
        raise OptionError(f"{path}: {kind} files are compressed inside: leave {Path(path).suffix} out")
    return kind, codec


def write_file(
    table: Table,
    path: FilePath,
    *,
    weight: str = "weight",
    sparse: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write a table in the format that the suffix names; see :func:`write_as`.

    Parameters
    ----------
    table : Table
        What is written.
    path : str or os.PathLike
        Where; compressed if its suffix says so.
    weight : str
        The column for the weights of the cases, if they have some.
    sparse : bool
        ARFF only: leave out zeros and first values.
    progress : callable, optional
        Is told how much is written.
    """
    write_as(cases_of(table), path, weight=weight, sparse=sparse, progress=progress)


def write_as(
    cases: Cases,
    path: FilePath,
    *,
    weight: str = "weight",
    sparse: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write cases in the format that the suffix names; the file appears when it is complete.

    Parameters
    ----------
    cases : Cases
        Ignored attributes are left out; the class comes last, under the target's name.
    path : str or os.PathLike
        A name that ends in one of `SUFFIXES`; texts may be compressed.
    weight : str
        The column for the weights of the cases, if they have some. ARFF has a place of its own for them.
    sparse : bool
        ARFF only: leave out zeros and first values.
    progress : callable, optional
        Is told how much is written.

    Raises
    ------
    DataError
        When a name or value cannot be written so that it is read back, or the file cannot be written.
    OptionError
        When the suffix names no format.
    """
    kind, codec = format_of(path)
    if kind not in SUFFIXES:
        raise OptionError(f"{path}: the suffix tells no format that can be written: use one of {' '.join(SUFFIXES)}")
    if sparse and kind != ".arff":
        raise OptionError(f"{path}: only ARFF has sparse rows: leave --sparse out")
    schema = cases.schema
    names = [*(schema.attributes[a].name for a in schema.used), schema.target]
    if kind != ".arff" and cases.weighted:
        names.append(weight)
    _require_names(names, path)
    put: Callable[[BinaryIO], None]
    if kind in (*_PARQUET, *_IPC):
        put = partial(_put_arrow, cases, names, path, kind in _PARQUET, progress)
    elif kind == ".arff":
        put = partial(put_lines, arff_lines(cases, path, sparse=sparse, progress=progress), codec)
    else:
        put = partial(put_lines, _csv_texts(cases, names, path, _DELIMITERS[kind], progress), codec)
    with whole_or_told(path) as stream:
        put(stream)


def taken_for_numbers(schema: Schema) -> list[str]:
    """The discrete attributes that a CSV file does not tell from numbers or dates: reading it must say so."""
    return [
        attribute.name
        for attribute in schema.attributes
        if attribute.kind == "discrete" and attribute.values and not _reads_as_text(attribute.values)
    ]


def _reads_as_text(values: Iterable[str]) -> bool:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([value] for value in ["x", *values])
    found = arrow_csv.read_csv(
        pa.BufferReader(text.getvalue().encode()),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(true_values=[], false_values=[]),
    )
    return is_discrete(found.column(0).type)


def _require_names(names: list[str], path: FilePath) -> None:
    if "" in names:
        raise DataError("a column without a name cannot be written: give it one", path)
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise DataError(f"two columns would be named {shown(twice[0])} ({listed(names)}): rename one", path)


def _csv_texts(
    cases: Cases, names: list[str], path: FilePath, delimiter: str, progress: Progress | None
) -> Iterator[str]:
    """The header, and then the rows of a block at a time, without the last end of a line."""
    for name in names:
        _require_unchanged(name, path, ())
    for attribute in _declared(cases.schema):
        for value in attribute.values:
            _require_unchanged(value, path, UNKNOWN_TEXTS)
    yield _delimited([names], delimiter)
    for part in small_blocks(cases, progress):
        yield _delimited(zip(*_csv_columns(part), strict=True), delimiter)


def _csv_columns(table: Table) -> Iterator[Iterable[str]]:
    columns = [*(table.column(a) for a in table.schema.used), table.classes]
    for attribute, column in zip(_declared(table.schema), columns, strict=True):
        if attribute.kind == "discrete":
            yield spelled(attribute.values, "", column)
        else:
            yield ("" if value != value else numeral(value) for value in column.tolist())
    if table.weights is not None:
        yield map(numeral, table.weights.tolist())


def _declared(schema: Schema) -> list[Attribute]:
    """The columns that are written, the class last."""
    return [*(schema.attributes[a] for a in schema.used), Attribute(schema.target, "discrete", schema.classes)]


def _delimited(rows: Iterable[Iterable[str]], delimiter: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue().removesuffix("\n")


def _require_unchanged(name: str, path: FilePath, unknown: tuple[str, ...]) -> None:
    if name in unknown:
        raise DataError(f"the value {shown(name)} would be read as unknown: rename it, or write ARFF", path)
    if _CHANGED_BY_CSV.search(name):
        raise DataError(
            f"the name {shown(name)} would be read otherwise from CSV (blanks at an end, or a character that is no "
            "text): rename it, or write ARFF",
            path,
        )


def _put_arrow(
    cases: Cases, names: list[str], path: FilePath, as_parquet: bool, progress: Progress | None, stream: BinaryIO
) -> None:
    for name in [*names, *(value for attribute in _declared(cases.schema) for value in attribute.values)]:
        if _NO_TEXT.search(name):
            raise DataError(f"the name {shown(name)} cannot be written: rename it", path)
    for attribute in _declared(cases.schema):
        for value in attribute.values:
            if value in ("", UNKNOWN):
                raise DataError(f"the value {shown(value)} would be read as unknown: rename it, or write ARFF", path)
    schema = pa.schema([pa.field(name, kind) for name, kind in zip(names, _types(cases), strict=True)])
    opened = parquet.ParquetWriter if as_parquet else pa.ipc.new_file
    with opened(stream, schema) as writer:
        for part in small_blocks(cases, progress):
            batch = pa.record_batch(list(_arrays(part)), schema=schema)
            writer.write_batch(batch)


def _types(cases: Cases) -> Iterator[Any]:
    for a, attribute in zip([*cases.schema.used, None], _declared(cases.schema), strict=True):
        yield TEXT if a is None or attribute.kind == "discrete" else pa.from_numpy_dtype(cases.types[a])
    if cases.weighted:
        yield pa.float64()


def _arrays(table: Table) -> Iterator[Any]:
    columns = [*(table.column(a) for a in table.schema.used), table.classes]
    for attribute, column in zip(_declared(table.schema), columns, strict=True):
        if attribute.kind == "discrete":
            codes = pa.array(column.astype(np.int32), mask=column < 0)
            yield pa.DictionaryArray.from_arrays(codes, pa.array(attribute.values, pa.string()))
        else:
            yield pa.array(column, mask=np.isnan(column))
    if table.weights is not None:
        yield pa.array(table.weights)
