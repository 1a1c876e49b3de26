"""What a kernel finds under the name ``libdevice``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cuda_emulator.device import Device
from tests.cuda_emulator.words import MASK_64, Word, signed, whole


def _float64(operation: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *numbers: operation(*map(np.float64, numbers))


class Libdevice:
    """Operations that no compiler fuses, and the high halves of products."""

    dadd_rn = staticmethod(_float64(operator.add))
    dmul_rn = staticmethod(_float64(operator.mul))
    ddiv_rn = staticmethod(_float64(operator.truediv))
    dsqrt_rn = staticmethod(_float64(np.sqrt))
    floor = staticmethod(_float64(np.floor))
    fma_rn = staticmethod(Device.fma)
    ll2double_rn = staticmethod(lambda a: np.float64(whole(a)))
    double2ll_rd = staticmethod(lambda a: signed(int(np.floor(a))))
    mul64hi = staticmethod(lambda a, b: signed(whole(a) * whole(b) >> 64))
    umul64hi = staticmethod(lambda a, b: Word((whole(a) & MASK_64) * (whole(b) & MASK_64) >> 64))
