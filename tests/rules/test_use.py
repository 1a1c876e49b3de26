"""Which rule fires: compiled and NumPy alike, unknown values, and the probabilities that go with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c45gpu.data.table import Table
from c45gpu.kernels.rule_match import match
from c45gpu.rules.rule import Condition
from c45gpu.rules.use import CROSSOVER_CASES, arrays_of, match_in_numpy, probabilities
from tests.rules.made import SCHEMA, a_table, by_hand, made_on

ABOVE = Condition(0, ">", 1.5)
BELOW = Condition(0, "<=", 1.5)
RED = Condition(1, "=", None, (0,))
COOL = Condition(1, "in", None, (1, 2))


@given(seed=st.integers(0, 2**32 - 1), number=st.sampled_from([np.float32, np.float64]))
def test_compiled_and_numpy_agree(seed: int, number: type) -> None:
    rules = made_on(a_table(80, seed=seed % 50)).rule_set
    table = a_table(100, seed=seed, number=number)
    conditions, start = arrays_of(rules)
    wanted = match_in_numpy(table, conditions, start)
    for threads in (1, 3):
        found = match(table, conditions, start, threads)
        assert (found.dtype, found.tobytes()) == (wanted.dtype, wanted.tobytes())


def test_many_cases_go_to_all_cores_and_come_out_the_same() -> None:
    rules = made_on(a_table(500)).rule_set
    table = a_table(CROSSOVER_CASES + 5)
    assert rules.fired(table).tobytes() == match_in_numpy(table, *arrays_of(rules)).tobytes()
    assert len(set(rules.fired(table).tolist())) > 3


def test_the_first_that_holds_and_unknown_values_hold_nothing() -> None:
    rules = by_hand((0, 0.1, (ABOVE, RED)), (2, 0.2, (BELOW,)), (0, 0.3, (COOL,)), default=1)
    size = np.array([2.0, 1.5, 2.0, np.nan, np.nan, 2.0])
    colour = np.array([0, 0, 2, 0, 1, 7], np.int32)  # 7 is no value that any rule asks for
    table = Table(SCHEMA, [size, colour, None, np.zeros(6)], np.full(6, -1, np.int32))
    assert rules.fired(table).tolist() == [0, 1, 2, -1, 2, -1]
    assert rules.predict(table).tolist() == [0, 2, 0, 1, 0, 1]
    assert rules.predict(table).dtype == np.int32


def test_probabilities_by_hand() -> None:
    rules = by_hand((0, 0.1, (ABOVE,)), (2, 0.7, (RED,)), default=1)
    rows = probabilities(rules)
    assert rows[0] == pytest.approx([0.9, 0.075, 0.025])  # the others have 3 and 1 cases
    assert rows[1] == pytest.approx([0.4, 0.2, 0.4])
    assert rows[1].argmax() == 2  # a confidence of .3 is less than what would be left for class 0
    assert rows[2].tolist() == [0.0, 1.0, 0.0]
    assert rows.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_is_the_likeliest(seed: int) -> None:
    table = a_table(300, seed=seed, noise=0.6)
    rules = made_on(table).rule_set
    assert rules.predict_proba(table).argmax(axis=1).tolist() == rules.predict(table).tolist()
    assert rules.predict_proba(table).min() >= 0
