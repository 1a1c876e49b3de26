"""C4.5, complete and exact.

Importing this package is cheap: it touches no driver and does not even load NumPy. What is named below is fetched when
first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from c45gpu.lazy import fetched_when_used

if TYPE_CHECKING:
    from c45gpu.data.schema import Schema
    from c45gpu.data.table import Table
    from c45gpu.discretise import (
        EqualFrequencyDiscretizer,
        EqualWidthDiscretizer,
        MDLDiscretizer,
        TreeDiscretizer,
    )
    from c45gpu.estimator import C45Classifier
    from c45gpu.explanation import explain
    from c45gpu.id3 import ID3Classifier
    from c45gpu.induction.options import Options
    from c45gpu.induction.train import train
    from c45gpu.model.store import load, save
    from c45gpu.rules.derive import derive
    from c45gpu.rules.rule import RuleSet
    from c45gpu.rules.store import load_rules
    from c45gpu.rules_estimator import C45Rules

__version__ = "0.1.0"

__all__ = [
    "C45Classifier",
    "C45Rules",
    "EqualFrequencyDiscretizer",
    "EqualWidthDiscretizer",
    "ID3Classifier",
    "MDLDiscretizer",
    "Options",
    "RuleSet",
    "Schema",
    "Table",
    "TreeDiscretizer",
    "__version__",
    "derive",
    "explain",
    "load",
    "load_rules",
    "save",
    "train",
]

_HOME = {
    "C45Classifier": "c45gpu.estimator",
    "C45Rules": "c45gpu.rules_estimator",
    "EqualFrequencyDiscretizer": "c45gpu.discretise",
    "EqualWidthDiscretizer": "c45gpu.discretise",
    "ID3Classifier": "c45gpu.id3",
    "MDLDiscretizer": "c45gpu.discretise",
    "Options": "c45gpu.induction.options",
    "RuleSet": "c45gpu.rules.rule",
    "Schema": "c45gpu.data.schema",
    "Table": "c45gpu.data.table",
    "TreeDiscretizer": "c45gpu.discretise",
    "derive": "c45gpu.rules.derive",
    "explain": "c45gpu.explanation",
    "load": "c45gpu.model.store",
    "load_rules": "c45gpu.rules.store",
    "save": "c45gpu.model.store",
    "train": "c45gpu.induction.train",
}

__getattr__, __dir__ = fetched_when_used(globals(), _HOME)
