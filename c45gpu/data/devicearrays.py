"""Columns that are on a GPU already: the CUDA engine takes them as they are, everybody else gets a copy on the host.

CuPy's arrays, and whatever speaks ``__cuda_array_interface__`` or DLPack. CuPy is imported when there is one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute
from c45gpu.errors import DataError

CUDA, CUDA_MANAGED = 2, 13  # DLPack's numbers of devices


def on_device(values: Any) -> bool:
    """Whether an array is in the memory of a GPU."""
    if hasattr(values, "__cuda_array_interface__"):
        return True
    device = getattr(values, "__dlpack_device__", None)
    return device is not None and device()[0] in (CUDA, CUDA_MANAGED)


def array_module() -> Any:
    """CuPy.

    Raises
    ------
    DataError
        When it is not installed.
    """
    try:
        import cupy
    except ImportError:
        raise DataError(
            "an array on a GPU needs CuPy: pip install 'c45gpu[cuda13]', or copy the array to the host"
        ) from None
    return cupy


def as_device_array(values: Any) -> Any:
    """An array that is on a device as one of CuPy's, without a copy."""
    xp = array_module()
    return xp.asarray(values) if hasattr(values, "__cuda_array_interface__") else xp.from_dlpack(values)


def on_host(values: Any) -> Any:
    """An array that is on a device as one on the host; anything else as it is."""
    return array_module().asnumpy(as_device_array(values)) if on_device(values) else values


class DeviceColumn:
    """A column of a table in the memory of a GPU.

    Parameters
    ----------
    array : device array, shape (n_cases,)
        float32 or float64 values, or int32 codes, as in :class:`c45gpu.data.table.Table`.
    """

    def __init__(self, array: Any) -> None:
        self.array = array
        self._host: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.array)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its values."""
        kind: np.dtype[Any] = np.dtype(self.array.dtype)
        return kind

    def __getitem__(self, cases: npt.NDArray[Any] | slice) -> DeviceColumn:
        return DeviceColumn(self.array[cases if isinstance(cases, slice) else array_module().asarray(cases)])

    def rows(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Some of its values, on the host."""
        xp = array_module()
        values: npt.NDArray[Any] = xp.asnumpy(self.array[xp.asarray(rows)])
        return values

    def on_host(self) -> npt.NDArray[Any]:
        """All of its values, on the host; fetched once."""
        if self._host is None:
            self._host = array_module().asnumpy(self.array)
        return self._host

    def any_unknown(self) -> bool:
        """Whether a value is unknown."""
        xp = array_module()
        return bool((xp.isnan(self.array) if self.dtype.kind == "f" else self.array < 0).any())

    def as_release8(self) -> DeviceColumn:
        """Values as the original program reads them; see :meth:`c45gpu.data.table.Table.as_release8`."""
        values = self.array.astype(np.float32)
        return DeviceColumn(array_module().where(values == -999, np.float32(np.nan), values))


def new_column(name: str, values: Any, discrete: bool) -> tuple[Attribute, DeviceColumn]:
    """The attribute of a column on a device; its distinct values go through the host where it is discrete."""
    if not discrete:
        return Attribute(name, "continuous"), DeviceColumn(_numbers(name, values))
    from c45gpu.data.attributes import column_of, learned

    distinct, number = _distinct(values)
    attribute, codes = learned(name, column_of(name, distinct), discrete=True)
    return attribute, DeviceColumn(spread(codes, number))


def known_column(attribute: Attribute, values: Any) -> DeviceColumn | None:
    """A column on a device as a model's attribute has it."""
    if attribute.kind == "ignored":
        return None
    if attribute.kind == "continuous":
        return DeviceColumn(_numbers(attribute.name, values))
    from c45gpu.data.attributes import column_of, matched

    distinct, number = _distinct(values)
    return DeviceColumn(spread(matched(attribute, column_of(attribute.name, distinct)), number))


def labels_of(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32], Any]:
    """As :func:`c45gpu.data.arrays.encode_classes`, and the codes on the device."""
    from c45gpu.data.labels import encode_classes

    array = as_device_array(y)
    if array.ndim != 1:
        raise DataError(f"y has {array.ndim} dimensions where one is due: give one label for each case")
    distinct, number = _distinct(array)
    labels, codes = encode_classes(distinct)
    there = spread(codes, number)
    return labels, on_host(there), there


def numbers_of_cudf(name: str, series: Any) -> DeviceColumn | None:
    """The values of a column of cuDF that holds numbers; None for another kind.

    What is asked of it is documented: ``dtype``, ``null_count``, ``to_cupy``, ``isnull``, ``fillna``.
    """
    kind = getattr(series.dtype, "kind", "O")
    if kind not in "fiu":
        return None
    if series.null_count == 0:
        return DeviceColumn(_numbers(name, series.to_cupy()))
    if kind == "f":
        return DeviceColumn(_numbers(name, series.to_cupy(na_value=np.nan)))
    values = _numbers(name, series.fillna(0).to_cupy())
    return DeviceColumn(array_module().where(series.isnull().to_cupy(), np.nan, values))


def _distinct(values: Any) -> tuple[npt.NDArray[Any], Any]:
    """The distinct values of an array, on the host, and which of them each case has, on the device."""
    xp = array_module()
    distinct, number = xp.unique(values, return_inverse=True)
    return xp.asnumpy(distinct), number


def spread(codes: npt.NDArray[Any], number: Any) -> Any:
    """The codes of cases, on the device, from those of distinct values and which of these each case has."""
    return array_module().asarray(codes.astype(np.int32))[number]


def _numbers(name: str, values: Any) -> Any:
    from c45gpu.data.arrays import LARGEST_EXACT

    if values.dtype.kind == "f":
        return array_module().array(values, np.float32 if values.dtype.itemsize <= 4 else np.float64)
    wide = values.dtype.kind in "iu" and values.dtype.itemsize == 8
    if wide and len(values) and bool((values < -LARGEST_EXACT).any() or (values > LARGEST_EXACT).any()):
        raise DataError(f"column {name!r}: float64 may not hold its largest values exactly: take it as categorical")
    return values.astype(np.float64)
