"""Arguments of kernels as numba hands them to the driver, made ready once for each array.

Numba finds out the types of all arguments at each launch, and takes each array apart; with tuples of arrays as engines
pass them that takes far longer than the launch itself. What it makes of an array does not change while it is there::

    arguments   (Lists(entries, layout, cases, ..), tiles, ..)
    kinds       Lists array-3 Layout int int array-1 ..            which of the compiled kernels
    ready       0 0 size 4 pointer size 4 | 31 | ...               what numba makes of them: see _Kernel.launch
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

SCALARS = (int, float, np.generic)
MOST_SCALARS, MOST_TUPLES = 4096, 64  # of those that are kept


class Ready(NamedTuple):
    """What became of an argument, or of several.

    Attributes
    ----------
    kinds : tuple
        Tells their types; equal for equal types.
    values : list
        What numba would hand to the driver.
    """

    kinds: tuple[Any, ...]
    values: list[Any]


class Arguments:
    """Makes arguments ready.

    Parameters
    ----------
    prepare : callable
        What numba makes of one argument that is no tuple.
    """

    def __init__(self, prepare: Callable[[Any], list[Any]]) -> None:
        self._prepare = prepare
        self._arrays: dict[int, tuple[weakref.ref[Any], Ready]] = {}
        self._scalars: dict[tuple[Any, ...], Ready] = {}
        self._tuples: dict[int, tuple[Any, Ready]] = {}  # with the tuple, whose number no other has meanwhile
        self._plain: dict[tuple[Any, ...], bool] = {}

    def __len__(self) -> int:
        return len(self._arrays)

    def of(self, arguments: tuple[Any, ...]) -> Ready:
        """All arguments of a launch."""
        kinds: list[Any] = []
        values: list[Any] = []
        for argument in arguments:
            self._add(argument, kinds, values)
        return Ready(tuple(kinds), values)

    def _add(self, value: Any, kinds: list[Any], values: list[Any]) -> None:
        if isinstance(value, tuple):
            self._add_tuple(value, kinds, values)
            return
        kept = self._arrays.get(id(value))
        ready = kept[1] if kept is not None else self._made(value)
        kinds += ready.kinds
        values += ready.values

    def _add_tuple(self, value: tuple[Any, ...], kinds: list[Any], values: list[Any]) -> None:
        kept = self._tuples.get(id(value))
        if kept is not None:
            kinds += kept[1].kinds
            values += kept[1].values
            return
        first, at = len(kinds), len(values)
        kinds.append((type(value), len(value)))
        for part in value:
            self._add(part, kinds, values)
        if all(isinstance(part, SCALARS) for part in value):
            if len(self._tuples) >= MOST_TUPLES:
                self._tuples.clear()
            self._tuples[id(value)] = value, Ready(tuple(kinds[first:]), values[at:])

    def _made(self, value: Any) -> Ready:
        if hasattr(value, "__cuda_array_interface__"):
            return self._array(value)
        name = (type(value), value, math.copysign(1, value) if isinstance(value, float) else 1)
        if name not in self._scalars:
            if len(self._scalars) >= MOST_SCALARS:
                self._scalars.clear()
            self._scalars[name] = Ready((type(value),), self._prepare(value))
        return self._scalars[name]

    def _array(self, array: Any) -> Ready:
        """An array, which is known from now on until it is gone."""
        facts = array.__cuda_array_interface__
        kind = (facts["typestr"], len(facts["shape"]), facts.get("strides") is None)
        number = id(array)  # no other array has it before the weak reference says that this one is gone
        gone = weakref.ref(array, lambda _: self._arrays.pop(number, None))
        self._arrays[number] = gone, Ready((kind,), self._values_of(array, facts, kind))
        return self._arrays[number][1]

    def _values_of(self, array: Any, facts: dict[str, Any], kind: tuple[Any, ...]) -> list[Any]:
        """What numba makes of an array: by itself, until it is seen to be what is expected of such arrays."""
        expected = (kind, 0 in facts["shape"])
        ours = taken_apart(facts)
        if self._plain.get(expected):
            return ours
        values = self._prepare(array)
        self._plain[expected] = same(ours, values)
        return values


def taken_apart(facts: dict[str, Any]) -> list[Any]:
    """A contiguous array as numba hands it over: no owner, size, bytes of an item, pointer, shape and strides."""
    shape, itemsize = facts["shape"], int(facts["typestr"][2:])
    if len(shape) == 1:
        return [0, 0, shape[0], itemsize, facts["data"][0], shape[0], itemsize]
    strides = [itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))]
    return [0, 0, math.prod(shape), itemsize, facts["data"][0], *shape, *strides]


def same(one: list[Any], other: list[Any]) -> bool:
    """Whether values that are handed over are of the same types, and the same."""
    if len(one) != len(other):
        return False
    pairs = zip(one, other, strict=True)
    return all(type(a) is type(b) and getattr(a, "value", a) == getattr(b, "value", b) for a, b in pairs)
