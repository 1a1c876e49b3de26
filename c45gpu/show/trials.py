"""The trials of windowing as a table, with the columns that the original prints.

Trial 1:

Cycle   Size   Window   Other    Errors: window   other   total
    1      5       68     276                 2      26      28
    2     12       81     263                 0      11      11   <    the tree that this trial kept
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CYCLES = f"{'Cycle':>7}{'Size':>7}{'Window':>9}{'Other':>9}    Errors: {'window':>9}{'other':>9}{'total':>9}\n"
_TRIALS = f"{'Trial':>7}{'Cycles':>9}    Before pruning: size   errors    After pruning: size   estimate\n"


def trials_text(record: Mapping[str, Any]) -> str:
    """What windowing did: the cycles of each trial, and the trials side by side with the chosen one marked.

    Parameters
    ----------
    record : mapping
        Of a model; see :func:`c45gpu.induction.window.train_windowed` for its `trials`.

    Returns
    -------
    str
        Lines, each with its newline; empty where the model was not made by windowing. `estimate` is the number of
        errors that pruning expects on as many unseen cases.
    """
    trials = record.get("trials", [])
    if not trials:
        return ""
    details = "".join(_cycles(number, trial, record["cases"]) for number, trial in enumerate(trials, 1))
    return details + _TRIALS + "".join(_row(number, trial) for number, trial in enumerate(trials, 1)) + "\n"


def _cycles(number: int, trial: Mapping[str, Any], n_cases: int) -> str:
    text = f"Trial {number}:\n\n{_CYCLES}"
    for i, cycle in enumerate(trial["cycles"]):
        window, errors, exceptions = cycle["window"], cycle["errors"], cycle["exceptions"]
        text += f"{i + 1:7d}{cycle['size']:7d}{window:9d}{n_cases - window:9d}            "
        text += f"{errors:9.7g}{exceptions:9.7g}{errors + exceptions:9.7g}{'   <' if i == trial['best'] else ''}\n"
    return text + "\n"


def _row(number: int, trial: Mapping[str, Any]) -> str:
    kept = trial["cycles"][trial["best"]]
    total = kept["errors"] + kept["exceptions"]
    text = f"{number:7d}{len(trial['cycles']):9d}{trial['before']:24d}{total:9.7g}"
    return f"{text}{trial['after']:23d}{trial['estimate']:11.1f}{'   <<' if trial['chosen'] else ''}\n"
