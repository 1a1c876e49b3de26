"""The CPU engine grows and prunes the reference engine's trees, byte for byte, however it is set up."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.c45files import read_stem
from c45gpu.induction.options import Compat, Options
from c45gpu.induction.train import train
from c45gpu.kernels import cpu_counting, cpu_finishing, cpu_lists, cpu_small
from c45gpu.kernels.cpu_entry import Layout
from tests.kernels.seeded import TABLES, on_cpu, reference_model, same, with_unknown
from tests.strategies import OF_THE_HOST, Asked, Sample, asked, larger_samples, samples

pytestmark = pytest.mark.usefixtures("kernels")

NOTHING, EVERYTHING = 0, 1 << 40
SOME = ["3 classes", "60 classes", "around a byte of values", "whole weights", "unknown values", "strange float64"]
DIVIDED = [name for name in TABLES if "unknown" in name or "weights" in name]
WHOLE = [name for name in TABLES if name not in DIVIDED]
GOLDEN_SETS = ["ag_*", "jb_*", "ml_*", "penguins", "r8_*", "sk_*", "wk_*"]
QUICK = 150_000  # bytes of a .data file
REFUSED = ["t32_illegal_value"]
QUESTIONS = [
    Options(criterion="gain"),
    Options(prune="pep"),
    Options(compat="r8"),
    Options(min_cases=1, confidence=1.0, criterion="gain", compat="r8"),
    Options(min_cases=20, confidence=0.01),
    *OF_THE_HOST,
]


@given(sample=samples() | larger_samples(), question=asked(), threads=st.sampled_from([1, 2, 4]))
def test_any_table_and_options(sample: Sample, question: Asked, threads: int) -> None:
    expected = train(sample.table, question.options, "reference")
    assert same(on_cpu(sample.table, question.options, threads), expected)


@pytest.mark.parametrize("name", TABLES)
def test_seeded_tables(name: str) -> None:
    expected = reference_model(name)
    assert expected.unpruned.n_nodes > 15
    assert same(on_cpu(TABLES[name]()), expected)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("name", SOME)
def test_number_of_threads(name: str, threads: int) -> None:
    assert same(on_cpu(TABLES[name](), threads=threads), reference_model(name))


@pytest.mark.parametrize("options", QUESTIONS, ids=str)
@pytest.mark.parametrize("name", [*SOME, "closer than release 8 cuts"])
def test_options(name: str, options: Options) -> None:
    assert same(on_cpu(TABLES[name](), options), reference_model(name, options))


def test_release_8_cuts_less() -> None:
    name, options = "closer than release 8 cuts", Options(compat="r8")
    assert reference_model(name, options).unpruned.n_nodes < reference_model(name).unpruned.n_nodes


@pytest.mark.parametrize("most", [NOTHING, EVERYTHING])
@pytest.mark.parametrize("name", [*SOME, "whole cases", "100,000 values"])
def test_nodes_that_one_worker_finishes(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_counting, "FINISH_CASES", most)
    monkeypatch.setattr(cpu_counting, "FINISH_BYTES", most)
    assert same(on_cpu(TABLES[name]()), reference_model(name))


@pytest.mark.parametrize("most", [NOTHING, EVERYTHING])
@pytest.mark.parametrize("name", DIVIDED)
def test_divided_nodes_that_one_worker_finishes(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_finishing, "FINISH_CASES", most)
    monkeypatch.setattr(cpu_small, "FINISH_ALONE", most)
    monkeypatch.setattr(cpu_finishing, "WORKERS_SHARE", EVERYTHING)
    assert same(on_cpu(TABLES[name]()), reference_model(name))


@pytest.mark.parametrize("name", ["unknown values and weights", "unknown among many values"])
def test_memory_of_a_worker_grows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_finishing, "ARENA", 0)
    assert same(on_cpu(TABLES[name]()), reference_model(name))


@pytest.mark.parametrize("compat", [None, "r8"])
@pytest.mark.parametrize("most", [NOTHING, EVERYTHING])
def test_unknown_values_that_are_close(most: int, compat: Compat | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_finishing, "FINISH_CASES", most)
    monkeypatch.setattr(cpu_small, "FINISH_ALONE", most)
    table, options = with_unknown(TABLES["closer than release 8 cuts"](), 0.1), Options(compat=compat)
    assert same(on_cpu(table, options), train(table, options, "reference"))


@pytest.mark.parametrize("most", [0, 3])
@pytest.mark.parametrize("name", [*SOME, "whole cases", "unknown values and weights"])
def test_columns_with_few_values_as_lists(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_lists, "MOST_CODES", most)
    assert same(on_cpu(TABLES[name]()), reference_model(name))


@pytest.mark.parametrize("names", [WHOLE, pytest.param(DIVIDED, marks=pytest.mark.slow)], ids=["whole", "divided"])
def test_entries_of_64_bits(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What more than 2^31 pairs of row and class would take; the tables together, since all need the same kernels."""
    monkeypatch.setattr(cpu_lists, "layout_for", wide_layout)
    for name in names:
        assert same(on_cpu(TABLES[name]()), reference_model(name)), name


def wide_layout(n_cases: int, n_classes: int) -> Layout:
    return Layout(32, 12, 63)


@pytest.mark.parametrize(
    ("n_cases", "n_classes", "new_bit"),
    [(2, 2, 31), (1 << 30, 2, 31), ((1 << 30) + 1, 2, 63), (1 << 29, 3, 31), ((1 << 29) + 1, 3, 63), (1 << 40, 9, 63)],
)
def test_layout_has_room_for_row_and_class(n_cases: int, n_classes: int, new_bit: int) -> None:
    layout = cpu_lists.layout_for(n_cases, n_classes)
    assert layout.new_bit == new_bit
    assert n_cases <= 1 << layout.row_bits
    assert n_classes <= 1 << layout.class_bits
    assert layout.row_bits + layout.class_bits <= layout.new_bit


@pytest.mark.parametrize("pattern", GOLDEN_SETS)
def test_smaller_golden_sets(golden: Path, pattern: str) -> None:
    names = [path for path in sorted((golden / "sets").glob(f"{pattern}.data")) if path.stat().st_size < QUICK]
    assert names
    for path in names:
        assert_engines_agree(path, None)
        assert_engines_agree(path, "r8")


@pytest.mark.slow
@pytest.mark.parametrize("compat", [None, "r8"])
@pytest.mark.parametrize("pattern", ["sets/[a-l]*", "sets/[m-z]*", "tiny/*", "random/*"])
def test_all_golden_sets(golden: Path, pattern: str, compat: Compat | None) -> None:
    paths = [path for path in sorted(golden.glob(f"{pattern}.data")) if path.stem not in REFUSED]
    assert paths
    for path in paths:
        assert_engines_agree(path, compat)


def assert_engines_agree(path: Path, compat: Compat | None) -> None:
    table, options = read_stem(path.with_suffix(""), compat=compat)[0], Options(compat=compat)
    assert same(on_cpu(table, options), train(table, options, "reference")), path.stem
