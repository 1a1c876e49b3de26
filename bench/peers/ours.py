"""c45gpu itself, growing and pruning included, through the same call that its users' calls end in."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from bench.peers.peer import ArrayPeer, Outcome, Shape, Task
from bench.rows import Column, Rows

MOST_ROWS_OF_REFERENCE = 100_000


class Trained(NamedTuple):
    """A model, and what the clock said: before, after each level, when pruning began, and in the end."""

    model: Any
    ticks: list[float]
    pruning: float
    end: float


class Ours(ArrayPeer):
    """One engine of c45gpu, default options or with `threshold_cost=False`, which is J48's -J."""

    module = "c45gpu"
    distribution = "c45gpu"
    note = "default options; read makes the table, train includes sorting, prune is error-based with subtree raising"
    warm_rows = 50_000  # numba compiles, or fetches from its cache, what large and small nodes take, pruning included

    def __init__(self, engine: str, *, threshold_cost: bool = True) -> None:
        self.engine, self.name = engine, f"c45gpu-{engine}" + ("" if threshold_cost else "-J")
        self.threshold_cost = threshold_cost
        if engine == "reference":
            self.most_rows = MOST_ROWS_OF_REFERENCE

    def run(self, task: Task) -> Outcome:
        """As for the others, with pruning told apart by the clock after the last level."""
        outcome = super().run(task)
        outcome.seconds["prune"] = prune = outcome.phases["prune"]
        outcome.seconds["train"] = (outcome.seconds["train"] or 0.0) - prune
        return outcome

    def missing(self) -> str | None:
        """Why the engine cannot be had, or None."""
        from c45gpu.kernels.engine import available

        return available().get(self.engine, f"this c45gpu has no engine {self.engine!r}")

    def version(self) -> str:
        """As the package says; it need not be installed."""
        import c45gpu

        return c45gpu.__version__

    def open(self, threads: int) -> None:
        """Import what training and predicting need."""
        import c45gpu.induction.train
        import c45gpu.model.predict  # noqa: F401

    def read(self, rows: Rows, threads: int) -> Any:
        """A table; the columns are taken as they are."""
        from c45gpu.data.schema import Attribute, Schema
        from c45gpu.data.table import Table

        described = zip(rows.names, rows.kinds, rows.values, strict=True)
        schema = Schema(tuple(Attribute(name, kind, values) for name, kind, values in described), rows.class_names)
        return Table(schema, list(rows.columns), rows.classes)

    def train(self, cases: Any, threads: int) -> Trained:
        """Grow and prune in one call."""
        from c45gpu.induction.options import Options
        from c45gpu.induction.train import train

        began: dict[str, float] = {}

        def note(stage: Any) -> None:
            began.setdefault(stage.name, time.perf_counter())

        ticks, options = [time.perf_counter()], Options(threshold_cost=self.threshold_cost)
        model = train(cases, options, self.engine, lambda _: ticks.append(time.perf_counter()), stages=note)
        return Trained(model, ticks, began["pruning"], time.perf_counter())

    def predict(self, model: Trained, cases: Any) -> Column:
        """All cases at once, by the same engine."""
        from c45gpu.kernels.engine import open_engine
        from c45gpu.model.predict import predicted_classes

        engine = open_engine(self.engine, cases.n_cases)
        classes = predicted_classes(engine.route(model.model.pruned, cases))
        engine.close()
        return classes

    def shape(self, model: Trained) -> Shape:
        """Of the pruned tree."""
        return Shape(model.model.pruned.n_leaves, model.model.pruned.depth)

    def phases(self, model: Trained) -> dict[str, float]:
        """Up to the end of the first level (sorting is in it), of the tree as grown, and of the pruned one."""
        start, *levels = model.ticks
        first = levels[0] if levels else model.pruning
        return {
            "sort_and_first_level": first - start,
            "other_levels": model.pruning - first,
            "prune": model.end - model.pruning,
        }
