"""``c45gpu convert``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from c45gpu.cli.cases import STEM_SUFFIXES, Columns, require_file, require_none, stem_of
from c45gpu.cli.progress import bar_of
from c45gpu.cli.screen import Loudness, note, speak
from c45gpu.errors import OptionError

if TYPE_CHECKING:
    from c45gpu.data.blocks import Cases, Progress
    from c45gpu.data.schema import Schema
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
    """Write the cases of a file in another format; the file may be larger than memory.

    Parameters
    ----------
    source : str
        The stem of .names and .data files (or STEM.test), or a CSV, ARFF, Parquet or Arrow file; .gz and .zst are
        decompressed.
    output : str
        The file to write: .csv, .tsv and .arff, also with .gz or .zst, .parquet, .arrow; or STEM or STEM.names for
        STEM.names and STEM.data, STEM.names.gz for both compressed.
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
    if sparse and kind != ".arff":
        raise OptionError(f"{output}: only ARFF has sparse rows: leave --sparse out")
    read = _reader(source, columns)
    with bar_of(read.n_bytes, "reading") as progress:
        cases = read.cases(progress)
    counted = _Counted(cases)
    with bar_of(read.n_bytes, "writing") as progress:
        _write(counted.cases, output, of_stem, columns.weight, sparse, progress)
    schema = cases.schema
    note(f"{output}: {counted.n_cases} cases, {len(schema.used)} attributes, {schema.n_classes} classes")
    _tell_what_is_lost(schema, kind, of_stem)


class _Reader(NamedTuple):
    """What reads a file of so many bytes, and tells how many it has looked at."""

    n_bytes: int
    cases: Callable[[Progress | None], Cases]


class _Counted:
    """Cases that are counted as they come."""

    def __init__(self, cases: Cases) -> None:
        self.n_cases, self._blocks = 0, cases.blocks
        self.cases = cases._replace(blocks=self._counting)

    def _counting(self, progress: Progress | None) -> Iterator[Table]:
        for block in self._blocks(progress):
            self.n_cases += block.n_cases
            yield block


def _reader(source: str, columns: Columns) -> _Reader:
    stem = stem_of(source)
    if stem is None:
        require_file(source, columns)
        from c45gpu.data.casefile import file_cases

        return _Reader(_size_of(source), lambda progress: file_cases(source, **columns.given(), progress=progress))
    require_none(stem, columns)
    from c45gpu.data.c45blocks import further_cases, training_cases
    from c45gpu.data.c45files import read_names
    from c45gpu.data.compressed import beside, without_codec

    data, names = beside(stem, ".data"), beside(stem, ".names")
    if not without_codec(source).endswith(".test"):
        return _Reader(_size_of(data), lambda progress: training_cases(data, read_names(names), progress))

    def of_test(progress: Progress | None) -> Cases:
        return further_cases(source, training_cases(data, read_names(names), progress).schema)

    return _Reader(_size_of(source), of_test)


def _size_of(path: str) -> int:
    return Path(path).stat().st_size if Path(path).exists() else 0


def _write(
    cases: Cases, output: str, of_stem: bool, weight: str | None, sparse: bool, progress: Progress | None
) -> None:
    if not of_stem:
        from c45gpu.data.writing import write_as

        write_as(cases, output, weight=weight or "weight", sparse=sparse, progress=progress)
        return
    from c45gpu.data.c45files import write_names
    from c45gpu.data.c45writing import write_records
    from c45gpu.data.compressed import without_codec

    plain = without_codec(output)
    codec, stem = output.removeprefix(plain), plain.removesuffix(Path(plain).suffix)
    stem = stem if plain.endswith(STEM_SUFFIXES) else plain
    write_records(cases, f"{stem}.data{codec}", progress)  # first, for it is the one that may be impossible
    write_names(cases.schema, f"{stem}.names{codec}")


def _tell_what_is_lost(schema: Schema, kind: str, of_stem: bool) -> None:
    ignored = [attribute.name for attribute in schema.attributes if attribute.kind == "ignored"]
    if ignored:
        what = "unknown" if of_stem else "not written"
        note(f"the values of ignored attributes are {what}: {', '.join(ignored)}")
    if kind in (".csv", ".tsv"):
        from c45gpu.data.writing import taken_for_numbers

        if alike := taken_for_numbers(schema):
            note(f"to read it with the same kinds, add --categorical {','.join(alike)}")
