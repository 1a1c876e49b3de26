"""The CUDA engine under the emulator scores every test as the reference engine does, by every measure.

Trees alone do not show it: a wrong measure often prefers the same test, and the number of cuts tried seldom decides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data.table import Table
from c45gpu.induction.options import Criterion, CutPoints, Options
from c45gpu.induction.problem import pose
from c45gpu.kernels.cuda_device import Sizes
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Candidates, Children, Frontier, Int64s, Problem, Splits
from c45gpu.kernels.reference import ReferenceEngine
from tests.kernels.cuda_here import SMALL, emulated_engine
from tests.kernels.seeded import table_of, with_unknown, with_weights

LISTS, CODES = SMALL._replace(most_ranks=1), SMALL._replace(most_ranks=256)  # how columns of numbers are held
SIZES = [LISTS._replace(tile=3, few=1), LISTS._replace(tile=33), CODES._replace(tile=5)]


def runs_of_a_class(seed: int, n: int = 60, n_classes: int = 3) -> Table:
    """Columns whose values have a few cases each, mostly of one class that neighbouring values share.

    The case that differs may be any of its value; of the greatest value it is the last. Of two discrete attributes the
    second has a value of two cases.
    """
    chance = np.random.default_rng(seed)
    columns = [np.sort(chance.integers(0, values, n)) for values in (9, 18)]
    classes = (columns[0] // 3 + columns[1] // 9) % n_classes
    odd = (chance.random(n) < 0.12) & (np.arange(n) < 0.75 * n)
    classes = np.where(odd, chance.integers(0, n_classes, n), classes)
    code = (classes + chance.integers(0, 3, n)) % 5
    rare = np.where(np.arange(n) % (n // 2) == 5, 2, code % 2)
    classes[-1] = (classes[-2] + 1) % n_classes
    order = np.append(np.argsort(chance.random(n - 1)), n - 1)
    few, more = columns[0].astype(np.float32), columns[1].astype(np.float64)
    return table_of([few[order], more[order], (code[order], 7), (rare[order], 3)], classes[order], n_classes)


TABLES = {
    "whole cases": lambda: runs_of_a_class(1),
    "many classes": lambda: runs_of_a_class(2, n_classes=9),
    "unknown values": lambda: with_unknown(runs_of_a_class(3), 0.2),
    "weights": lambda: with_weights(with_unknown(runs_of_a_class(4, n_classes=2), 0.1), [0.5, 1, 2.25]),
}


def assert_same_scores(found: Candidates, expected: Candidates) -> None:
    """Every field but the names of cuts, where it means something."""
    assert found.possible.tolist() == expected.possible.tolist()
    for name in ("gain", "split", "tries"):
        here, there = (np.where(expected.possible, getattr(one, name), 0) for one in (found, expected))
        assert here.tolist() == there.tolist(), name


def loaded(engine: Engine, problem: Problem) -> Frontier:
    """The root; the engine is to leave every node to the host."""
    return engine.load(replace(problem, may_finish=False))


def one_of(numbers: Int64s, turn: int) -> int:
    """Each in its turn."""
    return int(numbers[turn % len(numbers)])


def divide(engine: Engine, candidates: Candidates, node: Int64s, attribute: Int64s) -> Children:
    """Send cases down the best tests of some attributes."""
    return engine.split(Splits(node, attribute, candidates.cut[node, attribute]))


@pytest.mark.parametrize("cuts", ["all", "class_boundaries"])
@pytest.mark.parametrize("criterion", ["gain", "gini", "chi2"])
@pytest.mark.parametrize("sizes", SIZES, ids=["short tiles", "long tiles", "codes"])
@pytest.mark.parametrize("name", TABLES)
def test_scores(name: str, sizes: Sizes, criterion: Criterion, cuts: CutPoints) -> None:
    options = Options(criterion=criterion, cut_points=cuts, min_cases=2, min_samples_leaf=3, prune="none")
    problem = pose(TABLES[name](), options)
    reference, engine = ReferenceEngine(), emulated_engine(sizes, checks=False)
    frontier = loaded(reference, problem)
    assert loaded(engine, problem).open.tolist() == frontier.open.tolist()
    scored = 0
    for level in range(2):
        n_open = int(frontier.open.sum())
        expected, found = reference.score(0, n_open), engine.score(0, n_open)
        assert_same_scores(found, expected)
        scored += int(expected.possible.sum())
        nodes = np.flatnonzero(expected.possible.any(1))
        attribute = np.array([one_of(np.flatnonzero(expected.possible[i]), i + level - 1) for i in nodes])
        there, here = divide(reference, expected, nodes, attribute), divide(engine, found, nodes, attribute)
        assert (here.below.tolist(), here.above.tolist()) == (there.below.tolist(), there.above.tolist())
        frontier = there.frontier
        assert here.frontier.class_weights.tolist() == frontier.class_weights.tolist()
    assert scored >= 5
