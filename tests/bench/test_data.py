from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import agrawal, data
from bench.data import train_and_held_out
from bench.rows import Rows, load, save
from bench.text import write_text

SIZES = {"mc": 28, "agr2": 9, "cov": 54, "wide": 500}

# salary, commission, age, elevel, hvalue, hyears, loan; then what functions 1 to 10 say, worked out by hand
PEOPLE = [
    ((60_000, 20_000, 30, 0, 500_000, 25, 250_000), "AAAAAABABA"),
    ((110_000, 0, 50, 4, 200_000, 10, 350_000), "BABAAABABA"),
    ((140_000, 0, 70, 1, 900_000, 20, 100_000), "ABBBABAAAA"),
    ((20_000, 10_000, 40, 4, 100_000, 21, 0), "BBBBBBABBB"),
    ((75_000, 0, 60, 2, 0, 1, 300_000), "AAAAAABABA"),
    ((30_000, 60_000, 25, 3, 0, 20, 350_000), "ABBBAABABA"),
]


def small(name: str, n_rows: int = 400, **options: float) -> tuple[Rows, Rows]:
    return train_and_held_out(name, n_rows, held_out=200, **options)


def bytes_of(rows: Rows) -> list[bytes]:
    return [column.tobytes() for column in (*rows.columns, rows.classes)]


def one_person(numbers: tuple[float, ...]) -> agrawal.People:
    names = ("salary", "commission", "age", "elevel", "hvalue", "hyears", "loan")
    return {name: np.array([number], np.float64) for name, number in zip(names, numbers, strict=True)}


@pytest.mark.parametrize("function", range(1, 11))
@pytest.mark.parametrize(("numbers", "groups"), PEOPLE)
def test_agrawal_functions_on_people_worked_out_by_hand(numbers: tuple[float, ...], groups: str, function: int) -> None:
    assert bool(agrawal.FUNCTIONS[function](one_person(numbers))[0]) == (groups[function - 1] == "A")


def test_perturbed_numbers_stay_near_and_in_range() -> None:
    who = agrawal.people(5_000, np.random.default_rng(1))
    seen = agrawal.perturb(who, 0.05, np.random.default_rng(2))
    for name, low, high, rounding in (("salary", 20e3, 150e3, 0.005), ("age", 20, 80, 0.5), ("loan", 0, 500e3, 0.005)):
        moved = np.abs(seen[name] - who[name])
        assert moved.max() <= 0.05 * (high - low) + rounding
        assert moved.max() > 0.04 * (high - low)
        assert low <= seen[name].min()
        assert seen[name].max() <= high
    assert ((seen["commission"] == 0) == (who["commission"] == 0)).all()
    assert all((seen[name] == who[name]).all() for name in agrawal.VALUES)


def test_group_is_given_before_perturbation() -> None:
    rows = agrawal.rows(1, 4_000, 0.05, np.random.default_rng(0))
    blurred = rows.columns[rows.names.index("age")]
    wrong = ((blurred < 40) | (blurred >= 60)) != (rows.classes == 0)
    assert 0.03 < wrong.mean() < 0.07  # 3 years either way at two borders of 60 years: 5 %
    exact = agrawal.rows(1, 4_000, 0.0, np.random.default_rng(0))
    age = exact.columns[exact.names.index("age")]
    assert (((age < 40) | (age >= 60)) == (exact.classes == 0)).all()


@pytest.mark.parametrize("name", SIZES)
def test_same_seed_same_rows(name: str) -> None:
    first, again, other = small(name), small(name), small(name, seed=1)
    for part in (0, 1):
        assert bytes_of(first[part]) == bytes_of(again[part])
        assert bytes_of(first[part]) != bytes_of(other[part])
    assert bytes_of(first[0].part(0, 200)) != bytes_of(first[1])


