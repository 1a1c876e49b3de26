"""What J48 of Weka 3.9 printed, read as trees."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from c45gpu.data.frames import read_file
from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import DataError
from c45gpu.exchange import read_j48
from c45gpu.model.predict import class_frequencies, predicted_classes
from c45gpu.model.tree import DISCRETE, LEAF, SUBSET, THRESHOLD
from tests.golden_trees import empty_leaf, inner, leaf, tree_of

PENGUINS = """
J48 pruned tree
------------------

flipper_length_mm <= 206
|   bill_length_mm <= 43.3
|   |   bill_length_mm <= 42.3: Adelie (139.81/1.41)
|   |   bill_length_mm > 42.3
|   |   |   sex = female: Chinstrap (4.02/0.02)
|   |   |   sex = male: Adelie (7.04/0.02)
|   bill_length_mm > 43.3
|   |   island = Biscoe: Gentoo (2.18/1.0)
|   |   island = Dream: Chinstrap (59.0/1.0)
|   |   island = Torgersen: Adelie (2.18)
flipper_length_mm > 206
|   island = Biscoe: Gentoo (122.38)
|   island = Dream: Chinstrap (6.0/1.0)
|   island = Torgersen: Adelie (1.38)

Number of Leaves  : 	9

Size of the tree : 	15

"""

PENGUINS_BINARY = """
J48 pruned tree
------------------

flipper_length_mm <= 206.0
|   bill_length_mm <= 43.3
|   |   bill_length_mm <= 42.3: Adelie (139.81/1.41)
|   |   bill_length_mm > 42.3
|   |   |   sex = female: Chinstrap (4.02/0.02)
|   |   |   sex != female: Adelie (7.04/0.02)
|   bill_length_mm > 43.3
|   |   island = Dream: Chinstrap (59.0/1.0)
|   |   island != Dream: Adelie (4.37/1.18)
flipper_length_mm > 206.0
|   island = Biscoe: Gentoo (122.38)
|   island != Biscoe
|   |   bill_length_mm <= 46.5: Adelie (2.11)
|   |   bill_length_mm > 46.5: Chinstrap (5.27/0.27)

Number of Leaves  : 	8

Size of the tree : 	15

=== Confusion Matrix ===

   a   b   c   <-- classified as
 151   1   0 |   a = Adelie
   1  67   0 |   b = Chinstrap
   2   0 122 |   c = Gentoo
"""

PENGUINS_UNPRUNED = """
J48 unpruned tree
------------------

flipper_length_mm <= 206
|   bill_length_mm <= 43.3
|   |   bill_length_mm <= 42.3: Adelie (139.81/1.41)
|   |   bill_length_mm > 42.3
|   |   |   sex = female: Chinstrap (4.02/0.02)
|   |   |   sex = male: Adelie (7.04/0.02)
|   bill_length_mm > 43.3
|   |   island = Biscoe
|   |   |   bill_length_mm <= 47: Adelie (1.09/0.09)
|   |   |   bill_length_mm > 47: Gentoo (1.09)
|   |   island = Dream
|   |   |   sex = female: Chinstrap (29.0)
|   |   |   sex = male
|   |   |   |   bill_length_mm <= 46.3: Adelie (1.0)
|   |   |   |   bill_length_mm > 46.3: Chinstrap (29.0)
|   |   island = Torgersen: Adelie (2.18)
flipper_length_mm > 206
|   island = Biscoe: Gentoo (122.38)
|   island = Dream
|   |   bill_length_mm <= 44.9: Adelie (1.0)
|   |   bill_length_mm > 44.9: Chinstrap (5.0)
|   island = Torgersen: Adelie (1.38)

Number of Leaves  : 	13

Size of the tree : 	23

=== Confusion Matrix ===

   a   b   c   <-- classified as
 152   0   0 |   a = Adelie
   1  67   0 |   b = Chinstrap
   1   0 123 |   c = Gentoo
"""

# the classes are yes, "no way" and "n:(o)", the last values of windy "a:b" and "x = y"
GOLF = """
J48 pruned tree
------------------

