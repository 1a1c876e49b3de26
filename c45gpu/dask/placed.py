"""Training cases at the leaves of a tree that is being pruned: every worker has those of its rows.

What is asked about leaves are sums over cases, so the answers of all workers are added up. Where a value is unknown,
the shares of a case depend on all others at a node; then one worker prunes by itself, with all rows and the attributes
that are tested, as it does where these are little.

A worker gives up on a branch when the errors of its own rows alone rise by more than is allowed. That is sound where
rows only add to leaves, as those do that no unknown value divides: the others can only make it worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from distributed import Future
from distributed.comm import get_address_host

from c45gpu.dask import held
from c45gpu.dask.cluster import Cluster, Task
from c45gpu.dask.columns import columns_of
from c45gpu.dask.peers import Place
from c45gpu.induction.options import Options
from c45gpu.kernels.engine import Changes, Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.tree import Tree


class Ready(NamedTuple):
    """Parts that are ready to be learned from.

    Attributes
    ----------
    parts : list of Future
        Of tables.
    near : list of tuple of str
        The workers that each was brought to.
    n_cases : list of int
    unit_bits : int
    unknown : bool
        Whether a value is unknown.
    costs : ndarray of float64, shape (n_used,)
        What each attribute takes of an engine's time.
    types : list of dtype
        Of the column of each used attribute.
    """

    parts: list[Future[Any]]
    near: list[tuple[str, ...]]
    n_cases: list[int]
    unit_bits: int
    unknown: bool
    costs: npt.NDArray[np.float64]
    types: list[np.dtype[Any]]


LITTLE = 1 << 30  # bytes of tested attributes that one worker is given, rather than that all are asked many times


def pruned_by_one(
    cluster: Cluster,
    ready: Ready,
    problem: Problem,
    engine: str,
    tree: Tree,
    options: Options,
    grown: Place,
    with_order: str | None = None,
) -> Tree | None:
    """The tree as one worker prunes it; None if that is work for all. Maybe one knows the order of cases by leaf."""
    tested = np.flatnonzero(np.isin(problem.used, tree.attribute))
    if not ready.unknown and not are_little(ready, tested):
        return None
    workers = cluster.workers()
    worker = with_order if with_order in workers else _with_most_rows(cluster, ready, workers)
    columns = columns_to_send(cluster, ready, problem, tested, range(len(ready.parts)))
    arguments = (
        problem,
        ready.unit_bits,
        tree,
        tested,
        columns,
        engine,
        options,
        grown,
        threads_of_host(workers, worker),
    )
    simple: Tree = cluster.step([Task(worker, held.prune, arguments)])[0]
    return simple


def threads_of_host(workers: dict[str, int], worker: str) -> int:
    """The threads of all workers on the machine of one: the others have nothing else to do than to wait for it."""
    host = get_address_host(worker)
    return sum(threads for address, threads in workers.items() if get_address_host(address) == host)


def _with_most_rows(cluster: Cluster, ready: Ready, workers: Iterable[str]) -> str:
    rows = dict.fromkeys(workers, 0)
    for holders, n_cases in zip(cluster.holders(ready.parts), ready.n_cases, strict=True):
        for worker in set(holders) & set(rows):
            rows[worker] += n_cases
    return max(rows, key=lambda w: rows[w])


def are_little(ready: Ready, attributes: Int64s) -> bool:
    """Whether the columns of some attributes are so small that one worker is given them."""
    of_case: int = sum(ready.types[k].itemsize for k in attributes.tolist())
    return sum(ready.n_cases) * of_case <= LITTLE


def columns_to_send(
    cluster: Cluster, ready: Ready, problem: Problem, attributes: Int64s, numbers: Iterable[int]
) -> list[Future[Any]]:
    """Some attributes of some parts, which stay where these are until a task needs them."""
    some = np.array(problem.used, np.int64)[attributes].tolist()
    return [cluster.submit(columns_of, ready.parts[i], some, near=ready.near[i]) for i in numbers]


class PlacedRows:
    """See :class:`c45gpu.kernels.engine.PlacedCases`. Every method raises :class:`.faults.Lost` with a worker.

    No value may be unknown.

    Parameters
    ----------
    cluster : Cluster
    ready : Ready
    problem : Problem
        Without cases.
    engine : str
        What each worker places its rows with.
    tree : Tree
    """

    def __init__(self, cluster: Cluster, ready: Ready, problem: Problem, engine: str, tree: Tree) -> None:
        self._cluster, self._place = cluster, Place(uuid4().hex, 0)
        self._kind, self._branch = tree.kind.copy(), tree.branch.copy()
        self._units = np.zeros((tree.n_nodes, problem.settings.n_classes), np.int64)
        self._cuts: list[Int64s] = []
        tested = np.flatnonzero(np.isin(problem.used, tree.attribute))
        tasks = []
        for worker, numbers in self._assigned(ready).items():
            columns = columns_to_send(cluster, ready, problem, tested, numbers)
            arguments = (self._place, problem, ready.unit_bits, tree, tested, columns, engine)
            tasks.append(Task(worker, held.hold, arguments))
        self._workers = [task.worker for task in tasks]
        self._known = _sum(cluster.step(tasks))

    def known(self, tree: Tree) -> Int64s:
        """Units of the cases that take each entry of ``tree.branch`` with a known value."""
        return self._known

    def cut(self, nodes: Int64s) -> None:
        """The cases below these nodes are at them from now on; workers are told when they are asked next."""
        self._cuts.append(nodes)

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it."""
        parts = self._asked(held.send, self._news(tree, units), pairs)
        return parts[0] if len(parts) == 1 else merged(parts, tree.n_nodes)

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """Do what :meth:`send` asks about."""
        self._known = _sum(self._asked(held.raise_branches, self._news(tree, self._units), pairs))
        return self._known

    @property
    def run(self) -> str:
        """What all that workers hold is known by."""
        return self._place.run

    def _asked(self, function: Callable[..., Any], news: held.News, pairs: Pairs) -> list[Any]:
        return self._cluster.step(Task(worker, function, (self._place, news, pairs)) for worker in self._workers)

    def _news(self, tree: Tree, units: Int64s) -> held.News:
        cuts, self._cuts = self._cuts, []
        changed = (
            held.Changed.between(old, new)
            for old, new in ((self._kind, tree.kind), (self._branch, tree.branch), (self._units, units))
        )
        return held.News(cuts, *changed)

    def _assigned(self, ready: Ready) -> dict[str, list[int]]:
        """The numbers of each worker's parts: those that it holds, as far as that is even."""
        workers = list(self._cluster.workers())
        rows = dict.fromkeys(workers, 0)
        assigned: dict[str, list[int]] = {worker: [] for worker in workers}
        for i, holders in enumerate(self._cluster.holders(ready.parts)):
            near = [worker for worker in holders if worker in rows] or workers
            worker = min(near, key=lambda w: rows[w])
            assigned[worker].append(i)
            rows[worker] += ready.n_cases[i]
        return {worker: numbers for worker, numbers in assigned.items() if numbers}


def merged(parts: list[Changes], n_nodes: int) -> Changes:
    """The changes by all rows together."""
    hopeless = np.logical_or.reduce([part.hopeless for part in parts])
    key = np.concatenate([part.pair * n_nodes + part.leaf for part in parts])
    keys, inverse = np.unique(key, return_inverse=True)
    units = np.zeros((len(keys), parts[0].units.shape[1]), np.int64)
    np.add.at(units, inverse, np.concatenate([part.units for part in parts]))
    pair = keys // n_nodes
    some = units.any(axis=1) & ~hopeless[pair]
    return Changes(hopeless, pair[some], keys[some] % n_nodes, units[some])


def _sum(arrays: list[Int64s]) -> Int64s:
    total: Int64s = np.sum(arrays, axis=0, dtype=np.int64)
    return total
