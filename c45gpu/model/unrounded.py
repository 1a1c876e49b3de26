"""Thresholds and the unknown value of compat="r8", for those who do not round.

There, values are compared after rounding to float32, and -999 is unknown. Whoever compares float64 values as they are
gets the same answers with thresholds moved to the last float64 that rounds to the threshold, and with everything
unknown that rounds to -999.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

_OVERFLOW: Final = (2 - 2.0**-24) * 2.0**127  # from here on float64 rounds to a float32 that is infinite


def float64_threshold(threshold: float, *, release8: bool) -> float:
    """What a float64 is compared with in place of a threshold."""
    return last_rounding_to(threshold) if release8 else threshold


def unknown_range(*, release8: bool) -> tuple[float, float] | None:
    """The first and the last float64 that are unknown though they are numbers, if any are."""
    return (-last_rounding_to(999.0), last_rounding_to(-999.0)) if release8 else None


def last_rounding_to(single: float) -> float:
    """The greatest float64 that becomes a number when it is rounded to float32."""
    if math.isinf(single):
        return single if single > 0 else -_OVERFLOW
    with np.errstate(over="ignore"):
        above = float(np.nextafter(np.float32(single), np.float32(np.inf)))
        middle = _OVERFLOW if math.isinf(above) else single + (above - single) / 2
        return middle if float(np.float32(middle)) == single else math.nextafter(middle, -math.inf)
