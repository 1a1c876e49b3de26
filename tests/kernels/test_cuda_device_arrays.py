"""Columns that are on a device stay there: what goes to and fro is counted."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data import devicearrays, frames
from c45gpu.data.arrays import from_arrays
from c45gpu.data.devicearrays import DeviceColumn, on_device
from c45gpu.data.frames import from_frame
from c45gpu.data.table import Table
from c45gpu.errors import DataError
from c45gpu.estimator import C45Classifier
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.train import train
from c45gpu.kernels import engine
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

    def array(self, values: Any, dtype: Any = None) -> Any:
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


def test_values_on_the_device_cost_no_transfer_of_a_level(cupy: Cupy) -> None:
    X, y = arrays()
    table, engine, transfers = from_arrays(Foreign(X), Foreign(y)), engine_of(cupy), []

    def note(level: Any) -> None:
        _ = [engine.distinct(a) for a in range(4)]  # fetched once, whenever they are asked for
        transfers.append(engine.work.transfers)

    train(table, Options(prune="none"), engine, note)
    assert np.diff(transfers).tolist() == [1] * (len(transfers) - 1)


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


@pytest.fixture
def usable(cupy: Cupy, monkeypatch: pytest.MonkeyPatch) -> list[CudaEngine]:
    """The engines that were opened for predicting."""
    opened: list[CudaEngine] = []

    def opens(name: str, n_values: int) -> CudaEngine:
        opened.append(engine_of(cupy))
        return opened[-1]

    monkeypatch.setattr(engine, "open_engine", opens)
    monkeypatch.setattr(engine, "_missing_for_cuda", lambda: None)
    return opened


@pytest.mark.parametrize("kind", [Foreign, Exported])
@pytest.mark.parametrize("unknown", [False, True])
def test_an_estimator_leaves_arrays_where_they_are(
    cupy: Cupy, usable: list[CudaEngine], monkeypatch: pytest.MonkeyPatch, kind: Any, unknown: bool
) -> None:
    """Neither scikit-learn nor growing, pruning or predicting fetches a column."""
    X, y = arrays(unknown)
    how: dict[str, Any] = {"min_cases": 1, "categorical_features": [3], "class_weight": {3: 2.0}}
    here = C45Classifier(engine="reference", **how).fit(X, y)
    expected, labels = here.predict_proba(X), here.predict(X)
    monkeypatch.delattr(DeviceColumn, "on_host")
    monkeypatch.setattr("c45gpu.samples.validate_data", None)
    there = C45Classifier(engine=engine_of(cupy), **how).fit(kind(X), kind(y))  # type: ignore[arg-type]
    assert there.unpruned_tree_.equals(here.unpruned_tree_)
    assert there.tree_.equals(here.tree_)
    assert (there.n_features_in_, there.classes_.tolist()) == (4, [3, 7])
    before = cupy.down
    assert there.predict_proba(kind(X)).tobytes() == expected.tobytes()
    assert cupy.down - before <= expected.nbytes + X[:, 3].nbytes
    assert (there.predict(kind(X)) == labels).all()
    assert len(usable) == 2


def test_an_estimator_says_what_does_not_fit(cupy: Cupy) -> None:
    X, y = arrays()
    named = C45Classifier(engine="reference").fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.raises(DataError, match="X has 3 columns where 4 are due"):
        named.predict(Foreign(X[:, :3]))
    again = named.fit(Foreign(X), Foreign(y))
    assert not hasattr(again, "feature_names_in_")
    with pytest.raises(ValueError, match="continuous"):
        named.fit(Foreign(X), Foreign(X[:, 0]))


def test_without_a_usable_gpu_predictions_are_made_on_the_host(cupy: Cupy, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = arrays(unknown=True)
    monkeypatch.setattr(engine, "_missing_for_cuda", lambda: "finds no NVIDIA GPU")
    found = C45Classifier(engine="reference").fit(Foreign(X), Foreign(y)).predict_proba(Foreign(X))
    assert found.tobytes() == C45Classifier(engine="reference").fit(X, y).predict_proba(X).tobytes()


class CudfSeries:
    """A column of numbers as cuDF documents it; nulls are apart from the values."""

    def __init__(self, values: Any, nulls: Any) -> None:
        self._values, self._nulls = np.asarray(values), np.asarray(nulls)
        self.dtype, self.null_count = self._values.dtype, int(self._nulls.sum())

    def to_cupy(self, na_value: Any = None) -> Any:
        if self.null_count and na_value is None:
            raise ValueError("Column must have no nulls.")
        return np.where(self._nulls, self.dtype.type(na_value or 0), self._values).view(OnDevice)

    def isnull(self) -> CudfSeries:
        return CudfSeries(self._nulls, np.zeros_like(self._nulls))

    def fillna(self, value: Any) -> CudfSeries:
        return CudfSeries(np.where(self._nulls, value, self._values), np.zeros_like(self._nulls))


class OfCudf:
    """What narwhals makes of a column of cuDF, as far as it is asked."""

    def __init__(self, native: Any, column: Any) -> None:
        self._native, self._column = native, column
        self.implementation = mock.Mock(is_cudf=lambda: True, is_pyarrow=lambda: False)

    def to_native(self) -> Any:
        return self._native

    def to_arrow(self) -> Any:
        return self._column


class CudfFrame(dict[str, OfCudf]):
    """What narwhals makes of a frame of cuDF, as far as it is asked."""

    implementation = mock.Mock(is_pandas_like=lambda: True)

    @property
    def columns(self) -> list[str]:
        return list(self)

    def iter_columns(self) -> Any:
        return iter(self.values())

    def __len__(self) -> int:
        return N


@pytest.mark.parametrize("nulls", [False, True])
def test_numbers_of_cudf_stay_on_the_device(cupy: Cupy, monkeypatch: pytest.MonkeyPatch, nulls: bool) -> None:
    """With a stand-in for cuDF; texts go through the host."""
    X, y = arrays()
    absent = (np.arange(N) % 7 == 0) & nulls
    texts = pa.chunked_array([pa.array(np.where(X[:, 3] > 1, "high", "low").tolist())])
    numbers = {"a": X[:, 0], "b": X[:, 1].astype(np.float64), "c": X[:, 2].astype(np.int64)}
    frame = CudfFrame({name: OfCudf(CudfSeries(values, absent), None) for name, values in numbers.items()})
    frame["d"] = OfCudf(mock.Mock(dtype="category"), texts)
    plain = pd.DataFrame({name: pd.Series(values).mask(absent) for name, values in numbers.items()})
    plain["d"] = texts.to_pylist()
    expected = from_frame(plain, y)
    monkeypatch.setattr(frames, "_narwhals", lambda native: native)
    for found in (from_frame(frame, y), from_frame(frame, y, schema=expected.schema)):
        assert [isinstance(column, DeviceColumn) for column in found.columns] == [True, True, True, False]
        assert found.schema == expected.schema
        for a in range(4):
            assert found.column(a).dtype == expected.column(a).dtype
            assert found.column(a).tobytes() == expected.column(a).tobytes()
