"""The estimator on a Dask cluster: :class:`c45gpu.C45Classifier`, trained on and asked about Dask's collections."""

from __future__ import annotations

import inspect
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from c45gpu import estimator
from c45gpu.dask.ask import asked, fraction_right
from c45gpu.dask.connect import current_client
from c45gpu.dask.partitions import cut_by_rows, is_collection, pieces_of
from c45gpu.dask.rows import Pieces, RowParts, rows_of_table
from c45gpu.data.classweights import balanced
from c45gpu.samples import sum_to_one

if TYPE_CHECKING:
    from distributed import Client, Future


class C45Classifier(estimator.C45Classifier):
    """A C4.5 decision tree, trained on a Dask cluster: the same tree that one machine would have grown.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; the current client if absent. It is not pickled.
    **parameters
        Those of :class:`c45gpu.C45Classifier`. `engine` is what each worker uses.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, model_, tree_, unpruned_tree_
        As :class:`c45gpu.C45Classifier` has them; so are the methods that are not told below.
    """

    def __init__(self, client: Client | None = None, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.client = client

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow and prune a tree.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, array_like or data frame, shape (n_samples, n_features)
            What is in the memory of this process is sent to the workers. Collections that took long to make, or that
            are cut from one another, are best persisted before.
        y : collection of Dask's or array_like, shape (n_samples,)
            Labels. A collection has as many partitions as `X`, row for row.
        sample_weight : collection of Dask's or array_like, shape (n_samples,), optional
            How much each sample counts, 1 by default.

        Returns
        -------
        C45Classifier
            Itself.

        Raises
        ------
        DataError
            When the samples cannot be used as they are; it is a ValueError.
        EngineError
            When there is no cluster, or it lost what it cannot make again.
        MemoryPlanError
            When a worker's memory limit would not hold what it would have to.
        OptionError
            When a parameter is out of range; it is a ValueError.
        """
        from c45gpu.dask.plan import require_room
        from c45gpu.dask.train import train_on

        client, options = current_client(self.client), self._options()
        if is_collection(X):
            rows = self._rows(client, X, y, sample_weight)
        else:
            rows = rows_of_table(client, self._training_table(X, y, sample_weight))
        require_room(client, rows, options, self.engine)
        self.model_ = train_on(
            client,
            rows,
            options,
            self.engine,
            costs=self._cost_matrix(),
            checkpoint=self.checkpoint,
            every=self.checkpoint_every,
        )
        self._sent: dict[str, Future] = {}
        return self

    def predict(self, X: Any) -> Any:
        """The label of each sample.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, array_like or data frame, shape (n_samples, n_features)
            Features as in training.

        Returns
        -------
        dask.array.Array, dask.dataframe.Series or ndarray, shape (n_samples,)
            Of an array an array and of a data frame a column, both yet to be computed, each partition where it is;
            NumPy's array for what is in memory.
        """
        return self._asked("predict", X) if is_collection(X) else super().predict(X)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class for each sample.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, array_like or data frame, shape (n_samples, n_features)
            Features as in training.

        Returns
        -------
        dask.array.Array, dask.dataframe.DataFrame or ndarray of float64, shape (n_samples, n_classes)
            Columns in the order of `classes_`; see :meth:`predict`.
        """
        return self._asked("predict_proba", X) if is_collection(X) else super().predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the samples that are given their label, by weight.

        Parameters
        ----------
        X, y, sample_weight : as in :meth:`fit`
            Computed at once, each partition where it is.

        Returns
        -------
        float
            From 0 to 1.
        """
        if not is_collection(X):
            return float(super().score(X, y, sample_weight))
        return fraction_right(self, X, y, sample_weight)

    def local(self) -> estimator.C45Classifier:
        """The classifier without the cluster.

        Returns
        -------
        c45gpu.C45Classifier
            With the same parameters and, if it is fitted, the same tree.
        """
        twin = estimator.C45Classifier(**{k: v for k, v in self.get_params(deep=False).items() if k != "client"})
        twin.__dict__.update({k: v for k, v in self.__dict__.items() if k.endswith("_")})
        return twin

    def on_workers(self) -> Future:
        """The :meth:`local` classifier on every worker of the cluster, sent there when first asked for.

        Returns
        -------
        distributed.Future
            Of the classifier.
        """
        check_is_fitted(self)
        client = current_client(self.client)
        if client.id not in self._sent:
            self._sent = {client.id: client.scatter(self.local(), broadcast=True, hash=False)}
        return self._sent[client.id]

    def _asked(self, question: str, X: Any) -> Any:
        check_is_fitted(self)
        if hasattr(X, "columns"):  # an array of other width, each partition refuses
            self._require_features(_of_one_row(X), reset=False)
        return asked(self, question, X)

    def _rows(self, client: Client, X: Any, y: Any, weights: Any) -> RowParts:
        self._require_features(_of_one_row(X), reset=True)
        categorical = self.categorical_features
        chosen = None if isinstance(categorical, str) and categorical == "from_dtype" else categorical
        pieces = pieces_of(client, X, y, weights, chosen)
        self.classes_ = pieces.labels()[0]
        check_classification_targets(self.classes_)
        whole, weighing = pieces.whole(), pieces.weighing()
        parts_of_one = weighing is not None and weighing.kind == "f" and sum_to_one(weighing.total)
        times = weighing.positive if weighing is not None and parts_of_one else 1
        return pieces.rows(client, whole, self._factors(pieces, whole), times)

    def _factors(self, pieces: Pieces, whole: Any) -> npt.NDArray[np.float64] | None:
        """What the weights of each class are multiplied by; what a class is given does not depend on the samples."""
        if self.class_weight is None:
            return None
        if self.class_weight == "balanced":
            return balanced(pieces.counts(whole))
        factors: npt.NDArray[np.float64] = compute_sample_weight(self.class_weight, self.classes_)
        return factors

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        return state | {"client": None} | ({"_sent": {}} if "_sent" in state else {})

    def __sklearn_clone__(self) -> Self:
        twin: Self = super(C45Classifier, copy(self)).__sklearn_clone__()
        twin.client = self.client
        return twin


def _of_one_row(X: Any) -> Any:
    """Something in memory that has the features of a collection."""
    X = cut_by_rows(X)
    return X._meta if hasattr(X, "columns") else np.empty((1, X.shape[1]), X.dtype)


def _signature() -> inspect.Signature:
    """The parameters by name, as scikit-learn reads them and a shell completes them."""
    own = inspect.signature(C45Classifier.__init__).parameters
    inherited = inspect.signature(estimator.C45Classifier.__init__).parameters
    named = [p.replace(kind=p.KEYWORD_ONLY) for name, p in inherited.items() if name != "self"]
    return inspect.Signature([own["self"], own["client"], *named], return_annotation=None)


C45Classifier.__init__.__signature__ = _signature()  # type: ignore[attr-defined]
