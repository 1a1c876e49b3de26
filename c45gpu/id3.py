"""ID3 as a scikit-learn estimator: Quinlan's learner before C4.5; here, as in :mod:`.estimator`, a case is a sample."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from c45gpu.data.table import Table
from c45gpu.errors import DataError
from c45gpu.estimator import C45Classifier


class ID3Classifier(C45Classifier):
    """An ID3 decision tree: tests maximise the gain, features are discrete, and nothing is pruned (Quinlan 1986).

    Texts, categories, truth values and whole numbers are discrete values. A feature with other numbers is refused, as
    ID3 has no thresholds: make bins of it first, ``make_pipeline(EqualWidthDiscretizer(), ID3Classifier())``. Unknown
    values are refused, too, when fitting and when predicting. A value that no training sample has is answered for by
    all branches, each as often as it was taken in training. A subtree that gets no more training samples right than
    its root would as a leaf is a leaf.

    Parameters
    ----------
    max_depth : int or None
        Edges on the longest path.
    min_samples_split : int
        A node of less weight is a leaf, in samples; 2 or more.
    min_samples_leaf : int
        Every branch that holds samples has this weight; 1 asks for nothing.
    class_weight : dict, "balanced" or None
        Weights of the classes by label; see :class:`~c45gpu.estimator.C45Classifier`.
    engine : str
        What grows the tree, "auto" or the name of an engine. The tree does not depend on it.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features,)
        Where the features of `X` have names.
    model_ : Model
        The tree with its schema, for :func:`c45gpu.save`.
    tree_ : Tree
    """

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        engine: str = "auto",
    ) -> None:
        super().__init__(
            "gain",
            min_cases=1,
            prune=False,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            class_weight=class_weight,
            engine=engine,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags

    def _table(self, X: Any, *, reset: bool, **how: Any) -> Table:
        """Every column as a discrete attribute.

        Raises
        ------
        DataError
            When a value is unknown, or a feature is continuous.
        """
        as_it_is = super()._table(X, reset=reset)
        numbers = [a for a in as_it_is.schema.used if as_it_is.schema.attributes[a].kind == "continuous"]
        for a in as_it_is.schema.used:
            _require_discrete(as_it_is, a)
        if reset:
            how["categorical"] = numbers
        return super()._table(X, reset=reset, **how)


def _require_discrete(table: Table, attribute: int) -> None:
    name, column = table.schema.attributes[attribute].name, table.column(attribute)
    if column.dtype.kind != "f":
        if (column < 0).any():
            raise DataError(_no_unknown(name, int((column < 0).argmax())))
        return
    if np.isnan(column).any():
        raise DataError(_no_unknown(name, int(np.isnan(column).argmax())))
    broken = ~np.isfinite(column) | (column != np.floor(column))
    if broken.any():
        raise DataError(
            f"feature {name!r} is continuous (it has the value {column[broken][0]}) and ID3 takes discrete features "
            "only: make bins first, as in make_pipeline(EqualWidthDiscretizer(), ID3Classifier())"
        )


def _no_unknown(name: str, sample: int) -> str:
    return (
        f"feature {name!r} contains NaN or None in sample {sample + 1}, and ID3 has no unknown values: "
        "fill them in, or take C45Classifier"
    )
