"""What C4.5 does with unknown values, in ONNX: each node's share of each case, a level at a time.

taken        (n, inner nodes)  the branch that a case would take there, NaN for all of them
shares       (n, nodes of a level)
  of the branch taken, or its part of the weight where none is known: share * weight[branch] / weight[node]
probability  of a class: the sum over the leaves of share * probability, one after the other as CumSum adds
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from c45gpu.exchange.exported import Exported
from c45gpu.exchange.onnx_graph import Graph
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.tree import LEAF, THRESHOLD, Tree, ranges

Int64s = npt.NDArray[np.int64]


def in_fractions(graph: Graph, what: Exported, label: str, probabilities: str) -> None:
    """The rest of a graph: from its columns to the outputs."""
    shares = _shares_of_leaves(graph, what.tree)
    per_leaf = leaf_probabilities(what.tree)[what.tree.kind == LEAF]
    last, axis = graph.constant(np.array([-1])), graph.constant(np.int64(1))
    sums = []
    for c in range(what.tree.n_classes):
        parts = graph.add("Mul", shares, graph.constant(per_leaf[:, c]))
        sums.append(graph.add("Gather", graph.add("CumSum", parts, axis), last, axis=1))
    graph.add("Concat", *sums, axis=1, made=probabilities)
    best = graph.add("ArgMax", _worth(graph, what, probabilities), axis=1, keepdims=0)
    graph.add("Gather", graph.texts(what.schema.classes), best, axis=0, made=label)


def _worth(graph: Graph, what: Exported, probabilities: str) -> str:
    """What the largest of says the class: the probabilities, or less what mistakes cost, one class after the other."""
    if what.costs is None:
        return probabilities
    worth = graph.constant(np.zeros(what.tree.n_classes))
    for i, costs in enumerate(what.costs):
        probability = _columns(graph, probabilities, np.array([i]))
        worth = graph.add("Sub", worth, graph.add("Mul", probability, graph.constant(costs)))
    return worth


def _shares_of_leaves(graph: Graph, tree: Tree) -> str:
    """The shares of all leaves in their order; shape (n, leaves)."""
    place = np.empty(tree.n_nodes, np.int64)
    taken = _taken(graph, tree, place) if tree.n_nodes > 1 else ""
    shares, arrived, order = _whole_cases(graph), [], []
    for nodes in tree.levels:
        here = np.flatnonzero(tree.kind[nodes] == LEAF)
        if len(here):
            arrived.append(_columns(graph, shares, here))
            order.append(nodes[here])
        inner = np.flatnonzero(tree.kind[nodes] != LEAF)
        if len(inner):
            shares = _one_level_down(graph, tree, shares, taken, nodes[inner], inner, place)
    return _columns(graph, graph.add("Concat", *arrived, axis=1), np.argsort(np.concatenate(order)))


def _whole_cases(graph: Graph) -> str:
    """The share 1 of each case at the root; shape (n, 1)."""
    shape = graph.add(
        "Concat", graph.add("Shape", graph.columns, start=0, end=1), graph.constant(np.array([1])), axis=0
    )
    return graph.add("ConstantOfShape", shape, value=graph.numpy_helper.from_array(np.ones(1)))


def _taken(graph: Graph, tree: Tree, place: Int64s) -> str:
    """The branch that a case takes at each inner node, NaN where it is unknown; `place` gets the columns of nodes."""
    column_of = np.array(graph.branches.of_node)
    thresholds = np.flatnonzero(tree.kind == THRESHOLD)
    by_value = np.flatnonzero((tree.kind != THRESHOLD) & (tree.kind != LEAF))
    place[np.concatenate([thresholds, by_value])] = np.arange(len(thresholds) + len(by_value))
    parts = []
    if len(thresholds):
        values = _columns(graph, graph.columns, column_of[thresholds])
        above = graph.add("Greater", values, graph.constant(tree.threshold[thresholds]))
        side = graph.add("Cast", above, to=graph.types.DOUBLE)
        parts.append(graph.add("Where", graph.add("IsNaN", values), graph.constant(np.float64(np.nan)), side))
    if len(by_value):
        parts.append(_columns(graph, graph.columns, column_of[by_value]))
    return graph.add("Concat", *parts, axis=1)


def _one_level_down(
    graph: Graph, tree: Tree, shares: str, taken: str, nodes: Int64s, position: Int64s, place: Int64s
) -> str:
    """The shares of the branches of some nodes, whose own are at those positions."""
    start, stop = tree.branch_start[nodes], tree.branch_start[nodes + 1]
    row = np.repeat(np.arange(len(nodes)), stop - start)
    edges = ranges(start, stop)
    number, children = (edges - start[row]).astype(np.float64), tree.branch[edges]
    share = _columns(graph, shares, position[row])
    branch = _columns(graph, taken, place[nodes[row]])
    straight = graph.add("Where", graph.add("Equal", branch, graph.constant(number)), share, graph.constant(0.0))
    part = graph.add("Mul", share, graph.constant(tree.weight[children]))
    part = graph.add("Div", part, graph.constant(tree.weight[nodes[row]]))
    return graph.add("Where", graph.add("IsNaN", branch), part, straight)


def _columns(graph: Graph, matrix: str, columns: Int64s) -> str:
    return graph.add("Gather", matrix, graph.constant(columns), axis=1)
