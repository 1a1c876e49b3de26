"""Compile what making and using rules needs, before anyone waits for it."""

from __future__ import annotations

from typing import Final

import numpy as np

from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.induction.warm import tables
from c45gpu.kernels.cover import CROSSOVER_CASES
from c45gpu.kernels.cpu import CpuEngine
from c45gpu.rules.derive import derive_from_model
from c45gpu.rules.use import first_rules

MIN_CASES: Final = 30  # so that a class has more candidates than all subsets are tried of


def warm_up() -> None:
    """Make rules of small trees, and use them, on enough cases for the compiled code."""
    for table in tables():
        many = table.take(np.arange(max(table.n_cases, CROSSOVER_CASES)) % table.n_cases)
        model = train(many, Options(min_cases=MIN_CASES), CpuEngine())
        first_rules(derive_from_model(model, many).rule_set, many)
