"""Numba's views are made once for each array, and do not keep it."""

from __future__ import annotations

from typing import Any, NamedTuple

from c45gpu.kernels.cuda_views import Views


class Array:
    """Has the interface of arrays on a device."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {}


class Pair(NamedTuple):
    """As kernels take them."""

    one: Any
    other: Any


class Counting:
    """Numbers the views that it makes."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, array: Any) -> str:
        self.made += 1
        return f"view {self.made}"


def test_a_view_is_made_once() -> None:
    make, one, other = Counting(), Array(), Array()
    views = Views(make)
    assert views.of(Pair(one, (other, 7))) == Pair("view 1", ("view 2", 7))
    assert views.of(other) == "view 2"
    assert isinstance(views.of(Pair(one, 2.5)), Pair)
    assert make.made == len(views) == 2


def test_views_go_with_their_arrays() -> None:
    make = Counting()
    views = Views(make)
    for number in range(1, 50):
        array = Array()
        assert views.of(array) == f"view {number}"
        del array
        assert len(views) == 0
