"""A tree as a treelite model, for tools that serve forests."""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.exchange.exported import Unknown, exported, require_unknown
from c45gpu.exchange.optional import optional
from c45gpu.exchange.two_way import REFUSED, Columns, TwoWay, columns_of, intervals_of_branches, two_way
from c45gpu.model.predict import leaf_probabilities


def to_treelite(model: Any, *, unknown: Unknown = "refuse", unpruned: bool = False) -> Any:
    """A treelite model.

    Treelite has no fractions of a case, so it cannot say what C4.5 does with a case whose value is unknown, or one
    that the tree has no branch for; `unknown` chooses what is done instead.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        Whose tree is written.
    unknown : {"refuse", "most_common"}
        Where a value is unknown that the tree asks for, "refuse" gives the probabilities NaN, "most_common" goes on in
        the branch that most of the training cases took.
    unpruned : bool
        The tree as grown, not the pruned one.

    Returns
    -------
    treelite.Model
        Of the matrix that :func:`c45gpu.exchange.encode` gives; its leaves are the probabilities of the classes, in
        float64.

    Raises
    ------
    MissingPackageError
        When treelite is not installed.
    OptionError
        When there is no tree in the model.
    """
    require_unknown(unknown)
    what = exported(model, unpruned=unpruned)
    tree, columns = what.tree, columns_of(what.tree, what.schema)
    found = two_way(tree, lambda node: intervals_of_branches(tree, columns, node), refuse=unknown == "refuse")
    builder = _builder(len(what.schema.attributes), tree.n_classes)
    rows = leaf_probabilities(tree)
    builder.start_tree()
    for node in range(len(found.column)):
        builder.start_node(node)
        if found.column[node] >= 0:
            _test(builder, found, columns, node)
        else:
            leaf = found.leaf[node]
            builder.leaf([np.nan] * tree.n_classes if leaf == REFUSED else rows[leaf].tolist())
        builder.end_node()
    builder.end_tree()
    return builder.commit()


def _builder(n_attributes: int, n_classes: int) -> Any:
    build = optional("treelite.model_builder")
    return build.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=build.Metadata(
            num_feature=n_attributes,
            task_type="kMultiClf",
            average_tree_output=False,
            num_target=1,
            num_class=[n_classes],
            leaf_vector_shape=(1, n_classes),
        ),
        tree_annotation=build.TreeAnnotation(num_tree=1, target_id=[0], class_id=[-1]),
        postprocessor=build.PostProcessorFunc(name="identity_multiclass"),
        base_scores=[0.0] * n_classes,
    )


def _test(builder: Any, found: TwoWay, columns: Columns, node: int) -> None:
    column, threshold = int(found.column[node]), float(found.threshold[node])
    low, high, unknown_low = int(found.low[node]), int(found.high[node]), bool(found.unknown_low[node])
    children = {"default_left": unknown_low, "left_child_key": low, "right_child_key": high}
    attribute, branches = columns.attribute[column], columns.branch_of_code[column]
    if branches is None:
        builder.numerical_test(attribute, threshold, opname="<=", **children)
        return
    codes = np.flatnonzero((branches <= threshold) | (np.isnan(branches) & unknown_low))
    builder.categorical_test(attribute, category_list=codes.tolist(), category_list_right_child=False, **children)
