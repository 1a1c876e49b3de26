"""Files that are written atomically, sealed by a hash, and read without pickle.

A file is a zip archive, stored without compression so that it has the same bytes wherever it is written:

    header.json            format name and number, the kind of what is in it, and plain values
    ...                    further members
    comment of the zip     SHA-256 of every byte before it, so no flipped bit goes unseen
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import struct
import zipfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from c45gpu.data.wholefile import write_whole
from c45gpu.errors import ModelError

FORMAT_NAME: Final = "c45gpu-model"
FORMAT_NUMBER: Final = 1
MODEL: Final = "model"  # what a file is whose header does not say its kind

Kept = TypeVar("Kept")

HEADER: Final = "header.json"
_SEAL: Final = b"sha256 "
_SEAL_LENGTH: Final = len(_SEAL) + 64
MALFORMED: Final = (  # what zipfile, json and numpy raise when they are given nonsense
    zipfile.BadZipFile,
    struct.error,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


def sealed(header: dict[str, Any], members: dict[str, bytes]) -> bytes:
    """An archive of a header of plain values and some members; equal bytes for equal content."""
    text = json.dumps(header, sort_keys=True, indent=1, allow_nan=False).encode("ascii")
    return sealed_zip({HEADER: text, **members})


def sealed_zip(members: dict[str, bytes]) -> bytes:
    """An archive of members as they are, under a seal."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # as on Unix, on whatever system this runs
            archive.writestr(entry, data)
        archive.comment = b" " * _SEAL_LENGTH  # to be overwritten: its length is among the bytes that are sealed
    content = stream.getvalue()[:-_SEAL_LENGTH]
    return content + _seal(content)


def _seal(content: bytes) -> bytes:
    return _SEAL + hashlib.sha256(content).hexdigest().encode("ascii")


def write_sealed(content: bytes, path: str | PathLike[str], what_is: str) -> None:
    """Write what :func:`sealed` gave, whole or not at all; `what_is` begins the sentence if it cannot be."""
    target = Path(os.path.realpath(path))  # a link is followed, not replaced
    if target.exists() and not target.is_file():
        raise ModelError(f"{path}: {what_is} not saved because this is no regular file: give the name of a file")
    try:
        write_whole(content, target)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ModelError(
            f"{path}: {what_is} not saved ({reason}): choose a place with room where you may write"
        ) from fault


def read_sealed(path: str | PathLike[str], understand: Callable[[bytes], Kept]) -> Kept:
    """What a function makes of a file's content; its errors get the name of the file."""
    try:
        content = Path(path).read_bytes()
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ModelError(f"{path}: cannot be read ({reason}): give the path of a model file") from fault
    try:
        return understand(content)
    except ModelError as fault:
        raise ModelError(f"{path}: {fault}") from fault.__cause__


def opened(content: bytes, kind: str) -> tuple[dict[str, Any], zipfile.ZipFile]:
    """The header and the archive of a sealed file, if it is whole, and of that kind.

    Raises
    ------
    ModelError
        When it is damaged, foreign, from a newer version, or of another kind.
    """
    if not content.startswith(b"PK"):
        what = "a pickle, which is never read" if content.startswith(b"\x80") else "no model file"
        raise ModelError(f"this is {what}: give a file that c45gpu saved")
    header, archive = _with_header(content)
    if content[-_SEAL_LENGTH:] != _seal(content[:-_SEAL_LENGTH]):
        raise damaged("its content does not match its check sum")
    if (found := header.get("kind", MODEL)) != kind:
        raise ModelError(f"this file holds a {found}: give one that holds a {kind}")
    return header, archive


def _with_header(content: bytes) -> tuple[dict[str, Any], zipfile.ZipFile]:
    """The header and the archive, checked as far as tells whether this version can read on."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        header = json.loads(stored(archive, archive.getinfo(HEADER)))
        name, number = header["format"], header["format_number"]
    except MALFORMED as fault:
        raise damaged("it has no readable header") from fault
    if name != FORMAT_NAME:
        raise ModelError("this is no model file: give a file that c45gpu saved")
    if isinstance(number, int) and number > FORMAT_NUMBER:
        raise ModelError(
            f"the file has format {number}, this version reads up to {FORMAT_NUMBER}: install a newer c45gpu"
        )
    if number != FORMAT_NUMBER:
        raise damaged(f"there is no format {number!r}")
    return header, archive


def array_bytes(array: npt.NDArray[Any]) -> bytes:
    """An array as an .npy member; equal bytes for equal arrays."""
    stream = io.BytesIO()
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    np.lib.format.write_array(stream, little, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def array_of(data: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The array of an .npy member, once its declared size is known to be the size it has.

    Raises
    ------
    ValueError
        When it is of another type or size than is due.
    """
    stream = io.BytesIO(data)
    np.lib.format.read_magic(stream)
    shape, by_columns, declared = np.lib.format.read_array_header_1_0(stream)
    size = math.prod(shape) * dtype.itemsize
    if by_columns or declared != dtype.newbyteorder("<") or size != len(data) - stream.tell():
        raise ValueError(f"an array of {declared} in the shape {shape} where {dtype} is due")
    array: npt.NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    return array.astype(dtype, copy=False)


def damaged(how: str) -> ModelError:
    """The error of a file that is not as it was saved."""
    return ModelError(f"the model file is damaged ({how}): copy it again from where it came from, or train again")


def stored(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of a member. Nothing is unpacked, so they cannot be more than the file itself holds."""
    if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
        raise ValueError(f"{entry.filename} is not stored as it is")
    return archive.read(entry)


def kind_of(path: str | PathLike[str]) -> str:
    """What a file that c45gpu saved holds; it may be damaged yet.

    Raises
    ------
    ModelError
        When it is missing, foreign, or from a newer version.
    """
    return read_sealed(path, lambda content: str(_with_header(content)[0].get("kind", MODEL)))
