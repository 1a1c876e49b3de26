"""Scalars with the arithmetic of Numba's CUDA target.

Numba computes with 64-bit integers whatever the width of an array's elements: unsigned if all operands are unsigned,
signed otherwise; a shift has the sign of its left operand. So an element of a signed array is an ``int64`` here, of an
unsigned one a :class:`Word`, of a floating-point one a ``float64``, of a bool one a ``bool_``. A number that does not
fit is a fault where it is stored or cast, unless wrapping around is asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cuda_emulator.faults import KernelFault, Overflow

index = operator.index
ZERO = np.int64(0)
MASK_64 = (1 << 64) - 1


class Mode:
    """How arithmetic goes in the launch that runs."""

    wrap = False  # numbers that do not fit wrap around as on the device, without a fault


def fit(number: int, low: int, bits: int, name: str) -> int:
    """The number, if it fits a type of so many bits; wrapped around or reported if not."""
    if low <= number < low + (1 << bits):
        return number
    if not Mode.wrap:
        raise Overflow(f"{number} does not fit {name}")
    return ((number - low) & ((1 << bits) - 1)) + low


def signed(number: int) -> np.int64:
    """A Python integer as an int64."""
    return ZERO + fit(number, -(1 << 63), 64, "int64")


def whole(value: Any) -> int:
    """A whole number as a Python int; a floating-point number is refused."""
    try:
        return index(value)
    except TypeError:
        if isinstance(value, np.bool_):
            return int(value)
        raise TypeError(f"{value!r} is used where a whole number is due: write the cast") from None


def _binary(operation: Callable[[Any, Any], Any], name: str, swapped: bool) -> Callable[[Any, Any], Any]:
    def method(self: Word, other: Any) -> Any:
        if isinstance(other, (float, np.floating)):
            mine = np.float64(int(self))
            return operation(other, mine) if swapped else operation(mine, other)
        left, right = (whole(other), int(self)) if swapped else (int(self), whole(other))
        unsigned = isinstance(other, Word)
        return Word.of(operation(left, right), name) if unsigned else signed(operation(left, right))

    return method


def _shift(operation: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    def method(self: Word, other: Any) -> Word:
        return Word(operation(int(self), whole(other)) & MASK_64)

    return method


def _shift_of_signed(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Word, other: Any) -> Any:
        return operation(ZERO + other, ZERO + int(self))

    return method


def _comparison(operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def method(self: Word, other: Any) -> bool:
        return operation(int(self), other)

    return method


class Word(int):
    """An unsigned integer."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's scalars leave mixed operations to this class
    bits = 64

    @classmethod
    def of(cls, number: int, name: str) -> Word:
        """A result of 64 bits."""
        return Word(fit(number, 0, 64, f"uint64 ({name})"))

    def __invert__(self) -> Word:
        return Word(int(self) ^ MASK_64)

    def __neg__(self) -> Word:
        return Word.of(-int(self), "-")

    def __truediv__(self, other: Any) -> Any:
        return np.float64(int(self)) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / np.float64(int(self))

    __hash__ = int.__hash__


class Word32(Word):
    """An unsigned integer of 32 bits or fewer; arithmetic makes it one of 64."""

    __slots__ = ()
    bits = 32


class Lanes(int):
    """A set of lanes as ballot and match return it: an int32, negative where it holds lane 31."""

    __slots__ = ()

    @classmethod
    def of(cls, mask: int) -> Lanes:
        """The set from a mask of 32 bits."""
        return cls(mask - (1 << 32) if mask >> 31 else mask)


_BINARY = ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor")
for _name in _BINARY:
    _operation = getattr(operator, f"__{_name}__")
    setattr(Word, f"__{_name}__", _binary(_operation, _name, swapped=False))
    setattr(Word, f"__r{_name}__", _binary(_operation, _name, swapped=True))
for _name in ("lshift", "rshift"):
    setattr(Word, f"__{_name}__", _shift(getattr(operator, f"__{_name}__")))
    setattr(Word, f"__r{_name}__", _shift_of_signed(getattr(operator, f"__{_name}__")))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Word, f"__{_name}__", _comparison(getattr(operator, f"__{_name}__")))


def _signed_converter(bits: int, name: str) -> Callable[[Any], Any]:
    low, high, int64 = -(1 << (bits - 1)), (1 << (bits - 1)) - 1, np.int64

    def convert(value: Any) -> Any:
        number = whole(value)
        if low <= number <= high:
            return value if type(value) is int64 else ZERO + number
        return ZERO + fit(number, low, bits, name)

    return convert


def converter(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    """A function that makes a value what an array of this type holds, seen from a kernel."""
    bits, name = 8 * dtype.itemsize, dtype.name
    if dtype.kind == "i":
        return _signed_converter(bits, name)
    if dtype.kind == "u":
        word = Word if bits == 64 else Word32
        return lambda value: word(fit(whole(value), 0, bits, name))
    if dtype.kind == "b":
        return lambda value: np.True_ if value else np.False_
    if dtype == np.float32:
        return lambda value: np.float64(np.float32(value))
    if dtype == np.float64:
        return np.float64
    raise TypeError(f"arrays of {dtype} are not emulated")


class Cast:
    """A type that a kernel calls or hands to ``cuda.shared.array``: ``np.int32``, ``numba.int32``."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._convert = converter(dtype)
        self._is_float = dtype.kind == "f"

    def __call__(self, value: Any = 0) -> Any:
        if not self._is_float and isinstance(value, (float, np.floating)):
            value = int(value)
        return self._convert(value)


def scalar(value: Any) -> Any:
    """A number that the host hands to a kernel, as the kernel sees it."""
    if isinstance(value, (bool, np.bool_)):
        return np.bool_(value)
    if isinstance(value, int):
        return signed(value)
    if isinstance(value, float):
        return np.float64(value)
    return converter(value.dtype)(value)


def bits_of(value: Any, what: str) -> tuple[int, int]:
    """A number's bits and its width, for operations whose result depends on the width.

    An ``int64`` here may be an element of an int32 array there, so its width is only known from a cast to unsigned.
    """
    if isinstance(value, Word):
        return int(value), value.bits
    if isinstance(value, Lanes):
        return int(value) & 0xFFFFFFFF, 32
    number = whole(value)
    if number < 0 or what == "clz":
        raise KernelFault(
            f"the width of {what}({number}) depends on the array's type: cast it to np.uint32 or np.uint64"
        )
    return number, 64
