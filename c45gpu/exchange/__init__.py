"""Trees for other programs, and trees of other programs."""

from __future__ import annotations

from c45gpu.exchange.c import to_c
from c45gpu.exchange.compare import Comparison, Difference, compare
from c45gpu.exchange.encoded import encode
from c45gpu.exchange.j48 import read_j48
from c45gpu.exchange.onnx import to_onnx
from c45gpu.exchange.original import read_original, read_trees
from c45gpu.exchange.pmml import to_pmml
from c45gpu.exchange.python import to_python
from c45gpu.exchange.sklearn import read_sklearn, to_shap, to_sklearn
from c45gpu.exchange.sql import to_sql
from c45gpu.exchange.treelite import to_treelite

__all__ = [
    "Comparison",
    "Difference",
    "compare",
    "encode",
    "read_j48",
    "read_original",
    "read_sklearn",
    "read_trees",
    "to_c",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_shap",
    "to_sklearn",
    "to_sql",
    "to_treelite",
]
