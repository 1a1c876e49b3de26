from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c45gpu.data.table import Table
from c45gpu.induction.grown import grown
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.induction.window import Windows, initial_classes, with_all_cases
from c45gpu.kernels.engine import available
from c45gpu.kernels.level import Frontier, Problem
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.predict import class_frequencies, predicted_classes
from c45gpu.model.store import model_bytes
from c45gpu.model.tree import LEAF
from tests.kernels.seeded import TABLES, mixed, same, table_of
from tests.strategies import Asked, Sample, asked, larger_samples, sample, samples

ENGINES = [name for name, reason in available().items() if reason is None]
ID = 0  # the attribute of :func:`numbered` whose value is another one for each case


class WatchedEngine(ReferenceEngine):
    """Keeps what it was given to load."""

    def __init__(self) -> None:
        self.loaded: list[Problem] = []

    def load(self, problem: Problem) -> Frontier:
        self.loaded.append(problem)
        return super().load(problem)

    def close(self) -> None:
        """Stay as it is, to be looked at."""


def numbered(n: int = 900) -> Table:
    """The rows of a table with a number for each case, and three classes, one rare."""
    chance = np.random.default_rng(5)
    number, other, code = chance.permutation(n).astype(float), chance.normal(size=n), chance.integers(0, 4, n)
    classes = np.where(chance.random(n) < 0.03, 2, (other > 0) ^ (code == 1) ^ (chance.random(n) < 0.1))
    return table_of([number, other, (code, 4)], classes, 3)


def watched(table: Table, **options: Any) -> tuple[list[Problem], list[dict[str, Any]]]:
    """What the engine was given, all cases for pruning left out, and the record of one trial."""
    engine = WatchedEngine()
    model = train(table, Options(n_trials=1, **options), engine)
    assert engine.loaded[-1].table.n_cases == table.n_cases
    return engine.loaded[:-1], model.record["trials"][0]["cycles"]


@pytest.mark.parametrize(
    ("n", "given", "expected"),
    [
        (1000, {}, (10, 200, 40)),
        (50, {}, (10, 14, 2)),
        (16, {}, (10, 8, 1)),
        (1, {}, (10, 1, 1)),
        (1000, {"n_trials": 3, "initial_window": 7, "window_increment": 9}, (3, 7, 9)),
        (1000, {"initial_window": 400}, (10, 400, 80)),
        (100, {"initial_window": 400}, (10, 100, 80)),
    ],
)
def test_windows_have_quinlans_defaults(n: int, given: dict[str, int], expected: tuple[int, int, int]) -> None:
    assert Windows.of(Options(**given), n) == expected


@pytest.mark.parametrize(
    ("counts", "size", "expected"),
    [
        ([50, 50], 10, [5, 5]),
        ([50, 50], 11, [5, 6]),
        ([40, 5, 10], 30, [15, 5, 10]),
        ([40, 40, 3], 20, [8, 9, 3]),
        ([0, 7, 90], 12, [0, 6, 6]),
        ([2, 2, 2], 6, [2, 2, 2]),
    ],
)
def test_classes_are_made_equally_frequent(counts: list[int], size: int, expected: list[int]) -> None:
    assert initial_classes(np.array(counts), size).tolist() == expected


@given(counts=st.lists(st.integers(0, 30), min_size=1, max_size=8).filter(any), data=st.data())
def test_an_initial_window_is_full_and_as_even_as_can_be(counts: list[int], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, sum(counts)))
    targets = initial_classes(np.array(counts), size).tolist()
    assert sum(targets) == size
    for target, count in zip(targets, counts, strict=True):
        assert target == count or (target < count and target >= max(targets) - 1)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=30)
