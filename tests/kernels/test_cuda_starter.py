"""Kernels start with the arguments that numba would hand over, without numba's work on them; no driver is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from numba import cuda
from numba.cuda import dispatcher

from c45gpu.kernels import cuda_arguments
from c45gpu.kernels.cuda_arguments import Arguments, same, taken_apart
from c45gpu.kernels.cuda_starter import Known, Starter
from tests.kernels.no_driver import Array, Started, no_driver, on_device

pytestmark = pytest.mark.filterwarnings("ignore::numba.cuda.core.errors.NumbaPerformanceWarning")


class Pair(NamedTuple):
    """As kernels take them."""

    one: Any
    other: Any


def add_up(pair: Pair, numbers: Any, factors: Any, out: Any) -> None:
    """A kernel that looks at all of its arguments."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = pair.one[i] + pair.other[0][i] + pair.other[1] + numbers[0] + factors[i, 0]


def arguments(n: int = 5, number: int = 7, kind: type[np.generic] = np.float32) -> tuple[Any, ...]:
    """With arrays of several types and shapes, one of them empty, and numbers of several types."""
    pair = Pair(np.zeros(n, np.int64), (np.zeros(0, np.uint32), number))
    numbers = (np.int64(number), 2.5, -0.0, True, np.bool_(False))
    return on_device((pair, numbers, np.zeros((n, 3), kind), np.zeros(n, np.float64)))


@pytest.fixture
def started() -> Iterator[Started]:
    found = Started()
    with no_driver(found.note):
        yield found


def numbas(start: Callable[[], None]) -> None:
    """Start without anything known, as numba does it."""
    with mock.patch.object(Starter, "_found", return_value=None):
        start()


def test_the_driver_gets_what_numba_would_hand_over(started: Started) -> None:
    starter, plain = Starter(), Starter()
    for n, number, pointer in ((5, 7, 0), (5, 7, 0), (6, 1 << 40, 12345), (0, -1, 0)):
        given = arguments(n, number)
        numbas(partial(plain, add_up, 3, 64, pointer, 16, given))
        starter(add_up, 3, 64, pointer, 16, given)
        assert started[-1] == started[-2]
    assert len({str(one) for one in started}) == 4


def test_numba_works_on_the_arguments_of_a_type_once(started: Started) -> None:
    starter, given = Starter(), [arguments() for _ in range(3)] + [arguments(kind=np.float64)]
    call = mock.Mock(side_effect=dispatcher.CUDADispatcher.call)
    with mock.patch.object(dispatcher.CUDADispatcher, "call", lambda *given: call(*given)):
        for one in given:
            starter(add_up, 3, 64, 0, 16, one)
    assert call.call_count == 2  # for each type
    assert len(started) == 4


@pytest.mark.parametrize("other", ["a value more", "another type"])
def test_a_numba_that_hands_over_otherwise_is_left_to_itself(started: Started, other: str) -> None:
    """It has values that nobody expects; they come from itself, for arrays one by one."""
    prepare = dispatcher._Kernel._prepare_args

    def otherwise(self: Any, kind: Any, value: Any, stream: Any, retr: Any, values: list[Any]) -> None:
        before = len(values)
        prepare(self, kind, value, stream, retr, values)
        if hasattr(value, "gpu_data"):
            values[before:] = [float(x) for x in values[before:]] if other == "another type" else [3, *values[before:]]

    with mock.patch.object(dispatcher._Kernel, "_prepare_args", otherwise):
        test_the_driver_gets_what_numba_would_hand_over(started)


def test_a_numba_that_cannot_be_asked_starts_kernels_itself(started: Started) -> None:
    given = arguments()
    with mock.patch.object(Starter, "_prepared", return_value=[]):
        starter = Starter()
        for _ in range(2):
            starter(add_up, 3, 64, 0, 16, given)
    with mock.patch.object(dispatcher.CUDADispatcher, "typeof_pyval", side_effect=AttributeError):
        assert starter._found(add_up, given, []) is None
    assert list(starter._known.values()) == [None]
    assert started[0] == started[1]


def test_arrays_with_gaps_are_told_apart(started: Started) -> None:
    starter = Starter()
    whole, gaps = np.zeros(6), np.zeros((6, 2))[:, 0]
    for array in (whole, gaps, whole, gaps):
        pair = Pair(np.zeros(6, np.int64), (np.zeros(0, np.uint32), 1))
        starter(add_up, 1, 32, 0, 0, on_device((pair, (1, 2.5), np.zeros((6, 3)), array)))
    strides = [values[-1][1] for *_, values in started]
    assert strides == [8, 16, 8, 16]
    assert len(starter._known) == 2


def first_of(arrays: Any, out: Any) -> None:
    """A kernel for arrays of any number of dimensions."""
    out[0] = arrays[0].shape[0]


def last_of(arrays: Any, out: Any) -> None:
    """Another one."""
    out[0] = arrays[1].shape[0]


def test_what_makes_a_kernel_another_one(started: Started) -> None:
    """Its name, the dimensions of arrays, and the tuples that they stand in."""
    starter, out = Starter(), Array(np.zeros(1))
    one, two = Array(np.zeros(6)), Array(np.zeros((6, 2)))
    launches = [(first_of, (one, one)), (first_of, (two, one)), (first_of, Pair(one, one)), (last_of, (one, one))]
    for _ in range(2):
        for kernel, arrays in launches:
            starter(kernel, 1, 32, 0, 0, (arrays, out))
    assert len(starter._known) == 4
    assert None not in starter._known.values()
    assert started[:4] == started[4:]


def test_arrays_are_forgotten_when_they_are_gone() -> None:
    asked: list[int] = []

    def prepared(array: Array) -> list[Any]:
        asked.append(array.pointer)
        return taken_apart(array.__cuda_array_interface__)

    known = Arguments(prepared)
    for _ in range(20):
        array = Array(np.zeros(4))
        assert known.of((array, array)).values == 2 * taken_apart(array.__cuda_array_interface__)
        assert len(known) == 1
        del array
        assert len(known) == 0
    assert len(asked) == 1  # then it is seen to be as expected
    planes = [Array(np.zeros((2, 3, 4))) for _ in range(2)]
    assert known.of(tuple(planes)).values[5:10] == [2, 3, 4, 96, 32]
    assert len(asked) == 2


def test_numbers_and_tuples_of_them_are_kept_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_arguments, "MOST_SCALARS", 5)
    monkeypatch.setattr(cuda_arguments, "MOST_TUPLES", 5)
    known = Arguments(lambda value: [value])
    for number in range(40):
        pair = Pair(number, float(number))
        for _ in range(2):
            assert known.of((pair, number)).values == [number, float(number), number]
    assert known.of((0.0,)).values == [0.0]
    assert str(known.of((-0.0,)).values) == "[-0.0]"
    assert known.of((True, 1)).kinds == (bool, int)
    assert len(known._scalars) <= 5
    assert len(known._tuples) <= 5


def test_values_of_other_types_are_not_the_same() -> None:
    assert same([1, 2.0], [1, 2.0])
    for other in ([1, 2], [1], [1, 3.0]):
        assert not same([1, 2.0], other)


class Compiled:
    """In the place of numba's."""

    debug = "asked"

    def launch(self, *given: Any) -> None:
        """Told what it is given."""
        self.given = given


def test_a_known_kernel_is_the_kernel_to_whom_asks() -> None:
    known = Known(Compiled())
    known.start([1, 2], 3, 4, "stream", 5)
    assert known.debug == "asked"
    assert known.given == (([1, 2],), (3, 1, 1), (4, 1, 1), "stream", 5)
