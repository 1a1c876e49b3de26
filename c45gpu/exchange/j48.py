"""Trees of Weka's J48, from the text that it prints (``toString``).

    outlook = sunny                          a line for each branch; what is below it has one bar more
    |   humidity <= 75: yes (2.0)            label (weight)
    |   humidity > 75: no (3.0/1.0)          label (weight/weight of other classes)
    outlook = overcast: yes (4.0)

Names are printed as they are, without quotes, so a line can be ambiguous; with a schema few are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.values import shown
from c45gpu.errors import DataError
from c45gpu.exchange.preorder import Node, tree_of
from c45gpu.model.store import Model
from c45gpu.model.tree import DISCRETE, LEAF, SUBSET, THRESHOLD
from c45gpu.model.validate import validate_tree

Reading = TypeVar("Reading")

_BAR: Final = "|   "
_LEAF: Final = re.compile(r"(?P<label>.*) \((?P<weight>\d[\d.Ee+-]*)(?:/(?P<wrong>\d[\d.Ee+-]*))?\)")
_SIGN: Final = re.compile(r" (<=|>|=|!=) ")
_SIZE: Final = re.compile(r"Size of the tree\s*:\s*(\d+)")


class _Outcome(NamedTuple):
    """Where a branch ends: a leaf's label, weight and weight of other classes."""

    label: str
    weight: float
    wrong: float


class _Line(NamedTuple):
    """A branch: the test that leads to it, and the leaf that it ends at, if it does."""

    number: int
    depth: int
    name: str
    sign: str
    value: str
    outcome: _Outcome | None


def read_j48(text: str, schema: Schema | None = None) -> Model:
    """The tree that Weka's J48 prints.

    The text has less than a model: thresholds as Weka rounded them (six decimals), weights with two, and of the
    training cases at a leaf only how many there are and how many of them are not of its class. These are shared
    equally by the other classes, so with more than two classes the probabilities are a guess, and a case that divides
    because a value is unknown may be given another class than Weka gives it.

    Parameters
    ----------
    text : str
        What J48 printed: the tree alone, or all that Weka says.
    schema : Schema, optional
        The attributes and classes in their order. Without it they are taken from the text: what is compared by ``<=``
        is continuous, and what is never tested, or no leaf's class, is unheard of. Trees of Weka's option -B need it.

    Returns
    -------
    Model
        Both its trees are the one printed. Errors are training errors, as Weka counts them.

    Raises
    ------
    DataError
        When it is no tree, when a line can be read in more than one way, or does not go with the schema.
    """
    lines, alone = _lines(text, schema)
    schema = _heard_of(lines, alone) if schema is None else schema
    tree = tree_of(_Grower(lines, alone, schema).nodes())
    validate_tree(tree, schema)
    size = _SIZE.search(text)
    if size is not None and int(size[1]) != tree.n_nodes:
        raise DataError(f"the text tells of {size[1]} nodes, but has {tree.n_nodes}: give all of its lines")
    return Model(schema, tree, tree, {"compat": None}, {"source": "J48", "cases": float(tree.weight[0])})


def _lines(text: str, schema: Schema | None) -> tuple[list[_Line], _Outcome | None]:
    """The branches of a printed tree; or, of a tree without branches, its only leaf."""
    body = _body(text)
    if not body:
        raise DataError("there is no tree in the text: give what J48 printed")
    if len(body) == 1 and body[0][1].startswith(": "):
        outcome = _one([*_outcomes(body[0][1][2:], schema)], *body[0])
        return [], outcome
    depths = [_depth(line) for _, line in body]
    found = []
    for i, (number, line) in enumerate(body):
        is_leaf = depths[i + 1 : i + 2] != [depths[i] + 1]
        rest = line[len(_BAR) * depths[i] :]
        read = _one([*_readings(rest, schema, is_leaf)], number, line)
        found.append(_Line(number, depths[i], *read))
    return found, None


def _body(text: str) -> list[tuple[int, str]]:
    """The numbered lines of the tree alone."""
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1)]
    ruled = [i for i, (_, line) in enumerate(lines[1:], 1) if re.fullmatch("-{4,}", line) and "J48" in lines[i - 1][1]]
    start = ruled[0] + 1 if ruled else 0
    while start < len(lines) and not lines[start][1].strip():
        start += 1
    stop = start
    while stop < len(lines) and lines[stop][1].strip() and not lines[stop][1].startswith("Number of Leaves"):
        stop += 1
    return lines[start:stop]


def _depth(line: str) -> int:
    depth = 0
    while line.startswith(_BAR, depth * len(_BAR)):
        depth += 1
    return depth


def _one(readings: list[Reading], number: int, line: str) -> Reading:
    """The only way to read a line."""
    if not readings:
        raise DataError(f"line {number}, {shown(line)}, is no branch of a tree of J48: give the tree as it was printed")
    if len(readings) > 1:
        raise DataError(
            f"line {number}, {shown(line)}, can be read in {len(readings)} ways: give the schema (--names), or rename"
        )
    return readings[0]


def _readings(rest: str, schema: Schema | None, is_leaf: bool) -> Iterator[tuple[str, str, str, _Outcome | None]]:
    """All ways to read a branch: name, sign, value and outcome."""
    for sign in _SIGN.finditer(rest):
        name, tail = rest[: sign.start()], rest[sign.end() :]
        if not is_leaf:
            if _fits(name, sign[1], tail, schema):
                yield name, sign[1], tail, None
            continue
        for colon in re.finditer(": ", tail):
            value = tail[: colon.start()]
            if _fits(name, sign[1], value, schema):
                yield from ((name, sign[1], value, o) for o in _outcomes(tail[colon.end() :], schema))


