"""Production rules as a scikit-learn estimator; here, as in :mod:`.estimator`, a case is a sample."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from c45gpu.data.table import Table
from c45gpu.estimator import C45Classifier, FromDtype
from c45gpu.induction.options import Criterion
from c45gpu.rules.derive import derive_from_model
from c45gpu.rules.rule import RuleSet


class C45Rules(C45Classifier):
    """An ordered list of rules, made of the paths of an unpruned C4.5 tree.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}
        What the chosen tests of the tree maximise.
    min_cases : int
        At least two branches of a test must have this weight.
    confidence : float
        The confidence of the rules' pessimistic errors, above 0 and at most 1. Smaller gives more general rules.
    redundancy : float
        By how much features tell the same as others; more makes long rules cheaper.
    categorical_features : "from_dtype", sequence of int or str, mask of bool, or None
        See :class:`~c45gpu.estimator.C45Classifier`.
    compat : "r8" or None
        Read values, place cuts and take -999 for unknown as release 8 of the original does.
    engine : str
        What grows the tree, "auto" or the name of an engine. The rules do not depend on it.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features,)
        Where the features of `X` have names.
    rules_ : RuleSet
        The rules, which print in the original's layout and know how to export themselves.
    model_ : Model
        The tree that the rules were made of.
    """

    def __init__(
        self,
        criterion: Criterion = "gain_ratio",
        *,
        min_cases: int = 2,
        confidence: float = 0.25,
        redundancy: float = 1.0,
        categorical_features: FromDtype | npt.ArrayLike | None = "from_dtype",
        compat: Literal["r8"] | None = None,
        engine: str = "auto",
    ) -> None:
        super().__init__(
            criterion,
            min_cases=min_cases,
            confidence=confidence,
            prune=False,
            categorical_features=categorical_features,
            compat=compat,
            engine=engine,
        )
        self.redundancy = redundancy

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Grow a tree and make rules of it.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            NaN and None are unknown.
        y : array_like, shape (n_samples,)
            Labels: numbers, texts or truth values.
        sample_weight : array_like, shape (n_samples,), optional
            Finite and not negative; a sample of weight 0 counts as absent.

        Returns
        -------
        C45Rules
            Itself.

        Raises
        ------
        DataError
            When the samples cannot be used as they are; it is a ValueError.
        OptionError
            When a parameter is out of range; it is a ValueError.
        """
        table = self._learn(X, y, sample_weight)
        self.rules_: RuleSet = derive_from_model(self.model_, table, redundancy=self.redundancy).rule_set
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each sample: that of the first rule that fires, else the default.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in training. An unknown value satisfies no condition.

        Returns
        -------
        ndarray, shape (n_samples,)
            Of `classes_`.
        """
        table = self._asked(X)
        labels: npt.NDArray[Any] = self.classes_[self.rules_.predict(table)]
        return labels

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class for each sample.

        The class of the rule that fires gets the rule's confidence, the others share the rest as they are frequent; see
        :func:`c45gpu.rules.use.probabilities`.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in training.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        table = self._asked(X)
        return self.rules_.predict_proba(table)

    def explain(self, X: Any) -> list[str]:
        """The rule that fires for each sample, as a sentence.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in training.

        Returns
        -------
        list of str
            Such as ``if humidity > 75.0 and outlook = sunny then no (63.0%)``, or ``otherwise yes`` where none fires.
        """
        from c45gpu.rules.export import sentences

        table = self._asked(X)
        said = sentences(self.rules_)
        return [said[rule] for rule in self.rules_.fired(table).tolist()]

    def __str__(self) -> str:
        return str(self.rules_) if hasattr(self, "rules_") else repr(self)

    def _asked(self, X: Any) -> Table:
        check_is_fitted(self)
        return self._table(X, reset=False, schema=self.rules_.schema, unseen=self.unseen)
