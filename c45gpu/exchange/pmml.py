"""A tree as PMML 4.4, the one format between programs that has C4.5's branches and its fractions of cases.

multiSplit           a node has a branch for each value
weightedConfidence   a case whose value is unknown goes down every branch whose predicate is unknown, by record count
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal
from xml.sax.saxutils import quoteattr

import numpy as np

from c45gpu import __version__
from c45gpu.errors import DataError, OptionError
from c45gpu.exchange.exported import Exported, exported, free_name, input_names, most_common_branches
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.tree import LEAF, THRESHOLD

_NOT_IN_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STRATEGIES: Final = {"fractions": "weightedConfidence", "refuse": "nullPrediction", "most_common": "defaultChild"}
_UNKNOWN_NUMBER: Final = "-999"  # what compat="r8" takes for unknown


def to_pmml(
    model: Any, *, unknown: Literal["fractions", "refuse", "most_common"] = "fractions", unpruned: bool = False
) -> str:
    """A PMML document with a TreeModel.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        Whose tree is written.
    unknown : {"fractions", "refuse", "most_common"}
        What a reader does with a case whose value is unknown where the tree asks for it, or is one that it has no
        branch for. "fractions" is what C4.5 does: the strategy weightedConfidence, which a reader must apply
        recursively. "refuse" is nullPrediction, "most_common" is defaultChild, the branch of most training cases.
    unpruned : bool
        The tree as grown, not the pruned one.

    Returns
    -------
    str
        Fields have the attributes' names (one without a name is ``attribute N``); numbers are double, discrete values
        are strings, and a string that is none of the values is missing. Outputs are the class and
        ``probability(CLASS)`` for each class. Of a model with compat="r8", -999 is missing, but not what rounds to it.
        Readers may recurse over the depth of the tree.

    Raises
    ------
    OptionError
        When `unknown` is none of the three, or "fractions" where mistakes have costs, or there is no tree in the model.
    DataError
        When a name holds a character that XML cannot say, or a threshold is infinite.
    """
    if unknown not in _STRATEGIES:
        raise OptionError(f"unknown={unknown!r} will not do: give 'fractions', 'refuse' or 'most_common'")
    what = exported(model, unpruned=unpruned)
    if what.costs is not None and unknown == "fractions":
        raise OptionError("weightedConfidence does not know what mistakes cost: give unknown='refuse' or 'most_common'")
    return "".join(_document(_Names(what), unknown))


class _Names:
    """What is exported, and what its fields are called."""

    def __init__(self, what: Exported) -> None:
        self.what = what
        self.inputs = input_names(what.schema)
        taken = set(self.inputs.values())
        self.target = free_name(what.schema.target or "class", taken)
        self.nothing = free_name("nothing", taken | {self.target})
        self.missing = [_without_branch(what, node) for node in range(what.tree.n_nodes)]


def _document(names: _Names, unknown: str) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">\n'
    yield f' <Header><Application name="c45gpu" version={_said(__version__)}/></Header>\n'
    yield from _dictionary(names)
    yield ' <TreeModel functionName="classification" algorithmName="C4.5" splitCharacteristic="multiSplit"'
    yield f' missingValueStrategy="{_STRATEGIES[unknown]}" noTrueChildStrategy="returnNullPrediction">\n'
    yield from _schema(names)
    yield from _nodes(names, most_common_branches(names.what.tree) if unknown == "most_common" else None)
    yield " </TreeModel>\n</PMML>\n"


def _dictionary(names: _Names) -> Iterator[str]:
    schema = names.what.schema
    yield f' <DataDictionary numberOfFields="{len(names.inputs) + 1}">\n'
    for a, name in names.inputs.items():
        attribute = schema.attributes[a]
        if attribute.kind == "discrete":
            yield from _texts(name, attribute.values)
        elif names.what.unknown is None:
            yield f'  <DataField name={_said(name)} optype="continuous" dataType="double"/>\n'
        else:
            yield f'  <DataField name={_said(name)} optype="continuous" dataType="double">'
            yield f'<Value value="{_UNKNOWN_NUMBER}" property="missing"/></DataField>\n'
    yield from _texts(names.target, schema.classes)
    yield " </DataDictionary>\n"


def _texts(name: str, values: Iterable[str]) -> Iterator[str]:
    yield f'  <DataField name={_said(name)} optype="categorical" dataType="string">\n'
    yield from (f"   <Value value={_said(value)}/>\n" for value in values)
    yield "  </DataField>\n"


def _schema(names: _Names) -> Iterator[str]:
    yield f'  <MiningSchema>\n   <MiningField name={_said(names.target)} usageType="target"/>\n'
    for name in names.inputs.values():
        yield f'   <MiningField name={_said(name)} invalidValueTreatment="asMissing"/>\n'
    yield f"  </MiningSchema>\n  <Output>\n   <OutputField name={_said(f'predicted {names.target}')}"
    yield ' optype="categorical" dataType="string" feature="predictedValue"/>\n'
    for name in names.what.schema.classes:
        yield f'   <OutputField name={_said(f"probability({name})")} optype="continuous" dataType="double"'
        yield f' feature="probability" value={_said(name)}/>\n'
    yield "  </Output>\n"
    if any(names.missing):
        yield f'  <LocalTransformations>\n   <DerivedField name={_said(names.nothing)} optype="categorical"'
        yield ' dataType="string"><Constant missing="true"/></DerivedField>\n  </LocalTransformations>\n'


def _nodes(names: _Names, default: list[int] | None) -> Iterator[str]:
    """All nodes, each with the predicate of the branch that leads to it, nested without recursion."""
    what, tree = names.what, names.what.tree
    probabilities = leaf_probabilities(tree)
    classes = np.where(tree.kind == LEAF, what.classes_of(probabilities), tree.label)
    closing = np.bincount(tree.end, minlength=tree.n_nodes + 1).tolist()
    branch_of = np.zeros(tree.n_nodes, np.int64)
    branch_of[tree.branch] = np.arange(len(tree.branch)) - np.repeat(tree.branch_start[:-1], np.diff(tree.branch_start))
    for node in range(tree.n_nodes):
        score, weight = _said(what.schema.classes[classes[node]]), float(tree.weight[node])
        yield f'<Node id="{node}" score={score} recordCount="{weight!r}"'
        if default is not None and tree.kind[node] != LEAF:
            yield f' defaultChild="{tree.branches(node)[default[node]]}"'
        yield ">"
        yield "<True/>" if node == 0 else _predicate(names, int(tree.parent[node]), int(branch_of[node]))
        if tree.kind[node] == LEAF:
            yield from _distribution(what.schema.classes, weight, probabilities[node].tolist())
        yield "</Node>" * closing[node + 1] + "\n"


def _distribution(classes: tuple[str, ...], weight: float, probabilities: list[float]) -> Iterator[str]:
    for name, part in zip(classes, probabilities, strict=True):
        counts = f'recordCount="{weight * part!r}" confidence="{part!r}" probability="{part!r}"'
        yield f"<ScoreDistribution value={_said(name)} {counts}/>"


def _predicate(names: _Names, node: int, branch: int) -> str:
    tree, attribute = names.what.tree, int(names.what.tree.attribute[node])
    field = _said(names.inputs[attribute])
    if tree.kind[node] == THRESHOLD:
        cut = float(tree.threshold[node])
        if math.isinf(cut):
            raise DataError(f"{names.inputs[attribute]!r} is compared with infinity, which PMML cannot say")
        sign = "greaterThan" if branch else "lessOrEqual"
        return f'<SimplePredicate field={field} operator="{sign}" value="{cut!r}"/>'
    values = names.what.schema.attributes[attribute].values
    own = [values[code] for code in np.flatnonzero(tree.value_map(node) == branch).tolist()]
    own = own or [free_name("no value", set(values))]  # false, but unknown where the value is
    if not names.missing[node]:
        return _one_of(field, own)
    nothing = f'<SimplePredicate field={_said(names.nothing)} operator="equal" value=""/>'
    lost = _one_of(field, [values[code] for code in names.missing[node]])
    return _compound("or", [_one_of(field, own), _compound("and", [lost, nothing])])


def _without_branch(what: Exported, node: int) -> list[int]:
    """The codes of declared values that an inner node has no branch for: there its predicates must be unknown."""
    tree = what.tree
    if tree.kind[node] in (LEAF, THRESHOLD):
        return []
    mapped = tree.value_map(node)
    n_values = len(what.schema.attributes[tree.attribute[node]].values)
    return [*np.flatnonzero(mapped < 0).tolist(), *range(len(mapped), n_values)]


def _one_of(field: str, values: list[str]) -> str:
    """A predicate that holds for some values; a SimpleSetPredicate has no sure way to say all characters."""
    equal = [f'<SimplePredicate field={field} operator="equal" value={_said(value)}/>' for value in values]
    return equal[0] if len(equal) == 1 else _compound("or", equal)


def _compound(operator: str, predicates: list[str]) -> str:
    return f'<CompoundPredicate booleanOperator="{operator}">{"".join(predicates)}</CompoundPredicate>'


def _said(text: str) -> str:
    """A text as the value of an XML attribute, in quotes."""
    if _NOT_IN_XML.search(text):
        raise DataError(f"{text!r} holds a character that XML cannot say: use another export")
    return quoteattr(text)
