from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import c45gpu
from c45gpu.data.table import Table
from c45gpu.errors import DataError, EngineError
from c45gpu.induction.options import Options
from c45gpu.induction.progress import Progress, Stage
from c45gpu.induction.train import train
from c45gpu.kernels.level import Children, Splits
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.store import Model, model_bytes
from tests.strategies import sample

SIZES = [float(i) for i in range(12)]
CLASSES = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1]


def table(weights: list[float] | None = None, sizes: list[Any] = SIZES) -> Table:
    columns = [("continuous", 0, sizes), ("ignored", 0, sizes), ("discrete", 2, [0, 1] * 6)]
    return sample(columns, 2, CLASSES, weights).table


class WatchedEngine(ReferenceEngine):
    """Notes when it is closed; may fail on the way."""

    def __init__(self, events: list[str], fails: bool = False) -> None:
        self.events, self.fails = events, fails

    def split(self, splits: Splits) -> Children:
        if self.fails:
            raise EngineError("out of order")
        return super().split(splits)

    def close(self) -> None:
        self.events.append("closed")
        super().close()


def test_a_model_has_both_trees_and_where_they_come_from() -> None:
    model = train(table(), Options(min_cases=1, confidence=1e-6))
    assert model.schema == table().schema
    assert model.options == Options(min_cases=1, confidence=1e-6).to_dict()
    assert model.record == {"cases": 12, "weight": 12.0}
    assert model.unpruned.n_nodes > model.pruned.n_nodes


def test_options_default_to_quinlans() -> None:
    assert model_bytes(train(table())) == model_bytes(train(table(), Options()))


def test_arrays_are_no_table_and_classes_no_options() -> None:
    with pytest.raises(TypeError, match=r"not ndarray; C45Classifier\(\)\.fit takes arrays"):
        train(np.zeros((2, 2)), Options())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"options must be c45gpu\.Options, not ndarray"):
        train(table(), np.zeros(12))  # type: ignore[arg-type]


def test_without_pruning_both_trees_are_one() -> None:
    model = train(table(), Options(prune="none"))
    assert model.pruned is model.unpruned


def test_the_record_counts_cases_with_weight_and_their_weight() -> None:
    weights = [0.0, 2.5, 0.0] + [1.0] * 9
    assert train(table(weights)).record == {"cases": 10, "weight": 11.5}
    assert train(table([0.0, 0.0, 2.0] + [1.0] * 9)).record == {"cases": 10, "weight": 11.0}


def test_what_training_remembers_can_be_saved() -> None:
    model = train(table(), Options(compat="r8"))
    assert isinstance(model, Model)
    assert len(model_bytes(model)) > 0


def test_progress_is_told_after_each_level() -> None:
    seen: list[Progress] = []
    model = train(table(), Options(min_cases=1), progress=seen.append)
    assert [level.depth for level in seen] == list(range(1, len(seen) + 1))
    assert [level.open_nodes for level in seen][-1] == 0
    assert seen[-1].nodes >= model.unpruned.n_nodes > 1


def test_stages_are_told_in_order() -> None:
    seen: list[Stage] = []
    train(table(), Options(min_cases=1), stages=seen.append)
    assert [at.name for at in seen if at.share == 0.0] == ["sorting", "growing", "pruning"]
    shares = [at.share for at in seen if at.name == "pruning"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_an_engine_of_ones_own_gives_the_same_and_is_closed() -> None:
    events: list[str] = []
    model = train(table(), engine=WatchedEngine(events))
    assert events == ["closed"]
    assert model_bytes(model) == model_bytes(train(table(), engine="reference"))


def test_the_engine_is_closed_when_something_fails() -> None:
    events: list[str] = []
    with pytest.raises(EngineError, match="out of order"):
        train(table(), engine=WatchedEngine(events, fails=True))
    assert events == ["closed"]


def test_the_engine_is_closed_when_the_user_interrupts() -> None:
    events: list[str] = []

    def interrupt(level: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(table(), engine=WatchedEngine(events), progress=interrupt)
    assert events == ["closed"]


def test_an_engine_that_there_is_not() -> None:
    with pytest.raises(EngineError, match=r"there is no engine 'gpu': choose one of auto, .*reference"):
        train(table(), engine="gpu")


def test_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="no cases to learn from"):
        train(table([0.0] * 12))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_cases(n: int) -> None:
    weights = [1.0] * n + [0.0] * (12 - n)
    model = train(table(weights))
    assert (model.unpruned.n_nodes, model.pruned.n_nodes, model.unpruned.weight[0]) == (1, 1, n)


def test_an_unknown_value_everywhere() -> None:
    model = train(table(sizes=[None] * 12))
    assert model.unpruned.weight[0] == 12
    assert (model.unpruned.attribute != 0).all()


def test_the_package_offers_it() -> None:
    assert c45gpu.train is train
