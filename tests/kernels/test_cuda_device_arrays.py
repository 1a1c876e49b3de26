"""Columns that are on a device stay there: what goes to and fro is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data import devicearrays
from c45gpu.data.arrays import from_arrays
from c45gpu.data.devicearrays import DeviceColumn, on_device
from c45gpu.data.table import Table
from c45gpu.errors import DataError
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels.cuda import CudaEngine
from tests.cuda_emulator import Emulation
from tests.kernels.cuda_here import SMALL, EmulatedLauncher

N = 80


class OnDevice(np.ndarray[Any, Any]):
    """An array of the stand-in for CuPy: what is made of it is on the device too."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.__array_interface__, "stream": None}


class Foreign:
    """Somebody else's array on a device: there is no way to its values but through the interface."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return dict(self._values.__array_interface__)

    @property
    def values(self) -> Any:
        """What CuPy would see."""
        return self._values.view(OnDevice)


class Exported(Foreign):
    """One that only speaks DLPack."""

    __cuda_array_interface__ = property()  # type: ignore[assignment]  # raises AttributeError

    def __dlpack_device__(self) -> tuple[int, int]:
        return devicearrays.CUDA, 0


class Cupy:
    """Counts the bytes that go up and down."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self.up = self.down = 0

    def asarray(self, values: Any) -> Any:
        if isinstance(values, Foreign):
            return values.values
        if isinstance(values, OnDevice):
            return values
        self.up += values.nbytes
        return np.asarray(values).view(OnDevice)

    from_dlpack = asarray

    def asnumpy(self, array: Any) -> Any:
        self.down += array.nbytes
        return np.array(self._xp.asnumpy(array))

    def array(self, values: Any, dtype: Any) -> Any:
        return np.array(values, dtype).view(OnDevice)

    def where(self, *arguments: Any) -> Any:
        return np.where(*arguments).view(OnDevice)

    def unique(self, values: Any, **options: Any) -> Any:
        return tuple(part.view(OnDevice) for part in np.unique(values, **options))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._xp, name)


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Cupy:
    gpu = Emulation(0, checks=False)
    xp = Cupy(gpu.xp)
    xp.gpu = gpu
    monkeypatch.setattr(devicearrays, "array_module", lambda: xp)
    return xp


def arrays(unknown: bool = False, number: type[np.floating[Any]] = np.float32) -> tuple[Any, Any]:
    """Two long columns, one with few values, one of codes; and labels."""
    random = np.random.default_rng(3)
    X = np.column_stack([random.random(N), random.random(N), random.integers(0, 3, N), random.integers(0, 4, N)])
    y = np.where((X[:, 0] + X[:, 1] > 1) ^ (X[:, 3] == 2), 7, 3)
    if unknown:
        X[::7, 1], X[::9, 3] = np.nan, np.nan
    return X.astype(number), y


def engine_of(cupy: Cupy) -> CudaEngine:
    return CudaEngine(cupy, EmulatedLauncher(cupy.gpu), SMALL)


