"""Grow from cases with weights of their own or unknown values: an unknown value divides a case among the branches.

Nodes whose cases are all undivided are scored with counts, others in units. A level's lists are written anew, since
divided cases make them longer, and each part of the old ones is given up once it is moved (:mod:`.cpu_pages`). Within a
node's range a list may be shorter than the row list::

    rows           |    node A    |  node B  |      with units beside
    attribute 3    |    node A.   |  node B..|      cases with an unknown value are not in the list
                   ^first[0]      ^first[1]
"""

from __future__ import annotations

from collections.abc import Sequence
from queue import Empty, LifoQueue

import numpy as np

from c45gpu.choose import is_leaf
from c45gpu.kernels.cpu_crew import TASKS_PER_WORKER, Crew
from c45gpu.kernels.cpu_divide import divide_parts, move_parts, move_rows
from c45gpu.kernels.cpu_entry import rows_of
from c45gpu.kernels.cpu_finish import Scores
from c45gpu.kernels.cpu_finishing import DepthFirst
from c45gpu.kernels.cpu_grower import CpuGrower
from c45gpu.kernels.cpu_lists import UNKNOWN_CODE, Lists, near_columns
from c45gpu.kernels.cpu_move import DROPPED
from c45gpu.kernels.cpu_pages import PagedLists, paged_lists
from c45gpu.kernels.cpu_parts import (
    Context,
    Divisions,
    Parts,
    Workplace,
    branches_of,
    divisions_of,
    score_parts,
)
from c45gpu.kernels.cpu_plan import require_level
from c45gpu.kernels.cpu_score import new_room
from c45gpu.kernels.cpu_small import joined
from c45gpu.kernels.level import (
    Bools,
    Candidates,
    Children,
    Frontier,
    Instances,
    Int64s,
    Problem,
    Splits,
    Subtrees,
    Taken,
)
from c45gpu.model.tree import ranges


