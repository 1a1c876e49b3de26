"""What a fitted classifier says of Dask's collections: each partition is asked about where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from c45gpu.dask.partitions import cut_by_rows, rows_together

if TYPE_CHECKING:
    from c45gpu.dask.estimator import C45Classifier


def asked(classifier: C45Classifier, question: str, X: Any) -> Any:
    """What :meth:`predict` or :meth:`predict_proba` says of each partition, to be computed when it is needed.

    Parameters
    ----------
    classifier : c45gpu.dask.C45Classifier
        Fitted.
    question : {"predict", "predict_proba"}
    X : dask.array.Array or dask.dataframe.DataFrame

    Returns
    -------
    dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
    """
    there, labels = classifier.on_workers(), classifier.classes_
    wide = question == "predict_proba"
    if hasattr(X, "columns"):
        of_one = np.zeros((1, len(labels))) if wide else labels[:1]
        empty = _as_frame(of_one, labels, None).iloc[:0].set_axis(X._meta.index[:0], axis="index")
        return X.map_partitions(_of_frame, classifier=there, question=question, empty=empty, meta=empty)
    from dask.array import map_blocks

    rows = cut_by_rows(X)
    shape: dict[str, Any] = {"chunks": (rows.chunks[0], (len(labels),))} if wide else {"drop_axis": 1}
    none = np.empty((0, len(labels)) if wide else 0, np.float64 if wide else labels.dtype)
    how = {"classifier": there, "question": question, "empty": none}
    return map_blocks(_of_block, rows, **how, **shape, dtype=none.dtype, meta=none)


def fraction_right(classifier: C45Classifier, X: Any, y: Any, weights: Any) -> float:
    """The share of the weight of all samples that are given their label."""
    from dask import delayed

    from c45gpu.dask.connect import current_client

    client, there = current_client(classifier.client), classifier.on_workers()
    count = delayed(_right, pure=False)
    found = client.gather(client.compute([count(*rows, there) for rows in rows_together(client, X, y, weights)]))
    right, whole = np.sum(found, axis=0)
    return float(right / whole)


def _of_block(X: Any, classifier: Any, question: str, empty: npt.NDArray[Any]) -> npt.NDArray[Any]:
    answer: npt.NDArray[Any] = getattr(classifier, question)(X) if len(X) else empty
    return answer


def _of_frame(X: Any, classifier: Any, question: str, empty: Any) -> Any:
    return _as_frame(getattr(classifier, question)(X), classifier.classes_, X.index) if len(X) else empty


def _as_frame(answer: npt.NDArray[Any], labels: npt.NDArray[Any], index: Any) -> Any:
    import pandas as pd

    if answer.ndim == 1:
        return pd.Series(answer, index=index, name="predicted")
    return pd.DataFrame(answer, index=index, columns=labels)


def _right(X: Any, y: Any, weights: Any, classifier: Any) -> tuple[float, float]:
    if not len(X):
        return 0.0, 0.0
    hits = classifier.predict(X) == np.asarray(y)
    if weights is None:
        return float(hits.sum()), float(len(hits))
    shares = np.asarray(weights, np.float64)
    return float(shares[hits].sum()), float(shares.sum())