@pytest.mark.parametrize("name", SIZES)
def test_shapes(name: str) -> None:
    for rows, n_rows in zip(small(name), (400, 200), strict=True):
        assert rows.n_rows == n_rows
        assert len(rows.columns) == len(rows.names) == len(rows.values) == len(set(rows.names)) == SIZES[name]
        for column, values, kind in zip(rows.columns, rows.values, rows.kinds, strict=True):
            assert column.shape == (n_rows,)
            assert column.flags.c_contiguous
            assert kind == ("discrete" if values else "continuous")
            if values:
                assert column.dtype == np.int32
                assert column.min() >= 0
                assert column.max() < len(values)
            else:
                assert column.dtype == (np.float64 if name == "agr2" else np.float32)
                assert np.isfinite(column).all()
        assert rows.classes.dtype == np.int32
        assert rows.classes.min() >= 0
        assert rows.classes.max() < len(rows.class_names)


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("mc", (0.5, 0.5)),
        ("wide", (0.25, 0.25, 0.25, 0.25)),
        ("agr1", (2 / 3, 1 / 3)),
        ("cov", data.COVER_SHARES),
    ],
)
def test_class_balance(name: str, shares: tuple[float, ...]) -> None:
    train, held_out = train_and_held_out(name, 4_000, held_out=4_000)
    for rows in (train, held_out):
        np.testing.assert_allclose(np.bincount(rows.classes, minlength=len(shares)) / rows.n_rows, shares, atol=0.03)


def test_binary_columns_of_cov_are_one_of_each_kind() -> None:
    train, _ = small("cov")
    codes = dict(zip(train.names, train.columns, strict=True))
    assert (sum(codes[f"area{one}"] for one in range(1, 5)) == 1).all()
    assert (sum(codes[f"soil{one}"] for one in range(1, 41)) == 1).all()


@pytest.mark.parametrize("name", ["mc", "agr2"])
def test_unknown_share(name: str) -> None:
    whole, holed = small(name, 3_000)[0], small(name, 3_000, unknown=0.2)[0]
    unknown = 0
    for before, after in zip(whole.columns, holed.columns, strict=True):
        gone = np.isnan(after) if after.dtype.kind == "f" else after == -1
        assert (before[~gone] == after[~gone]).all()
        unknown += int(gone.sum())
    assert abs(unknown / (3_000 * len(whole.columns)) - 0.2) < 0.02
    assert (whole.classes == holed.classes).all()


@pytest.mark.parametrize("name", ["agr2", "cov", "wide", "mc"])
def test_whole_chunks_do_not_depend_on_what_follows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "CHUNK", 100)
    monkeypatch.setattr(data, "LARGEST_CALL", -data.HELD_OUT)
    longer, shorter = small(name, 250)[0], small(name, 200)[0]
    assert longer.n_rows == 250
    assert bytes_of(longer.part(0, 200)) == bytes_of(shorter)
    assert bytes_of(longer.part(0, 100)) != bytes_of(longer.part(100, 200))


def test_unknown_set_or_share_is_refused() -> None:
    with pytest.raises(ValueError, match="no set 'iris'"):
        small("iris")
    with pytest.raises(ValueError, match="unknown=1"):
        small("mc", unknown=1)


def mixed() -> Rows:
    columns = [np.array([1.5, np.nan, -0.25], np.float32), np.array([1, 0, -1], np.int32)]
    return Rows(("size", "colour"), ((), ("red", "blue")), columns, np.array([0, 1, 0], np.int32), ("no", "yes"))


def test_matrix_holds_codes_as_numbers_and_takes_the_columns() -> None:
    rows = mixed()
    np.testing.assert_array_equal(rows.take_matrix(np.float64), [[1.5, 1], [np.nan, 0], [-0.25, np.nan]])
    assert rows.columns == []


def test_saved_rows_come_back(tmp_path: Path) -> None:
    save(mixed(), tmp_path / "rows")
    back = load(tmp_path / "rows")
    assert bytes_of(back) == bytes_of(mixed())
    assert (back.names, back.values, back.class_names) == (mixed().names, mixed().values, mixed().class_names)


def test_text_files(tmp_path: Path) -> None:
    write_text(mixed(), mixed(), tmp_path / "text")
    body = "1.5,blue,no\n?,red,yes\n-0.25,?,no\n"
    files = {path.name: path.read_text() for path in (tmp_path / "text").iterdir()}
    head = "@relation rows\n@attribute size numeric\n@attribute colour {red,blue}\n@attribute class {no,yes}\n@data\n"
    assert files == {
        "rows.names": "no, yes.\n\nsize: continuous.\ncolour: red, blue.\n",
        "rows.data": body,
        "rows.test": body,
        "rows.data.arff": head + body,
        "rows.test.arff": head + body,
    }
