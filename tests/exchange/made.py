"""Models whose names are hard to quote, trained and made by hand, and cases that go everywhere in them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.induction.options import Options
from c45gpu.induction.train import train
from c45gpu.model.predict import class_frequencies, predicted_classes
from c45gpu.model.store import Model
from c45gpu.model.tree import THRESHOLD, Tree
from c45gpu.model.unrounded import last_rounding_to
from tests.golden_trees import Node, chain, empty_leaf, inner, leaf, tree_of

N_ROWS = 10_000
SCHEMA = Schema(
    (
        Attribute('size, "in" cm', "continuous"),
        Attribute("it's\na colour", "discrete", ("re'd", "", 'gre"en, or\nnot', "\\", "{0}??=", "größe <&> 日本", "?")),
        Attribute("left out", "ignored"),
        Attribute("weight; DROP TABLE x --", "continuous"),
        Attribute("", "discrete", ("*/ no", "yes 'n' no")),
    ),
    ("it's so", 'not "so", is\nit', ""),
)
CUTS = [-1.0, 0.0, 0.1, 2.5, 1e-300, -1e17 / 3]


def cases(n_cases: int = N_ROWS, *, seed: int = 7, beside: Tree | None = None, unknown: float = 0.1) -> Table:
    """Cases with unknown values, values that no training case had, and values on and beside a tree's thresholds."""
    chance = np.random.default_rng(seed)
    numbers = []
    for attribute in (0, 3):
        column = np.round(chance.normal(0, 3, n_cases), 2)
        if beside is not None:
            cuts = beside.threshold[(beside.kind == THRESHOLD) & (beside.attribute == attribute)]
            near = [f(x) for x in cuts.tolist() for f in (float, above, lambda x: x + 1e-8 * abs(x))]
            ends = last_rounding_to(-999.0), -last_rounding_to(999.0)
            near += [-999.0, -999.00001, -998.9999, *ends, above(ends[0]), -above(-ends[1]), math.inf, -math.inf]
            column[: len(near)] = near[:n_cases]
        column[chance.random(n_cases) < unknown] = np.nan
        numbers.append(chance.permutation(column))
    codes = []
    for attribute in (1, 4):
        n_values = len(SCHEMA.attributes[attribute].values)
        column = chance.integers(0, n_values, n_cases).astype(np.int32)
        column[chance.random(n_cases) < unknown] = -1
        codes.append(column)
    size, weight, (colour, flag) = *numbers, codes
    classes = np.where(size > 1.5, 0, np.where(np.isin(colour, [0, 2, 5]), 1, np.where(weight > 0.1, 2, flag)))
    classes = np.where(chance.random(n_cases) < 0.1, chance.integers(0, 3, n_cases), np.maximum(classes, 0))
    return Table(SCHEMA, [size, colour, None, weight, flag], classes.astype(np.int32))


def above(number: float) -> float:
    return math.nextafter(number, math.inf)


def trained(**options: Any) -> Model:
    return train(cases(800, seed=0), Options(**options), "reference")


def random_tree(chance: np.random.Generator, depth: int = 5) -> Node:
    """All kinds of tests, odd weights, branches without cases, values without branches."""
    if depth == 0 or chance.random() < 0.15:
        return leaf(*(chance.integers(0, 7, 3) / chance.choice([1, 3, 7]) + chance.choice([0.1, 1.0])).tolist())
    kind = str(chance.choice(["threshold", "discrete", "subset"]))
    if kind == "threshold":
        branches = [random_tree(chance, depth - 1) for _ in range(2)]
        return inner(kind, int(chance.choice([0, 3])), *branches, cut=float(chance.choice(CUTS)))
    attribute = int(chance.choice([1, 4]))
    n_values = len(SCHEMA.attributes[attribute].values)
    n_branches = n_values if kind == "discrete" else min(3, n_values)
    branches = (
        [random_tree(chance, depth - 2 if n_branches > 2 else depth - 1) for _ in range(n_branches)]
        if (depth > 1)
        else [leaf(1.0, 2.0, float(b)) for b in range(n_branches)]
    )
    branches[int(chance.integers(n_branches))] = empty_leaf(int(chance.integers(3)), 1.0, 2.0, 1.0)
    if kind == "discrete":
        return inner(kind, attribute, *branches)
    of_value = chance.integers(-1, n_branches, n_values)
    return inner(
        kind, attribute, *branches, subsets=[(np.flatnonzero(of_value == b) + 1).tolist() for b in range(n_branches)]
    )


def made(root: Node, schema: Schema = SCHEMA) -> Model:
    tree = tree_of(root, schema)
    return Model(schema, tree, tree, {"compat": None}, {})


def random_model(seed: int) -> Model:
    chance = np.random.default_rng(seed)
    branches = [random_tree(chance) for _ in range(2)]
    return made(inner("threshold", 0, *branches, cut=0.25))


def deep_model(depth: int = 5000) -> Model:
    schema, root = chain(depth)
    return made(root, schema)


def probabilities(model: Model, table: Table, *, unpruned: bool = False) -> np.ndarray:
    """What the model says."""
    asked = table.as_release8() if model.options["compat"] == "r8" else table
    return class_frequencies(model.unpruned if unpruned else model.pruned, asked)


def class_names(model: Model, frequencies: np.ndarray) -> list[str]:
    return [model.schema.classes[c] for c in predicted_classes(frequencies)]


def as_values(table: Table) -> list[list[Any]]:
    """The rows, None where a value is unknown."""
    columns: list[list[Any]] = []
    for attribute, column in zip(table.schema.attributes, table.columns, strict=True):
        if column is None:
            columns.append([None] * table.n_cases)
        elif attribute.kind == "discrete":
            columns.append([None if code < 0 else attribute.values[code] for code in column.tolist()])
        else:
            columns.append([None if value != value else value for value in column.tolist()])
    return [list(row) for row in zip(*columns, strict=True)]


def with_most_common(model: Model, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The leaf that each case reaches if unknown values take the heaviest branch; and whether one was asked for."""
    tree = model.pruned
    asked = table.as_release8() if model.options["compat"] == "r8" else table
    reached, unknown = np.zeros(table.n_cases, np.int64), np.zeros(table.n_cases, bool)
    for case in range(table.n_cases):
        node = 0
        while tree.attribute[node] >= 0:
            value = asked.column(tree.attribute[node])[case]
            children, branch = tree.branches(node), -1
            if tree.kind[node] == THRESHOLD:
                branch = -1 if value != value else int(value > tree.threshold[node])
            elif 0 <= value < len(tree.value_map(node)):
                branch = int(tree.value_map(node)[value])
            if branch < 0:
                unknown[case] = True
                branch = int(np.argmax(tree.weight[children]))
            node = int(children[branch])
        reached[case] = node
    return reached, unknown


MODELS = {
    "trained": lambda: trained(min_cases=1),
    "release 8": lambda: trained(min_cases=1, compat="r8"),
    "groups": lambda: trained(min_cases=1, group_values=True),
    "random": lambda: random_model(6),
    "another": lambda: random_model(12),
    "a leaf": lambda: made(leaf(1.0, 3.0, 0.5)),
}


def with_value(table: Table, attribute: int, value: float) -> Table:
    """The same cases with one value of an attribute."""
    columns = list(table.columns)
    columns[attribute] = np.full(table.n_cases, value, np.asarray(columns[attribute]).dtype)
    return replace(table, columns=columns)
