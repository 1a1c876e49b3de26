"""The records that cross the seam between the host, who owns the tree, and an engine, which owns the cases.

Glossary: an *open node* is one that may be tested yet; the *frontier* is the nodes of a level in the order of their
parents and branches; an *instance* is a case at a node with the units of weight it has there (a case whose value
was unknown on the way has instances in several nodes); a *used* attribute is one that is not ignored, and attributes
are numbered among the used ones here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from c45gpu.choose import Facts, Settings
from c45gpu.data.table import Table
from c45gpu.grouping import NO_GROUPS

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

ELSEWHERE = -1  # in the place of an attribute that this engine does not have


@dataclass(frozen=True, eq=False)
class Problem:
    """What an engine is given to load.

    Parameters
    ----------
    table : Table
        Training cases, each of positive weight and with a class.
    units : ndarray of int64, shape (n_cases,)
        The cases' weights in units.
    settings : Settings
    facts : Facts
    may_finish : bool
        The engine may grow whole subtrees by itself. Not where the host has a say in every node.
    grouping : int
        How the host has discrete attributes of more than two values tested: NO_GROUPS, GROUPS or ONE_VALUE of
        :mod:`c45gpu.grouping`.
    placed : bool
        The host will have the cases placed, to prune the tree.
    forest : bool
        The host splits the root as it will, into nodes that are to be grown below: the engine does not finish it.
    other_branches : int
        The most branches of a test on an attribute that another engine has; see :class:`Splits`.
    apart : Settings, optional
        Nodes that `settings` makes leaves and these do not are set apart, for another engine to grow below.
    """

    table: Table
    units: Int64s
    settings: Settings
    facts: Facts
    may_finish: bool = True
    grouping: int = NO_GROUPS
    placed: bool = False
    forest: bool = False
    other_branches: int = 2
    apart: Settings | None = None

    @property
    def used(self) -> tuple[int, ...]:
        """Schema numbers of the used attributes."""
        return self.table.schema.used

    @property
    def whole(self) -> bool:
        """Whether no case can ever be divided: units are cases, and no value is unknown."""
        return self.settings.case_units == 1


@dataclass(frozen=True, eq=False)
class Frontier:
    """Nodes that hold cases, fresh from the engine.

    Parameters
    ----------
    class_weights : ndarray of int64, shape (m, C)
        Units of each class at each node.
    open : ndarray of bool, shape (m,)
        The node is to be tested: :func:`c45gpu.choose.is_leaf` says no, and the engine has not finished it by itself.
        The engine holds cases of these only, and numbers them 0, 1, ... when it is asked to score and to split.
    finished : Subtrees, optional
        What the engine grew below nodes of this frontier by itself.
    """

    class_weights: Int64s
    open: Bools
    finished: Subtrees | None = None


@dataclass(frozen=True, eq=False)
class Subtrees:
    """Subtrees that an engine finished by itself; a row for each node that holds cases, parents before branches.

    Parameters
    ----------
    parent : ndarray of int64, shape (r,)
        The row of the parent; of a root -1 - its position in the frontier.
    branch : ndarray of int64, shape (r,)
        Which branch of the parent it is; 0 for a root.
    attribute : ndarray of int64, shape (r,)
        The used attribute that it tests, -1 for a leaf.
    below, above : ndarray of int64, shape (r,)
        As in :class:`Children`.
    class_weights : ndarray of int64, shape (r, C)
        In units.
    """

    parent: Int64s
    branch: Int64s
    attribute: Int64s
    below: Int64s
    above: Int64s
    class_weights: Int64s


@dataclass(frozen=True, eq=False)
class Candidates:
    """The best test of each attribute for some open nodes; every array has shape (m, n_used).

    Parameters
    ----------
    gain : ndarray of int64
        Information that the test gains: H(K) - sum H(k_c) less the same of every branch, over the known cases, with
        H = :func:`c45gpu.formulas.q_log_q`; by another measure the sums of :func:`c45gpu.measures.term` of every
        branch, less those of the node.
    split : ndarray of int64
        Split information: H(W) - H(U) - sum over branches H(branch); unknown is one more branch. By chi-square the
        known weight K instead.
    tries : ndarray of int64
        Cuts tried; 0 for a discrete attribute.
    possible : ndarray of bool
        Two branches have the least weight, and none is too light. Where False the other numbers mean nothing.
    cut : ndarray of int64
        The engine's own name for the cut of a continuous attribute.
    """

    gain: Int64s
    split: Int64s
    tries: Int64s
    possible: Bools
    cut: Int64s

    @classmethod
    def none(cls, m: int, n_used: int) -> Candidates:
        """No possible test anywhere; to be filled in."""
        gain, split, tries = (np.zeros((m, n_used), np.int64) for _ in range(3))
        return cls(gain, split, tries, np.zeros((m, n_used), np.bool_), np.full((m, n_used), -1, np.int64))


@dataclass(frozen=True, eq=False)
class Splits:
    """The tests that the host chose, for open nodes in ascending order; the other open nodes are closed.

    Parameters
    ----------
    node : ndarray of int64, shape (k,)
        Numbers among the open nodes.
    attribute : ndarray of int64, shape (k,)
        Positions among the used attributes; :data:`ELSEWHERE` where another engine has the attribute.
    cut : ndarray of int64, shape (k,)
        From :class:`Candidates`; of no meaning for a discrete attribute.
    group_start : ndarray of int64, shape (k + 1,), optional
        ``group_branch[group_start[i] + code]`` is the branch of a value in split i; where its range is empty, the
        value is the branch, or the test a cut. Without it, all ranges are. Of an attribute elsewhere the range holds
        the branch of each instance, as :class:`Taken` has them.
    group_branch : ndarray of int32, optional
    """

    node: Int64s
    attribute: Int64s
    cut: Int64s
    group_start: Int64s = None  # type: ignore[assignment]  # filled in below
    group_branch: Int32s = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.group_start is None:
            object.__setattr__(self, "group_start", np.zeros(len(self.node) + 1, np.int64))
            object.__setattr__(self, "group_branch", np.zeros(0, np.int32))

    def n_branches(self, of_attribute: Int64s) -> Int64s:
        """The branches of each split, given those of a test without groups on each used attribute."""
        n_branches: Int64s = np.append(of_attribute, 2)[self.attribute]  # what is elsewhere has a range
        grouped = np.diff(self.group_start) > 0
        if grouped.any():
            n_branches[grouped] = np.maximum.reduceat(self.group_branch, self.group_start[:-1][grouped]) + 1
        return n_branches

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True, eq=False)
class Children:
    """What became of the splits.

    Parameters
    ----------
    frontier : Frontier
        The m branches that hold cases, in the order of splits and branches.
    split : ndarray of int64, shape (m,)
        The split that each comes from.
    branch : ndarray of int64, shape (m,)
        Its number among the branches.
    below, above : ndarray of int64, shape (k,)
        For each split on a continuous attribute the ranks of the values on both sides of the cut (the greatest known
        value of the low branch, the least of the high one); -1 for a discrete one.
    """

    frontier: Frontier
    split: Int64s
    branch: Int64s
    below: Int64s
    above: Int64s


@dataclass(frozen=True, eq=False)
class Instances:
    """The instances of some open nodes, in the order of the nodes and, within one, of cases.

    Parameters
    ----------
    case : ndarray of int64, shape (n,)
        Row numbers.
    units : ndarray of int64, shape (n,)
    start : ndarray of int64, shape (k + 1,)
        The instances of node i are start[i] .. start[i + 1] - 1.
    """

    case: Int64s
    units: Int64s
    start: Int64s


@dataclass(frozen=True, eq=False)
class Taken:
    """Which branches the cases of nodes take by the tests of some splits.

    Parameters
    ----------
    branch : ndarray of int32, shape (n,)
        Of each instance of the nodes, in the order of :class:`Instances`; -1 where the value is unknown.
    below, above : ndarray of int64, shape (k,)
        As in :class:`Children`.
    """

    branch: Int32s
    below: Int64s
    above: Int64s
