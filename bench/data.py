"""Seeded makers of training and held-out rows, at any size.

    mc          scikit-learn's make_classification: 28 float32 columns, 12 informative, 4 redundant, 2 classes
    agr1..agr10 Agrawal et al.'s functions, perturbation 5 %: 6 continuous and 3 discrete columns, 2 classes
    cov         like the forest covertype table: 10 whole-number columns, 44 binary ones, 7 classes of uneven size
    wide        500 float32 columns, 40 informative, 60 redundant, 4 classes
    many60, many700  a discrete column of so many values, each of which cuts the other 8, float32, obliquely; 2 classes

Rows are drawn in chunks, each from its own stream, so that a table of any size is made within one chunk's memory above
its own. `mc` up to 2 million rows is one call of make_classification, to be comparable with published figures; above
that a Gaussian mixture of the same style is drawn in chunks.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bench import agrawal
from bench.rows import Rows, forget, together

CHUNK: Final = 1_000_000
HELD_OUT: Final = 100_000
LARGEST_CALL: Final = 2_000_000  # rows of one make_classification call: 3 float64 copies of 28 columns are 1.3 GB
PERTURBATION: Final = 0.05

Matrix = npt.NDArray[np.float64]
Draw = Callable[[int, np.random.Generator], Rows]


def train_and_held_out(
    name: str, n_rows: int, *, held_out: int = HELD_OUT, seed: int = 0, unknown: float = 0.0
) -> tuple[Rows, Rows]:
    """Rows to train on and rows to test with, from one distribution.

    Parameters
    ----------
    name : str
        One of :func:`set_names`.
    n_rows, held_out : int
        How many of each.
    seed : int
        The same seed gives the same rows.
    unknown : float
        The share of all values, in both, that are made unknown.

    Raises
    ------
    ValueError
        For a name that is none of the sets, or a share outside 0..1.
    """
    if name not in set_names():
        raise ValueError(f"there is no set {name!r}: choose one of {', '.join(set_names())}")
    if not 0 <= unknown < 1:
        raise ValueError(f"unknown={unknown} is not a share: give a number from 0 to below 1")
    if name == "mc" and n_rows + held_out <= LARGEST_CALL + HELD_OUT:
        both = _make_classification(n_rows + held_out, seed)
        parts = both.part(0, n_rows), both.part(n_rows, n_rows + held_out)
    else:
        draw = _maker(name, seed)
        parts = _in_chunks(draw, n_rows, name, seed, "train"), _in_chunks(draw, held_out, name, seed, "held-out")
    if unknown:
        for part, role in zip(parts, ("train", "held-out"), strict=True):
            forget(part, unknown, _stream(seed, name, role, "unknown"))
    return parts


def set_names() -> tuple[str, ...]:
    """The names of all sets."""
    return ("mc", *(f"agr{function}" for function in agrawal.FUNCTIONS), "cov", "wide", *MANY)


def _stream(seed: int, *purpose: str) -> np.random.Generator:
    return np.random.default_rng([seed, *(zlib.crc32(word.encode()) for word in purpose)])


def _in_chunks(draw: Draw, n_rows: int, name: str, seed: int, role: str) -> Rows:
    first = range(0, n_rows, CHUNK)
    return together([draw(min(CHUNK, n_rows - at), _stream(seed, name, role, str(at))) for at in first])


def _maker(name: str, seed: int) -> Draw:
    shape = _stream(seed, name, "shape")
    if name == "cov":
        return _Covertype.of(shape).draw
    if name in MIXTURES:
        return _Mixture.of(MIXTURES[name], shape).draw
    if name in MANY:
        return _ManyBranches.of(MANY[name], shape).draw
    function = int(name.removeprefix("agr"))
    return lambda n_rows, stream: agrawal.rows(function, n_rows, PERTURBATION, stream)


def _make_classification(n_rows: int, seed: int) -> Rows:
    from sklearn.datasets import make_classification

    values, classes = make_classification(
        n_rows,
        28,
        n_informative=12,
        n_redundant=4,
        n_clusters_per_class=3,
        flip_y=0.05,
        class_sep=0.8,
        random_state=seed,
    )
    return _continuous(values, classes, 2)


def _continuous(values: Matrix, classes: npt.NDArray[np.integer], n_classes: int) -> Rows:
    columns = [np.ascontiguousarray(values[:, a], np.float32) for a in range(values.shape[1])]
    names = tuple(f"x{a}" for a in range(len(columns)))
    return Rows(names, ((),) * len(columns), columns, classes.astype(np.int32), tuple(map(str, range(n_classes))))


class MixtureShape(NamedTuple):
    """What a Gaussian mixture looks like: numbers of columns, classes and clusters of each class, and its noise."""

    columns: int
    informative: int
    redundant: int
    classes: int
    clusters: int
    separation: float
    flipped: float


MIXTURES: Final = {
    "mc": MixtureShape(28, 12, 4, classes=2, clusters=3, separation=0.8, flipped=0.05),
    "wide": MixtureShape(500, 40, 60, classes=4, clusters=2, separation=1.0, flipped=0.05),
}


MANY: Final = {"many60": 60, "many700": 700}  # values of the discrete column


class _ManyBranches(NamedTuple):
    """A discrete column that is tested first: each of its values has a slope and a cut of its own; a fifth is noise."""

    slope: Matrix  # (values, 8)
    cut: npt.NDArray[np.float64]

    @classmethod
    def of(cls, n_values: int, stream: np.random.Generator) -> _ManyBranches:
        return cls(stream.standard_normal((n_values, 8)), stream.normal(0, 3, n_values))

    def draw(self, n_rows: int, stream: np.random.Generator) -> Rows:
        numbers, value = stream.standard_normal((n_rows, 8)), stream.integers(0, len(self.cut), n_rows)
        above = (numbers * self.slope[value]).sum(1) > self.cut[value]
        rows = _continuous(numbers, above ^ (stream.random(n_rows) < 0.2), 2)
        names = tuple(map(str, range(len(self.cut))))
        columns = [value.astype(np.int32), *rows.columns]
        return Rows(("value", *rows.names), (names, *rows.values), columns, rows.classes, rows.class_names)


class _Mixture(NamedTuple):
    """Clusters at corners of a cube, each stretched by a matrix of its own; then redundant columns and pure noise."""

    shape: MixtureShape
    centres: Matrix  # (clusters, informative)
    stretch: Matrix  # (clusters, informative, informative)
    mixing: Matrix  # (informative, redundant)
    order: npt.NDArray[np.int64]  # of the columns

    @classmethod
    def of(cls, shape: MixtureShape, stream: np.random.Generator) -> _Mixture:
        clusters, side = shape.classes * shape.clusters, shape.informative
        return cls(
            shape,
            stream.choice([-shape.separation, shape.separation], (clusters, side)),
            stream.uniform(-1, 1, (clusters, side, side)),
            stream.uniform(-1, 1, (side, shape.redundant)),
            stream.permutation(shape.columns),
        )

    def draw(self, n_rows: int, stream: np.random.Generator) -> Rows:
        shape = self.shape
        values = stream.standard_normal((n_rows, shape.columns))
        cluster = stream.integers(0, len(self.centres), n_rows)
        informative = values[:, : shape.informative]
        for number, (centre, stretch) in enumerate(zip(self.centres, self.stretch, strict=True)):
            informative[cluster == number] = informative[cluster == number] @ stretch + centre
        values[:, shape.informative : shape.informative + shape.redundant] = informative @ self.mixing
        classes = _flip(cluster % shape.classes, shape.flipped, shape.classes, stream)
        return _continuous(values[:, self.order], classes, shape.classes)


def _flip(
    classes: npt.NDArray[np.int64], share: float, n_classes: int, stream: np.random.Generator
) -> npt.NDArray[np.int64]:
    anything = stream.integers(0, n_classes, len(classes))
    return np.where(stream.random(len(classes)) < share, anything, classes)


COVER_SHARES: Final = (0.365, 0.488, 0.062, 0.005, 0.015, 0.030, 0.035)  # of the seven classes
COVER_STANDS: Final = 8  # clusters of each class
COVER_RANGES: Final = {  # of the ten whole-number columns
    "elevation": (1859, 3858),
    "aspect": (0, 360),
    "slope": (0, 66),
    "to_water": (0, 1397),
    "above_water": (-173, 601),
    "to_road": (0, 7117),
    "shade_9": (0, 254),
    "shade_12": (0, 254),
    "shade_15": (0, 254),
    "to_fire": (0, 7173),
}
COVER_AREAS: Final = 4
COVER_SOILS: Final = 40


class _Covertype(NamedTuple):
    """Stands of trees: each has a class, a centre and spread of the numbers, and its own odds of area and soil."""

    centres: Matrix  # (stands, 10) as a share of the range
    spreads: Matrix
    area_odds: Matrix  # (stands, 4), cumulated
    soil_odds: Matrix  # (stands, 40), cumulated

    @classmethod
    def of(cls, stream: np.random.Generator) -> _Covertype:
        stands = len(COVER_SHARES) * COVER_STANDS
        return cls(
            stream.uniform(0.1, 0.9, (stands, len(COVER_RANGES))),
            stream.uniform(0.05, 0.25, (stands, len(COVER_RANGES))),
            stream.dirichlet(np.full(COVER_AREAS, 0.3), stands).cumsum(1),
            stream.dirichlet(np.full(COVER_SOILS, 0.1), stands).cumsum(1),
        )

    def draw(self, n_rows: int, stream: np.random.Generator) -> Rows:
        classes = stream.choice(len(COVER_SHARES), n_rows, p=COVER_SHARES)
        stand = classes * COVER_STANDS + stream.integers(0, COVER_STANDS, n_rows)
        columns = [self._numbers(a, stand, stream) for a in range(len(COVER_RANGES))]
        names = list(COVER_RANGES)
        for what, odds in (("area", self.area_odds), ("soil", self.soil_odds)):
            member = (stream.random((n_rows, 1)) > odds[stand, :-1]).sum(1)
            columns += [(member == one).astype(np.int32) for one in range(odds.shape[1])]
            names += [f"{what}{one + 1}" for one in range(odds.shape[1])]
        values = ((),) * len(COVER_RANGES) + (("0", "1"),) * (COVER_AREAS + COVER_SOILS)
        class_names = tuple(map(str, range(1, len(COVER_SHARES) + 1)))
        return Rows(tuple(names), values, columns, classes.astype(np.int32), class_names)

    def _numbers(self, a: int, stand: npt.NDArray[np.int64], stream: np.random.Generator) -> npt.NDArray[np.float32]:
        low, high = list(COVER_RANGES.values())[a]
        share = self.centres[stand, a] + self.spreads[stand, a] * stream.standard_normal(len(stand))
        whole: npt.NDArray[np.float32] = np.rint(low + (high - low) * np.clip(share, 0, 1)).astype(np.float32)
        return whole
