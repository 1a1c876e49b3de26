from __future__ import annotations

import math
from typing import Any

import pytest

from c45gpu.errors import C45Error, OptionError
from c45gpu.induction.options import Options


def test_quinlans_defaults() -> None:
    assert Options().to_dict() == {
        "criterion": "gain_ratio",
        "min_cases": 2,
        "confidence": 0.25,
        "prune": "ebp",
        "compat": None,
        "n_trials": None,
        "initial_window": None,
        "window_increment": None,
        "random_state": 0,
        "min_gain_ratio": 0.0,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
        "max_depth": None,
        "max_leaf_nodes": None,
        "max_features": None,
        "significance": None,
        "cut_points": "all",
        "threshold_cost": True,
        "group_values": False,
        "binary_splits": False,
        "screen": None,
        "standard_errors": 1.0,
        "subtree_raising": True,
        "held_out": 1 / 3,
        "soft_thresholds": False,
    }


@pytest.mark.parametrize(
    "given",
    [
        {"criterion": "gain"},
        {"prune": "pep"},
        {"prune": "none"},
        {"compat": "r8"},
        {"min_cases": 1},
        {"min_cases": 1_000_000},
        {"confidence": 1},
        {"confidence": 5e-324},
        {"n_trials": 1},
        {"n_trials": 10_000},
        {"initial_window": 1_000_000},
        {"window_increment": 1},
        {"random_state": 2**63 - 1},
    ],
)
def test_what_is_in_range_is_taken(given: dict[str, Any]) -> None:
    assert Options(**given).to_dict() == {**Options().to_dict(), **given}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("criterion", "entropy"),
        ("criterion", None),
        ("criterion", ["gain"]),
        ("prune", True),
        ("prune", "EBP"),
        ("compat", "R8"),
        ("compat", ""),
        ("min_cases", 0),
        ("min_cases", 1_000_001),
        ("min_cases", 2.0),
        ("min_cases", True),
        ("min_cases", "2"),
        ("n_trials", 0),
        ("n_trials", 10_001),
        ("initial_window", 1_000_001),
        ("window_increment", 0),
        ("window_increment", True),
        ("random_state", -1),
        ("random_state", None),
        ("confidence", 0),
        ("confidence", -0.25),
        ("confidence", 25),
        ("confidence", math.nextafter(1, 2)),
        ("confidence", math.nan),
        ("confidence", math.inf),
        ("confidence", "0.25"),
        ("confidence", None),
    ],
)
def test_what_is_out_of_range_is_refused_by_name_and_value(name: str, value: Any) -> None:
    with pytest.raises(OptionError) as refused:
        Options(**{name: value})
    message = str(refused.value)
    assert message.startswith(f"{name}={value!r} will not do: give ")
    assert "\n" not in message
    assert isinstance(refused.value, C45Error)
    assert isinstance(refused.value, ValueError)


def test_changes_make_a_copy_and_are_validated() -> None:
    options = Options(min_cases=5)
    assert options.with_changes(prune="none") == Options(min_cases=5, prune="none")
    assert options == Options(min_cases=5)
    with pytest.raises(OptionError, match="min_cases=0"):
        options.with_changes(min_cases=0)


def test_options_cannot_be_changed_in_place() -> None:
    with pytest.raises(AttributeError):
        Options().min_cases = 3  # type: ignore[misc]


def test_any_option_of_windowing_asks_for_it() -> None:
    assert not Options(random_state=5).windowed
    for name in ("n_trials", "initial_window", "window_increment"):
        assert Options(**{name: 5}).windowed
