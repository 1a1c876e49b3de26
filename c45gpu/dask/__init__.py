"""C4.5 on a Dask cluster: the same tree, bit for bit, from cases that no machine has to hold alone.

Growing works by attributes, pruning by rows. Glossary: a *part* is consecutive rows with all columns, as they were
brought to the cluster; a *share* is some attributes with all rows, on one worker; a *step* is something that several
workers are asked to do at once; a *run* is one tree, an *epoch* of it the time from one loss of a worker to the next.

Importing this package is cheap, as importing :mod:`c45gpu` is: what is named below is fetched when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from c45gpu.lazy import fetched_when_used

if TYPE_CHECKING:
    from c45gpu.dask.estimator import C45Classifier
    from c45gpu.dask.parquet import rows_of_parquet
    from c45gpu.dask.rows import RowParts, rows_of_table
    from c45gpu.dask.train import train_on

__all__ = ["C45Classifier", "RowParts", "rows_of_parquet", "rows_of_table", "train_on"]

_HOME = {
    "C45Classifier": "c45gpu.dask.estimator",
    "RowParts": "c45gpu.dask.rows",
    "rows_of_parquet": "c45gpu.dask.parquet",
    "rows_of_table": "c45gpu.dask.rows",
    "train_on": "c45gpu.dask.train",
}

__getattr__, __dir__ = fetched_when_used(globals(), _HOME)
