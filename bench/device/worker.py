"""The process that does the steps: an error of a kernel spoils the process that it happens in, and no other.

    python -m bench.device.worker '{"small": true, "emulate": false}' STEP ...

It says what it does in lines of JSON that begin with a mark: {"begin": STEP}, then {"end": STEP, "outcome": ...}.
After a step that failed it ends, and is started again for the rest.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from typing import Any, Final

from bench.device.card import Card, opened
from bench.device.steps import STEPS, Different, scale_of

MARK: Final = "@step "
LAST_LINES: Final = 12  # of a traceback


def main(words: list[str]) -> None:
    """Do some steps."""
    given, *names = words
    options = json.loads(given)
    scale, card = scale_of(**options), None
    for name in names:
        _say({"begin": name})
        start = time.perf_counter()
        hindrance = STEPS[name].hindrance()
        if hindrance is not None:
            outcome = {"status": "skipped", "reason": hindrance}
        else:
            try:
                card = card or _opened(options)
                outcome = {"status": "done"} | STEPS[name].run(card, scale)
            except Different as difference:
                outcome = {"status": "different", "reason": str(difference)}
            except Exception as error:
                outcome = _failure(error)
        _say({"end": name, "outcome": outcome | {"wall": time.perf_counter() - start}})
        if outcome["status"] == "failed":
            return


def _opened(options: dict[str, Any]) -> Card:
    return opened(options["emulate"])


def _failure(error: Exception) -> dict[str, Any]:
    lines = "".join(traceback.format_exception(error)).splitlines()
    reason = f"{type(error).__name__}: {error}".splitlines()[0]
    return {"status": "failed", "reason": reason[:500], "traceback": lines[-LAST_LINES:]}


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(MARK + json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