@given(drawn=samples() | larger_samples(), question=asked(), seed=st.integers(0, 9))
def test_a_window_of_all_cases_gives_the_tree_of_all_cases(
    engine: str, drawn: Sample, question: Asked, seed: int
) -> None:
    windows = {"n_trials": 2, "initial_window": drawn.table.n_cases, "random_state": seed}
    windowed = train(drawn.table, question.options.with_changes(**windows), engine)
    assert same(windowed, train(drawn.table, question.options, engine))
    assert [len(trial["cycles"]) for trial in windowed.record["trials"]] == [1, 1]


@settings(max_examples=30)
@given(drawn=samples() | larger_samples(), question=asked(), initial=st.integers(1, 40), seed=st.integers(0, 9))
def test_all_engines_make_the_same_of_a_seed(
    kernels: None, drawn: Sample, question: Asked, initial: int, seed: int
) -> None:
    options = question.options.with_changes(n_trials=2, initial_window=initial, random_state=seed)
    assert model_bytes(train(drawn.table, options, "cpu")) == model_bytes(train(drawn.table, options, "reference"))


@pytest.mark.parametrize("name", ["only codes", "unknown values and weights", "closer than release 8 cuts"])
def test_all_engines_make_the_same_of_a_larger_table(kernels: None, name: str) -> None:
    for options in (Options(n_trials=2), Options(n_trials=1, prune="pep", random_state=3, compat="r8")):
        models = [train(TABLES[name](), options, engine) for engine in ENGINES]
        assert len({model_bytes(model) for model in models}) == 1
        assert len(models[0].record["trials"][0]["cycles"]) > 2


def test_the_seed_is_all_that_chance_depends_on() -> None:
    options = Options(n_trials=2)
    one, again, other = (train(numbered(), options.with_changes(random_state=seed)) for seed in (1, 1, 2))
    assert model_bytes(one) == model_bytes(again)
    assert one.record != other.record
    first, second = one.record["trials"]
    assert first["cycles"] != second["cycles"]


def test_a_window_only_grows_until_all_others_are_right() -> None:
    table = numbered()
    loaded, cycles = watched(table, prune="none", min_cases=1)
    windows = [set(problem.table.column(ID).tolist()) for problem in loaded]
    assert [len(window) for window in windows] == [cycle["window"] for cycle in cycles]
    assert [window < later for window, later in pairwise(windows)] == [True] * (len(windows) - 1)
    assert len(windows) > 3
    last = grown(ReferenceEngine(), loaded[-1], whole=table)
    wrong = predicted_classes(class_frequencies(last, table)) != table.classes
    assert set(table.column(ID)[wrong].tolist()) <= windows[-1]
    assert int(wrong.sum()) == cycles[-1]["errors"]
    assert cycles[-1]["exceptions"] == 0


