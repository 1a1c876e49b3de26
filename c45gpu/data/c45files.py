"""C4.5's own files: STEM.names declares classes and attributes, STEM.data and STEM.test hold cases.

Read as the original reads them, but friendlier where it only misbehaves: lines may end in CR LF and the last one in
nothing; text is UTF-8, with or without a byte order mark, or else Latin-1; a record is a line; a comma or colon after
a full stop still ends the name ("5.," is the number 5); and what the original counts as an error and then reads as
something else is refused, with the line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from c45gpu.data.c45writing import write_cases, write_names
from c45gpu.data.compressed import beside, read_text
from c45gpu.data.records import Reading, no_records, read_records
from c45gpu.data.schema import Attribute, Kind, Schema
from c45gpu.data.table import Table
from c45gpu.data.tokens import FilePath, Token, tokens
from c45gpu.data.values import UNKNOWN, Unseen, shown
from c45gpu.errors import DataError

__all__ = ["read_cases", "read_names", "read_stem", "write_cases", "write_names"]

_DISCRETE_N = re.compile(r"discrete\s*(\d+)", re.ASCII)


def read_names(path: FilePath) -> Schema:
    """The schema that a ``.names`` file declares.

    Parameters
    ----------
    path : str or os.PathLike
        The .names file.

    Returns
    -------
    Schema
        A ``discrete N`` attribute has no values yet, only its capacity.

    Raises
    ------
    DataError
        When the file cannot be read, or breaks the grammar; the message names the line.
    """
    stream = tokens(read_text(path).decode(), path)
    classes = _listed(stream, "the classes", path)
    if classes and classes[-1].delimiter == ":":
        raise DataError(
            f"{shown(classes[-1].name)} is an attribute, but the classes come first: begin with 'CLASS, CLASS, ... .'",
            path,
            classes[-1].line,
        )
    attributes: dict[str, Attribute] = {}
    for token in stream:
        if token.name in attributes:
            raise DataError(f"attribute {shown(token.name)} is declared twice: rename one", path, token.line)
        attributes[token.name] = _attribute(token, stream, path)
    if not attributes:
        raise DataError("declares no attributes: add lines like 'NAME: continuous.' after the classes", path)
    return Schema(tuple(attributes.values()), tuple(token.name for token in classes))


def read_cases(
    path: FilePath,
    schema: Schema,
    *,
    training: bool = True,
    compat: Literal["r8"] | None = None,
    unseen: Unseen = "error",
) -> Table:
    """The cases of a ``.data`` or ``.test`` file.

    Parameters
    ----------
    path : str or os.PathLike
        The .data or .test file.
    schema : Schema
        What :func:`read_names` gave, or the schema of a model.
    training : bool
        Cases to train on must each have a class, and a ``discrete N`` attribute takes its values from them, in the
        order of appearance. Otherwise a class may be ``?``, or all records end without one (-1), and a value that a
        ``discrete N`` has not is unknown.
    compat : "r8" or None
        "r8" rounds numbers to float32 and takes -999 for unknown, as the original does.
    unseen : {"error", "unknown"}
        What an undeclared value of a discrete attribute is.

    Returns
    -------
    Table
        Continuous values are float64. Its schema has the values that were collected.

    Raises
    ------
    DataError
        When the file cannot be read, or at the first record that does not fit; the message names the line.
    """
    table, _ = table_of(read_text(path), path, partial(Reading, schema, training=training, unseen=unseen))
    if not table.n_cases:
        raise no_records(path)
    return table if compat is None else table.as_release8()


def table_of(text: bytes, path: FilePath, reading: Callable[[], Reading], first_line: int = 1) -> tuple[Table, int]:
    """The cases in a text with line feeds, maybe none, and how many fields a record has.

    Parameters
    ----------
    text : bytes
    path : str or os.PathLike
        The file that errors name.
    reading : callable
        Makes what the fields mean, anew at each call.
    first_line : int
        The line of the file on which the text begins.

    Raises
    ------
    DataError
        At the first record that does not fit.
    """
    from c45gpu.data.arrowrecords import quick_table

    meaning = reading()
    table = quick_table(text, meaning)
    if table is None:
        meaning = reading()
        table = read_records(text.decode(), path, meaning, first_line)
    return table, meaning.width


def read_stem(stem: FilePath, *, compat: Literal["r8"] | None = None) -> tuple[Table, Table | None]:
    """The training cases of STEM.names and STEM.data, and the cases of STEM.test if there is one.

    Parameters
    ----------
    stem : str or os.PathLike
        The files' path without the suffix; it may have dots of its own. Each of them may be compressed: STEM.data.gz.
    compat : "r8" or None
        See :func:`read_cases`.

    Returns
    -------
    training : Table
        Of STEM.data.
    test : Table or None
        Read with the training cases' schema.

    Raises
    ------
    DataError
        When a file cannot be read or something in it does not fit.
    """
    stem = os.fspath(stem)
    training = read_cases(beside(stem, ".data"), read_names(beside(stem, ".names")), compat=compat)
    test = beside(stem, ".test")
    if not Path(test).exists():
        return training, None
    return training, read_cases(test, training.schema, training=False, compat=compat)


def _attribute(name: Token, stream: Iterator[Token], path: FilePath) -> Attribute:
    if not name.name or name.delimiter != ":":
        raise DataError(
            f"{shown(name.name)} has no colon after it: declare an attribute by 'NAME: continuous.' or 'NAME: A, B.'",
            path,
            name.line,
        )
    values = _listed(stream, f"attribute {shown(name.name)}", path)
    if not values:
        raise DataError(f"attribute {shown(name.name)} has no values: write 'continuous' or list them", path, name.line)
    if values[-1].delimiter == ":":
        raise DataError(
            f"the values of attribute {shown(name.name)} run into {shown(values[-1].name)}: end them with a full stop",
            path,
            values[-1].line,
        )
    if len(values) > 1:
        return Attribute(name.name, "discrete", tuple(value.name for value in values))
    return _of_one_word(name.name, values[0], path)


def _of_one_word(name: str, word: Token, path: FilePath) -> Attribute:
    kinds: dict[str, Kind] = {"continuous": "continuous", "ignore": "ignored"}
    if word.name in kinds:
        return Attribute(name, kinds[word.name])
    if word.name.startswith("discrete"):
        found = _DISCRETE_N.fullmatch(word.name)
        if found is None or int(found[1]) < 2:
            raise DataError(
                f"attribute {shown(name)}: {shown(word.name)} does not say how many values (2 or more): "
                "write 'discrete 5'",
                path,
                word.line,
            )
        return Attribute(name, "discrete", (), int(found[1]))
    raise DataError(
        f"attribute {shown(name)} has only one value, {shown(word.name)}: list two or more, or write continuous, "
        "ignore or 'discrete N'",
        path,
        word.line,
    )


def _listed(stream: Iterator[Token], owner: str, path: FilePath) -> list[Token]:
    """The names up to the first that no comma follows."""
    names: dict[str, Token] = {}
    for token in stream:
        if token.name in ("", UNKNOWN):
            what = "an empty name" if not token.name else "'?', which means unknown"
            raise DataError(f"{owner}: the list holds {what}: take it out, or name it", path, token.line)
        if token.name in names:
            raise DataError(f"{owner}: {shown(token.name)} is listed twice: take one out", path, token.line)
        names[token.name] = token
        if token.delimiter != ",":
            return list(names.values())
    if names:
        raise DataError(f"{owner}: the list ends in a comma: is the file cut short?", path, token.line)
    return []
