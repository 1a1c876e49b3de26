"""Arrow's columns as NumPy arrays: numbers, and codes of distinct values.

A *column* is a pyarrow ChunkedArray throughout; a *fault* is a function that makes the DataError of a message and,
where one is at fault, a row (from 0).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from mmap import mmap
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from c45gpu.data.arrays import inexact
from c45gpu.data.table import Floats, Int32s
from c45gpu.data.values import UNKNOWN, number, shown
from c45gpu.data.watching import tell_position
from c45gpu.errors import DataError

Column = Any  # pyarrow has no types for mypy
Fault = Callable[[str, int | None], DataError]

TEXT: Final = pa.dictionary(pa.int32(), pa.string())
TICKS: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # to a second
SECONDS_OF_A_DAY: Final = 86400

BLOCKS_OF_A_THREAD: Final = 4  # so that threads that end early find more to do
SMALLEST_BLOCK: Final = 1 << 20  # bytes; Arrow's own size
LARGEST_BLOCK: Final = 1 << 23  # bytes; larger ones gain nothing, see bench_read_csv.py


def read_options(n_bytes: int, names: list[str], skip_rows: int = 0) -> Any:
    """Options of Arrow's CSV reader: columns named here, blocks of a size that suits the text."""
    blocks = max(1, n_bytes // (BLOCKS_OF_A_THREAD * pa.cpu_count()))
    block_size = min(max(blocks, SMALLEST_BLOCK), LARGEST_BLOCK)
    return arrow_csv.ReadOptions(column_names=names, skip_rows=skip_rows, block_size=block_size)


def source_of(text: bytes | mmap) -> Any:
    """A text as Arrow's readers take it; whoever watches is told how far they are."""
    source = pa.BufferReader(pa.py_buffer(text))
    tell_position(source.tell, len(text))
    return source


def is_discrete(kind: Any) -> bool:
    """Whether columns of an Arrow type are discrete unless told otherwise: texts, truth values, dictionaries."""
    return pa.types.is_boolean(kind) or pa.types.is_dictionary(kind) or _is_text(kind)


def coded(column: Column) -> tuple[list[Any], Int32s]:
    """The distinct values of a column, and for each row the position of its value, -1 where it is null.

    A dictionary's values keep their order, used or not; any other column's come in the order of appearance.
    """
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()
    codes = whole.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return whole.dictionary.to_pylist(), codes


def number_type(kind: Any) -> type[np.floating[Any]]:
    """NumPy's type for numbers of an Arrow type."""
    return np.float32 if pa.types.is_float32(kind) or pa.types.is_float16(kind) else np.float64


def numbers(column: Column, fault: Fault) -> Floats:
    """A column as numbers, NaN where it is null: float32 stays float32, everything else becomes float64.

    Dates and times count in seconds: since 1970, since midnight, or as long as a duration takes.

    Raises
    ------
    DataError
        Made by `fault`: at a text that spells no number, at a whole number that float64 cannot hold, and for types
        that have no size.
    """
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), math.nan)
    if pa.types.is_floating(kind):
        return floats(column, number_type(kind))
    if pa.types.is_integer(kind):
        return _whole_numbers(column, fault)
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return floats(column.cast(pa.float64()) if pa.types.is_decimal(kind) else column.cast(pa.int8()), np.float64)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _seconds(column)
    if pa.types.is_dictionary(kind) or _is_text(kind):
        return _spelled(column, fault)
    raise fault(f"has the type {kind}, which is neither a number nor a text: ignore it", None)


def floats(column: Column, kind: type[np.floating[Any]]) -> Floats:
    """A column of numbers as one array of the given type, NaN where it is null, copied once.

    It is not copied where it is one array of that type already, with a NaN in the place of each null: then the array
    is only to be read, though it does not say so.
    """
    if column.num_chunks == 1 and (there := _in_place(column.chunk(0), kind)) is not None:
        return there
    result: Floats = np.empty(len(column), kind)
    at = 0
    for chunk in column.chunks:
        result[at : at + len(chunk)] = chunk.to_numpy(zero_copy_only=False)
        at += len(chunk)
    return result


class _Readable:
    """Memory that NumPy takes for writable, for compiled code tells writable arrays apart and is compiled for those."""

    def __init__(self, values: Floats) -> None:
        described = values.__array_interface__
        self.values = values  # keeps the memory
        self.__array_interface__ = described | {"data": (described["data"][0], False)}


def _in_place(chunk: Any, kind: type[np.floating[Any]]) -> Floats | None:
    """The memory of an Arrow array, if it is what :func:`floats` is to give."""
    if not len(chunk) or chunk.type != pa.from_numpy_dtype(kind):
        return None
    known = pa.Array.from_buffers(chunk.type, len(chunk), [None, chunk.buffers()[1]], offset=chunk.offset)
    values = known.to_numpy()
    if chunk.null_count and not np.isnan(values[chunk.is_null().to_numpy(zero_copy_only=False)]).all():
        return None
    return np.asarray(_Readable(values))


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _whole_numbers(column: Column, fault: Fault) -> Floats:
    ends = pc.min_max(column).as_py()
    if ends["min"] is not None and max(-ends["min"], ends["max"]) > 2**53:
        row = inexact(column.fill_null(0).to_numpy())
        if row is not None:
            raise fault(
                f"{column[row]} is too large to be told from its neighbours in float64: take the column as "
                "categorical, or ignore it",
                row,
            )
    return floats(column, np.float64)


def _seconds(column: Column) -> Floats:
    kind = column.type
    if pa.types.is_date(kind):
        days = column.cast(pa.date32()).cast(pa.int32())
        return floats(days, np.float64) * SECONDS_OF_A_DAY
    ticks = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    return floats(ticks, np.float64) / TICKS[kind.unit]


def _spelled(column: Column, fault: Fault) -> Floats:
    """Numbers that are spelled out, each distinct text read once."""
    distinct, codes = coded(column)
    sizes = np.full(len(distinct) + 1, math.nan)  # the last one is for the code -1
    for code in np.unique(codes[codes >= 0]).tolist():
        try:
            sizes[code] = _size(distinct[code])
        except (TypeError, ValueError):
            raise fault(f"{shown(str(distinct[code]))} is not a number", int(np.argmax(codes == code))) from None
    return sizes[codes]


def _size(value: Any) -> float:
    if isinstance(value, str):
        return number(value.strip() or UNKNOWN)
    return math.nan if value is None else float(value)
