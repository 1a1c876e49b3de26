"""Cases on a cluster, by rows: each part is a table of consecutive rows on some worker, all under one schema.

    X, y, weights     Dask's partitions                    Table, Table, Table, ...
    row groups        of Parquet files            ->       one schema, codes and classes alike
    a table           of this process, cut                 rows in their order

Parts are read where they are and brought under one schema in two steps: each is read alone (a *piece*), the facts of
all come here and are united, and each is given the codes of the whole (:mod:`c45gpu.data.parts`). No case comes here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.dask.connect import require_workers
from c45gpu.data.arrays import checked_weights, finite_weights
from c45gpu.data.labels import encode_classes
from c45gpu.data.parts import PartFacts, Whole, facts_of, under, united
from c45gpu.data.schema import Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError

if TYPE_CHECKING:
    from distributed import Client, Future

PART_BYTES: Final = 64 << 20  # of a part that is cut here or read from files: a message, and a unit of work

Array = npt.NDArray[Any]


class RowParts(NamedTuple):
    """The training cases on the workers of a cluster.

    Parameters
    ----------
    schema : Schema
        Of all parts.
    parts : list of Future
        Each of a :class:`~c45gpu.data.table.Table`: consecutive rows with all their columns. The parts in their order
        are the rows in their order.
    n_cases : list of int
        Rows of each part.
    """

    schema: Schema
    parts: list[Future]
    n_cases: list[int]


class Weighing(NamedTuple):
    """What a part tells of the weights that its cases were given.

    Attributes
    ----------
    kind : str
        Of their type, as in ``dtype.kind``.
    total, largest : float
    positive : int
        How many are not 0.
    """

    kind: str
    total: float
    largest: float
    positive: int


class PieceFacts(NamedTuple):
    """What a piece tells: of its columns, labels, cases of each label, and weights."""

    columns: PartFacts
    labels: Array | None
    counts: Array
    weighing: Weighing | None


class Piece(NamedTuple):
    """A part as it was read, with its own codes; weights are as they were given."""

    table: Table
    weights: Array | None
    facts: PieceFacts


def rows_of_table(client: Client, table: Table, part_bytes: int = PART_BYTES) -> RowParts:
    """Cut a table of this process and send its parts to the workers, evenly.

    Parameters
    ----------
    client : distributed.Client
        The cluster's.
    table : Table
        The training cases.
    part_bytes : int
        The most bytes of a part, which has at least one row.

    Returns
    -------
    RowParts
        The parts, on the workers.

    Raises
    ------
    EngineError
        When the cluster has no workers.
    """
    workers = require_workers(client)
    n_bytes = table.classes.nbytes + sum(table.column(a).nbytes for a in table.schema.used)
    n_parts = min(max(len(workers), -(-n_bytes // part_bytes)), max(1, table.n_cases))
    edges = np.linspace(0, table.n_cases, n_parts + 1).astype(np.int64).tolist()
    here = on_host(table)
    parts = [
        client.scatter(here.take(slice(*ends)), workers=[workers[i * len(workers) // n_parts]], hash=False)
        for i, ends in enumerate(pairwise(edges))  # one after the other: what is sent is in memory once more
    ]
    return RowParts(table.schema, parts, np.diff(edges).tolist())


def on_host(table: Table) -> Table:
    """The table with all its columns in the memory of this process."""
    if not table.is_on_device:
        return table
    columns = [None if column is None else table.column(a) for a, column in enumerate(table.columns)]
    return replace(table, columns=columns, classes_on_device=None)


class Pieces(NamedTuple):
    """All pieces, in the order of their rows.

    Attributes
    ----------
    pieces : list of Future
        Each of a :class:`Piece`.
    facts : list of PieceFacts
    """

    pieces: list[Future]
    facts: list[PieceFacts]

    def labels(self) -> tuple[Array, list[Array]]:
        """The labels of all cases, sorted, and for each piece the numbers of its own; where they are labels at all."""
        found = [facts.labels for facts in self.facts if facts.labels is not None]
        labels, numbers = encode_classes(np.concatenate(found))
        return labels, np.split(numbers, np.cumsum([len(one) for one in found])[:-1])

    def whole(self) -> Whole:
        """What the pieces are brought under.

        Raises
        ------
        DataError
            When they do not go together.
        """
        names = [str(label) for label in self.labels()[0]] if self._labelled else None
        return united([facts.columns for facts in self.facts], names)

    def counts(self, whole: Whole) -> npt.NDArray[np.int64]:
        """How many cases each class has."""
        counts = np.zeros(whole.schema.n_classes, np.int64)
        for facts, numbers in zip(self.facts, self._class_numbers(whole), strict=True):
            counts[numbers] += facts.counts
        return counts

    def weighing(self) -> Weighing | None:
        """What all weights are together; None where there are none.

        Raises
        ------
        DataError
            When all of them are 0.
        """
        told = [facts.weighing for facts in self.facts if facts.weighing is not None]
        if not told:
            return None
        checked_weights([one.largest for one in told], len(told))
        total, positive = math.fsum(one.total for one in told), sum(one.positive for one in told)
        return Weighing(told[0].kind, total, max(one.largest for one in told), positive)

    def rows(self, client: Client, whole: Whole, factors: Array | None = None, times: int = 1) -> RowParts:
        """Bring the pieces under one schema, where they are.

        Parameters
        ----------
        client : distributed.Client
        whole : Whole
            What :meth:`whole` tells.
        factors : ndarray of float64, shape (n_classes,), optional
            What the weights of the cases of each class are multiplied by.
        times : int
            What all weights that were given are multiplied by.
        """
        shared = client.submit(_both, whole, factors, pure=False)  # a task, to be done again when a worker dies
        parts = [
            client.submit(_finished, piece, shared, numbers, times, pure=False)
            for piece, numbers in zip(self.pieces, self._class_numbers(whole), strict=True)
        ]
        client.gather(client.map(_done, parts, pure=False))  # a fault in a part is told here
        return RowParts(whole.schema, parts, [facts.columns.n_cases for facts in self.facts])

    @property
    def _labelled(self) -> bool:
        """Whether cases have labels of some type; the classes of files have names only."""
        return self.facts[0].labels is not None

    def _class_numbers(self, whole: Whole) -> list[Array]:
        if self._labelled:
            return self.labels()[1]
        number = whole.schema.class_number
        return [np.array([number[name] for name in facts.columns.schema.classes]) for facts in self.facts]

    def any_known(self) -> bool:
        """Whether any value of any attribute is known."""
        return any(any(facts.columns.known) for facts in self.facts)


def weight_of(client: Client, rows: RowParts) -> float:
    """What all cases weigh together."""
    return math.fsum(client.gather(client.map(_weight, rows.parts, pure=False)))


def gathered(client: Client, pieces: Sequence[Future]) -> Pieces:
    """The pieces that have rows, with their facts.

    Raises
    ------
    DataError
        When a piece cannot be used, or none has rows.
    """
    facts = client.gather(client.map(_facts, pieces, pure=False))
    there = [(piece, one) for piece, one in zip(pieces, facts, strict=True) if one is not None]
    if not there:
        raise DataError("no partition has any cases: give at least one case and one attribute")
    return Pieces([piece for piece, _ in there], [one for _, one in there])


def piece_of(
    table: Table, place: str, keeps: Sequence[str] = (), labels: Array | None = None, weights: Array | None = None
) -> Piece:
    """A piece of the whole; `labels` are the distinct ones, by the numbers of the table's classes."""
    n_labels = table.schema.n_classes if labels is None else len(labels)
    counts = np.bincount(table.classes, minlength=n_labels)
    weighing = None if weights is None else _weighing(weights, place)
    return Piece(table, weights, PieceFacts(facts_of(table, place, keeps), labels, counts, weighing))


def _weighing(weights: Array, place: str) -> Weighing:
    try:
        sound = finite_weights(weights, len(weights))
    except DataError as fault:
        raise DataError(f"{place}: {fault}") from None
    return Weighing(weights.dtype.kind, float(sound.sum()), float(sound.max(initial=0)), int(np.count_nonzero(sound)))


def _facts(piece: Piece | None) -> PieceFacts | None:
    return None if piece is None else piece.facts


def _finished(piece: Piece, shared: tuple[Whole, Array | None], numbers: Array, times: int) -> Table:
    whole, factors = shared
    table, weights = under(whole, piece.table, numbers), piece.weights
    if weights is not None:
        weights = finite_weights(weights if times == 1 else weights * times, table.n_cases)
    if factors is not None:
        of_classes = factors[table.classes]
        weights = of_classes if weights is None else weights * of_classes
    return replace(table, weights=weights)


def _both(whole: Whole, factors: Array | None) -> tuple[Whole, Array | None]:
    return whole, factors


def _done(table: Table) -> int:
    return table.n_cases


def _weight(table: Table) -> float:
    return float(table.n_cases if table.weights is None else table.weights.sum())
