"""The protocol of an engine, and which engine "auto" picks."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from c45gpu.data.table import Floats, Table
from c45gpu.errors import EngineError
from c45gpu.kernels.level import Bools, Candidates, Children, Frontier, Instances, Int64s, Problem, Splits, Taken
from c45gpu.model.predict import class_frequencies
from c45gpu.model.soft import SoftThresholds
from c45gpu.model.tree import Tree

# Cases times attributes. In a fresh process `c45gpu train` takes less time with compiled kernels from 200,000 to
# 580,000 on, by the table: bench_crossover.py, results/crossover.json. The least, as later fits load no kernels.
CROSSOVER_VALUES = 200_000

# As many values as a GPU is first asked for by "auto". An estimate until bench/device_check.py has measured it, on the
# safe side: from here on the CPU engine takes seconds, and loading CuPy and compiled kernels takes a few at most.
CUDA_CROSSOVER_VALUES = 20_000_000
CUDA_VALUE_BYTES = 16  # of device memory for each value; where there are fewer, "auto" stays with the CPU


ENGINES = ("reference", "cpu", "cuda")


class Changes(NamedTuple):
    """How class weights at leaves would change; rows in the order of `pair`, then `leaf`, none without a change.

    Attributes
    ----------
    hopeless : ndarray of bool, shape (pairs,)
        The engine gave up on a pair, since the errors at its leaves would rise by more than was allowed for. It has
        no rows then. An engine need not give up.
    pair : ndarray of int64, shape (r,)
        Which of the pairs asked for.
    leaf : ndarray of int64, shape (r,)
        A leaf of that pair's branch.
    units : ndarray of int64, shape (r, C)
        Added to its class weights.
    """

    hopeless: Bools
    pair: Int64s
    leaf: Int64s
    units: Int64s


class Pairs(NamedTuple):
    """Nodes, and for each a branch that may take its place; no subtree of a top overlaps another's.

    Attributes
    ----------
    top, branch : ndarray of int64, shape (pairs,)
        Node numbers, tops ascending.
    allowed : ndarray of int64, shape (pairs,)
        By how many units the errors at the branch's leaves may rise for the answer to be of use.
    """

    top: Int64s
    branch: Int64s
    allowed: Int64s


class PlacedCases(Protocol):
    """The training cases at the leaves of a tree that is being pruned, where an engine has put them."""

    def known(self, tree: Tree) -> Int64s:
        """For each entry of ``tree.branch`` the units of the cases that take it with a known value.

        `tree` is the placed tree with the cuts and raises made since, here and below.
        """

    def cut(self, nodes: Int64s) -> None:
        """The cases below these nodes are at them from now on: they became leaves."""

    def send(self, tree: Tree, units: Int64s, pairs: Pairs) -> Changes:
        """What the leaves below each branch would gain if all cases of its top were sent down it.

        `units` is the class weights at the tree's nodes.
        """

    def raise_branches(self, tree: Tree, pairs: Pairs) -> Int64s:
        """Do what :meth:`send` asks about: all cases of each top are at the leaves of its branch from now on.

        Returns what :meth:`known` returns, brought up to date below the branches.
        """


class Judging(NamedTuple):
    """A tree that is being pruned by errors, and what is known of its nodes; the arrays change in place.

    Attributes
    ----------
    tree : Tree
        Its `kind`, `label` and `branch` change as branches are cut and raised.
    units : ndarray of int64, shape (n, C)
        Class weights.
    estimate : ndarray of float64, shape (n,)
        Estimated errors of what is at and below a node that has been judged.
    entry : ndarray of int64, shape (n,)
        Where ``tree.branch`` holds the node; negative for the root.
    confidence, least_rise : float
        See :mod:`c45gpu.estimates`; the least rise is 0 where nothing can be concluded from it.
    case_units : int
        Units of a case.
    raising : bool
        Whether a branch may take the place of its parent.
    """

    tree: Tree
    units: Int64s
    estimate: Floats
    entry: Int64s
    confidence: float
    least_rise: float
    case_units: int
    raising: bool


@runtime_checkable
class Settling(PlacedCases, Protocol):
    """Placed cases of an engine that prunes whole subtrees by itself, as the host would."""

    def is_little(self, nodes: Int64s) -> Bools:
        """Which subtrees it would prune whole; those below them, too."""

    def settle(self, roots: Int64s, judging: Judging) -> Int64s:
        """Prune the subtrees of some nodes, and return which nodes stand in the places of these then.

        Only the class weights of their leaves need be right before. Nothing changes above.
        """


class Engine(Protocol):
    """Owns the cases of one problem at a time and answers for all open nodes at once.

    Growing calls :meth:`load`, then :meth:`score` and :meth:`choose` (both in batches; :meth:`tables` before choosing,
    where values are grouped) and :meth:`split` for each level. Error-based pruning calls :meth:`place`, then asks the
    :class:`PlacedCases` about many nodes at once.
    Prediction calls :meth:`route`. All engines give the same answers, bit for bit.

    What goes on from a checkpoint splits the root by a test on none of the attributes, see
    :data:`c45gpu.kernels.level.ELSEWHERE`. An engine may take whole levels by itself, see
    :class:`c45gpu.kernels.level_engine.LevelEngine`.
    """

    name: str

    def load(self, problem: Problem) -> Frontier:
        """Take the cases of a problem; the frontier is its root."""

    def distinct(self, attribute: int) -> Floats:
        """Sorted distinct values of the whole column of a continuous attribute (a position among the used ones)."""

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """Units of the known cases of each value and class of a discrete attribute at open nodes; shape (m, V, C)."""

    def choose(self, candidates: Candidates, weight: Int64s) -> Int64s:
        """What :func:`c45gpu.choose.choose` says for each node, given the nodes' weight in units.

        An engine may compile that function or run it elsewhere; it must not have one of its own.
        """

    def split(self, splits: Splits) -> Children:
        """Send the cases of open nodes down the branches; an unknown value down every one that holds known cases."""

    def place(self, tree: Tree) -> PlacedCases:
        """Send all training cases down a tree, to prune it."""

    def route(self, tree: Tree, table: Table) -> npt.NDArray[np.float64]:
        """Class frequencies of cases to be predicted; see :func:`c45gpu.model.predict.class_frequencies`."""

    def close(self) -> None:
        """Let go of the cases and of all memory."""


class LocalEngine(Engine, Protocol):
    """An engine that can be one of several which share a problem's attributes, or its cases.

    Each has all cases and some attributes, and is given the branches that cases take by the others' tests
    (:data:`c45gpu.kernels.level.ELSEWHERE`); or some cases and all attributes, to prune.
    """

    def instances(self, nodes: Int64s) -> Instances:
        """The instances of some open nodes, in ascending order."""

    def taken(self, splits: Splits) -> Taken:
        """Which branches the cases would take by some splits; nothing changes."""

    def hold(self, problem: Problem) -> None:
        """Take the cases of a problem that is only to be placed."""


def available() -> dict[str, str | None]:
    """The engines by name, each with the reason why it cannot be used here, None if it can."""
    return {"reference": None, "cpu": None, "cuda": _missing_for_cuda()}


def _missing_for_cuda() -> str | None:
    from c45gpu.kernels.cuda_device import missing_packages

    if missing_packages():
        return missing_packages()
    from c45gpu.kernels.cuda_card import missing

    return missing()


def pick(name: str, n_values: int) -> str:
    """The engine that a name means for so many values (cases times attributes).

    "auto" is the reference engine up to :data:`CROSSOVER_VALUES`, the cuda engine above :data:`CUDA_CROSSOVER_VALUES`
    where a GPU can be used that has room for the values, and the cpu engine otherwise.

    Raises
    ------
    EngineError
        For an unknown name.
    """
    if name == "auto":
        if n_values <= CROSSOVER_VALUES:
            return "reference"
        return "cuda" if n_values > CUDA_CROSSOVER_VALUES and _cuda_holds(n_values) else "cpu"
    if name not in ENGINES:
        raise EngineError(f"there is no engine {name!r}: choose one of {', '.join(['auto', *ENGINES])}")
    return name


def frequencies_in_place(tree: Tree, table: Table, soft: SoftThresholds | None = None) -> npt.NDArray[np.float64]:
    """Class frequencies of cases, found on the GPU that the table is on, if that can be used, else on the host.

    Soft thresholds are always looked at on the host.

    Returns
    -------
    ndarray of float64, shape (n_cases, n_classes)
        On the host, see :func:`c45gpu.model.predict.class_frequencies`.
    """
    if soft is not None or not table.is_on_device or _missing_for_cuda() is not None:
        return class_frequencies(tree, table, soft)
    engine = open_engine("cuda", table.n_cases)
    try:
        return engine.route(tree, table)
    finally:
        engine.close()


def _cuda_holds(n_values: int) -> bool:
    if _missing_for_cuda() is not None:
        return False
    from c45gpu.kernels.cuda_card import free_memory

    return n_values * CUDA_VALUE_BYTES <= free_memory()


def open_engine(name: str, n_values: int, threads: int | None = None) -> LocalEngine:
    """The engine that :func:`pick` picks, ready for work; `threads` is how many the cpu engine takes, if not all.

    Raises
    ------
    EngineError
        For an unknown name, or an engine that cannot be used here.
    """
    name = pick(name, n_values)
    if name == "reference":
        from c45gpu.kernels.reference import ReferenceEngine

        return ReferenceEngine()
    if name == "cpu":
        from c45gpu.kernels.cpu import CpuEngine

        return CpuEngine(threads)
    reason = _missing_for_cuda()
    if reason is not None:
        raise EngineError(f"engine='cuda' {reason}")
    from c45gpu.kernels.cuda import CudaEngine

    return CudaEngine()
