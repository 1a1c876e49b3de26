"""A tree as Python source that needs no import: all that C4.5 does, unknown values in fractions included."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from c45gpu.exchange.exported import Exported, exported
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.tree import DISCRETE, LEAF, THRESHOLD
from c45gpu.rules.export import python_number, require_function_name

_SOURCE: Final = """\
# {name}(case) is the class of a case, {name}_proba(case) the probability of each of {name}_classes.
#
# A case is a mapping of attribute names to values. None, NaN and what is not in the mapping are unknown. A case whose
# value is unknown, or one that the tree has no branch for, goes down every branch, in fractions.

{name}_classes = {classes}

# number: (name, the codes of its values); a continuous attribute has none
_{name}_attributes = {{
{attributes}}}

# number: (attribute, threshold, branch of each code, branches, their weights, their sum)
_{name}_tests = {{
{tests}}}

# number: the probability of each class
_{name}_leaves = {{
{leaves}}}


def {name}(case):
    found = {name}_proba(case)
    {decide}


def {name}_proba(case):
    found = [0.0] * len({name}_classes)
    pending = [(0, 1.0)]
    while pending:
        node, share = pending.pop()
        while node in _{name}_tests:
            branches, weights, weight = _{name}_tests[node][3:]
            branch = _{name}_branch(case, *_{name}_tests[node][:3])
            if branch is None:
                parts = [(child, share * part / weight) for child, part in zip(branches, weights)]
                pending += [part for part in reversed(parts) if part[1] > 0.0]
                break
            node = branches[branch]
        else:
            for number, probability in enumerate(_{name}_leaves[node]):
                found[number] += share * probability
    return found


def _{name}_branch(case, attribute, threshold, branch_of_code):
    name, codes = _{name}_attributes[attribute]
    value = case.get(name)
    if value is None or value != value:
        return None
    if codes is None:
        value = float(value)
        {numeric}
    if hasattr(value, "is_integer") and not isinstance(value, bool) and value.is_integer():
        value = int(value)
    code = codes.get(str(value), len(branch_of_code))
    return branch_of_code[code] if code < len(branch_of_code) else None
"""


def to_python(model: Any, *, name: str = "classify", unpruned: bool = False) -> str:
    """The source of two Python functions that say all that the model says, to the last bit.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        Whose tree is written.
    name : str
        ``name(case)`` is the class of a case, a mapping of attribute names to values; ``name_proba(case)`` is the list
        of the classes' probabilities, in the order of ``name_classes``. None, NaN and what is not in the mapping are
        unknown.
    unpruned : bool
        The tree as grown, not the pruned one.

    Returns
    -------
    str
        It needs no import. It grows with the tree, one line a node, and does not recurse.

    Raises
    ------
    OptionError
        When `name` is no name of a function, or there is no tree in the model.
    """
    require_function_name(name)
    what = exported(model, unpruned=unpruned)
    tree, schema = what.tree, what.schema
    tested = sorted(set(tree.attribute[tree.kind != LEAF].tolist()))
    attributes = [(a, schema.attributes[a]) for a in tested]
    probabilities = leaf_probabilities(tree)
    return _SOURCE.format(
        name=name,
        classes=repr(schema.classes),
        attributes=_lines(
            (a, f"({of.name!r}, {of.code_of if of.kind == 'discrete' else None!r})") for a, of in attributes
        ),
        tests=_lines((node, _test(what, node)) for node in np.flatnonzero(tree.kind != LEAF).tolist()),
        leaves=_lines(
            (node, repr(tuple(probabilities[node].tolist()))) for node in np.flatnonzero(tree.kind == LEAF).tolist()
        ),
        decide=_MOST_PROBABLE.format(name=name)
        if what.costs is None
        else _CHEAPEST.format(name=name, costs=_costs(what)),
        numeric=_NUMERIC if what.unknown is None else _RELEASE8.format(*what.unknown),
    )


_MOST_PROBABLE: Final = "return {name}_classes[found.index(max(found))]"
_CHEAPEST: Final = """\
worth = [0.0] * len(found)
    for probability, costs in zip(found, {costs}):
        for number, cost in enumerate(costs):
            worth[number] -= probability * cost
    return {name}_classes[worth.index(max(worth))]"""
_NUMERIC: Final = "return int(value > threshold)"
_RELEASE8: Final = "return None if {!r} <= value <= {!r} else int(value > threshold)"


def _costs(what: Exported) -> str:
    """What it costs to take a class for each of all classes, for one class after the other."""
    return repr(tuple(map(tuple, [] if what.costs is None else what.costs.tolist())))


def _lines(entries: Iterable[tuple[int, str]]) -> str:
    return "".join(f"    {number}: {text},\n" for number, text in entries)


def _test(what: Exported, node: int) -> str:
    tree, branches = what.tree, what.tree.branches(node)
    threshold, branch_of_code = "None", "None"
    if tree.kind[node] == THRESHOLD:
        threshold = python_number(float(tree.threshold[node]))
    elif tree.kind[node] == DISCRETE:
        branch_of_code = f"range({len(branches)})"
    else:
        branch_of_code = repr(tuple(None if branch < 0 else branch for branch in tree.value_map(node).tolist()))
    weights, weight = tuple(tree.weight[branches].tolist()), float(tree.weight[node])
    numbers = tuple(branches.tolist())
    return f"({tree.attribute[node]}, {threshold}, {branch_of_code}, {numbers!r}, {weights!r}, {weight!r})"
