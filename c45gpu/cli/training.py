"""Training that whoever watches sees the progress of, wherever the cases are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from c45gpu.cli.kept import Checkpoints
from c45gpu.cli.progress import training_of
from c45gpu.cli.screen import warn

if TYPE_CHECKING:
    from c45gpu.data.table import Table
    from c45gpu.induction.options import Options
    from c45gpu.induction.record import Recording
    from c45gpu.model.store import Model


class Train(Protocol):
    """:func:`c45gpu.induction.train.train` or :func:`c45gpu.dask.train.train_on`, given cases, options and engine."""

    def __call__(self, *, progress: Any, costs: Any, stages: Any, checkpoint: Any, every: Any, recording: Any) -> Model:
        """Grow and prune."""


def watched(
    train: Train,
    weight: float | None,
    costs: Any = None,
    checkpoints: Checkpoints | None = None,
    recording: Recording | None = None,
) -> Model:
    """What training makes of cases of a total weight, None where that tells nothing of how much is done."""
    kept = checkpoints or Checkpoints()
    with training_of(weight) as shown:
        level, stage = (None, None) if shown is None else (shown.level, shown.stage)
        model = train(
            progress=level,
            costs=costs,
            stages=stage,
            checkpoint=kept.checkpoint,
            every=kept.every,
            recording=recording,
        )
    _warn_of_one_class(model)
    return model


def trained(
    table: Table,
    options: Options,
    engine: str,
    costs: Any = None,
    checkpoints: Checkpoints | None = None,
    recording: Recording | None = None,
) -> Model:
    """A model of a table."""
    from c45gpu.induction.train import train

    weight = float(table.n_cases if table.weights is None else table.weights.sum())
    learn = partial(train, table, options, engine)
    return watched(learn, None if options.windowed else weight, costs, checkpoints, recording)


def _warn_of_one_class(model: Model) -> None:
    """Tell that there was nothing to learn."""
    present = [
        name for name, weight in zip(model.schema.classes, model.unpruned.class_weights[0], strict=True) if weight
    ]
    if len(present) == 1:
        warn(f"all cases are of the class {present[0]!r}: the tree is a single leaf")