outlook = sunny
|   the humidity <= 75.123456: yes (1.31)
|   the humidity > 75.123456: no way (3.0)
outlook = overcast
|   the humidity <= 65: n:(o) (1.0)
|   the humidity > 65: yes (3.31)
outlook = rain: yes (5.38/2.0)

Number of Leaves  : 	5

Size of the tree : 	8

"""

GOLF_BINARY = """
J48 unpruned tree
------------------

outlook = overcast
|   the humidity <= 65.0: n:(o) (1.0)
|   the humidity > 65.0: yes (3.31)
outlook != overcast
|   windy = it's: yes (1.0)
|   windy != it's
|   |   windy = a:b: yes (1.0)
|   |   windy != a:b
|   |   |   windy = true: no way (3.69/0.69)
|   |   |   windy != true
|   |   |   |   the humidity <= 80.0: yes (2.0)
|   |   |   |   the humidity > 80.0: no way (2.0)

Number of Leaves  : 	7

Size of the tree : 	13

"""
GOLF_SCHEMA = Schema(
    (
        Attribute("outlook", "discrete", ("sunny", "overcast", "rain")),
        Attribute("the humidity", "continuous"),
        Attribute("windy", "discrete", ("true", "fal se", "it's", "a:b", "x = y")),
    ),
    ("yes", "no way", "n:(o)"),
)


def test_a_tree_by_hand() -> None:
    model = read_j48(GOLF, GOLF_SCHEMA)
    sunny = inner("threshold", 1, leaf(1.31, 0.0, 0.0), leaf(0.0, 3.0, 0.0), cut=75.123456)
    overcast = inner("threshold", 1, leaf(0.0, 0.0, 1.0), leaf(3.31, 0.0, 0.0), cut=65.0)
    rain = leaf(3.38, 1.0, 1.0, errors=2.0)
    wanted = tree_of(inner("discrete", 0, sunny, overcast, rain), GOLF_SCHEMA)
    for field in ("kind", "attribute", "threshold", "branch", "branch_start", "value_branch", "label"):
        np.testing.assert_array_equal(getattr(model.pruned, field), getattr(wanted, field))
    np.testing.assert_allclose(model.pruned.class_weights, wanted.class_weights, rtol=1e-12)
    assert model.pruned.errors.tolist() == [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    assert (model.unpruned, model.record["source"]) == (model.pruned, "J48")


def test_names_taken_from_the_text() -> None:
    model = read_j48(GOLF)
    assert [(a.name, a.kind, a.values) for a in model.schema.attributes] == [
        ("outlook", "discrete", ("sunny", "overcast", "rain")),
        ("the humidity", "continuous", ()),
    ]
    assert model.schema.classes == ("yes", "no way", "n:(o)")
    assert model.pruned.equals(read_j48(GOLF.replace("\n", "\r\n"), model.schema).pruned)


def test_one_value_against_the_others() -> None:
    tree = read_j48(GOLF_BINARY, GOLF_SCHEMA).pruned
    assert tree.kind[:5].tolist() == [SUBSET, THRESHOLD, LEAF, LEAF, SUBSET]
    assert tree.value_map(0).tolist() == [1, 0, 1]
    assert tree.value_map(4).tolist() == [1, 1, 0, 1, 1]
    assert tree.n_nodes == 13
    with pytest.raises(DataError, match="!= does not tell which values there are: give the schema"):
        read_j48(GOLF_BINARY)


@pytest.mark.parametrize("text", [PENGUINS_BINARY, PENGUINS_UNPRUNED])
def test_it_classifies_as_weka_does(text: str, examples: Path) -> None:
    table = read_file(examples / "penguins.csv", target="species")
    model = read_j48(text, table.schema)
    predicted = predicted_classes(class_frequencies(model.pruned, table))
    found = np.zeros((3, 3), int)
    np.add.at(found, (table.classes, predicted), 1)
    rows = re.findall(r"^\s*(\d+)\s+(\d+)\s+(\d+) \|", text, re.MULTILINE)
    assert found.tolist() == [[int(n) for n in row] for row in rows]


def test_the_text_may_be_all_that_weka_says() -> None:
    whole = f"\n\nOptions: -C 0.25 \n\n=== Classifier model (full training set) ===\n\n{PENGUINS}\n\nTime taken: 0.3\n"
    alone = PENGUINS.split("------\n\n")[1].split("\n\n")[0]
    tree = read_j48(whole).pruned
    assert tree.equals(read_j48(alone).pruned)
    assert (tree.n_nodes, tree.n_leaves, (tree.kind == DISCRETE).sum()) == (15, 9, 3)


def test_a_leaf() -> None:
    model = read_j48("J48 pruned tree\n------------------\n: the class (14.0/5.0)\n\nNumber of Leaves  : \t1\n")
    assert (model.schema.classes, model.pruned.n_nodes, model.pruned.weight[0]) == (("the class",), 1, 14.0)


def test_branches_without_cases() -> None:
    text = "a = x: no (0.0)\na = y: yes (3.0/1.0)\na = z: no (2.0)\n"
    schema = Schema((Attribute("a", "discrete", ("x", "y", "z")),), ("yes", "no"))
    root = inner("discrete", 0, empty_leaf(1, 2.0, 3.0), leaf(2.0, 1.0, errors=1.0), leaf(0.0, 2.0))
    assert read_j48(text, schema).pruned.equals(tree_of(root | {"errors": 1.0}, schema))


def test_values_that_the_tree_does_not_have() -> None:
    schema = Schema((Attribute("a", "discrete", ("z", "y", "x", "w")),), ("yes", "no"))
    tree = read_j48("a = x: no (1.0)\na = y: yes (3.0)\n", schema).pruned
    assert tree.kind[0] == SUBSET
    assert tree.value_map(0).tolist() == [-1, 1, 0, -1]


def test_a_schema_tells_what_a_line_means() -> None:
    text = "a = b = c: d: e (1.0)\na = b = f: e (2.0)\n"
    with pytest.raises(DataError, match=r"line 1, .*, can be read in 4 ways: give the schema"):
        read_j48(text)
    schema = Schema((Attribute("a = b", "discrete", ("c", "f")),), ("e", "d: e"))
    assert read_j48(text, schema).pruned.label.tolist() == [0, 1, 0]


def test_a_deep_tree() -> None:
    bars = ["|   " * depth for depth in range(1000)]
    text = "".join(f"{bar}h <= {depth}: low (1.0)\n{bar}h > {depth}\n" for depth, bar in enumerate(bars))
    tree = read_j48(text.rstrip("\n") + ": high (1.0)\n").pruned
    assert (tree.n_nodes, tree.depth) == (2001, 1000)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "there is no tree in the text"),
        ("hello", "line 1, 'hello', is no branch of a tree of J48"),
        ("a <= x: no (1.0)", "line 1, 'a <= x: no [(]1.0[)]', is no branch"),
        ("a <= 1: no (1.0)", "line 1: the branches of this node do not go together: give all of its lines"),
        ("a <= 1: no (1.0)\na > 2: no (1.0)", "line 1: the branches of this node do not go together"),
        ("a = 1: no (1.0)\nb = 2: no (1.0)", "line 1: not all branches of this node test 'a'"),
        ("a = 1: no (1.0)\n|   |   b = 2: no (1.0)", "line 2 is deeper by two than the line above it: give all lines"),
        ("a = 1\n|   b = 2: no (1.0)\n|   b = 2: no (1.0)", "line 2: the branches of this node do not go together"),
        (PENGUINS.replace("|   |   bill_length_mm <= 42.3: Adelie (139.81/1.41)\n", ""), "do not go together"),
        (PENGUINS.replace(" 	15", " 	16"), "the text tells of 16 nodes, but has 15: give all of its lines"),
    ],
)
def test_refusals(text: str, match: str) -> None:
    with pytest.raises(DataError, match=match):
        read_j48(text)


@pytest.mark.parametrize("line", ["outlook = foggy: yes (1.0)", "wind = x: yes (1.0)", "outlook = sunny: maybe (1.0)"])
def test_lines_that_do_not_go_with_the_schema(line: str) -> None:
    with pytest.raises(DataError, match="is no branch of a tree of J48"):
        read_j48(line, GOLF_SCHEMA)
