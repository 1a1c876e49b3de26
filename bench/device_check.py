"""Check and measure the CUDA engine on a GPU: one command, five minutes at most, which goes on where it stopped.

    python -m bench.device_check [--out FILE] [--seconds 280] [--small] [--only 'digest/*,micro/*'] [--retry]

Every step's outcome is in the JSON file as soon as there is one. Called again with the same file, it does the steps
that have none yet, with --retry also those that failed. It needs NumPy, numba, CuPy and numba-cuda; steps that need
more are skipped where that is not there, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from bench.device.steps import STEPS
from bench.device.summary import summary
from bench.device.worker import MARK
from bench.measure import ROOT
from bench.report import conditions, write

RESULTS: Final = ROOT / "bench" / "results" / "device.json"
START: Final = 60.0  # seconds that the worker may take to begin
ALL_DONE, SOME_FAILED, NO_DEVICE, NOT_ALL = 0, 1, 2, 3
DEVICE: Final = "device"

Message = dict[str, Any]


@dataclass
class Check:
    """The steps to do, and what became of them.

    Parameters
    ----------
    document : dict
        What the file holds.
    out : Path
    options : dict
        ``small`` and ``emulate``.
    deadline : float
        By ``time.monotonic``.
    todo : list of str
        Steps without an outcome, in their order.
    """

    document: dict[str, Any]
    out: Path
    options: dict[str, bool]
    deadline: float
    todo: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Do the steps until none is left or the time is over."""
        while self.todo and self.left() > 0 and not self.has_no_device():
            self._one_worker()

    def left(self) -> float:
        """Seconds until all must end."""
        return self.deadline - time.monotonic()

    def has_no_device(self) -> bool:
        """Whether the first step said that there is nothing to be checked."""
        return bool(self.document["steps"].get(DEVICE, {}).get("status") == "failed")

    def _one_worker(self) -> None:
        """Start a worker on what is left, and follow it until it ends, hangs, or the time is over."""
        command = [sys.executable, "-m", "bench.device.worker", json.dumps(self.options), *self.todo]
        environment = os.environ | {"PYTHONUNBUFFERED": "1", "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"}
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            lines: queue.Queue[str | None] = queue.Queue()
            reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
            reader.start()
            try:
                self._follow(lines)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                reader.join()

    def _follow(self, lines: queue.Queue[str | None]) -> None:
        running, limit, heard = "", START, False
        while self.todo:
            message = _next(lines, min(limit, self.left()))
            if message is None:
                if running or not heard:
                    self._ended_in(running or self.todo[0], limit)
                return
            heard = True
            if "begin" in message:
                running, limit = message["begin"], STEPS[message["begin"]].limit
                _say(f"{running} ...")
            else:
                self._note(message["end"], message["outcome"])
                running, limit = "", START

    def _ended_in(self, name: str, limit: float) -> None:
        """A worker said no more: the step that ran is at fault, unless the time is over for all."""
        if self.left() > 0:
            self._note(name, {"status": "failed", "reason": f"the worker died, or took more than {limit:g} s"})

    def _note(self, name: str, outcome: Message) -> None:
        self.document["steps"][name] = outcome
        self.todo.remove(name)
        part = self.out.with_suffix(".part")
        write(self.document, part)
        part.replace(self.out)  # whoever is cut short leaves a whole file
        _say(f"{name}: {outcome['status']} {outcome.get('reason', '')}".rstrip())


def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(MARK):
            lines.put(line.removeprefix(MARK))
    lines.put(None)


def _next(lines: queue.Queue[str | None], patience: float) -> Message | None:
    """What a worker says next; None if it ended, or says nothing for so many seconds."""
    try:
        line = lines.get(timeout=max(0.0, patience))
    except queue.Empty:
        return None
    message: Message | None = None if line is None else json.loads(line)
    return message


def started(out: Path, options: dict[str, bool], command: str, commit: str | None) -> dict[str, Any]:
    """The document of a file, or a new one.

    Raises
    ------
    ValueError
        When the file holds figures of another commit or scale.
    """
    about = conditions(command, os.getloadavg()[0])
    about |= {"commit": commit or about["commit"], "options": options, "steps": {}}
    if not out.exists():
        return about
    document: dict[str, Any] = json.loads(out.read_text("utf-8"))
    for name in ("commit", "options"):
        if document[name] != about[name]:
            raise ValueError(f"{out} has {name} {document[name]}, not {about[name]}: remove it, or give another --out")
    return document


def chosen(patterns: str, done: dict[str, Any], retry: bool) -> list[str]:
    """The steps to do: the device first, then those that a pattern names and that have no outcome yet."""
    wanted = patterns.split(",") if patterns else ["*"]
    over = [name for name, outcome in done.items() if not (retry and outcome["status"] == "failed")]
    if done.get(DEVICE, {}).get("status") == "failed" and DEVICE in over:
        over.remove(DEVICE)  # a device may be there by now
    names = [name for name in STEPS if name == DEVICE or any(fnmatch(name, pattern) for pattern in wanted)]
    return [name for name in names if name not in over]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    whole = argparse.ArgumentParser(
        prog="python -m bench.device_check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    whole.add_argument("--out", type=Path, default=RESULTS, help="JSON file, written after each step")
    whole.add_argument("--seconds", type=float, default=280.0, help="after these it ends; call it again to go on")
    whole.add_argument("--small", action="store_true", help="a hundredth of the rows")
    whole.add_argument("--only", default="", help="patterns of steps, with commas between: 'digest/*,tree/higgs'")
    whole.add_argument("--retry", action="store_true", help="try those again that failed")
    whole.add_argument("--list", action="store_true", help="show the names of all steps, and end")
    whole.add_argument("--commit", help="what is measured, where git does not tell")
    whole.add_argument("--emulate", action="store_true", help="no GPU: run the steps on an emulator, to test them")
    return whole


def main(words: list[str]) -> int:
    """Do the steps, and print a table."""
    given = parser().parse_args(words)
    if given.list:
        print("\n".join(STEPS))
        return ALL_DONE
    options = {"small": given.small, "emulate": given.emulate}
    try:
        document = started(given.out, options, " ".join(["python -m bench.device_check", *words]), given.commit)
    except ValueError as other:
        _say(str(other))
        return NO_DEVICE
    names = chosen(given.only, document["steps"], given.retry)
    for name in names:
        document["steps"].pop(name, None)
    check = Check(document, given.out, options, time.monotonic() + given.seconds, list(names))
    check.run()
    if check.has_no_device():
        _say(f"no GPU to check: {document['steps'][DEVICE]['reason']}")
        return NO_DEVICE
    print(summary(document, check.todo))
    return _status(document["steps"].values(), check.todo)


def _status(outcomes: Any, todo: list[str]) -> int:
    if any(outcome["status"] in ("failed", "different") for outcome in outcomes):
        return SOME_FAILED
    return NOT_ALL if todo else ALL_DONE


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
