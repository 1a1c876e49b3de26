"""The binary trees of the original program, STEM.tree and STEM.unpruned (specification section 12).

A file holds a tree, or with windowing and .unpruned one for each trial:

    line feed
    each node in preorder
        int16 kind, int16 class, float32 weight, float32 errors, float32 weight of each class
        unless it is a leaf    int16 attribute, int16 number of branches
        threshold              float32 cut, lower, upper
        groups of values       for each branch a set of bits, bit v for the value v, counted from 1
    for each "discrete N" attribute int16 number of values, 2 bytes of anything
        for each value         int32 length, the characters, NUL

Numbers are in the byte order of the machine that wrote it; either is read.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

from c45gpu.data.c45files import read_names
from c45gpu.data.compressed import beside
from c45gpu.data.schema import Schema
from c45gpu.data.tokens import read_bytes
from c45gpu.errors import DataError, ModelError
from c45gpu.exchange.preorder import Node, soft_thresholds_of, tree_of
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.store import Model
from c45gpu.model.tree import DISCRETE, LEAF, SUBSET, THRESHOLD, Tree
from c45gpu.model.validate import validate_tree

PRUNED: Final = ".tree"
UNPRUNED: Final = ".unpruned"

_Grown = tuple[Tree, SoftThresholds | None]


def read_original(stem: str | PathLike[str]) -> Model:
    """The model in the files STEM.tree and STEM.unpruned that the original c4.5 saved, with STEM.names.

    Parameters
    ----------
    stem : str or os.PathLike
        The path without suffix; one of the three suffixes is taken off.

    Returns
    -------
    Model
        Its options say compat="r8", so values are compared in float32. Where STEM.unpruned is missing, or holds the
        trees of several trials (then nobody knows which of them was pruned), the pruned tree stands for both. The soft
        thresholds of ``c4.5 -p`` are those of the pruned tree.

    Raises
    ------
    DataError
        When a file is missing, is none of these, or does not go with the names.
    """
    path = Path(stem)
    stem = str(path.with_suffix("")) if path.suffix in (PRUNED, UNPRUNED, ".names") else str(path)
    names = read_names(beside(stem, ".names"))
    schema, found = _trees(stem + PRUNED, names)
    if len(found) != 1:
        raise DataError(f"holds {len(found)} trees where one is due: give a file that c4.5 saved", stem + PRUNED)
    (pruned, soft), unpruned = found[0], [found[0][0]]
    if Path(stem + UNPRUNED).exists():
        schema_too, unpruned = read_trees(stem + UNPRUNED, names)
        if schema_too != schema:
            raise DataError(f"its values are not those of {stem + PRUNED}: give files of one run", stem + UNPRUNED)
    record = {"source": "c4.5", "cases": float(pruned.weight[0])}
    grown = unpruned[0] if len(unpruned) == 1 else pruned
    return Model(schema, grown, pruned, {"compat": "r8"}, record, soft=soft)


def read_trees(path: str | PathLike[str], schema: Schema) -> tuple[Schema, list[Tree]]:
    """All trees of a binary file of the original.

    Parameters
    ----------
    path : str or os.PathLike
        The file, .tree or .unpruned.
    schema : Schema
        Of the .names file that they were grown with; see :func:`c45gpu.data.c45files.read_names`.

    Returns
    -------
    schema : Schema
        With the values of "discrete N" attributes, which are in the file.
    trees : list of Tree
        In the order of the file.

    Raises
    ------
    DataError
        When the file is missing, is none of these, or does not go with the schema.
    """
    found, trees = _trees(path, schema)
    return found, [tree for tree, _ in trees]


def _trees(path: str | PathLike[str], schema: Schema) -> tuple[Schema, list[_Grown]]:
    content = read_bytes(path)
    try:
        return _read(content, schema, "<", {})
    except _FAULTS as fault:
        try:
            return _read(content, schema, ">", {})
        except _FAULTS:
            raise DataError(
                f"is no tree of C4.5 with these names ({fault}): give the .names file of it", path
            ) from None


class _SizeNeededError(Exception):
    """A test on groups of values of a "discrete N" attribute, whose values are told only behind the tree."""

    def __init__(self, attribute: int) -> None:
        self.attribute = attribute


_FAULTS: Final = (struct.error, ValueError, ModelError)


def _read(content: bytes, schema: Schema, order: str, sizes: dict[int, int]) -> tuple[Schema, list[_Grown]]:
    """The trees of a file, where need be by trying how large the sets of values of a "discrete N" attribute are."""
    try:
        return _Reader(content, schema, order, sizes).trees()
    except _SizeNeededError as needed:
        attribute = needed.attribute
    for size in range(1, _set_size(schema.attributes[attribute].capacity or 0) + 1):
        try:
            return _read(content, schema, order, sizes | {attribute: size})
        except _FAULTS:
            continue
    raise ValueError(f"no number of values fits {schema.attributes[attribute].name!r}")


def _set_size(n_values: int) -> int:
    return (n_values >> 3) + 1


class _Reader:
    """Takes a file apart; whatever is wrong is one of :data:`_FAULTS`."""

    def __init__(self, content: bytes, schema: Schema, order: str, sizes: dict[int, int]) -> None:
        self._content, self._schema, self._order, self._sizes = content, schema, order, sizes
        self._at = 0

    def trees(self) -> tuple[Schema, list[_Grown]]:
        schema, trees = self._schema, list[_Grown]()
        while self._at < len(self._content):
            if self._bytes(1) != b"\n":
                raise ValueError("a tree does not begin with a line feed")
            nodes, found = self._nodes(), self._with_values()
            if trees and found != schema:
                raise ValueError("its trees have different values")
            schema = found
            trees.append(_grown([_mapped(node, sets, schema) for node, sets in nodes], schema))
        if not trees:
            raise ValueError("it is empty")
        return schema, trees

    def _nodes(self) -> list[tuple[Node, list[bytes]]]:
        """All nodes, each with the sets of bits of its branches."""
        nodes, missing = [], 1
        while missing:
            nodes.append(self._node())
            missing += nodes[-1][0].n_branches - 1
        return nodes

    def _node(self) -> tuple[Node, list[bytes]]:
        kind, label, weight, errors = self._numbers("hhff")
        if not LEAF <= kind <= SUBSET:
            raise ValueError(f"a node is of kind {kind}")
        node = Node(kind, label, weight, errors, self._numbers("f" * self._schema.n_classes))
        if kind == LEAF:
            return node, []
        attribute, n_branches = self._numbers("hh")
        if not 0 <= attribute < len(self._schema.attributes) or n_branches < 1:
            raise ValueError(f"a node tests attribute {attribute} with {n_branches} branches")
        node = node._replace(attribute=attribute, n_branches=n_branches)
        if kind == THRESHOLD:
            cut, lower, upper = self._numbers("fff")
            return node._replace(threshold=cut, lower=lower, upper=upper), []
        if kind == DISCRETE:
            return node, []
        size = self._size_of(attribute)
        return node, [self._bytes(size) for _ in range(n_branches)]

    def _size_of(self, attribute: int) -> int:
        if attribute in self._sizes:
            return self._sizes[attribute]
        if self._schema.attributes[attribute].capacity is not None:
            raise _SizeNeededError(attribute)
        return _set_size(len(self._schema.attributes[attribute].values))

    def _with_values(self) -> Schema:
        """The schema with the values that follow a tree."""
        attributes = list(self._schema.attributes)
        for a, attribute in enumerate(attributes):
            if attribute.capacity is None:
                continue
            (n_values,) = self._numbers("h")
            self._bytes(2)
            if not 0 <= n_values <= attribute.capacity:
                raise ValueError(f"{attribute.name!r} has {n_values} values")
            attributes[a] = replace(attribute, values=tuple(self._name() for _ in range(n_values)))
            if self._sizes.get(a, _set_size(n_values)) != _set_size(n_values):
                raise ValueError(f"{attribute.name!r} has {n_values} values")
        return replace(self._schema, attributes=tuple(attributes))

    def _name(self) -> str:
        (length,) = self._numbers("i")
        if length < 1:
            raise ValueError("a value has no name")
        raw = self._bytes(length)
        if not raw.endswith(b"\0"):
            raise ValueError("a name does not end")
        try:
            return raw[:-1].decode()
        except UnicodeDecodeError:
            return raw[:-1].decode("latin-1")

    def _numbers(self, kinds: str) -> tuple[Any, ...]:
        format_ = self._order + kinds
        return struct.unpack(format_, self._bytes(struct.calcsize(format_)))

    def _bytes(self, length: int) -> bytes:
        found = self._content[self._at : self._at + length]
        if len(found) < length:
            raise ValueError("it ends in the middle")
        self._at += length
        return found


def _grown(nodes: list[Node], schema: Schema) -> _Grown:
    tree, soft = tree_of(nodes), soft_thresholds_of(nodes)
    validate_tree(tree, schema)
    if soft is not None:
        soft.check(tree)
    return tree, soft


def _mapped(node: Node, sets: list[bytes], schema: Schema) -> Node:
    """A node with the branch of each value."""
    if node.kind == DISCRETE:
        return node._replace(branch_of_code=range(node.n_branches))
    if node.kind != SUBSET:
        return node
    branch_of_code = [-1] * len(schema.attributes[node.attribute].values)
    for branch, bits in enumerate(sets):
        for code in range(len(branch_of_code)):
            if bits[(code + 1) >> 3] >> ((code + 1) & 7) & 1:
                branch_of_code[code] = branch
    return node._replace(branch_of_code=branch_of_code)