def _fits(name: str, sign: str, value: str, schema: Schema | None) -> bool:
    """Whether there may be such a test."""
    numeric = sign in ("<=", ">")
    if numeric and _number(value) is None:
        return False
    if schema is None:
        return True
    of = next((a for a in schema.attributes if a.name == name), None)
    return of is not None and (of.kind == "continuous" if numeric else value in of.code_of and of.kind == "discrete")


def _outcomes(text: str, schema: Schema | None) -> Iterator[_Outcome]:
    found = _LEAF.fullmatch(text)
    if found is None or (schema is not None and found["label"] not in schema.class_number):
        return
    weight, wrong = _number(found["weight"]), _number(found["wrong"] or "0")
    if weight is not None and wrong is not None:
        yield _Outcome(found["label"], weight, wrong)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _heard_of(lines: Sequence[_Line], alone: _Outcome | None) -> Schema:
    """The attributes, values and classes in the order in which they are met."""
    values: dict[str, dict[str, None] | None] = {}
    for line in lines:
        if line.sign == "!=":
            raise DataError(f"line {line.number}: != does not tell which values there are: give the schema (--names)")
        of_name = values.setdefault(line.name, None if line.sign in ("<=", ">") else {})
        if of_name is not None:
            of_name[line.value] = None
    outcomes = [line.outcome for line in lines] if alone is None else [alone]
    classes = dict.fromkeys(outcome.label for outcome in outcomes if outcome is not None)
    kinds = [
        Attribute(name, "continuous") if known is None else Attribute(name, "discrete", tuple(known))
        for name, known in values.items()
    ]
    return Schema(tuple(kinds), tuple(classes))


class _Growing:
    """A node and what is known of it so far."""

    def __init__(self, outcome: _Outcome | None) -> None:
        self.outcome = outcome
        self.lines: list[_Line] = []
        self.children: list[int] = []
        self.class_weights = np.zeros(0)
        self.weight = self.errors = 0.0


class _Grower:
    """Makes nodes of branches."""

    def __init__(self, lines: Sequence[_Line], alone: _Outcome | None, schema: Schema) -> None:
        self._schema = schema
        self._number = {attribute.name: a for a, attribute in enumerate(schema.attributes)}
        self._grown = [_Growing(alone)] if alone is not None else []
        above: list[int] = []
        for line in lines:
            if line.depth > len(above):
                raise DataError(f"line {line.number} is deeper by two than the line above it: give all lines")
            del above[line.depth + 1 :]
            if line.depth == len(above):
                above.append(self._add(None, above))
            self._grown[above[line.depth]].lines.append(line)
            if line.outcome is not None:
                self._add(line.outcome, above)

    def nodes(self) -> list[Node]:
        """All nodes in preorder."""
        for grown in reversed(self._grown):
            self._weigh(grown)
        for grown in self._grown:
            for child in (self._grown[number] for number in grown.children):
                if child.weight == 0:
                    child.class_weights = grown.class_weights
        return [self._leaf(grown) if grown.outcome is not None else self._inner(grown) for grown in self._grown]

    def _add(self, outcome: _Outcome | None, above: list[int]) -> int:
        number = len(self._grown)
        self._grown.append(_Growing(outcome))
        if above:
            self._grown[above[-1]].children.append(number)
        return number

    def _weigh(self, grown: _Growing) -> None:
        n_classes = self._schema.n_classes
        if grown.outcome is None:
            children = [self._grown[number] for number in grown.children]
            grown.weight, grown.errors = (sum(getattr(c, name) for c in children) for name in ("weight", "errors"))
            grown.class_weights = np.sum([child.class_weights for child in children], axis=0)
            return
        label, grown.weight, grown.errors = grown.outcome
        grown.class_weights = np.full(n_classes, grown.errors / max(n_classes - 1, 1))
        grown.class_weights[self._schema.class_number[label]] = grown.weight - grown.errors

    def _leaf(self, grown: _Growing) -> Node:
        assert grown.outcome is not None
        label = self._schema.class_number[grown.outcome.label]
        return Node(LEAF, label, grown.weight, grown.errors, grown.class_weights.tolist())

    def _inner(self, grown: _Growing) -> Node:
        first, signs = grown.lines[0], [line.sign for line in grown.lines]
        attribute = self._schema.attributes[self._number[first.name]]
        label, n = int(np.argmax(grown.class_weights)), len(grown.lines)
        node = Node(LEAF, label, grown.weight, grown.errors, grown.class_weights.tolist(), self._number[first.name])
        node = node._replace(n_branches=n)
        if any(line.name != first.name for line in grown.lines):
            raise DataError(f"line {first.number}: not all branches of this node test {shown(first.name)}")
        if signs == ["<=", ">"] and first.value == grown.lines[1].value:
            return node._replace(kind=THRESHOLD, threshold=float(first.value))
        values = [line.value for line in grown.lines]
        if signs == ["=", "!="] and values[0] == values[1]:
            return node._replace(kind=SUBSET, branch_of_code=[int(v != values[0]) for v in attribute.values])
        if set(signs) == {"="} and len(set(values)) == n:
            kind = DISCRETE if tuple(values) == attribute.values else SUBSET
            branches = [values.index(value) if value in values else -1 for value in attribute.values]
            return node._replace(kind=kind, branch_of_code=branches)
        raise DataError(f"line {first.number}: the branches of this node do not go together: give all of its lines")
