"""Binary trees of the original, written here byte for byte as its description has them, and read back."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from c45gpu.data.c45files import read_names
from c45gpu.data.c45writing import write_names
from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import DataError
from c45gpu.exchange import read_original, read_trees
from c45gpu.model.tree import SUBSET, Tree
from tests.exchange.made import CUTS, random_tree
from tests.golden_trees import KIND_OF_TYPE, Node, chain, inner, leaf, preorder, read_golden, tree_of

SCHEMA = Schema(
    (
        Attribute("size", "continuous"),
        Attribute("colour", "discrete", ("re'd", "a, b: c", "größe", "x y", "5", "6", "7")),
        Attribute("left out", "ignored"),
        Attribute("weight", "continuous"),
        Attribute("flag", "discrete", ("no", "yes")),
    ),
    ("good", "bad", "ugly"),
)


def as_bytes(root: Node, schema: Schema, order: str = "<", **soft: float) -> bytes:
    """A tree as the original saves it."""
    parts = [b"\n"]
    for node in preorder(root):
        numbers = KIND_OF_TYPE[node["type"]], node["leaf"], node["items"], node["errors"], *node["dist"]
        parts.append(struct.pack(f"{order}hhff{len(schema.classes)}f", *numbers))
        if "branches" in node:
            parts.append(struct.pack(f"{order}hh", node["att"], len(node["branches"])))
        if "cut" in node:
            cuts = node["cut"], soft.get("lower", node["cut"]), soft.get("upper", node["cut"])
            parts.append(struct.pack(f"{order}fff", *cuts))
        n_values = len(schema.attributes[node["att"]].values) if "att" in node else 0
        for values in node.get("subsets", []):
            bits = sum(1 << value for value in values)
            parts.append(bits.to_bytes((n_values >> 3) + 1, "little"))
    for attribute in schema.attributes:
        if attribute.capacity is not None:
            parts.append(struct.pack(f"{order}hh", len(attribute.values), 0x55AA))
            for value in attribute.values:
                text = value.encode() + b"\0"
                parts.append(struct.pack(f"{order}i", len(text)) + text)
    return b"".join(parts)


def without_values(schema: Schema) -> Schema:
    """What a .names file says of it."""
    attributes = [Attribute(a.name, a.kind, () if a.capacity else a.values, a.capacity) for a in schema.attributes]
    return Schema(tuple(attributes), schema.classes)


def singles(root: Node) -> Node:
    """The same nodes with numbers that float32 can hold."""
    for node in preorder(root):
        node["items"], node["errors"] = (float(np.float32(node[name])) for name in ("items", "errors"))
        node["dist"] = np.array(node["dist"], np.float32).astype(float).tolist()
        if "cut" in node:
            node["cut"] = float(np.float32(node["cut"]))
    return root


def read(content: bytes, schema: Schema, folder: Path) -> tuple[Schema, list[Tree]]:
    (folder / "x.tree").write_bytes(content)
    return read_trees(folder / "x.tree", without_values(schema))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("seed", range(8))
def test_trees_of_all_kinds(seed: int, order: str, tmp_path: Path) -> None:
    chance = np.random.default_rng(seed)
    cut = float(chance.choice(CUTS))
    root = singles(inner("threshold", 0, random_tree(chance), random_tree(chance), cut=cut))
    schema, (tree,) = read(as_bytes(root, SCHEMA, order), SCHEMA, tmp_path)
    assert schema == SCHEMA
    assert tree.equals(tree_of(root, SCHEMA))


@pytest.mark.parametrize("n_values", [3, 8, 20])
def test_values_that_are_told_behind_the_tree(n_values: int, tmp_path: Path) -> None:
    values = tuple(f"välue {i}" for i in range(n_values))
    schema = Schema((Attribute("a", "discrete", values, 30), Attribute("b", "discrete", ("x", "y"), 9)), ("no", "yes"))
    groups = [[1], [2, n_values], [*range(3, n_values)]]
    below = inner("subset", 1, leaf(1.0, 2.0), leaf(2.0, 0.0), subsets=[[2], [1]])
    root = inner("subset", 0, leaf(1.0, 0.0), below, leaf(0.0, 3.0), subsets=groups)
    found, (tree,) = read(as_bytes(root, schema), schema, tmp_path)
    assert found == schema
    assert tree.kind[0] == SUBSET
    assert tree.equals(tree_of(root, schema))


@pytest.mark.parametrize("name", ["r8_labor-neg", "r8_vote.s", "r8_hypo", "jb_auto_imports.s"])
def test_golden_trees(golden: Path, name: str, tmp_path: Path) -> None:
    answer = read_golden(golden / "sets" / f"{name}.json")
    for which, tree in (("pruned", answer.pruned), ("unpruned", answer.unpruned)):
        content = as_bytes(answer.document[which], answer.schema)
        schema, (found,) = read(content, answer.schema, tmp_path)
        assert schema.attributes == answer.schema.attributes
        np.testing.assert_array_equal(found.class_weights, tree.class_weights.astype(np.float32))
        for field in ("kind", "attribute", "threshold", "branch", "value_branch", "label"):
            np.testing.assert_array_equal(getattr(found, field), getattr(tree, field))


@pytest.fixture
def stem(tmp_path: Path) -> Path:
    write_names(SCHEMA, tmp_path / "x.names")
    return tmp_path / "x"


ROOT = singles(inner("threshold", 3, leaf(3.0, 1.0, 0.0, errors=1.0), leaf(0.0, 1.0, 2.0, errors=1.0), cut=0.1))
RAW = singles(inner("discrete", 4, leaf(3.0, 1.0, 0.0, errors=1.0), ROOT["branches"][1]))


def test_a_stem(stem: Path) -> None:
    stem.with_suffix(".tree").write_bytes(as_bytes(ROOT, SCHEMA))
    alone = read_original(stem)
    assert alone.pruned.equals(tree_of(ROOT, SCHEMA))
    assert alone.unpruned.equals(alone.pruned)
    stem.with_suffix(".unpruned").write_bytes(as_bytes(RAW, SCHEMA))
    both = read_original(stem.with_suffix(".tree"))
    assert both.unpruned.equals(tree_of(RAW, SCHEMA))
    assert both.schema == read_names(stem.with_suffix(".names"))
    assert (both.options["compat"], both.record["cases"]) == ("r8", 7.0)


def test_soft_thresholds(stem: Path) -> None:
    stem.with_suffix(".tree").write_bytes(as_bytes(ROOT, SCHEMA, lower=-0.5, upper=2.0))
    model = read_original(stem)
    assert model.soft is not None
    np.testing.assert_array_equal(model.soft.lower, [-0.5, np.nan, np.nan])
    np.testing.assert_array_equal(model.soft.upper, [2.0, np.nan, np.nan])
    assert model.pruned.equals(tree_of(ROOT, SCHEMA))


def test_trials(stem: Path) -> None:
    stem.with_suffix(".tree").write_bytes(as_bytes(ROOT, SCHEMA))
    stem.with_suffix(".unpruned").write_bytes(as_bytes(RAW, SCHEMA) + as_bytes(ROOT, SCHEMA))
    assert read_original(stem).unpruned.equals(tree_of(ROOT, SCHEMA))
    _, trees = read_trees(stem.with_suffix(".unpruned"), SCHEMA)
    assert [tree.n_nodes for tree in trees] == [3, 3]
    assert trees[0].equals(tree_of(RAW, SCHEMA))


def test_a_deep_tree(tmp_path: Path) -> None:
    schema, root = chain(5000)
    _, (tree,) = read(as_bytes(root, schema), schema, tmp_path)
    assert tree.equals(tree_of(root, schema))


def changed(content: bytes, at: int, to: bytes) -> bytes:
    return content[:at] + to + content[at + len(to) :]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "it is empty"),
        (b"PK", "does not begin with a line feed"),
        (as_bytes(ROOT, SCHEMA)[:-1], "it ends in the middle"),
        (as_bytes(ROOT, SCHEMA) + b"x", "does not begin with a line feed"),
        (changed(as_bytes(ROOT, SCHEMA), 1, b"\x07\x07"), "a node is of kind"),
        (changed(as_bytes(ROOT, SCHEMA), 3, b"\x09\x09"), "labelled with a class that there is not"),
        (changed(as_bytes(ROOT, SCHEMA), 25, b"\x05\x00"), "tests attribute 5 with 2 branches"),
        (changed(as_bytes(ROOT, SCHEMA), 25, b"\x01\x00"), "a threshold for an attribute that is not continuous"),
        (as_bytes(ROOT, SCHEMA, lower=0.2), "has bounds that do not enclose its threshold"),
    ],
)
def test_what_is_no_tree(content: bytes, match: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=match) as caught:
        read(content, SCHEMA, tmp_path)
    assert "x.tree: " in str(caught.value)


def test_any_broken_file_is_refused(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    content = as_bytes(singles(inner("threshold", 0, random_tree(chance), random_tree(chance), cut=1.0)), SCHEMA)
    refused = 0
    for _ in range(300):
        at, byte = int(chance.integers(len(content))), bytes([int(chance.integers(256))])
        try:
            read(changed(content, at, byte), SCHEMA, tmp_path)
        except DataError:
            refused += 1
    assert refused > 30  # the other bytes are of weights


def test_missing_files(stem: Path) -> None:
    with pytest.raises(DataError, match=r"x\.tree: cannot be read"):
        read_original(stem)


def test_two_pruned_trees(stem: Path) -> None:
    stem.with_suffix(".tree").write_bytes(as_bytes(ROOT, SCHEMA) * 2)
    with pytest.raises(DataError, match="holds 2 trees where one is due"):
        read_original(stem)
