"""Graphviz's language: what other programs read of it is what the tree has."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import DataError, MissingPackageError, OptionError
from c45gpu.model.store import Model
from c45gpu.plot import render, to_dot
from tests.exchange.made import deep_model, made, random_model, trained
from tests.golden_trees import empty_leaf, inner, leaf

HARD = [
    '"',
    "\\",
    "\\n",
    "two\nlines",
    "<b>bold</b>",
    "&amp; & &lt;",
    "größe 日本 ≤",
    "\\N\\G",
    "ends in \\",
    "",
    "a|b{c}",
    "'",
    "%d;]",
]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def hard() -> Model:
    """A tree whose attribute, values and classes are hard to quote."""
    schema = Schema((Attribute('the "first"\\ <i>&', "discrete", tuple(HARD)),), tuple(f"{name}!" for name in HARD))
    leaves = [leaf(*(float(c == b) for c in range(len(HARD)))) for b in range(len(HARD))]
    return made(inner("discrete", 0, *leaves), schema)


def needs_graphviz() -> None:
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed: there is no program 'dot' on the path")


def parsed(text: str) -> Any:
    pydot = pytest.importorskip("pydot", reason="pydot is not installed: pip install 'c45gpu[test]'")
    (graph,) = pydot.graph_from_dot_data(text)
    return graph


def read_back(label: str) -> str:
    """What a label in quotes says, by the rules that Graphviz documents."""
    assert label[0] == label[-1] == '"'
    said, rest = "", iter(label[1:-1])
    for c in rest:
        following = next(rest) if c == "\\" else ""
        assert following in ("", "n", '"', "\\")
        said += {"": c, "n": "\n"}.get(following, following)
    assert "&" not in said.replace("&amp;", "")
    return said.replace("&amp;", "&")


def test_another_parser_reads_every_name(hard: Model) -> None:
    graph = parsed(to_dot(hard))
    labels = {node.get_name(): read_back(node.get_label()) for node in graph.get_nodes() if node.get_label()}
    assert labels["0"] == f'the "first"\\ <i>&\n{len(HARD)} cases'
    assert [labels[str(i + 1)] for i in range(len(HARD))] == [f"{name}!\n1 case" for name in HARD]
    assert [read_back(edge.get_label()) for edge in graph.get_edges()] == [name or "''" for name in HARD]
    assert [edge.get_source() for edge in graph.get_edges()] == ["0"] * len(HARD)
    assert [edge.get_destination() for edge in graph.get_edges()] == [str(i + 1) for i in range(len(HARD))]


def test_graphviz_draws_every_name(hard: Model, tmp_path: Path) -> None:
    needs_graphviz()
    render(hard, tmp_path / "tree.svg")
    groups = {}
    for group in ET.parse(tmp_path / "tree.svg").iter(f"{SVG}g"):
        words = [(text.text or "").replace("\xa0", " ") for text in group.findall(f"{SVG}text")]
        if group.get("class") in ("node", "edge"):
            groups[group.findtext(f"{SVG}title")] = "\n".join(words)
    assert groups["0"] == f'the "first"\\ <i>&\n{len(HARD)} cases'
    assert [groups[str(i + 1)] for i in range(len(HARD))] == [f"{name}!\n1 case" for name in HARD]
    assert [groups[f"0->{i + 1}"] for i in range(len(HARD))] == [name or "''" for name in HARD]


@pytest.mark.parametrize("model", [random_model(6), random_model(12), made(leaf(1.0, 3.0, 0.5))])
def test_every_node_and_branch_is_there(model: Model) -> None:
    graph, tree = parsed(to_dot(model)), model.pruned
    numbers = [node.get_name() for node in graph.get_nodes() if node.get_name().isdigit()]
    assert numbers == [str(node) for node in range(tree.n_nodes)]
    pairs = {(int(edge.get_source()), int(edge.get_destination())) for edge in graph.get_edges()}
    assert pairs == {(int(tree.parent[node]), node) for node in range(1, tree.n_nodes)}
    dashed = [node.get_name() for node in graph.get_nodes() if "dashed" in (node.get_style() or "")]
    assert dashed == [str(node) for node in range(tree.n_nodes) if tree.weight[node] == 0]


def test_groups_have_a_line_for_five_values() -> None:
    values = tuple(f"v{i}" for i in range(7))
    schema = Schema((Attribute("a", "discrete", values),), ("x", "y"))
    groups = [[1, 2, 3, 4, 5, 6], [7]]
    text = to_dot(made(inner("subset", 0, leaf(1.0, 2.0), empty_leaf(0, 1.0, 2.0), subsets=groups), schema))
    assert '0 -> 1 [label="v0, v1, v2, v3, v4,\\nv5"];' in text
    assert '0 -> 2 [label="v6"];' in text


def test_depth() -> None:
    model = trained(min_cases=1)
    text = to_dot(model, max_depth=1)
    assert text.count("->") == 2
    assert "(…)\\n" in text
    assert to_dot(deep_model(5000)).count("->") == 10_000
    assert to_dot(model, unpruned=True).count("->") == model.unpruned.n_nodes - 1
    with pytest.raises(OptionError, match="max_depth=-1 will not do"):
        to_dot(model, max_depth=-1)


def test_rendered_files(tmp_path: Path) -> None:
    model = random_model(6)
    render(model, tmp_path / "tree.dot", max_depth=2)
    assert (tmp_path / "tree.dot").read_text("utf-8") == to_dot(model, max_depth=2)
    with pytest.raises(OptionError, match="format 'gif' will not do: give one of dot, eps, "):
        render(model, tmp_path / "tree.gif")
    with pytest.raises(DataError, match="cannot be written"):
        render(model, tmp_path / "nowhere" / "tree.dot")
    needs_graphviz()
    render(model, tmp_path / "tree", "png")
    assert (tmp_path / "tree").read_bytes().startswith(b"\x89PNG")


def test_without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPackageError, match="Graphviz is not installed, there is no program 'dot' on the path"):
        render(random_model(6), tmp_path / "tree.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_graphviz_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\nread line\necho 'Error: out of ink' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataError, match=r"could not draw the tree \(Error: out of ink\): leave out deeper nodes"):
        render(random_model(6), tmp_path / "tree.svg")
