"""Why a case is given its class, in words: the path, the shares where a value is unknown, and what would change it."""

from __future__ import annotations

from typing import Any

import numpy as np

from c45gpu.exchange.encoded import table_of
from c45gpu.exchange.exported import model_of
from c45gpu.explanation.asked import Asked
from c45gpu.explanation.nearest import nearest_change
from c45gpu.explanation.told import Change, Explanation, Reached, Step
from c45gpu.model.decide import smoothed
from c45gpu.model.predict import frequencies_of_shares, leaf_probabilities, leaf_shares, predicted_classes
from c45gpu.model.route import branches_taken
from c45gpu.rules.export import in_words

__all__ = ["Change", "Explanation", "Reached", "Step", "explain"]


def explain(model: Any, X: Any, *, leaves: int = 5, unpruned: bool = False) -> list[Explanation]:
    """Why cases are given their classes.

    Parameters
    ----------
    model : Model or fitted C45Classifier
        What is asked.
    X : Table, data frame or array_like, n cases
        With the attributes of the model.
    leaves : int
        How many leaves are told of a case that divides.
    unpruned : bool
        By the tree as grown, not the pruned one.

    Returns
    -------
    list of Explanation
        One for each case; ``str()`` of it is in words.

    Raises
    ------
    DataError
        When the cases do not fit the model.
    OptionError
        When there is no tree in the model, or a classifier predicts by soft thresholds.
    """
    kept = model_of(model)
    table = table_of(kept, X)
    tree = kept.unpruned if unpruned else kept.pruned
    says = smoothed(tree) if getattr(model, "laplace", False) else tree
    found = leaf_shares(tree, table)
    frequencies = frequencies_of_shares(says, *found, table.n_cases)
    classes = predicted_classes(frequencies, kept.costs).tolist()
    first = np.searchsorted(found.cases, np.arange(table.n_cases + 1))
    labels = predicted_classes(leaf_probabilities(says), kept.costs).tolist()
    asked = Asked(tree, kept.schema, table, labels)
    explained = []
    for case in range(table.n_cases):
        here = slice(first[case], first[case + 1])
        shares, at = found.shares[here], found.leaves[here]
        order = np.argsort(-shares, kind="stable")
        reached = tuple(_reached(asked, case, int(at[i]), float(shares[i])) for i in order[: max(leaves, 1)])
        parts = dict(zip(kept.schema.classes, frequencies[case].tolist(), strict=True))
        home = next((leaf for leaf in at[order].tolist() if asked.labels[leaf] == classes[case]), int(at[order[0]]))
        change = nearest_change(asked, case, home, classes[case])
        label, others = kept.schema.classes[classes[case]], len(at) - len(reached)
        explained.append(Explanation(label, parts, reached, others, change))
    return explained


def _reached(asked: Asked, case: int, leaf: int, share: float) -> Reached:
    tree, steps, left = asked.tree, [], 1.0
    for node, branch, condition in asked.path(leaf):
        taken = branches_taken(tree, asked.table, np.array([node]), np.array([case]))[0]
        if taken < 0:
            left = left * float(tree.weight[tree.branches(node)[branch]]) / float(tree.weight[node])
        attribute = asked.schema.attributes[condition.attribute]
        value = asked.value(case, condition.attribute)
        steps.append(Step(in_words(condition, attribute), value, bool(taken >= 0), left))
    weights = {}
    if tree.weight[leaf] > 0:
        weights = dict(zip(asked.schema.classes, tree.class_weights[leaf].tolist(), strict=True))
    return Reached(tuple(steps), share, asked.schema.classes[asked.labels[leaf]], weights)
