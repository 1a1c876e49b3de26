"""``cuda.atomic``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tests.cuda_emulator.arrays import update
from tests.cuda_emulator.faults import Endless

PATIENCE = 50_000  # atomic operations of a thread between two barriers before it counts as spinning


class Atomic:
    """``cuda.atomic``: each returns what was there before."""

    def __init__(self) -> None:
        self.patience = PATIENCE

    def _update(self, array: Any, i: Any, change: Callable[[Any], Any]) -> Any:
        self.patience -= 1
        if self.patience < 0:
            raise Endless("atomic operations without end between two barriers", array.name)
        return update(array, i, change)

    def add(self, array: Any, i: Any, value: Any) -> Any:
        """Add."""
        value = array.root.convert(value)
        return self._update(array, i, lambda old: old + value)

    def sub(self, array: Any, i: Any, value: Any) -> Any:
        """Subtract."""
        value = array.root.convert(value)
        return self._update(array, i, lambda old: old - value)

    def max(self, array: Any, i: Any, value: Any) -> Any:
        """Keep the greater."""
        value = array.root.convert(value)
        return self._update(array, i, lambda old: max(old, value))

    def min(self, array: Any, i: Any, value: Any) -> Any:
        """Keep the lesser."""
        value = array.root.convert(value)
        return self._update(array, i, lambda old: min(old, value))

    def and_(self, array: Any, i: Any, value: Any) -> Any:
        """Keep the bits of both."""
        return self._integers(array, i, operator.and_, value)

    def or_(self, array: Any, i: Any, value: Any) -> Any:
        """Keep the bits of either."""
        return self._integers(array, i, operator.or_, value)

    def xor(self, array: Any, i: Any, value: Any) -> Any:
        """Keep the bits of one but not of both."""
        return self._integers(array, i, operator.xor, value)

    def exch(self, array: Any, i: Any, value: Any) -> Any:
        """Put a value there."""
        return self._integers(array, i, lambda old, new: new, value)

    def cas(self, array: Any, i: Any, old: Any, value: Any) -> Any:
        """Put a value there if the old one is there."""
        expected = array.root.convert(old)
        return self._integers(array, i, lambda found, new: new if found == expected else found, value)

    def compare_and_swap(self, array: Any, old: Any, value: Any) -> Any:
        """:meth:`cas` of element 0."""
        return self.cas(array, 0, old, value)

    def _integers(self, array: Any, i: Any, operation: Callable[[Any, Any], Any], value: Any) -> Any:
        if array.dtype.kind == "f":
            raise TypeError(f"there is no such atomic operation on {array.dtype}")
        value = array.root.convert(value)
        return self._update(array, i, lambda old: operation(old, value))
