"""What a test tells by measures other than information: Gini impurity and the chi-square statistic.

Both are sums over branches and classes of what one class contributes on one branch. With ``q`` cases of a class among
``side`` at a branch and ``of_class`` at the node, ``K`` cases known there::

    Gini impurity     K * impurity  =  K - sum of q * (q / side)              over the classes of a branch
    chi-square        statistic / K =  sum of (q / side) * (q / of_class)  - 1        over branches and classes

Each term is rounded down to an integer once, so sums do not depend on their order; the quotients and the product are
single float64 operations, none feeds a sum, and so they are the same bits on every engine.

The less :func:`inner`, the better the test; what a test gains is the inner of the whole node less those of its
branches, as with information.
"""

from __future__ import annotations

from typing import Any, Final

from c45gpu.formulas import zero_bound

ENTROPY: Final = 0
GINI: Final = 1
CHI2: Final = 2

CHI2_SCALE: Final = 35184372088832.0  # 2^45: a statistic over K is at most the number of classes, below 2^16


def term(q: Any, side: Any, of_class: Any, measure: Any, scale: Any) -> Any:
    """What a class contributes on a branch, rounded down; a whole number as float64.

    Parameters
    ----------
    q, side, of_class : int or ndarray of int64
        Weight of the class on the branch, of the branch, and of the class at the node, in units; the last two may be
        0 where q is.
    measure : int
        GINI, in units times 2^-scale_bits, or CHI2, in 2^-45.
    scale : float
        2.0**scale_bits.
    """
    share = q / (side + (side == 0))
    if measure == GINI:
        return q * scale * share // 1.0
    return share * (q / (of_class + (of_class == 0))) * CHI2_SCALE // 1.0


def gain_in_cases(gain: Any, split: Any, weight: Any) -> Any:
    """A chi-square gain over the weight of the node: statistic / W, given the known weight in place of `split`."""
    return gain / CHI2_SCALE / (weight / split)


SHARED: Final = (term, gain_in_cases)


def bound_of_zero(measure: int, n_classes: int, n_branches: int) -> int:
    """A gain up to this is rounding and counts as exactly 0, in the unit of the measure.

    Each of the terms, one for each class of a branch and one for each of the node, is rounded down. A sum of Gini
    terms is below 2^56 and each term right to a part in 2^52, so 16 more may be missing on either side; of chi-square
    terms each is right to a part in 2^50, less than 1.
    """
    terms = n_classes * (n_branches + 1)
    return {ENTROPY: zero_bound(n_classes, n_branches), GINI: terms + 32, CHI2: 2 * terms}[measure]
