"""Cases of ``.data`` and ``.test`` files a block at a time: the table of `c45files`, never held whole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from c45gpu.data.blocks import Cases, Progress
from c45gpu.data.c45files import table_of
from c45gpu.data.records import Reading, no_records
from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.data.textblocks import TextBlocks, end_of_lines, line_feed_blocks
from c45gpu.data.tokens import FilePath


def training_cases(path: FilePath, schema: Schema, progress: Progress | None = None) -> Cases:
    """The cases of a ``.data`` file; its classes may be missing, as in a ``.test`` file.

    Parameters
    ----------
    path : str or os.PathLike
    schema : Schema
        What :func:`c45gpu.data.c45files.read_names` gave.
    progress : callable, optional
        Is told how many bytes of the file have been looked at, once for the values of ``discrete N`` attributes, if
        there are any.

    Raises
    ------
    DataError
        When the file cannot be read. What does not fit is told when it is come upon, with its line.
    """
    text = TextBlocks(path, end_of_lines)
    if any(attribute.capacity is not None for attribute in schema.attributes):
        for block in _tables(text, schema, True, progress):
            schema = block.schema
    return _cases(text, schema, True)


def further_cases(path: FilePath, schema: Schema) -> Cases:
    """The cases of a ``.test`` file, of the schema of its ``.data`` file.

    Raises
    ------
    DataError
        As for :func:`training_cases`.
    """
    return _cases(TextBlocks(path, end_of_lines), schema, False)


def _cases(text: TextBlocks, schema: Schema, training: bool) -> Cases:
    of_kind = {"ignored": None, "discrete": np.dtype(np.int32), "continuous": np.dtype(np.float64)}
    types = tuple(of_kind[attribute.kind] for attribute in schema.attributes)
    return Cases(schema, types, False, partial(_tables, text, schema, training))


def _tables(text: TextBlocks, schema: Schema, training: bool, progress: Progress | None) -> Iterator[Table]:
    """The tables of the blocks; the schema of the last one has all values that were collected."""
    width = n_cases = 0
    for block in line_feed_blocks(text, progress):
        reading = partial(Reading, schema, training=training, unseen="error", classless=True, width=width)
        table, width = table_of(block.text, text.path, reading, block.line)
        schema = table.schema
        n_cases += table.n_cases
        if table.n_cases:
            yield table
    if not n_cases:
        raise no_records(text.path)
