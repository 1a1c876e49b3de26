"""The attributes in the hands of the workers, as the client sees them: who owns which, and what all are asked."""

from __future__ import annotations

from uuid import uuid4

import numpy as np
import numpy.typing as npt

from c45gpu.dask import steps
from c45gpu.dask.cluster import Cluster, Task
from c45gpu.dask.peers import Place
from c45gpu.dask.placed import Ready, are_little, columns_to_send
from c45gpu.dask.share import Parted
from c45gpu.dask.shares import balanced
from c45gpu.dask.together import agreed, side_by_side
from c45gpu.induction.grow import BATCH_BYTES, CANDIDATE_BYTES
from c45gpu.kernels.level import Candidates, Int64s, Problem, Splits


class Owned:
    """All shares of a run. Every method raises :class:`.faults.Lost` with a worker.

    Parameters
    ----------
    cluster : Cluster
    ready : Ready
    engine : str
        What each worker scores its attributes with.

    Attributes
    ----------
    owners : list of (str, ndarray)
        Workers, and the attributes of each; positions among the used ones.
    plan : Plan
    root : Parted
    """

    root: Parted
    plan: steps.Plan

    def __init__(self, cluster: Cluster, ready: Ready, engine: str) -> None:
        self._cluster, self._ready, self._engine = cluster, ready, engine
        self._run, self._epoch, self._step = uuid4().hex, 0, 0
        self.owners: list[tuple[str, Int64s]] = []
        self._candidates: list[Candidates] = []
        self._n_bytes, self._sorted, self._ordered = 0, False, False

    def build(self, problem: Problem, small: int) -> None:
        """Give every worker its share of the attributes; nodes up to `small` cases will be kept apart."""
        workers, ready, used = self._cluster.workers(), self._ready, np.array(problem.used, np.int64)
        self._epoch += 1
        self.plan = steps.Plan(
            place=Place(self._run, self._epoch),
            problem=problem,
            unit_bits=ready.unit_bits,
            small=small,
            engine=self._engine,
            n_values=sum(ready.n_cases) * -(-len(used) // len(workers)),
            batch=BATCH_BYTES // (CANDIDATE_BYTES * max(1, len(used))),
            seconds=self._cluster.seconds / 2,
        )
        shares = balanced(ready.costs, list(workers.values()))
        owners = [(w, owned) for w, owned in zip(workers, shares, strict=True) if len(owned)]
        self.owners = owners or [(next(iter(workers)), np.zeros(0, np.int64))]
        tasks, all_parts = [], range(len(ready.parts))
        for worker, owned in self.owners:
            columns = columns_to_send(self._cluster, ready, problem, owned, all_parts)
            tasks.append(Task(worker, steps.build, (self.plan, owned, columns)))
        levels = self._done(tasks)
        roots = [level.parted for level in levels if isinstance(level.parted, Parted)]
        self.root = agreed(roots[0], [root.digest() for root in roots])
        self._sorted = all(level.sorted for level in levels)
        self._ordered = self._sorted and problem.placed and are_little(ready, np.arange(len(used)))

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""
        parts = self._candidates
        if first > 0 or len(parts) < len(self.owners) or any(len(part.gain) < stop for part in parts):
            place = self.plan.place
            parts = self._cluster.step(Task(w, steps.score, (place, first, stop)) for w, _ in self.owners)
        whole = side_by_side(stop - first, self.owners, parts)
        self._n_bytes += sum(x.nbytes for x in (whole.gain, whole.split, whole.tries, whole.possible, whole.cut))
        return whole

    def candidate_bytes(self) -> int:
        """Bytes of candidates that came here since this was asked last."""
        n_bytes, self._n_bytes = self._n_bytes, 0
        return n_bytes

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """See :meth:`c45gpu.kernels.engine.Engine.tables`."""
        worker, k = next((w, np.searchsorted(owned, attribute)) for w, owned in self.owners if attribute in owned)
        tables: Int64s = self._cluster.step([Task(worker, steps.tables, (self.plan.place, int(k), first, stop))])[0]
        return tables

    def level(self, splits: Splits, threshold: npt.NDArray[np.float64] | None = None) -> list[steps.Level]:
        """Split on all workers with shares; with the thresholds a level is split again."""
        own = [np.flatnonzero(np.isin(splits.attribute, owned)) for _, owned in self.owners]
        tellers = [(w, which) for (w, _), which in zip(self.owners, own, strict=True) if len(which)]
        self._step += 1
        tasks = [
            Task(w, steps.level, (self.plan, self._step, splits, self.team(tellers), which, threshold))
            for (w, _), which in zip(self.owners, own, strict=True)
        ]
        return self._done(tasks)

    def team(self, tellers: list[tuple[str, Int64s]]) -> steps.Team:
        """Who has what."""
        return steps.Team(self.owners, tellers, self._sorted, self._ordered)

    @property
    def with_order(self) -> str | None:
        """The worker that knows the order of cases by leaf, as far as one does; None where it is of no use."""
        return self.owners[0][0] if self.owners and self._ordered else None

    @property
    def run(self) -> str:
        """What all that workers hold is known by."""
        return self._run

    def _done(self, tasks: list[Task]) -> list[steps.Level]:
        """Do a step, and keep the candidates that come with it until they are asked for."""
        levels: list[steps.Level] = self._cluster.step(tasks)
        self._candidates = [level.candidates for level in levels if level.candidates is not None]
        return levels
