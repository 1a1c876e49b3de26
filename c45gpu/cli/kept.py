"""What ``c45gpu train`` keeps in files: the model, how it was trained, and checkpoints on the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from c45gpu.cli.screen import note

if TYPE_CHECKING:
    from c45gpu.induction.record import Recording
    from c45gpu.model.store import Model


@Parameter(name="*")
@dataclass(frozen=True)
class Outputs:
    """Files that training leaves.

    Parameters
    ----------
    output : str
        Save the model in this file.
    record : str
        Save how it was trained in this file, as JSON: engine, options, versions, times and memory, which a model does
        not hold. c45gpu report shows it.
    """

    output: Annotated[str | None, Parameter(name=("--output", "-o"))] = None
    record: str | None = None

    def write(self, model: Model, recording: Recording) -> None:
        """Write what is asked for.

        Raises
        ------
        ModelError
            When a file cannot be written.
        """
        if self.output is not None:
            from c45gpu.model.store import save

            save(model, self.output)
            note(f"the model is saved in {self.output}")
        if self.record is not None:
            from c45gpu.induction.record import save_record

            save_record(recording.record(model), self.record)
            note(f"the training record is saved in {self.record}")


@Parameter(name="*")
@dataclass(frozen=True)
class Checkpoints:
    """Training that outlives a crash.

    Parameters
    ----------
    checkpoint : str
        Keep the growing tree in this file, and go on from it if it is there: with the same data and options, and any
        engine. It is deleted in the end.
    every : str
        How often, at most: 30s, 5min, 1h, ...
    """

    checkpoint: str | None = None
    every: str = "5min"

    def announced(self) -> Checkpoints:
        """These, with a note if training goes on from one."""
        if self.checkpoint is not None and Path(self.checkpoint).exists():
            note(f"going on from {self.checkpoint}")
        return self
