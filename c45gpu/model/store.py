"""One versioned model file, written atomically, read without pickle.

A model file is a zip archive, stored without compression so that a model has the same bytes wherever it is written:

    header.json            format name and number, schema, options, record, costs, SHA-256 of each member below
    unpruned/kind.npy      one member for each array of the tree as grown
    ...
    pruned/kind.npy        and of the pruned tree
    ...
    pruned/lower.npy       with soft thresholds these two
    pruned/upper.npy
    comment of the zip     SHA-256 of every byte before it, so no flipped bit goes unseen

Other things that c45gpu saves come in the same kind of archive; their headers say what they are (`kind`).
"""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema, first_duplicate
from c45gpu.errors import ModelError
from c45gpu.model.decide import as_costs
from c45gpu.model.sealed import (
    FORMAT_NAME,
    FORMAT_NUMBER,
    HEADER,
    MALFORMED,
    MODEL,
    array_bytes,
    array_of,
    damaged,
    opened,
    read_sealed,
    sealed,
    stored,
    write_sealed,
)
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.tree import Tree
from c45gpu.model.validate import FIELD_TYPES, validate_tree

_TREES: Final = ("unpruned", "pruned")
_BOUNDS: Final = ("lower", "upper")


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
    costs : ndarray of float64, shape (C, C), optional
        What it costs to take a case of a class (row) for one of another (column). The labels of the trees are the
        classes that cost least.
    soft : SoftThresholds, optional
        Of the pruned tree.
    """

    schema: Schema
    unpruned: Tree
    pruned: Tree
    options: dict[str, Any]
    record: dict[str, Any]
    costs: npt.NDArray[np.float64] | None = None
    soft: SoftThresholds | None = None


def save(model: Model, path: str | PathLike[str]) -> None:
    """Write a model file.

    The file appears under its name when it is complete. If anything goes wrong before, what was there stays and
    nothing is left behind.

    Parameters
    ----------
    model : Model
        What is kept.
    path : str or os.PathLike
        Where; what is there is replaced, when all is written.

    Raises
    ------
    ModelError
        When the file cannot be written (no such folder, no permission, disk full), or the model is not sound.
    """
    write_sealed(model_bytes(model), path, "the model is")


def load(path: str | PathLike[str]) -> Model:
    """Read a model file.

    Parameters
    ----------
    path : str or os.PathLike
        A file that :func:`save` wrote, of this version or an older one.

    Returns
    -------
    Model
        Equal to the one that was saved.

    Raises
    ------
    ModelError
        When the file is missing, damaged, foreign, from a newer version, or holds something that is not a tree.
    """
    return read_sealed(path, _model_of)


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
        members |= {_member(name, field): array_bytes(getattr(tree, field)) for field in FIELD_TYPES}
    if model.soft is not None:
        model.soft.check(model.pruned)
        members |= {_member("pruned", bound): array_bytes(getattr(model.soft, bound)) for bound in _BOUNDS}
    header = {
        "format": FORMAT_NAME,
        "format_number": FORMAT_NUMBER,
        "schema": model.schema.to_dict(),
        "options": model.options,
        "record": model.record,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    if model.costs is not None:
        header["costs"] = model.costs.tolist()
    return sealed(header, members)


def _member(tree: str, field: str) -> str:
    return f"{tree}/{field}.npy"


def _model_of(content: bytes) -> Model:
    header, archive = opened(content, MODEL)
    try:
        schema = schema_of(header["schema"])
        members = _members(archive, header["sha256"])
        unpruned, pruned = (_tree_of(name, members) for name in _TREES)
        costs = as_costs(header["costs"], schema.n_classes) if "costs" in header else None
        options, record = dict(header["options"]), dict(header["record"])
        model = Model(schema, unpruned, pruned, options, record, costs, _soft_of(members))
    except MALFORMED as fault:
        raise damaged(str(fault)) from fault
    for name, tree in zip(_TREES, (unpruned, pruned), strict=True):
        try:
            validate_tree(tree, schema)
        except ModelError as fault:
            raise damaged(f"its {name} tree is none, {fault}") from fault
    if model.soft is not None:
        try:
            model.soft.check(pruned)
        except ModelError as fault:
            raise damaged(f"its soft thresholds are none, {fault}") from fault
    return model


def _members(archive: zipfile.ZipFile, hashes: dict[str, str]) -> dict[str, bytes]:
    expected = [_member(tree, field) for tree in _TREES for field in FIELD_TYPES]
    if archive.namelist()[1 + len(expected) :]:
        expected += [_member("pruned", bound) for bound in _BOUNDS]
    if archive.namelist() != [HEADER, *expected]:
        raise ValueError("members are missing or unknown")
    members = {name: stored(archive, archive.getinfo(name)) for name in expected}
    for name, data in members.items():
        if hashlib.sha256(data).hexdigest() != hashes[name]:
            raise ValueError(f"{name} does not match its check sum")
    return members


def _tree_of(name: str, members: dict[str, bytes]) -> Tree:
    return Tree(**{field: array_of(members[_member(name, field)], dtype) for field, dtype in FIELD_TYPES.items()})


def _soft_of(members: dict[str, bytes]) -> SoftThresholds | None:
    """The soft thresholds, where there are any."""
    bounds = [members[name] for name in (_member("pruned", bound) for bound in _BOUNDS) if name in members]
    return SoftThresholds(*(array_of(bound, np.dtype(np.float64)) for bound in bounds)) if bounds else None


def schema_of(document: dict[str, Any]) -> Schema:
    """The schema of a header; a ValueError, or another of :data:`MALFORMED`, if it is none."""
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
