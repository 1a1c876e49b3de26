"""One versioned model file, written atomically, read without pickle.

A model file is a zip archive, stored without compression so that a model has the same bytes wherever it is written:

    header.json            format name and number, schema, options, record, SHA-256 of each member below
    unpruned/kind.npy      one member for each array of the tree as grown
    ...
    pruned/kind.npy        and of the pruned tree
    ...
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
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema, first_duplicate
from c45gpu.data.wholefile import write_whole
from c45gpu.errors import ModelError
from c45gpu.model.tree import Tree
from c45gpu.model.validate import FIELD_TYPES, validate_tree

FORMAT_NAME: Final = "c45gpu-model"
FORMAT_NUMBER: Final = 1

_HEADER: Final = "header.json"
_TREES: Final = ("unpruned", "pruned")
_SEAL: Final = b"sha256 "
_SEAL_LENGTH: Final = len(_SEAL) + 64
_MALFORMED: Final = (  # what zipfile, json and numpy raise when they are given nonsense
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


@dataclass(frozen=True, eq=False)
class Model:
    """What training gives: two trees and what they mean.

    Parameters
    ----------
    schema : Schema
        Attributes and classes of the training data.
    unpruned, pruned : Tree
        The tree as grown, and after pruning (the same where nothing was pruned).
    options : dict
        The learner's options, plain values (see :meth:`c45gpu.induction.options.Options.to_dict`).
    record : dict
        Facts about the training, plain values, such as the number of cases and the version of c45gpu. Nothing that may
        differ between two trainings of the same data with the same options: no time, no engine, no machine.
    """

    schema: Schema
    unpruned: Tree
    pruned: Tree
    options: dict[str, Any]
    record: dict[str, Any]


def save(model: Model, path: str | PathLike[str]) -> None:
    """Write a model file.

    The file appears under its name when it is complete. If anything goes wrong before, what was there stays and
    nothing is left behind.

    Parameters
    ----------
    model : Model
    path : str or os.PathLike

    Raises
    ------
    ModelError
        When the file cannot be written (no such folder, no permission, disk full), or the model is not sound.
    """
    content = model_bytes(model)
    target = Path(os.path.realpath(path))  # a link is followed, not replaced
    if target.exists() and not target.is_file():
        raise ModelError(f"{path}: the model is not saved because this is no regular file: give the name of a file")
    try:
        write_whole(content, target)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ModelError(
            f"{path}: the model is not saved ({reason}): choose a place with room where you may write"
        ) from fault


def load(path: str | PathLike[str]) -> Model:
    """Read a model file.

    Parameters
    ----------
    path : str or os.PathLike

    Returns
    -------
    Model

    Raises
    ------
    ModelError
        When the file is missing, damaged, foreign, from a newer version, or holds something that is not a tree.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise ModelError(f"{path}: cannot be read ({reason}): give the path of a model file") from fault
    try:
        return _model_of(content)
    except ModelError as fault:
        raise ModelError(f"{path}: {fault}") from fault.__cause__