def test_what_is_added_are_exceptions_in_numbers_that_the_increment_allows() -> None:
    table = numbered()
    loaded, cycles = watched(table, window_increment=7)
    for problem, later, cycle, next_cycle in zip(loaded[:-1], loaded[1:], cycles[:-1], cycles[1:], strict=True):
        exceptions = int(cycle["exceptions"])
        assert next_cycle["window"] == cycle["window"] + max(min(exceptions, 7), exceptions // 2)
        tree = grown(ReferenceEngine(), problem, whole=table)
        added = np.setdiff1d(later.table.column(ID), problem.table.column(ID))
        cases = table.take(np.isin(table.column(ID), added))
        assert (predicted_classes(class_frequencies(tree, cases)) != cases.classes).all()


def test_which_exceptions_are_added_is_left_to_chance() -> None:
    table = numbered()
    first, second = watched(table, window_increment=1)[0][:2]
    wrong = predicted_classes(class_frequencies(grown(ReferenceEngine(), first, whole=table), table)) != table.classes
    outside = ~np.isin(table.column(ID), first.table.column(ID))
    added = np.isin(table.column(ID), second.table.column(ID))[wrong & outside]
    assert 0 < added.sum() < len(added)
    assert not added[: added.sum()].all()


def test_an_initial_window_has_the_classes_in_equal_numbers() -> None:
    loaded, _ = watched(numbered(), initial_window=60)
    assert np.bincount(loaded[0].table.classes).tolist() == [20, 20, 20]


def test_many_values_are_many_for_all_cases() -> None:
    chance = np.random.default_rng(1)
    many, classes = chance.integers(0, 60, 400), chance.integers(0, 2, 400)
    table = table_of([(many, 60), (chance.integers(0, 3, 400), 3), chance.normal(size=400)], classes, 2)
    loaded, _ = watched(table, initial_window=50)
    assert [problem.facts.averaged.tolist() for problem in loaded] == [[True] * 3] * len(loaded)
    assert pose(loaded[0].table, Options()).facts.averaged.tolist() == [False, True, True]


def test_a_threshold_is_a_value_of_the_whole_column() -> None:
    table = sample([("continuous", 0, [float(i) for i in range(10)])], 2, [0] * 5 + [1] * 5, None).table
    window = pose(table.take(np.array([1, 8])), Options(min_cases=1))
    assert grown(ReferenceEngine(), window, whole=table).threshold[0] == 4.0
    assert grown(ReferenceEngine(), window).threshold[0] == 1.0


def test_the_best_tree_of_the_best_trial_stays() -> None:
    model = train(mixed(3, 600), Options(n_trials=6))
    trials = model.record["trials"]
    estimates = [trial["estimate"] for trial in trials]
    (chosen,) = [i for i, trial in enumerate(trials) if trial["chosen"]]
    assert chosen == estimates.index(min(estimates))
    assert len(set(estimates)) > 1
    assert model.pruned.errors[0] == min(estimates)
    for trial in trials:
        totals = [cycle["errors"] + cycle["exceptions"] for cycle in trial["cycles"]]
        assert trial["best"] == totals.index(min(totals))
    assert (
        trials[chosen]["before"] == model.unpruned.n_nodes == trials[chosen]["cycles"][trials[chosen]["best"]]["size"]
    )
    assert trials[chosen]["after"] == model.pruned.n_nodes


@pytest.mark.parametrize("prune", ["ebp", "pep", "none"])
def test_the_pruned_tree_has_the_weights_of_all_cases(prune: str) -> None:
    table = mixed(4, 700, 3)
    model = train(table, Options(n_trials=1, prune=prune))
    assert model.unpruned.weight[0] < 700
    assert model.pruned.class_weights[0].tolist() == np.bincount(table.classes).tolist()


@given(drawn=samples() | larger_samples(), question=asked())
def test_the_weights_of_all_cases_are_those_of_growing_on_them(drawn: Sample, question: Asked) -> None:
    whole = pose(drawn.table, question.options)
    tree = grown(ReferenceEngine(), whole)
    nothing = np.zeros(tree.n_nodes)
    again = with_all_cases(replace(tree, weight=nothing, errors=nothing), whole)
    assert again.equals(replace(tree, errors=again.errors))
    leaves = tree.kind == LEAF
    wrong = np.where(tree.weight > 0, tree.weight - tree.class_weights.max(1), 0)
    assert again.errors[leaves].tolist() == wrong[leaves].tolist()
    assert again.errors[0] == wrong[leaves].sum()


def test_errors_are_weighed_and_exceptions_counted() -> None:
    table = replace(numbered(), weights=np.full(900, 2.5), _ranks={})
    _, cycles = watched(table, min_cases=5, window_increment=7)
    for cycle, later in pairwise(cycles):
        assert cycle["errors"] % 2.5 == 0
        exceptions = round(cycle["exceptions"] / 2.5)
        assert 2.5 * exceptions == cycle["exceptions"]
        assert later["window"] == cycle["window"] + max(min(exceptions, 7), exceptions // 2)
    assert any(cycle["errors"] > 0 for cycle in cycles)


def test_progress_is_told_of_every_tree() -> None:
    depths: list[int] = []
    model = train(numbered(), Options(n_trials=2), progress=lambda level: depths.append(level.depth))
    assert depths.count(1) == sum(len(trial["cycles"]) for trial in model.record["trials"])