@pytest.mark.parametrize("kind", [Foreign, Exported])
@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("compat", [None, "r8"])
def test_the_table_is_that_of_host_arrays(cupy: Cupy, kind: Any, unknown: bool, compat: Any) -> None:
    X, y = arrays(unknown)
    here = from_arrays(X, y, categorical=[3])
    there = from_arrays(kind(X), kind(y), categorical=[3])
    assert all(isinstance(column, DeviceColumn) for column in there.columns)
    assert there.schema == here.schema
    assert there.has_unknown() == here.has_unknown() == unknown
    one, other = (table.as_release8() if compat else table for table in (here, there))
    for a in range(4):
        assert one.column(a).tobytes() == other.column(a).tobytes()
        assert one.column(a).dtype == other.column(a).dtype
    assert (here.classes == there.classes).all()
    assert (here.classes == there.classes_in_place()).all()
    some = np.arange(0, N, 3)
    assert there.take(some).column(0).tobytes() == here.take(some).column(0).tobytes()
    matched = from_arrays(kind(X), kind(y), schema=here.schema)
    assert matched.column(3).tobytes() == here.column(3).tobytes()
    assert (matched.classes_in_place() == here.classes).all()


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_nothing_goes_through_the_host(
    cupy: Cupy, monkeypatch: pytest.MonkeyPatch, unknown: bool, number: type[np.floating[Any]]
) -> None:
    """Loading sends up no more than the table of H, the weights in units and a few numbers for each attribute."""
    X, y = arrays(unknown, number)
    table = from_arrays(Foreign(X), Foreign(y), categorical=[3])
    expected = train(from_arrays(X, y, categorical=[3]), Options(prune="none"), "reference")
    monkeypatch.delattr(DeviceColumn, "on_host")
    assert train(table, Options(prune="none"), engine_of(cupy)).unpruned.equals(expected.unpruned)
    sent = []
    for cases in (from_arrays(X, y, categorical=[3]), table):
        start = cupy.up
        engine_of(cupy).load(pose(cases, Options()))
        sent.append(cupy.up - start)
    columns = X[:, :3].nbytes + 4 * N + 4 * N  # values, codes and classes
    assert sent[0] - sent[1] == columns
    assert sent[1] < 8 * (N + 1) + 8 * N * unknown + 1000


def test_one_transfer_more_for_a_level(cupy: Cupy) -> None:
    X, y = arrays()
    table, engine, transfers = from_arrays(Foreign(X), Foreign(y)), engine_of(cupy), []

    def note(level: Any) -> None:
        _ = [engine.distinct(a) for a in range(4)]  # fetched once, whenever they are asked for
        transfers.append(engine.work.transfers)

    train(table, Options(prune="none"), engine, note)
    assert max(np.diff(transfers)) == 3


def test_other_engines_fetch_a_column_once(cupy: Cupy) -> None:
    X, y = arrays(unknown=True)
    table = from_arrays(Foreign(X), Foreign(y), categorical=[3])
    fetched = cupy.down
    for _ in range(2):
        found = train(table, engine="reference")
        assert found.pruned.equals(train(from_arrays(X, y, categorical=[3]), engine="reference").pruned)
    assert cupy.down - fetched == X[:, :3].nbytes + 4 * N


def test_classes_that_were_replaced_are_not_taken_from_the_device(cupy: Cupy) -> None:
    from dataclasses import replace

    X, y = arrays()
    table = from_arrays(Foreign(X), Foreign(y))
    turned = replace(table, classes=1 - table.classes)
    assert turned.classes_in_place() is turned.classes


def test_what_will_not_do_is_refused(cupy: Cupy) -> None:
    X, y = arrays()
    with pytest.raises(DataError, match="y has 2 dimensions"):
        from_arrays(Foreign(X), Foreign(X))
    with pytest.raises(DataError, match="X has 1 dimensions"):
        from_arrays(Foreign(y), Foreign(y))
    with pytest.raises(DataError, match=r"column 'x0'.*take it as categorical"):
        from_arrays(Foreign(np.full((2, 1), 2**53 + 1)), [0, 1])


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    X, y = arrays()
    with pytest.raises(DataError, match=r"needs CuPy: pip install 'c45gpu\[cuda13\]'"):
        from_arrays(Foreign(X), y)


def test_who_is_on_a_device() -> None:
    X, _ = arrays()
    assert on_device(Foreign(X))
    assert on_device(Exported(X))
    assert not on_device(X)
    assert not on_device(X.tolist())


def test_a_table_of_both(cupy: Cupy) -> None:
    """Some columns here, some there."""
    X, y = arrays()
    here = from_arrays(X, y)
    columns = [DeviceColumn(Foreign(here.column(0)).values), *here.columns[1:]]
    mixed = Table(here.schema, columns, here.classes)
    expected = train(here, Options(prune="none"), "reference")
    assert train(mixed, Options(prune="none"), engine_of(cupy)).unpruned.equals(expected.unpruned)
