"""A tree in the shape of scikit-learn's and of SHAP's: two branches, one column for each attribute."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute, Schema
from c45gpu.errors import OptionError
from c45gpu.exchange.exported import Exported, exported
from c45gpu.exchange.optional import optional
from c45gpu.exchange.preorder import Node, tree_of
from c45gpu.exchange.two_way import TwoWay, intervals_of_codes, two_way
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.store import Model
from c45gpu.model.tree import LEAF, THRESHOLD

MostCommon = Literal["most_common"]
_NO_FEATURE: Final = -2  # what scikit-learn has at leaves
_HARDLY_A_CASE: Final = 2.0**-20  # weight of leaves that no training case is at: SHAP divides by it


class _Shaped(NamedTuple):
    """A two-way tree and the probabilities of the classes at all its nodes, float64 of the shape (m, C)."""

    tree: TwoWay
    probabilities: npt.NDArray[np.float64]
    what: Exported


def to_sklearn(model: Any, *, unknown: MostCommon, unpruned: bool = False) -> Any:
    """A fitted DecisionTreeClassifier of scikit-learn with the same tests, for tools that draw or explain such trees.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        Whose tree it is.
    unknown : {"most_common"}
        Where a value is unknown that the tree asks for, or one that it has no branch for, the case goes on in the
        branch that most of the training cases took: scikit-learn has no fractions of a case, and cannot refuse one.
    unpruned : bool
        The tree as grown, not the pruned one.

    Returns
    -------
    sklearn.tree.DecisionTreeClassifier
        Of the matrix that :func:`c45gpu.exchange.encode` gives, which scikit-learn rounds to float32: values between
        a threshold and its neighbour in float32 may go astray. A test with many branches becomes a chain of tests on
        the code of the value; what is below a group of values is repeated for each run of its codes.

    Raises
    ------
    OptionError
        When `unknown` is missing, mistakes have costs, or there is no tree in the model.
    DataError
        When so much would have to be repeated that the tree grows out of all proportion.
    """
    found, probabilities, what = _shaped(model, unknown, unpruned)
    if what.costs is not None:
        raise OptionError(
            "scikit-learn's tree does not know what mistakes cost: train without costs, or use another export"
        )
    n, n_classes, n_attributes = len(found.column), what.schema.n_classes, len(what.schema.attributes)
    classifier = optional("sklearn.tree").DecisionTreeClassifier()
    classifier.fit(np.zeros((n_classes, n_attributes)), np.arange(n_classes))
    learned = classifier.tree_
    nodes = np.zeros(n, learned.__getstate__()["nodes"].dtype)
    inner = found.column >= 0
    nodes["left_child"], nodes["right_child"] = found.low, found.high
    nodes["feature"] = np.where(inner, found.column, _NO_FEATURE)
    nodes["threshold"] = np.where(inner, found.threshold, _NO_FEATURE)
    nodes["impurity"] = 1.0 - (probabilities**2).sum(axis=1)
    nodes["n_node_samples"] = np.rint(found.weight)
    nodes["weighted_n_node_samples"] = found.weight
    nodes["missing_go_to_left"] = found.unknown_low
    state = {"max_depth": _depth(found), "node_count": n, "nodes": nodes, "values": probabilities[:, None, :].copy()}
    classifier.tree_ = type(learned)(n_attributes, np.array([n_classes]), 1)
    classifier.tree_.__setstate__(state)
    classifier.classes_ = getattr(model, "classes_", np.array(what.schema.classes, object))
    classifier.feature_names_in_ = np.array([a.name for a in what.schema.attributes], object)
    return classifier


def to_shap(model: Any, *, unknown: MostCommon, unpruned: bool = False) -> dict[str, Any]:
    """What ``shap.TreeExplainer`` takes for a tree; its values and its expected value sum to the probabilities.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        Whose tree it is.
    unknown : {"most_common"}
        Where a value is unknown that the tree asks for, or one that it has no branch for, the case goes on in the
        branch that most of the training cases took: SHAP has no fractions of a case, and cannot refuse one.
    unpruned : bool
        The tree as grown, not the pruned one.

    Returns
    -------
    dict
        Of the matrix that :func:`c45gpu.exchange.encode` gives, compared in float64. What is below a group of values is
        repeated for each run of its codes.

    Raises
    ------
    OptionError
        When `unknown` is missing, mistakes have costs, or there is no tree in the model.
    DataError
        When so much would have to be repeated that the tree grows out of all proportion.
    """
    found, probabilities, _ = _shaped(model, unknown, unpruned)
    inner = found.column >= 0
    tree = {
        "children_left": found.low.astype(np.int32),
        "children_right": found.high.astype(np.int32),
        "children_default": np.where(found.unknown_low, found.low, found.high).astype(np.int32),
        "features": found.column.astype(np.int32),
        "thresholds": np.where(inner, found.threshold, -1.0),
        "values": probabilities,
        "node_sample_weight": found.weight,
    }
    return {"trees": [tree], "internal_dtype": np.float64, "input_dtype": np.float64, "tree_output": "probability"}


def _shaped(model: Any, unknown: str, unpruned: bool) -> _Shaped:
    if unknown != "most_common":
        raise OptionError(
            "there are no fractions of a case here, nor is there a way to refuse one: unknown='most_common'"
        )
    what = exported(model, unpruned=unpruned)
    tree, values = what.tree, [len(a.values) for a in what.schema.attributes]
    found = two_way(tree, lambda node: intervals_of_codes(tree, node, values[tree.attribute[node]]), refuse=False)
    probabilities = leaf_probabilities(tree)[found.leaf]
    weight = np.maximum(found.weight, _HARDLY_A_CASE)
    for node in reversed(range(len(weight))):
        if found.column[node] >= 0:
            low, high = found.low[node], found.high[node]
            weight[node] = weight[low] + weight[high]
            probabilities[node] = weight[low] * probabilities[low] + weight[high] * probabilities[high]
            probabilities[node] /= weight[node]
    return _Shaped(found._replace(weight=weight), probabilities, what)


def _depth(found: TwoWay) -> int:
    depth = np.zeros(len(found.column), np.int64)
    for node in np.flatnonzero(found.column >= 0):
        depth[[found.low[node], found.high[node]]] = depth[node] + 1
    return int(depth.max())


def read_sklearn(classifier: Any) -> Model:
    """The tree of a fitted DecisionTreeClassifier of scikit-learn as a model, to be looked at and compared.

    Parameters
    ----------
    classifier : sklearn.tree.DecisionTreeClassifier
        Of one target.

    Returns
    -------
    Model
        Both its trees are the same. All attributes are continuous; without names they are called x0, x1 and so on, as
        those of arrays are. scikit-learn rounds values to float32 before it compares them, the model does not; and an
        unknown value goes down both branches here.

    Raises
    ------
    OptionError
        When it is no such classifier, or not fitted.
    """
    learned: Any = getattr(classifier, "tree_", None)
    if not hasattr(learned, "children_left") or learned.n_outputs != 1 or not hasattr(classifier, "classes_"):
        kind = type(classifier).__name__
        raise OptionError(f"{kind} holds no tree of scikit-learn: give a fitted DecisionTreeClassifier of one target")
    names = getattr(classifier, "feature_names_in_", [f"x{i}" for i in range(classifier.n_features_in_)])
    attributes = tuple(Attribute(str(name), "continuous") for name in names)
    schema = Schema(attributes, tuple(str(label) for label in classifier.classes_))
    nodes, pending = [], [0]
    while pending:
        number = pending.pop()
        nodes.append(_node(learned, number))
        if nodes[-1].kind != LEAF:
            pending += [int(learned.children_right[number]), int(learned.children_left[number])]
    tree = tree_of(nodes)
    return Model(schema, tree, tree, {"compat": None}, {"source": "scikit-learn", "cases": float(tree.weight[0])})


def _node(learned: Any, number: int) -> Node:
    weight, parts = float(learned.weighted_n_node_samples[number]), learned.value[number, 0]
    class_weights = parts / parts.sum() * weight
    label = int(np.argmax(parts))
    node = Node(LEAF, label, weight, weight - float(class_weights[label]), class_weights.tolist())
    if learned.children_left[number] < 0:
        return node
    attribute, threshold = int(learned.feature[number]), float(learned.threshold[number])
    return node._replace(kind=THRESHOLD, attribute=attribute, threshold=threshold, n_branches=2)
