"""What every export starts from: a tree, what it means, and how it takes values that nobody rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Schema
from c45gpu.errors import OptionError
from c45gpu.model.decide import smoothed
from c45gpu.model.predict import predicted_classes
from c45gpu.model.store import Model
from c45gpu.model.tree import THRESHOLD, Tree
from c45gpu.model.unrounded import float64_threshold, unknown_range

Unknown = Literal["refuse", "most_common"]
UNKNOWN: Final = ("refuse", "most_common")


class Exported(NamedTuple):
    """A tree to be written in another language.

    Parameters
    ----------
    schema : Schema
    tree : Tree
        Its thresholds are for float64 values as they are, even of a model that compares after rounding to float32.
    unknown : tuple of float or None
        The first and the last number that is unknown (what rounds to -999 with compat="r8"); None if NaN alone is.
    costs : ndarray of float64, shape (C, C), or None
        What it costs to take a case of a class (row) for one of another (column).
    """

    schema: Schema
    tree: Tree
    unknown: tuple[float, float] | None
    costs: npt.NDArray[np.float64] | None

    def classes_of(self, probabilities: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
        """The class that each row of probabilities is for."""
        return predicted_classes(probabilities, self.costs)


def exported(model: Any, *, unpruned: bool = False) -> Exported:
    """The tree of a model, ready to be written in another language.

    Of a model with soft thresholds it is the tree with hard ones, which
    :func:`c45gpu.model.predict.class_frequencies` takes unless told otherwise; a classifier that predicts by the soft
    ones is refused.

    Parameters
    ----------
    model : Model or fitted C45Classifier
    unpruned : bool
        The tree as grown, not the pruned one.

    Raises
    ------
    OptionError
        When there is no tree in it, when it answers by rules, or by soft thresholds.
    """
    kept = model_of(model)
    tree = kept.unpruned if unpruned else kept.pruned
    tree = smoothed(tree) if getattr(model, "laplace", False) else tree
    release8 = kept.options.get("compat") == "r8"
    if release8:
        moved = tree.threshold.copy()
        for node in np.flatnonzero(tree.kind == THRESHOLD).tolist():
            moved[node] = float64_threshold(float(moved[node]), release8=True)
        tree = replace(tree, threshold=moved)
    return Exported(kept.schema, tree, unknown_range(release8=release8), kept.costs)


def model_of(model: Any) -> Model:
    """The model in a fitted classifier; a model itself.

    Raises
    ------
    OptionError
        When it is neither, not fitted, or answers by rules, or by soft thresholds.
    """
    if hasattr(model, "rules_"):
        raise OptionError("this answers by rules, not by a tree: export model.rules_, with to_sql or to_python")
    kept = getattr(model, "model_", model)
    if not isinstance(kept, Model):
        kind = type(model).__name__
        raise OptionError(f"{kind} holds no tree: give a fitted C45Classifier, or what c45gpu.load gave")
    if kept is not model and kept.soft is not None:
        raise OptionError(
            "this classifier predicts by soft thresholds, which cannot be said here: give its model_ for the hard ones"
        )
    return kept


def require_unknown(unknown: str) -> None:
    """Refuse what is no way to treat unknown values.

    Raises
    ------
    OptionError
    """
    if unknown not in UNKNOWN:
        raise OptionError(f"unknown={unknown!r} will not do: give 'refuse' or 'most_common'")


def most_common_branches(tree: Tree) -> list[int]:
    """For each node the branch of most weight (0, 1, ...; the first of equals), -1 at leaves."""
    found = []
    for node in range(tree.n_nodes):
        children = tree.branches(node)
        found.append(int(np.argmax(tree.weight[children])) if len(children) else -1)
    return found


def input_names(schema: Schema) -> dict[int, str]:
    """A name for each attribute that is not ignored, where every input needs one: its own, else ``attribute N``."""
    taken = {schema.attributes[a].name for a in schema.used}
    return {a: schema.attributes[a].name or free_name(f"attribute {a}", taken) for a in schema.used}


def free_name(name: str, taken: set[str]) -> str:
    """A name, with underscores behind it until it is new."""
    while name in taken:
        name += "_"
    return name
