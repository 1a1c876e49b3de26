"""``c45gpu convert``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from c45gpu.cli.cases import STEM_SUFFIXES, Columns, file_table, stem_of, stem_table
from c45gpu.cli.progress import bar_of, reading_of
from c45gpu.cli.screen import Loudness, note, speak
from c45gpu.errors import OptionError

if TYPE_CHECKING:
    from c45gpu.data.blocks import Progress
    from c45gpu.data.table import Table


def convert(
    source: str,
    output: str,
    /,
    *,
    columns: Columns | None = None,
    sparse: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    loudness: Loudness | None = None,
) -> None:
    """Write the cases of a file in another format.

    Parameters
    ----------
    source : str
        The stem of .names and .data files (or STEM.test), or a CSV, ARFF, Parquet or Arrow file; .gz and .zst are
        decompressed.
    output : str
        The file to write: .csv, .tsv and .arff, also with .gz or .zst, .parquet, .arrow; or STEM or STEM.names for
        STEM.names and STEM.data.
    columns : Columns
        How to read a file whose columns have names.
    sparse : bool
        ARFF: leave out zeros and first values.
    loudness : Loudness
        What is told beside the result.
    """
    speak(loudness)
    from c45gpu.data.writing import SUFFIXES, format_of

    columns = columns or Columns()
    kind, _ = format_of(output)
    of_stem = kind in ("", *STEM_SUFFIXES)
    if not of_stem and kind not in SUFFIXES:
        raise OptionError(f"{output}: the suffix tells no format: use one of {' '.join(SUFFIXES)}, or a stem")
    with reading_of(source):
        table = _table(source, columns)
    with bar_of(table.n_cases, "writing") as progress:
        if of_stem:
            _write_stem(table, output, sparse, progress)
        else:
            from c45gpu.data.writing import write_file

            write_file(table, output, weight=columns.weight or "weight", sparse=sparse, progress=progress)
    note(f"{output}: {table.n_cases} cases, {len(table.schema.used)} attributes, {table.schema.n_classes} classes")
    _tell_what_is_lost(table, kind, of_stem)


def _table(source: str, columns: Columns) -> Table:
    stem = stem_of(source)
    if stem is None:
        return file_table(source, columns)
    if not source.endswith(".test"):
        return stem_table(stem, columns)
    from c45gpu.data.c45files import read_cases

    return read_cases(source, stem_table(stem, columns).schema, training=False)


def _write_stem(table: Table, output: str, sparse: bool, progress: Progress | None) -> None:
    if sparse:
        raise OptionError(f"{output}: only ARFF has sparse rows: leave --sparse out")
    from c45gpu.data.c45files import write_cases, write_names

    stem = output.removesuffix(Path(output).suffix) if output.endswith(STEM_SUFFIXES) else output
    write_cases(table, f"{stem}.data", progress)  # first, for it is the one that may be impossible
    write_names(table.schema, f"{stem}.names")


def _tell_what_is_lost(table: Table, kind: str, of_stem: bool) -> None:
    schema = table.schema
    ignored = [attribute.name for attribute in schema.attributes if attribute.kind == "ignored"]
    if ignored:
        what = "unknown" if of_stem else "not written"
        note(f"the values of ignored attributes are {what}: {', '.join(ignored)}")
    if kind in (".csv", ".tsv"):
        from c45gpu.data.writing import taken_for_numbers

        if alike := taken_for_numbers(schema):
            note(f"to read it with the same kinds, add --categorical {','.join(alike)}")
