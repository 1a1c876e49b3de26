"""A tree as C source that needs the C library alone: all that C4.5 does, unknown values in fractions included."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from c45gpu.errors import DataError, OptionError
from c45gpu.exchange.exported import exported
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.tree import LEAF, THRESHOLD, Tree

_KEYWORDS: Final = re.compile(
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|main|"
    "register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while"
)
_PER_LINE: Final = 12
_PLAIN: Final = frozenset(
    map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 !#$%&'()*+,-./:;<=>@[]^_`{|}~")
)

_SOURCE: Final = """\
/* {name}() is the number of a case's class, {name}_proba() gives the probability of each class.
 *
 * A case is an array of {name}_N_ATTRIBUTES numbers, in the order of {name}_attributes: of a continuous attribute its
 * value, of a discrete one the code of its value, which {name}_code() knows. NAN is unknown. A case whose value is
 * unknown, or one that the tree has no branch for, goes down every branch, in fractions.
 *
 * C99. Compile without -ffast-math, which forgets about NAN. Texts are UTF-8.
 */
#include <math.h>
#include <string.h>

enum {{ {name}_N_ATTRIBUTES = {n_attributes}, {name}_N_CLASSES = {n_classes} }};

const char *const {name}_classes[] = {{
{classes}}};

const char *const {name}_attributes[] = {{
{attributes}}};

/* the values of attribute a: {name}_values[i] for {name}_first_value[a] <= i < {name}_first_value[a + 1] */
static const int {name}_first_value[] = {{
{first_value}}};
static const char *const {name}_values[] = {{
{values}}};

/* -1 at a leaf */
static const int {name}_attribute[] = {{
{attribute}}};
/* where a node has one: value <= threshold takes the first branch, value > threshold the second */
static const double {name}_threshold[] = {{
{threshold}}};
/* the branches of node n: {name}_branch[i] for {name}_first_branch[n] <= i < {name}_first_branch[n + 1] */
static const int {name}_first_branch[] = {{
{first_branch}}};
static const int {name}_branch[] = {{
{branch}}};
/* the branch of code c at node n: {name}_branch_of_code[{name}_first_code[n] + c], -1 if it has none */
static const int {name}_first_code[] = {{
{first_code}}};
static const int {name}_branch_of_code[] = {{
{branch_of_code}}};
static const double {name}_weight[] = {{
{weight}}};
/* the probabilities of node n's classes, where it is a leaf: {name}_leaf[n] rows of {name}_N_CLASSES before */
static const int {name}_leaf[] = {{
{leaf}}};
static const double {name}_probability[] = {{
{probability}}};

/* The code of a value of a discrete attribute, NAN for what is none of its values. */
double {name}_code(int attribute, const char *value)
{{
    int first = {name}_first_value[attribute];
    for (int i = first; i < {name}_first_value[attribute + 1]; i++)
        if (strcmp({name}_values[i], value) == 0)
            return i - first;
    return NAN;
}}

static int {name}_branch_taken(int node, double value)
{{
    int first = {name}_first_code[node], n_codes = {name}_first_code[node + 1] - first;
    if (value != value)
        return -1;
    if ({name}_threshold[node] == {name}_threshold[node]) {{{unknown}
        return value > {name}_threshold[node];
    }}
    return value >= 0 && value < n_codes ? {name}_branch_of_code[first + (int)value] : -1;
}}

void {name}_proba(const double *x, double *probabilities)
{{
    struct {{ int node, next; double share; }} above[{depth}];
    int n_above = 0, node = 0;
    double share = 1.0;
    for (int c = 0; c < {name}_N_CLASSES; c++)
        probabilities[c] = 0.0;
    for (;;) {{
        int branch = 0;
        while ({name}_attribute[node] >= 0) {{
            branch = {name}_branch_taken(node, x[{name}_attribute[node]]);
            if (branch < 0)
                break;
            node = {name}_branch[{name}_first_branch[node] + branch];
        }}
        if (branch < 0) {{
            above[n_above].node = node;
            above[n_above].next = {name}_first_branch[node];
            above[n_above++].share = share;
        }} else {{
            for (int c = 0; c < {name}_N_CLASSES; c++) {{
                /* volatile: a product must be rounded before it is added */
                volatile double part = share * {name}_probability[{name}_leaf[node] * {name}_N_CLASSES + c];
                probabilities[c] += part;
            }}
        }}
        for (share = 0.0; n_above > 0 && !(share > 0.0);) {{
            int from = above[n_above - 1].node, i = above[n_above - 1].next++;
            if (i == {name}_first_branch[from + 1]) {{
                n_above--;
            }} else {{
                volatile double part = above[n_above - 1].share * {name}_weight[{name}_branch[i]];
                node = {name}_branch[i];
                share = part / {name}_weight[from];
            }}
        }}
        if (!(share > 0.0))
            return;
    }}
}}

