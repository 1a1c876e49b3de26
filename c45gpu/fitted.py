"""What scikit-learn's users ask of a tree that has been fitted; a case is a sample and an attribute a feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from c45gpu.data.table import Table
from c45gpu.data.values import Unseen
from c45gpu.kernels.engine import frequencies_in_place
from c45gpu.model.decide import smoothed
from c45gpu.model.importance import Importance, importances
from c45gpu.model.paths import nodes_above
from c45gpu.model.predict import Shares, leaf_shares, predicted_classes
from c45gpu.model.store import Model
from c45gpu.model.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


Int64s = npt.NDArray[np.int64]


class FittedTree:
    """The questions; whoever asks them has a model and makes tables of samples."""

    model_: Model
    classes_: npt.NDArray[Any]
    laplace: bool
    unseen: Unseen

    if TYPE_CHECKING:

        def _table(self, X: Any, *, reset: bool, **how: Any) -> Table: ...

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each sample.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in training; values never seen there are unknown.

        Returns
        -------
        ndarray, shape (n_samples,)
            Of `classes_`.
        """
        classes = predicted_classes(self.predict_proba(X), self.model_.costs)
        labels: npt.NDArray[Any] = self.classes_[classes]
        return labels

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class for each sample.

        A sample whose value is unknown where the tree asks for it goes down every branch, in fractions.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in training.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        table = self._asked_about(X)
        tree = smoothed(self.tree_) if self.laplace else self.tree_
        return frequencies_in_place(tree, table, self.model_.soft)

    @property
    def tree_(self) -> Tree:
        """The pruned tree."""
        return self.model_.pruned

    @property
    def unpruned_tree_(self) -> Tree:
        """The tree as grown."""
        return self.model_.unpruned

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The share of all information that the tests of each feature gain; shape (n_features,), sums to 1."""
        return self.importances()

    def importances(self, kind: Importance = "gain") -> npt.NDArray[np.float64]:
        """How important each feature is in the pruned tree.

        Parameters
        ----------
        kind : {"gain", "count"}
            The share of all information that the tests of the feature gain, or the share of the tests.

        Returns
        -------
        ndarray of float64, shape (n_features,)
            They sum to 1, or to 0 where the tree is a leaf.
        """
        check_is_fitted(self)
        return importances(self.tree_, len(self.model_.schema.attributes), kind)

    def get_depth(self) -> int:
        """How deep the pruned tree is.

        Returns
        -------
        int
            Edges on its longest path.
        """
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """How many leaves the pruned tree has.

        Returns
        -------
        int
            Empty leaves included.
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """The leaf that each sample reaches with the greatest share, the first of equals.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in training.

        Returns
        -------
        ndarray of int64, shape (n_samples,)
            Node numbers of `tree_`. Where unknown values send a sample to several leaves, :meth:`leaf_weights` has all.
        """
        found, _ = self._shares(X)
        order = np.lexsort((found.leaves, -found.shares, found.cases))
        first = np.unique(found.cases[order], return_index=True)[1]
        return found.leaves[order][first]

    def leaf_weights(self, X: Any) -> csr_matrix:
        """The share with which each sample reaches each leaf.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in training.

        Returns
        -------
        csr_matrix of float64, shape (n_samples, n_nodes)
            Columns are node numbers of `tree_`; a row sums to 1 but for rounding.
        """
        found, n_cases = self._shares(X)
        return self._by_node(n_cases, found.cases, found.leaves, found.shares)

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes that each sample, or a part of it, goes through.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in training.

        Returns
        -------
        csr_matrix of int64, shape (n_samples, n_nodes)
            1 where sample i goes through node j of `tree_`.
        """
        found, n_cases = self._shares(X)
        pair, nodes = nodes_above(self.tree_, found.leaves)
        reached = self._by_node(n_cases, found.cases[pair], nodes, np.ones(len(nodes), np.int64))
        reached.data[:] = 1
        return reached

    def explain(self, X: Any) -> list[Any]:
        """Why each sample is given its label.

        Parameters
        ----------
        X : array_like or data frame, shape (n_samples, n_features)
            Features as in training.

        Returns
        -------
        list of Explanation
            ``str()`` of one is in words; see :func:`c45gpu.explain`.
        """
        from c45gpu.explanation import explain

        return explain(self, self._asked_about(X))

    def _shares(self, X: Any) -> tuple[Shares, int]:
        table = self._asked_about(X)
        return leaf_shares(self.tree_, table, self.model_.soft), table.n_cases

    def _by_node(self, n_cases: int, cases: Int64s, nodes: Int64s, data: npt.NDArray[Any]) -> csr_matrix:
        from scipy.sparse import coo_matrix

        return coo_matrix((data, (cases, nodes)), (n_cases, self.tree_.n_nodes)).tocsr()

    def _asked_about(self, X: Any) -> Table:
        """The samples of a question as a table, read as the model reads."""
        check_is_fitted(self)
        table = self._table(X, reset=False, schema=self.model_.schema, unseen=self.unseen)
        return table.as_release8() if self.model_.options["compat"] else table
