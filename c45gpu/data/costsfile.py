"""C5.0's ``.costs`` files: what each mistake costs.

One entry a line, comments after ``|``::

    | predicted, actual: cost
    good, bad: 5
    bad, good: 0.5

The first class is the one that a case is taken for, the second the one that it is of. A mistake that is not listed
costs 1; what is right costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.compressed import read_text
from c45gpu.data.schema import Schema
from c45gpu.data.tokens import FilePath, Token, tokens
from c45gpu.data.values import listed, shown
from c45gpu.errors import DataError, OptionError

_LAYOUT = "write 'PREDICTED, ACTUAL: COST'"


def usual_costs(n_classes: int) -> npt.NDArray[np.float64]:
    """Every mistake costs 1; shape (n_classes, n_classes)."""
    costs: npt.NDArray[np.float64] = 1.0 - np.eye(n_classes)
    return costs


def costs_of_pairs(pairs: dict[tuple[Any, Any], float], labels: list[Any]) -> npt.NDArray[np.float64]:
    """The matrix of costs that are given as {(true, predicted): cost}.

    Raises
    ------
    OptionError
        When a key is no pair of labels.
    """
    number = {label: c for c, label in enumerate(labels)}
    costs = usual_costs(len(labels))
    for pair, cost in pairs.items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(label in number for label in pair)):
            raise OptionError(f"costs of {pair!r}: give {{(true label, predicted label): cost}} with labels of y")
        costs[number[pair[0]], number[pair[1]]] = cost
    return costs


def read_costs(path: FilePath, schema: Schema) -> npt.NDArray[np.float64]:
    """The costs that a ``.costs`` file gives.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    schema : Schema
        Whose classes they are for.

    Returns
    -------
    ndarray of float64, shape (n_classes, n_classes)
        What it costs to take a case of a class (row) for one of another (column).

    Raises
    ------
    DataError
        When the file cannot be read, or at the first entry that is none; the message names the line.
    """
    costs = usual_costs(schema.n_classes)
    lines: dict[tuple[int, int], int] = {}
    stream = tokens(read_text(path).decode(), path)
    for token in stream:
        predicted, actual = (_class(name, schema, path) for name in _pair(token, stream, path))
        cost = _cost(next(stream, None), token, path)
        if predicted == actual and cost:
            raise DataError(f"class {shown(token.name)} is right for itself: leave the entry out", path, token.line)
        if (actual, predicted) in lines:
            raise DataError(
                f"the same mistake has a cost in line {lines[actual, predicted]}: take one out", path, token.line
            )
        lines[actual, predicted], costs[actual, predicted] = token.line, cost
    return costs


def _pair(first: Token, stream: Iterator[Token], path: FilePath) -> tuple[Token, Token]:
    second = next(stream, None)
    if first.delimiter != "," or second is None or second.delimiter != ":":
        raise DataError(f"{shown(first.name)} does not begin an entry: {_LAYOUT}", path, first.line)
    return first, second


def _class(name: Token, schema: Schema, path: FilePath) -> int:
    if name.name not in schema.class_number:
        raise DataError(f"{shown(name.name)} is no class: they are {listed(schema.classes)}", path, name.line)
    return schema.class_number[name.name]


def _cost(token: Token | None, entry: Token, path: FilePath) -> float:
    if token is None or token.line != entry.line:
        raise DataError(f"the entry has no cost: {_LAYOUT}", path, entry.line)
    try:
        cost = float(token.name)
    except ValueError:
        cost = math.nan
    if not (math.isfinite(cost) and cost >= 0):
        raise DataError(f"{shown(token.name)} is no cost: write a number that is not negative", path, token.line)
    return cost