int {name}(const double *x)
{{
    double probabilities[{name}_N_CLASSES], *worth = probabilities;
    int best = 0;
    {name}_proba(x, probabilities);{costs}
    for (int c = 1; c < {name}_N_CLASSES; c++)
        if (worth[c] > worth[best])
            best = c;
    return best;
}}
"""
_COSTS: Final = """
    /* what it costs to take a class (row) for each of all classes */
    static const double costs[] = {{
{costs}}};
    double less[{name}_N_CLASSES] = {{0.0}};
    for (int i = 0; i < {name}_N_CLASSES; i++)
        for (int c = 0; c < {name}_N_CLASSES; c++) {{
            volatile double part = probabilities[i] * costs[i * {name}_N_CLASSES + c];
            less[c] -= part;
        }}
    worth = less;"""
_RELEASE8: Final = """
        if (value >= {!r} && value <= {!r})
            return -1;"""


def to_c(model: Any, *, name: str = "classify", unpruned: bool = False) -> str:
    """The source of C functions that say all that the model says, to the last bit.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        Whose tree is written.
    name : str
        ``int name(const double *x)`` is the number of a case's class, and ``void name_proba(const double *x, double
        *probabilities)`` gives the probability of each; ``name_code(attribute, text)`` is the code of a discrete
        value. Each of the `x` is an attribute, in the order of ``name_attributes``; NaN is unknown.
    unpruned : bool
        The tree as grown, not the pruned one.

    Returns
    -------
    str
        C99, for double arithmetic that rounds each operation (every usual 64-bit machine). Nothing is allocated or
        recurses; the stack needs 16 bytes for each level of the tree, and 8 for each class.

    Raises
    ------
    OptionError
        When `name` is no name of a function, or there is no tree in the model.
    DataError
        When a name holds the character NUL, which ends a text in C.
    """
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) or _KEYWORDS.fullmatch(name):
        raise OptionError(f"name={name!r} will not do: give a name that a C function can have")
    what = exported(model, unpruned=unpruned)
    tree, attributes = what.tree, what.schema.attributes
    return _SOURCE.format(
        name=name,
        n_attributes=len(attributes),
        n_classes=tree.n_classes,
        classes=_texts(what.schema.classes),
        attributes=_texts(a.name for a in attributes),
        first_value=_numbers(np.cumsum([0, *(len(a.values) for a in attributes)])),
        values=_texts(value for a in attributes for value in a.values),
        unknown="" if what.unknown is None else _RELEASE8.format(*what.unknown),
        costs="" if what.costs is None else _COSTS.format(name=name, costs=_numbers(what.costs.ravel())),
        depth=max(tree.depth, 1),
        **_nodes(tree),
    )


def _nodes(tree: Tree) -> dict[str, str]:
    is_leaf = tree.kind == LEAF
    return {
        "attribute": _numbers(tree.attribute),
        "threshold": _numbers(np.where(tree.kind == THRESHOLD, tree.threshold, np.nan)),
        "first_branch": _numbers(tree.branch_start),
        "branch": _numbers(tree.branch),
        "first_code": _numbers(tree.value_start),
        "branch_of_code": _numbers(tree.value_branch),
        "weight": _numbers(tree.weight),
        "leaf": _numbers(np.cumsum(is_leaf) - 1),
        "probability": _numbers(leaf_probabilities(tree)[is_leaf].ravel()),
    }


def _numbers(array: npt.NDArray[Any]) -> str:
    """An initialiser; C has no empty one, so an array of nothing gets a 0 that nobody reads."""
    texts = [_number(number) for number in array.tolist()] or ["0"]
    return "".join(f"    {', '.join(texts[i : i + _PER_LINE])},\n" for i in range(0, len(texts), _PER_LINE))


def _number(number: float) -> str:
    if math.isfinite(number):
        return repr(number)
    return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"


def _texts(texts: Iterable[str]) -> str:
    return "".join(f"    {_text(text)},\n" for text in texts) or '    "",\n'


def _text(text: str) -> str:
    if "\0" in text:
        raise DataError(f"{text!r} holds the character NUL, which ends a text in C: use another export")
    return '"' + "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in text.encode()) + '"'
