"""How well a model does on cases that lie on the workers of a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from c45gpu.show.document import Judged
from c45gpu.show.verdict import judged

if TYPE_CHECKING:
    from distributed import Client

    from c45gpu.dask.rows import RowParts
    from c45gpu.data.table import Table
    from c45gpu.model.evaluate import Evaluation
    from c45gpu.model.store import Model


def judged_on(client: Client, model: Model, rows: RowParts) -> Judged:
    """Both trees of a model, held against the classes of all cases, each part where it is.

    What the trees say of each case stays there: the frequencies have no rows.
    """
    there = client.scatter(model, broadcast=True, hash=False)
    found: list[Judged] = client.gather(client.map(_verdict, rows.parts, model=there, pure=False))
    before, after = _together([one.before for one in found]), _together([one.after for one in found])
    return replace(found[0], before=before, after=after)


def _verdict(table: Table, model: Model) -> Judged:
    whole, none = judged(model, table), np.empty((0, model.schema.n_classes))
    return replace(whole, frequencies_before=none, frequencies_after=none)


def _together(parts: list[Evaluation]) -> Evaluation:
    confusion = np.sum([part.confusion for part in parts], axis=0)
    return replace(parts[0], n_cases=sum(part.n_cases for part in parts), confusion=confusion)
