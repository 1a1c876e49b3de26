"""Run each peer in fresh processes, round after round, and keep every figure.

    round 1     c45gpu-cpu  sklearn  ydf  snapml-hist  ...
    round 2     c45gpu-cpu           ydf  snapml-hist  ...     those that take less than a minute
    round 5     c45gpu-cpu                snapml-hist  ...     those that take less than ten seconds

Going round by round lets a slow spell of the machine hit all peers alike.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.data import HELD_OUT
from bench.peers import PEERS
from bench.peers.command import CommandPeer
from bench.peers.peer import Size

SHORT, LONG = 10.0, 60.0  # seconds of one run
RUNS: Final = ((SHORT, 5), (LONG, 3), (float("inf"), 1))
THREAD_VARIABLES: Final = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ROOT: Final = Path(__file__).resolve().parent.parent

Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Parameters
    ----------
    sets, peers : tuple of str
        Names of sets (:func:`bench.data.set_names`) and of peers (:data:`bench.peers.PEERS`).
    rows : tuple of int
        Sizes of the training table.
    threads : int
    seed : int
    unknown : float
        Share of unknown values.
    runs : int or None
        How many runs of each; None for 5 of short ones, 3 of longer ones, 1 of those over a minute.
    limit : float
        Seconds after which a run is ended; larger tables of the same set are then not tried.
    cold : bool
        Do not warm up.
    """

    sets: tuple[str, ...]
    rows: tuple[int, ...]
    peers: tuple[str, ...]
    threads: int = 2
    seed: int = 0
    unknown: float = 0.0
    held_out: int = HELD_OUT
    runs: int | None = None
    limit: float = 900.0
    cold: bool = False


@dataclass
class Result:
    """A peer on a table: its runs, or why there is none.

    Parameters
    ----------
    table : dict
        What the rows are: set, rows, columns, classes, input_mb.
    reason : str or None
        Why it was skipped or failed.
    runs : list of dict
        One :class:`bench.peers.peer.Outcome` each, and the version of the peer.
    """

    peer: str
    table: dict[str, Any]
    note: str
    reason: str | None = None
    runs: list[dict[str, Any]] = field(default_factory=list)

    def second(self, phase: str) -> float | None:
        """The median of a phase, None where it is not told apart; "fit" is train and prune together."""
        found = [fit_seconds(run) if phase == "fit" else run["seconds"].get(phase) for run in self.runs]
        known = [seconds for seconds in found if seconds is not None]
        return median(known) if known else None

    def middle(self, name: str) -> float | None:
        """The median of another figure of the runs."""
        known = [run[name] for run in self.runs if run[name] is not None]
        return median(known) if known else None


def fit_seconds(run: dict[str, Any]) -> float:
    """Training and pruning of a run, in seconds."""
    return float(run["seconds"]["train"] + (run["seconds"]["prune"] or 0.0))


def measure(plan: Plan, say: Say) -> list[Result]:
    """Measure everything that a plan asks for; `say` is told how it goes."""
    results: list[Result] = []
    for name in plan.sets:
        for n_rows in sorted(plan.rows):
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                results += _one_table(plan, name, n_rows, Path(folder), results, say)
    return results


def _one_table(plan: Plan, name: str, n_rows: int, folder: Path, before: list[Result], say: Say) -> list[Result]:
    table = {"set": name, "rows": n_rows, "unknown": plan.unknown}
    results = [Result(peer, table, PEERS[peer].note) for peer in plan.peers]
    for result in results:
        result.reason = _reason_to_skip(plan, result, before)
    todo = [result for result in results if result.reason is None]
    if todo:
        say(f"making {name}, {n_rows} rows")
        table |= _make(plan, name, n_rows, folder, text=any(isinstance(PEERS[r.peer], CommandPeer) for r in todo))
    for result in _rounds(plan, todo):
        _run(plan, result, folder)
        say(_line(result))
    return results


def _rounds(plan: Plan, todo: list[Result]) -> Iterator[Result]:
    """Each result again and again until it has its runs; what is done between two of them is the caller's."""
    while todo:
        yield from todo
        todo = [r for r in todo if r.reason is None and len(r.runs) < (plan.runs or _runs_wanted(r))]


def _runs_wanted(result: Result) -> int:
    longest = max(fit_seconds(run) for run in result.runs)
    return next(runs for limit, runs in RUNS if longest < limit)


def _reason_to_skip(plan: Plan, result: Result, before: list[Result]) -> str | None:
    peer, n_rows = PEERS[result.peer], result.table["rows"]
    reason = peer.missing() or peer.refuses(Size(n_rows, plan.unknown > 0))
    if reason:
        return reason
    for smaller in (r for r in before if r.peer == result.peer and r.table["set"] == result.table["set"]):
        seconds, share = smaller.second("fit"), n_rows / smaller.table["rows"]
        if smaller.reason:
            return f"did not get through {smaller.table['rows']} rows: {smaller.reason}"
        if seconds is not None and seconds * share > plan.limit:
            return f"not tried: {seconds * share:.0f} s even if time were linear from {smaller.table['rows']} rows on"
    return None


def _make(plan: Plan, name: str, n_rows: int, folder: Path, *, text: bool) -> dict[str, Any]:
    options = {"name": name, "n_rows": n_rows, "held_out": plan.held_out, "seed": plan.seed, "unknown": plan.unknown}
    return _child("make", options | {"folder": str(folder), "text": text}, folder, plan.threads, None)


def _run(plan: Plan, result: Result, folder: Path) -> None:
    options = {"peer": result.peer, "folder": str(folder), "threads": plan.threads, "cold": plan.cold}
    try:
        result.runs.append(_child("run", options, folder, plan.threads, plan.limit))
    except subprocess.TimeoutExpired:
        result.reason = f"not finished in {plan.limit:g} s"
    except RuntimeError as failure:
        result.reason = str(failure)


def _child(verb: str, options: dict[str, Any], folder: Path, threads: int, limit: float | None) -> dict[str, Any]:
    """The answer of a child process, which is ended with all that it started when it takes too long."""
    out = folder / "answer.json"
    out.unlink(missing_ok=True)
    command = [sys.executable, "-m", "bench.child", verb, json.dumps(options), str(out)]
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads))
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )
    try:
        _, errors = process.communicate(timeout=limit)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    if process.returncode or not out.exists():
        last = errors.strip().splitlines()[-1:] or [f"ended with {process.returncode}"]
        raise RuntimeError(last[0][:300])
    answer: dict[str, Any] = json.loads(out.read_text())
    return answer


def _line(result: Result) -> str:
    head = f"  {result.peer:18} {result.table['set']:6} {result.table['rows']:>10}  "
    if result.reason is not None:
        return head + result.reason
    last = result.runs[-1]
    return head + f"fit {fit_seconds(last):9.3f} s   held out {last['accuracy']:.4f}"
