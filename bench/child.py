"""The work of a child process: make rows, or run one peer once.

    python -m bench.child make '{"name": "mc", ...}' OUT.json
    python -m bench.child run '{"peer": "sklearn", ...}' OUT.json

The parent imports no peer and holds no rows: on Linux a child's peak of memory starts at what its parent ever held.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def make(
    *, name: str, n_rows: int, held_out: int, seed: int, unknown: float, folder: str, text: bool
) -> dict[str, Any]:
    """Write a training and a held-out table to a folder, and say what they are."""
    from bench.data import train_and_held_out
    from bench.rows import save
    from bench.text import write_text

    train, rest = train_and_held_out(name, n_rows, held_out=held_out, seed=seed, unknown=unknown)
    save(train, Path(folder) / "train")
    save(rest, Path(folder) / "held-out")
    if text:
        write_text(train, rest, Path(folder) / "text")
    return {"columns": len(train.names), "classes": len(train.class_names), "input_mb": train.n_bytes / 1e6}


def run(*, peer: str, folder: str, threads: int, cold: bool) -> dict[str, Any]:
    """Run a peer once on the tables of a folder."""
    from bench.peers import PEERS
    from bench.peers.peer import Task

    outcome = PEERS[peer].run(Task(Path(folder), threads, cold))
    return outcome.to_dict() | {"version": PEERS[peer].version()}


def main(arguments: list[str]) -> None:
    """Do what the first argument says with the options in the second, and write the answer to the third."""
    verb, options, out = arguments
    work: dict[str, Callable[..., dict[str, Any]]] = {"make": make, "run": run}
    Path(out).write_text(json.dumps(work[verb](**json.loads(options))))


if __name__ == "__main__":
    main(sys.argv[1:])