def model_bytes(model: Model) -> bytes:
    """The content of a model file; equal bytes for equal models.

    Raises
    ------
    ModelError
        When a tree of the model is not sound (see :func:`c45gpu.model.validate.validate_tree`).
    """
    members: dict[str, bytes] = {}
    for name, tree in zip(_TREES, (model.unpruned, model.pruned), strict=True):
        validate_tree(tree, model.schema)
        members |= {_member(name, field): _npy(getattr(tree, field)) for field in FIELD_TYPES}
    header = {
        "format": FORMAT_NAME,
        "format_number": FORMAT_NUMBER,
        "schema": model.schema.to_dict(),
        "options": model.options,
        "record": model.record,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    text = json.dumps(header, sort_keys=True, indent=1, allow_nan=False).encode("ascii")
    return _sealed_zip({_HEADER: text, **members})


def _sealed_zip(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # as on Unix, on whatever system this runs
            archive.writestr(entry, data)
        archive.comment = b" " * _SEAL_LENGTH  # to be overwritten: its length is among the bytes that are sealed
    sealed = stream.getvalue()[:-_SEAL_LENGTH]
    return sealed + _seal(sealed)


def _seal(content: bytes) -> bytes:
    return _SEAL + hashlib.sha256(content).hexdigest().encode("ascii")


def _npy(array: npt.NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    np.lib.format.write_array(stream, little, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _member(tree: str, field: str) -> str:
    return f"{tree}/{field}.npy"


def _model_of(content: bytes) -> Model:
    if not content.startswith(b"PK"):
        kind = "a pickle, which is never read" if content.startswith(b"\x80") else "no model file"
        raise ModelError(f"this is {kind}: give a file that c45gpu saved")
    header, archive = _opened(content)
    if content[-_SEAL_LENGTH:] != _seal(content[:-_SEAL_LENGTH]):
        raise _damaged("its content does not match its check sum")
    try:
        schema = _schema_of(header["schema"])
        members = _members(archive, header["sha256"])
        unpruned, pruned = (_tree_of(name, members) for name in _TREES)
        model = Model(schema, unpruned, pruned, dict(header["options"]), dict(header["record"]))
    except _MALFORMED as fault:
        raise _damaged(str(fault)) from fault
    for name, tree in zip(_TREES, (unpruned, pruned), strict=True):
        try:
            validate_tree(tree, schema)
        except ModelError as fault:
            raise _damaged(f"its {name} tree is none, {fault}") from fault
    return model


def _opened(content: bytes) -> tuple[dict[str, Any], zipfile.ZipFile]:
    """The header and the archive, checked as far as tells whether this version can read on."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        header = json.loads(_stored(archive, archive.getinfo(_HEADER)))
        name, number = header["format"], header["format_number"]
    except _MALFORMED as fault:
        raise _damaged("it has no readable header") from fault
    if name != FORMAT_NAME:
        raise ModelError("this is no model file: give a file that c45gpu saved")
    if isinstance(number, int) and number > FORMAT_NUMBER:
        raise ModelError(
            f"the file has format {number}, this version reads up to {FORMAT_NUMBER}: install a newer c45gpu"
        )
    if number != FORMAT_NUMBER:
        raise _damaged(f"there is no format {number!r}")
    return header, archive


def _damaged(how: str) -> ModelError:
    return ModelError(f"the model file is damaged ({how}): copy it again from where it came from, or train again")


def _stored(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of a member. Nothing is unpacked, so they cannot be more than the file itself holds."""
    if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
        raise ValueError(f"{entry.filename} is not stored as it is")
    return archive.read(entry)


def _members(archive: zipfile.ZipFile, hashes: dict[str, str]) -> dict[str, bytes]:
    expected = [_member(tree, field) for tree in _TREES for field in FIELD_TYPES]
    if archive.namelist() != [_HEADER, *expected]:
        raise ValueError("members are missing or unknown")
    members = {name: _stored(archive, archive.getinfo(name)) for name in expected}
    for name, data in members.items():
        if hashlib.sha256(data).hexdigest() != hashes[name]:
            raise ValueError(f"{name} does not match its check sum")
    return members


def _tree_of(name: str, members: dict[str, bytes]) -> Tree:
    return Tree(**{field: _array(members[_member(name, field)], dtype) for field, dtype in FIELD_TYPES.items()})


def _array(data: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The array of an .npy member, once its declared size is known to be the size it has."""
    stream = io.BytesIO(data)
    np.lib.format.read_magic(stream)
    shape, by_columns, declared = np.lib.format.read_array_header_1_0(stream)
    size = math.prod(shape) * dtype.itemsize
    if by_columns or declared != dtype.newbyteorder("<") or size != len(data) - stream.tell():
        raise ValueError(f"an array of {declared} in the shape {shape} where {dtype} is due")
    array: npt.NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    return array.astype(dtype, copy=False)


def _schema_of(document: dict[str, Any]) -> Schema:
    schema = Schema.from_dict(document)
    attributes = schema.attributes
    texts = [schema.target, *schema.classes, *(a.name for a in attributes), *(v for a in attributes for v in a.values)]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name is not a text")
    for names in (schema.classes, tuple(a.name for a in attributes), *(a.values for a in attributes)):
        if (twice := first_duplicate(names)) is not None:
            raise ValueError(f"the name {twice!r} occurs twice")
    if not schema.classes or not all(a.kind in ("continuous", "discrete", "ignored") for a in attributes):
        raise ValueError("no classes, or an attribute of no known kind")
    return schema
