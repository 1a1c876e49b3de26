"""Quinlan's arithmetic: numbers in, a number out. Nobody else in c45gpu takes a logarithm that decides anything.

(The CPU engine has a rough one, :func:`c45gpu.kernels.cpu_units.rough_log2`, to tell what this one need not look at.)

Weights are whole numbers of units (2^-unit_bits of a case), information is a whole number of 2^-scale_bits
(bits times units), so sums do not depend on their order and ties are exact. Everything up to :func:`log2_of` uses
integer operations only: nothing can be fused, contracted or rounded differently by a compiler, on any machine.

Each function marked :data:`SHARED` is written in operations that mean the same to Python integers, to NumPy arrays of
int64 and to numba's int64 on the CPU and on a GPU. So there is one formula for all engines, and no engine imports
another's.

How ``q * log2(q)`` is taken with 57 fractional bits from 64-bit integers::

    q = 2^e * m,  1 <= m < 2                       e whole
    m * RECIPROCAL[first 8 bits of m] = 1 + r      |r| < 2^-8    exact, the reciprocals have 10 bits
    (1 + r) * (1 - j/2^16) = 1 + t                 |t| < 2^-15   j = the first bits of r
    log2(m) = LOG_1[first 8 bits of m] + LOG_2[j] + log2(e) * (t - t^2/2 + t^3/3)
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# The original's tolerances, in cases or bits (specification section 13.4).
EPSILON: Final = 1e-3  # gains down to -EPSILON count as zero; so do split informations up to it
MANY_VALUES: Final = 0.3  # an attribute with this share of N values is left out of the average gain
MINIMUM_SIDE: Final = 25  # no side of a cut must hold more cases than this
RELEASE_8_GAP: Final = 1e-5  # release 8 makes no cut between values closer than this

TOTAL_BITS: Final = 52  # a total weight stays below 2^52 units, so float64 holds every weight exactly
SCALED_BITS: Final = 56  # total * 2^scale_bits stays below 2^56, so every information stays below 2^62
LOG_ERROR: Final = 1  # |q_log_q(q) - exact| is below this, in units of 2^-scale_bits


def _log2_bits(numerator: int, denominator: int, bits: int) -> int:
    """log2(numerator / denominator) for a quotient from 1 up to 2, as a multiple of 2^-bits, by repeated squaring."""
    precision = bits + 64
    x, result = (numerator << precision) // denominator, 0
    for _ in range(bits + 1):
        result <<= 1
        x = (x * x) >> precision
        if x >> (precision + 1):
            x >>= 1
            result |= 1
    return (result + 1) >> 1


_FIRST: Final = range(256)
_SECOND: Final = range(-256, 257)
_INVERSES: Final = [1024 if k == 0 else round(1024 * 512 / (2 * k + 513)) for k in _FIRST]
RECIPROCAL: Final = np.array(_INVERSES, np.int64)
LOG_1: Final = np.array([_log2_bits(1024, inverse, 61) for inverse in _INVERSES], np.int64)
LOG_2: Final = np.array(
    [_log2_bits(1 << 16, (1 << 16) - j, 61) if j >= 0 else -_log2_bits((1 << 16) - j, 1 << 16, 61) for j in _SECOND],
    np.int64,
)
LOG2_E: Final = (29012, 30290, 47151)  # log2(e) - 1 in three digits of 16 bits


def exponent(q: Any) -> Any:
    """The greatest e with ``2**e <= q``, for 1 <= q < 2^53; 0 for q = 0."""
    e = 32 * ((q >> 32) > 0)
    e = e + 16 * ((q >> (e + 16)) > 0)
    e = e + 8 * ((q >> (e + 8)) > 0)
    e = e + 4 * ((q >> (e + 4)) > 0)
    e = e + 2 * ((q >> (e + 2)) > 0)
    return e + 1 * ((q >> (e + 1)) > 0)


def log2_fraction(q: Any, e: Any) -> Any:
    """log2(q) - e as a multiple of 2^-57, where e is the :func:`exponent` of q; the error is below 0.6."""
    m = q << (52 - e)
    first = (m >> 44) & 255
    r = m * RECIPROCAL[first] - (1 << 62)  # 2^-62
    j = r >> 46
    t = r - (j << 46) - ((j * r) >> 16)  # 2^-62, below 2^47
    high = t >> 16  # 2^-46
    square = (high * high) >> 30  # t^2 in 2^-62
    cube = ((square >> 8) * high) >> 38  # t^3 in 2^-62
    natural = t - (square >> 1) + ((cube * 21845) >> 16)  # 21845 / 2^16 is a third
    binary = natural + ((natural * LOG2_E[0]) >> 16) + ((natural * LOG2_E[1]) >> 32)
    binary = binary + (((natural >> 16) * LOG2_E[2]) >> 32)
    return (LOG_1[first] + LOG_2[j + 256] + (binary >> 1) + 8) >> 4


def q_log_q(q: Any, scale_bits: Any) -> Any:
    """``q * log2(q)`` in multiples of 2^-scale_bits; 0 for q = 0 and q = 1.

    Parameters
    ----------
    q : int or ndarray of int64
        A weight in units, 0 <= q < 2^52.
    scale_bits : int
        From :func:`scale_bits_for` a total weight that is at least q.

    Returns
    -------
    int or ndarray of int64
        Within :data:`LOG_ERROR` of the exact value, and exact for powers of two.
    """
    e = exponent(q)
    fraction = log2_fraction(q + (q == 0), e)
    scaled = q << scale_bits  # below 2^56
    high, low = scaled >> 29, scaled & ((1 << 29) - 1)
    fraction_high, fraction_low = fraction >> 29, fraction & ((1 << 29) - 1)
    middle = high * fraction_low + low * fraction_high + ((low * fraction_low) >> 29)
    return (scaled * e) + ((high * fraction_high) << 1) + ((middle + (1 << 27)) >> 28)


def least_side(known: Any, n_classes: Any, min_units: Any, cap_units: Any) -> Any:
    """The least weight of either side of a cut that is tried, in units (specification section 6, item 4).

    A tenth of the known weight for each class, but not less than `min_units` and, above that, not more than
    `cap_units` (25 cases); rounded up, which for whole weights asks the same.
    """
    tenth = -(-known // (10 * n_classes))
    small = tenth <= min_units
    large = (tenth > cap_units) & (tenth > min_units)
    return min_units * small + cap_units * large + tenth * (1 - small) * (1 - large)


def log2_of(count: Any) -> Any:
    """log2 of a count of 1 or more as float64, the same bits everywhere."""
    e = exponent(count)
    return (e * (1 << 57) + log2_fraction(count, e)) / 144115188075855872.0  # 2^57


def information_of(scaled: Any, weight: Any, scale: Any) -> Any:
    """Bits for each case: an information sum in 2^-scale_bits over a weight in units, in float64.

    `scale` is 2.0**scale_bits, so the product is exact and the division is the only rounding.
    """
    return scaled / (weight * scale)


def units_before(weight: Any, fraction: Any) -> Any:
    """How many of an unknown case's units go to the branches that hold the first `fraction` of the known weight.

    The share of branch b is ``units_before(w, f_b) - units_before(w, f_(b-1))`` with f_b the known weight of the
    branches up to and with b, divided by that of all (one float64 division, 1 for the last): no unit is lost or made.
    A product that is only rounded down feeds no sum, so no compiler can fuse it.
    """
    return weight * fraction // 1.0


SHARED: Final = (exponent, log2_fraction, q_log_q, least_side, log2_of, information_of, units_before)


def unit_bits_for(total: float, whole: bool) -> int:
    """The bits of a unit for a total weight in cases.

    0 where all weights are `whole` and none will be divided: units are cases then. Otherwise the most for which the
    total stays below 2^52 units.
    """
    if whole:
        return 0
    mantissa_exponent = math.frexp(total)[1]  # total < 2**mantissa_exponent
    return TOTAL_BITS - mantissa_exponent


def scale_bits_for(total_units: int) -> int:
    """The scale of information for a total weight in units: as fine as 62 bits allow."""
    return SCALED_BITS - total_units.bit_length()


def zero_bound(n_classes: int, n_branches: int) -> int:
    """An information gain up to this, in 2^-scale_bits, is rounding and counts as exactly 0.

    The gain is a sum of one :func:`q_log_q` for each branch and each class of it, and as many for the node itself.
    """
    return LOG_ERROR * (n_classes + 1) * (n_branches + 1)
