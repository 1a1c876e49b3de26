from __future__ import annotations

from c45gpu.show.trials import trials_text

CYCLES = [
    {"size": 5, "window": 68, "errors": 2.0, "exceptions": 26.0},
    {"size": 12, "window": 81, "errors": 0.5, "exceptions": 0.0},
]
TRIAL = {"cycles": CYCLES, "best": 1, "before": 12, "after": 8, "estimate": 13.154, "chosen": True}
OTHER = {"cycles": CYCLES[:1], "best": 0, "before": 5, "after": 5, "estimate": 40.0, "chosen": False}
TEXT = """\
Trial 1:

  Cycle   Size   Window    Other    Errors:    window    other    total
      1      5       68      276                    2       26       28   <

Trial 2:

  Cycle   Size   Window    Other    Errors:    window    other    total
      1      5       68      276                    2       26       28
      2     12       81      263                  0.5        0      0.5   <

  Trial   Cycles    Before pruning: size   errors    After pruning: size   estimate
      1        1                       5       28                      5       40.0
      2        2                      12      0.5                      8       13.2   <<

"""


def test_cycles_of_each_trial_and_the_trials_side_by_side() -> None:
    assert trials_text({"cases": 344, "weight": 344.0, "trials": [OTHER, TRIAL]}) == TEXT


def test_there_is_nothing_to_tell_without_windowing() -> None:
    assert trials_text({"cases": 344, "weight": 344.0}) == ""
