"""The synthetic people of Agrawal, Imielinski and Swami, "Database Mining: A Performance Perspective" (1993).

Nine attributes and ten functions that put each person into group A or B. Functions 1 to 5 are disjunctions over three
age bands; written with `band` they read

    age     under 40    40 to under 60    60 and over
    band       0              1                2

The publication leaves open how finely values are given; here money has cents, ages and years are whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.rows import Rows

Numbers = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
People = dict[str, Numbers]
Interval = tuple[float, float]

NAMES: Final = ("salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan")
VALUES: Final[dict[str, tuple[str, ...]]] = {
    "elevel": tuple(map(str, range(5))),
    "car": tuple(map(str, range(1, 21))),
    "zipcode": tuple(map(str, range(9))),
}
GROUPS: Final = ("A", "B")

SALARY_OF_BAND: Final = ((50e3, 100e3), (75e3, 125e3), (25e3, 75e3))
SALARY_IF_LEVEL_FITS: Final = ((25e3, 75e3), (50e3, 100e3), (50e3, 100e3))
LEVELS_OF_BAND: Final = ((0, 1), (1, 3), (2, 4))
LOAN_IF_SALARY_FITS: Final = ((100e3, 300e3), (200e3, 400e3), (300e3, 500e3))
LOAN_OTHERWISE: Final = ((200e3, 400e3), (300e3, 500e3), (100e3, 300e3))


def people(n_rows: int, stream: np.random.Generator) -> People:
    """Draw people as they are before perturbation: `elevel`, `car` and `zipcode` as numbers, not codes."""
    salary = stream.uniform(20e3, 150e3, n_rows)
    zipcode = stream.integers(0, 9, n_rows)
    return {
        "salary": salary,
        "commission": np.where(salary >= 75e3, 0.0, stream.uniform(10e3, 75e3, n_rows)),
        "age": stream.integers(20, 81, n_rows).astype(np.float64),
        "elevel": stream.integers(0, 5, n_rows).astype(np.float64),
        "car": stream.integers(1, 21, n_rows).astype(np.float64),
        "zipcode": zipcode.astype(np.float64),
        "hvalue": (9 - zipcode) * 100e3 * stream.uniform(0.5, 1.5, n_rows),
        "hyears": stream.integers(1, 31, n_rows).astype(np.float64),
        "loan": stream.uniform(0.0, 500e3, n_rows),
    }


def perturb(who: People, share: float, stream: np.random.Generator) -> People:
    """Blur the numbers of people whose group is settled already.

    Each number moves by up to `share` of its attribute's range either way and stays within the range, as the generators
    for data streams do it. (The publication's own factor is half as wide: its 5 % are 0.025 here.) A commission of 0
    stays 0.
    """
    width = (9 - who["zipcode"]) * 100e3
    ranges: dict[str, tuple[float | Numbers, float | Numbers]] = {
        "salary": (20e3, 150e3),
        "commission": (10e3, 75e3),
        "age": (20.0, 80.0),
        "hvalue": (0.5 * width, 1.5 * width),
        "hyears": (1.0, 30.0),
        "loan": (0.0, 500e3),
    }
    blurred = dict(who)
    for name, (low, high) in ranges.items():
        shift = stream.uniform(-share, share, len(width)) * np.subtract(high, low)
        digits = 0 if name in ("age", "hyears") else 2
        blurred[name] = np.clip(who[name] + shift, low, high).round(digits)
    blurred["commission"] = np.where(who["commission"] == 0, 0.0, blurred["commission"])
    return blurred


def rows(function: int, n_rows: int, share: float, stream: np.random.Generator) -> Rows:
    """People, perturbed, with the group that a function (1 to 10) gives them."""
    who = people(n_rows, stream)
    classes = np.where(FUNCTIONS[function](who), 0, 1).astype(np.int32)
    seen = perturb(who, share, stream)
    columns = [(seen[name] - int(VALUES[name][0])).astype(np.int32) if name in VALUES else seen[name] for name in NAMES]
    return Rows(NAMES, tuple(VALUES.get(name, ()) for name in NAMES), columns, classes, GROUPS)


def _band(who: People) -> npt.NDArray[np.int64]:
    return np.digitize(who["age"], [40.0, 60.0])


def _between(values: Numbers, interval_of_band: tuple[Interval, ...], band: npt.NDArray[np.int64]) -> Truths:
    low, high = np.array(interval_of_band).T
    within: Truths = (low[band] <= values) & (values <= high[band])
    return within


def _disposable(who: People, *, level: float, loan: float, fixed: float) -> Numbers:
    return 0.67 * (who["salary"] + who["commission"]) - level * who["elevel"] - loan * who["loan"] - fixed


def _function_1(who: People) -> Truths:
    return np.not_equal(_band(who), 1)


def _function_2(who: People) -> Truths:
    return _between(who["salary"], SALARY_OF_BAND, _band(who))


def _function_3(who: People) -> Truths:
    return _between(who["elevel"], LEVELS_OF_BAND, _band(who))


def _function_4(who: People) -> Truths:
    band = _band(who)
    fits = _between(who["elevel"], LEVELS_OF_BAND, band)
    if_fits = _between(who["salary"], SALARY_IF_LEVEL_FITS, band)
    return np.where(fits, if_fits, _between(who["salary"], SALARY_OF_BAND, band))


def _function_5(who: People) -> Truths:
    band = _band(who)
    fits = _between(who["salary"], SALARY_OF_BAND, band)
    return np.where(fits, _between(who["loan"], LOAN_IF_SALARY_FITS, band), _between(who["loan"], LOAN_OTHERWISE, band))


def _function_6(who: People) -> Truths:
    return _between(who["salary"] + who["commission"], SALARY_OF_BAND, _band(who))


def _function_7(who: People) -> Truths:
    return _disposable(who, level=0.0, loan=0.2, fixed=20e3) > 0


def _function_8(who: People) -> Truths:
    return _disposable(who, level=5e3, loan=0.0, fixed=20e3) > 0


def _function_9(who: People) -> Truths:
    return _disposable(who, level=5e3, loan=0.2, fixed=10e3) > 0


def _function_10(who: People) -> Truths:
    equity = 0.1 * who["hvalue"] * np.maximum(who["hyears"] - 20, 0)
    return _disposable(who, level=5e3, loan=0.0, fixed=10e3) + 0.2 * equity > 0


FUNCTIONS: Final[dict[int, Callable[[People], Truths]]] = {
    1: _function_1,
    2: _function_2,
    3: _function_3,
    4: _function_4,
    5: _function_5,
    6: _function_6,
    7: _function_7,
    8: _function_8,
    9: _function_9,
    10: _function_10,
}
