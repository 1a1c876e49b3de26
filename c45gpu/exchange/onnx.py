"""A tree as an ONNX model: one input for each attribute, the class and the probabilities as outputs."""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from c45gpu import __version__
from c45gpu.errors import OptionError
from c45gpu.exchange.exported import Exported, exported, free_name
from c45gpu.exchange.onnx_fractions import in_fractions
from c45gpu.exchange.onnx_graph import ML, Graph
from c45gpu.exchange.optional import optional
from c45gpu.exchange.two_way import REFUSED, TwoWay, intervals_of_branches, two_way
from c45gpu.model.predict import leaf_probabilities

_OPSETS: Final = {"": 18, ML: 5}  # TreeEnsemble came with 5
_IR_VERSION: Final = 9


def to_onnx(
    model: Any, *, unknown: Literal["fractions", "refuse", "most_common"] = "fractions", unpruned: bool = False
) -> Any:
    """An ONNX model.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        Whose tree is written.
    unknown : {"fractions", "refuse", "most_common"}
        What is done with a case whose value is unknown where the tree asks for it, or is one that it has no branch for.
        "fractions" is what C4.5 does: the graph computes every node's share of every case, a few operations for each
        level. The other two are a TreeEnsemble, which is faster and needs less memory: "refuse" gives the probabilities
        NaN and the label "", "most_common" goes on in the branch that most of the training cases took.
    unpruned : bool
        The tree as grown, not the pruned one.

    Returns
    -------
    onnx.ModelProto
        Inputs have the attributes' names (one without a name is ``attribute N``) and the shape (n, 1): float64 of a
        continuous attribute, NaN is unknown; text of a discrete one, any text that is none of its values is unknown.
        Outputs: `label` (n,), texts, and `probabilities` (n, C), float64. It needs ai.onnx.ml 5, that is
        onnxruntime 1.20 or later.

    Raises
    ------
    MissingPackageError
        When onnx is not installed.
    OptionError
        When there is no tree in the model.
    DataError
        When the model uses no attribute at all.
    """
    if unknown not in ("fractions", "refuse", "most_common"):
        raise OptionError(f"unknown={unknown!r} will not do: give 'fractions', 'refuse' or 'most_common'")
    what = exported(model, unpruned=unpruned)
    graph = Graph(what)
    names = _outputs(graph)
    if unknown == "fractions":
        in_fractions(graph, what, *names)
    else:
        _whole(graph, what, unknown == "refuse", *names)
    return _finished(graph, what, *names)


def _outputs(graph: Graph) -> tuple[str, str]:
    taken = set(graph.inputs.values())
    return free_name("label", taken), free_name("probabilities", taken)


def _finished(graph: Graph, what: Exported, label: str, probabilities: str) -> Any:
    info, types = graph.helper.make_tensor_value_info, graph.types
    outputs = [
        info(label, types.STRING, ["n"]),
        info(probabilities, types.DOUBLE, ["n", what.schema.n_classes]),
    ]
    made = graph.helper.make_graph(graph.nodes, "tree", graph.value_infos(), outputs, graph.constants)
    opsets = [graph.helper.make_opsetid(*pair) for pair in _OPSETS.items()]
    model = graph.helper.make_model(
        made, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="c45gpu", producer_version=__version__
    )
    optional("onnx.checker").check_model(model)
    return model


def _whole(graph: Graph, what: Exported, refuse: bool, label: str, probabilities: str) -> None:
    """Every case at one leaf, whose number a TreeEnsemble finds."""
    tree = what.tree
    found = two_way(tree, lambda node: intervals_of_branches(tree, graph.branches, node), refuse=refuse)
    leaves = np.flatnonzero(found.column < 0)
    score = graph.add("TreeEnsemble", graph.columns, domain=ML, **_ensemble(graph, found, leaves))
    number = graph.add("Reshape", graph.add("Cast", score, to=graph.types.INT64), graph.constant(np.array([-1])))
    per_node = leaf_probabilities(tree)
    nodes = found.leaf[leaves]
    rows = np.where((nodes == REFUSED)[:, None], np.nan, per_node[nodes])
    classes = what.classes_of(per_node)
    labels = tuple("" if node == REFUSED else what.schema.classes[classes[node]] for node in nodes.tolist())
    graph.add("Gather", graph.constant(rows), number, made=probabilities, axis=0)
    graph.add("Gather", graph.texts(labels), number, made=label, axis=0)


def _ensemble(graph: Graph, found: TwoWay, leaves: npt.NDArray[np.int64]) -> dict[str, Any]:
    """The attributes of a TreeEnsemble whose one score is the position of the leaf among the leaves.

    Inner nodes and leaves are numbered apart. A tree of one leaf gets a test of which both sides are that leaf.
    """
    inner = np.flatnonzero(found.column >= 0)
    number = np.empty(len(found.column), np.int64)
    number[inner], number[leaves] = np.arange(len(inner)), np.arange(len(leaves))
    low, high = found.low[inner], found.high[inner]
    columns, thresholds, unknown_low = found.column[inner], found.threshold[inner], found.unknown_low[inner]
    if not len(inner):
        low = high = leaves
        columns, thresholds, unknown_low = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.bool_)
    n, tensor, types = len(columns), graph.helper.make_tensor, graph.types
    return {
        "n_targets": 1,
        "tree_roots": [0],
        "nodes_featureids": columns.tolist(),
        "nodes_modes": tensor("modes", types.UINT8, [n], [0] * n),  # BRANCH_LEQ
        "nodes_splits": tensor("splits", types.DOUBLE, [n], thresholds.tolist()),
        "nodes_missing_value_tracks_true": unknown_low.astype(int).tolist(),
        "nodes_truenodeids": number[low].tolist(),
        "nodes_falsenodeids": number[high].tolist(),
        "nodes_trueleafs": (found.column[low] < 0).astype(int).tolist(),
        "nodes_falseleafs": (found.column[high] < 0).astype(int).tolist(),
        "leaf_targetids": [0] * len(leaves),
        "leaf_weights": tensor("weights", types.DOUBLE, [len(leaves)], [float(i) for i in range(len(leaves))]),
    }