class DividingGrower(CpuGrower):
    """See :class:`c45gpu.kernels.engine.Engine` for the methods."""

    def __init__(self, problem: Problem, crew: Crew, lists: Lists) -> None:
        super().__init__(problem, crew, lists)
        settings = problem.settings
        in_cases = settings._replace(
            min_units=settings.min_units // settings.case_units,
            cap_units=settings.cap_units // settings.case_units,
            leaf_units=settings.leaf_units // settings.case_units,
            case_units=1,
        )
        near_of, near = near_columns(self.problem, self._distinct)
        self._context = Context(self.layout, self.h, settings, in_cases, UNKNOWN_CODE, settings.gap, near_of, near)
        self._paged = PagedLists(self.lists, None)
        self._mark = np.dtype(np.int8 if self.most_branches <= 1 << 7 else np.int32)
        self._units = np.array(problem.units)  # without strides of 0, which would be compiled for apart
        self._places: LifoQueue[Workplace] = LifoQueue()
        self._depth_first = DepthFirst(self)
        self._parts: Parts

    def root(self) -> Frontier:
        """The root."""
        settings, classes = self.problem.settings, self.problem.table.classes
        totals = np.bincount(classes, weights=self._units, minlength=settings.n_classes).astype(np.int64)[None, :]
        counted = np.array([bool((self._units == settings.case_units).all())])
        root = Parts(np.zeros(1, np.int64), self.list_counts[None, :], totals, counted)
        is_open = ~is_leaf(totals.sum(1), totals.max(1), settings)
        self._parts = Parts(*(x[is_open] for x in root))
        return Frontier(totals, is_open) if self.problem.forest else self._advance(totals, is_open)

    def score(self, first: int, stop: int) -> Candidates:
        """The best test of every attribute for the open nodes first..stop-1."""
        candidates = Candidates.none(stop - first, len(self.columns.list_of))
        out = Scores(candidates.gain, candidates.split, candidates.tries, candidates.possible, candidates.cut)
        listed, coded = np.flatnonzero(self.columns.list_of >= 0), np.flatnonzero(self.columns.code_of >= 0)
        # a task for each worker, not for each list: a worker writes a node's units by row once for all of its lists
        groups = [g for g in [*np.array_split(listed, self.crew.size), coded] if len(g)]
        parts = Parts(*(x[first:stop] for x in self._parts))
        shares = self.crew.shares(parts.list_count[:, -1], len(groups) or 1)
        tasks = [
            (Parts(*(x[s] for x in parts)), which, Scores(*(x[s] for x in out))) for s in shares for which in groups
        ]
        self.crew.run(self._score, tasks)
        return candidates

    def tables(self, attribute: int, first: int, stop: int) -> Int64s:
        """Units of the known cases of each value and class of a discrete attribute at open nodes."""
        parts = Parts(*(x[first:stop] for x in self._parts))
        return self.tables_of(attribute, parts.first, parts.list_count[:, -1], self._units)

    def split(self, splits: Splits) -> Children:
        """Send the cases of open nodes down the branches."""
        parts, divisions, shares = self._divided(splits)
        weight = divisions.units.sum(1)
        held = np.flatnonzero(weight > 0)
        is_open = ~is_leaf(weight[held], divisions.units[held].max(1), self.problem.settings)
        split = np.searchsorted(divisions.slot_start, held, side="right") - 1
        ahead = is_open.copy()
        ahead[is_open] = self._depth_first.ahead(parts.list_count[:, -1], split[is_open], divisions.rows[held[is_open]])
        finished = self._finish_ahead(parts, divisions, held, split, np.flatnonzero(ahead)) if ahead.any() else []
        is_open &= ~ahead
        self._move(parts, divisions, held[is_open], shares)
        branch = held - divisions.slot_start[split]
        frontier = self._advance(divisions.units[held], is_open, finished)
        return Children(frontier, split, branch, divisions.below, divisions.above)

    def _advance(self, class_weights: Int64s, is_open: Bools, finished: Sequence[Subtrees] = ()) -> Frontier:
        """Finish the small ones of the open nodes; others may be finished already."""
        chosen = self._depth_first.chosen(self._parts.list_count[:, -1])
        if chosen.any():
            finished = [*finished, *self._finish(np.flatnonzero(chosen), np.flatnonzero(is_open))]
        self._parts = Parts(*(x[~chosen] for x in self._parts))
        remaining = is_open.copy()
        remaining[is_open] = ~chosen
        return Frontier(class_weights, remaining, self._joined(finished) if finished else None)

    def _joined(self, finished: Sequence[Subtrees]) -> Subtrees:
        whole = joined(list(finished))
        self.to_ranks(whole.attribute, whole.below, whole.above)
        return whole

    def _finish_ahead(
        self, parts: Parts, divisions: Divisions, held: Int64s, split: Int64s, ahead: Int64s
    ) -> list[Subtrees]:
        """Finish branches, whose positions in the frontier are given, from the lists of their nodes."""
        depth_first, rows = self._depth_first, divisions.rows[held]
        known, unknown = self._known(parts, divisions, np.unique(split[ahead]))
        known, allowance = known[held], depth_first.allowance()

        def job(positions: Int64s) -> Subtrees:
            s, slots = int(split[positions[0]]), held[positions]
            start, stop = divisions.slot_start[s : s + 2].tolist()
            node = (
                int(parts.first[s]),
                parts.list_count[s],
                branches_of(parts, divisions, s),
                divisions.upto[start:stop],
            )
            counted = divisions.whole[slots] & (rows[positions] < len(self.h))
            roots = slots - start, positions, rows[positions], counted, divisions.units[slots]
            loaded = int(unknown[s] + known[positions].sum())
            with allowance.taken(loaded + int(rows[positions].max())):
                place = self._take_place()
                found = depth_first.finish_ahead((self.lists, self._units), node, roots, loaded, self._context, place)
                self._places.put(place)
            return found

        return self.crew.run(job, [(ahead[s],) for s in depth_first.groups(split[ahead], known[ahead], unknown)])

    def _known(self, parts: Parts, divisions: Divisions, splits: Int64s) -> tuple[Int64s, Int64s]:
        """How many cases are known to take each slot of some splits, and how many of each split are not known."""
        known, unknown = np.zeros(len(divisions.rows), np.int64), np.zeros(len(parts.first), np.int64)
        for s in splits.tolist():
            branch = branches_of(parts, divisions, s)
            taken, slots = branch[branch >= 0], slice(*divisions.slot_start[s : s + 2].tolist())
            known[slots] = np.bincount(taken, minlength=slots.stop - slots.start)
            unknown[s] = len(branch) - len(taken)
        return known, unknown

    def _finish(self, chosen: Int64s, positions: Int64s) -> list[Subtrees]:
        """Finish some open nodes, whose `positions` are in the frontier."""
        count = self._parts.list_count[:, -1]
        chosen = chosen[np.argsort(-count[chosen], kind="stable")]  # the longest tasks first
        tasks = [(chosen[s], positions[chosen[s]]) for s in self.crew.shares(count[chosen])]
        return self.crew.run(self._finish_some, tasks)

    def _finish_some(self, which: Int64s, positions: Int64s) -> Subtrees:
        place = self._take_place()
        parts = Parts(*(x[which] for x in self._parts))
        subtrees = self._depth_first.finish(self._paged, self._units, parts, positions, self._context, place)
        self._places.put(place)
        return subtrees

    def instances(self, nodes: Int64s) -> Instances:
        """The instances of some open nodes."""
        first, count = self._parts.first[nodes], self._parts.list_count[nodes, -1]
        here = ranges(first, first + count)
        return Instances(rows_of(self.lists[-1][here], self.layout), self._units[here], np.cumsum([0, *count]))

    def taken(self, splits: Splits) -> Taken:
        """Which branches the cases would take by some splits."""
        parts, divisions, _ = self._divided(splits)
        here = ranges(parts.first, parts.first + parts.list_count[:, -1])
        return Taken(divisions.branch[here], divisions.below, divisions.above)

    def _divided(self, splits: Splits) -> tuple[Parts, Divisions, list[slice]]:
        """What is split, how, and in which shares for workers."""
        parts = Parts(*(x[splits.node] for x in self._parts))
        divisions = self._blank_divisions(splits)
        shares = self.crew.shares(parts.list_count[:, -1])
        self.crew.run(self._divide, [(Parts(*(x[s] for x in parts)), divisions_of(divisions, s)) for s in shares])
        self.to_ranks(splits.attribute, divisions.below, divisions.above)
        return parts, divisions, shares

    def _blank_divisions(self, splits: Splits) -> Divisions:
        k, slot_start = len(splits), np.concatenate([[0], np.cumsum(splits.n_branches(self.n_branches))])
        slots = int(slot_start[-1])
        return Divisions(
            splits.attribute,
            splits.cut,
            splits.group_start,
            splits.group_branch,
            slot_start,
            upto=np.empty(slots, np.float64),
            branch=np.empty(self.lists.shape[1], self._mark),
            units=np.empty((slots, self.problem.settings.n_classes), np.int64),
            rows=np.empty(slots, np.int64),
            whole=np.empty(slots, np.bool_),
            below=np.full(k, -1, np.int64),
            above=np.full(k, -1, np.int64),
            places=np.full(slots, DROPPED, np.int64),
        )

    def _move(self, parts: Parts, divisions: Divisions, kept: Int64s, shares: list[slice]) -> None:
        """Write the next level's lists, the kept slots one after the other."""
        rows = divisions.rows[kept]
        self._forget_h(rows[divisions.whole[kept]])
        divisions.places[kept] = np.cumsum(rows) - rows
        n_bytes = self.lists.itemsize * len(self.lists) + self._units.itemsize
        require_level(len(self._units), int(rows.sum()), n_bytes)
        out = paged_lists(len(self.lists), int(rows.sum()), self.lists.dtype)
        out_units = np.empty(out.entries.shape[1], np.int64)
        moved = np.zeros((len(divisions.rows), len(self.lists)), np.int64)
        moved[:, -1] = divisions.rows
        # a worker writes the marks of a node once for all of its lists; where there are few nodes, memory goes first
        n_groups = max(self.crew.size, TASKS_PER_WORKER * self.crew.size // max(1, len(shares)))
        groups = [g for g in np.array_split(np.arange(len(self.lists) - 1), n_groups) if len(g)]
        tasks = []
        for s in shares:
            some = (Parts(*(x[s] for x in parts)), divisions_of(divisions, s))
            tasks += [(*some, which, out.entries, out_units, moved) for which in [None, *groups]]
        self.crew.run(self._move_some, tasks)
        self._paged, self.lists, self._units = out, out.entries, out_units
        counted = divisions.whole[kept] & (rows < len(self.h))
        self._parts = Parts(divisions.places[kept], moved[kept], divisions.units[kept], counted)

    def _forget_h(self, counts: Int64s) -> None:
        """Keep H only of as many cases as nodes that are counted have, or that are finished; others are weighed."""
        most = max(self._depth_first.most, int(counts.max(initial=0)))
        if 2 * most < len(self.h):
            self.h = self.h[: most + 1].copy()
            self._context = self._context._replace(h=self.h)

    def _score(self, parts: Parts, which: Int64s, out: Scores) -> None:
        place = self._take_place()
        score_parts(self.lists, self._units, parts, which, self.columns, self._context, place, out)
        self._places.put(place)

    def _divide(self, parts: Parts, divisions: Divisions) -> None:
        place = self._take_place()
        divide_parts(self.lists, self._units, parts, self.columns, self._context, place, divisions)
        self._places.put(place)

    def _move_some(
        self, parts: Parts, divisions: Divisions, which: Int64s | None, out: Int64s, out_units: Int64s, moved: Int64s
    ) -> None:
        place = self._take_place()
        if which is None:
            move_rows(self.lists[-1], self._units, parts, divisions, self.layout, place, out[-1], out_units)
        else:
            move_parts(self.lists, self._units, parts, which, divisions, self.layout, place, out, moved)
            stop = int(parts.first[-1] + parts.list_count[-1, -1])
            for k in which.tolist():
                self._paged.give_up(k, int(parts.first[0]), stop)
        self._places.put(place)

    def _take_place(self) -> Workplace:
        try:
            return self._places.get_nowait()
        except Empty:
            n, c, most = self.problem.table.n_cases, self.problem.settings.n_classes, self.most_branches
            near = n if len(self._context.near_values) else 0
            return Workplace(
                units=np.empty(n, np.int64),
                marks=np.empty(n, self._mark),
                room=new_room(n, c),
                totals=np.empty(c, np.int64),
                histogram=np.empty((int(self.columns.code_first[-1]), c), np.int64),
                position=np.empty(most, np.int64),
                last=np.empty(most, np.int64),
                apart=np.empty(near, self.lists.dtype),
            )
