"""Trees for other programs, and trees of other programs."""

from __future__ import annotations

from c45gpu.exchange.c import to_c
from c45gpu.exchange.python import to_python
from c45gpu.exchange.sql import to_sql

__all__ = ["to_c", "to_python", "to_sql"]
