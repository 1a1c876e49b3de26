"""A whole level without the host: finish, score, choose and mark, then one transfer, and then move.

    small nodes   finish ........................ rows        without unknown values: not scored
                  finish ... rows                             with some: scored too, since they may not fit a block
    others        score   choose   mark   count ..
                                                 | one transfer: tests, totals of branches, lengths of lists, rows
    host                                           judge   move

Where very many branches could be asked for, or where values are unknown and a test may have more branches than a
block counts at once, the tests come to the host before the cases are marked: that level takes two transfers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from c45gpu.choose import NO_TEST
from c45gpu.kernels.cuda_choose import Chosen, choose_tests
from c45gpu.kernels.cuda_device import Device
from c45gpu.kernels.cuda_finishing import Finisher, Gathered, Running
from c45gpu.kernels.cuda_grouping import Slots, suits_all
from c45gpu.kernels.cuda_judging import Divided, Division, Told, judged, of_slots, told_of_slots
from c45gpu.kernels.cuda_later import Later
from c45gpu.kernels.cuda_level import Level, Training
from c45gpu.kernels.cuda_moving import Mover
from c45gpu.kernels.cuda_plan import BATCH_BYTES, CANDIDATE_BYTES, RECORDS_SHARE, SLOT_BYTES
from c45gpu.kernels.cuda_score import Found
from c45gpu.kernels.cuda_scoring import Scorer
from c45gpu.kernels.cuda_siblings import Kept
from c45gpu.kernels.cuda_splitting import Asked, Marked, Splitter, asked_by_device, asked_by_host
from c45gpu.kernels.level import Bools, Int64s, Splits

# Slots come with the first transfer where they are no more than so many of each node, and what so many bytes have room
# for. Fetching these should take less time than to begin another transfer; both are unmeasured.
SLOTS_OF_NODE, MORE_BYTES = 4, 1 << 17
OF_LEVEL = 8  # arrays of :meth:`Advancer._arrays` beside rows


class Step(NamedTuple):
    """What a level became.

    Attributes
    ----------
    level : Level
        The next one.
    to_keep : Kept or None
    splits : Splits
        Of the nodes of the level before.
    divided : Divided
    below, above : ndarray of int64, shape (splits,)
        The cases on both sides of a cut of a list, else -1.
    taken : ndarray of int64
        Nodes of the level before that are finished.
    gathered : list of Gathered
        Their subtrees.
    """

    level: Level
    to_keep: Kept | None
    splits: Splits
    divided: Divided
    below: Int64s
    above: Int64s
    taken: Int64s
    gathered: list[Gathered]


class Launched(NamedTuple):
    """What was launched of a level before anything is known of it.

    Attributes
    ----------
    nodes : ndarray of int64
        Those that are scored, the others are finished for certain.
    level : Level
        Of these.
    running : list of Running
    gathered : list of Gathered
        Of those whose number of records had to be asked for already.
    chosen : Chosen
    asked : Asked
    marked : Marked
    to_keep : Kept or None
    """

    nodes: Int64s
    level: Level
    running: list[Running]
    gathered: list[Gathered]
    chosen: Chosen
    asked: Asked
    marked: Marked
    to_keep: Kept | None


class Advancer:
    """Takes a level to the next one.

    Parameters
    ----------
    device : Device
    training : Training
    level : Level
    kept : callable
        The histograms of the level before, if there is still room for them.
    finisher : Finisher
    later : Later
        What of earlier levels is on the device comes to the host with what this one tells.
    shrink : callable
        Makes chunks smaller when memory runs out.
    """

    def __init__(
        self,
        device: Device,
        training: Training,
        level: Level,
        kept: Callable[[], Kept | None],
        finisher: Finisher,
        later: Later,
        shrink: Callable[[], None],
    ) -> None:
        self._device, self._training, self._level, self._kept = device, training, level, kept
        self._finisher, self._later, self._shrink = finisher, later, shrink

    def run(self) -> Step:
        """The next level."""
        device, training = self._device, self._training
        made = device.persist(self._launch, self._shrink)
        lengths, mover = device.xp.zeros((0, made.asked.n_slots), np.int64), None
        if not training.counted:
            mover = self._mover(made, made.asked.node, made.asked.tests.slot_start, made.asked.slot_start)
            lengths = mover.count()
        found = iter(device.persist(partial(self._fetched, made, lengths), self._shrink))
        splits, told = self._told(made, lengths, [next(found) for _ in range(OF_LEVEL)])
        gathered = made.gathered + self._gathered(made.running, [next(found) for _ in made.running])
        made.running.clear()  # gives their room back
        self._later.arrived(list(found))
        taken = np.sort(np.concatenate([np.zeros(0, np.int64), *(one.nodes for one in gathered)]))
        slot_start = np.concatenate([[0], np.cumsum(training.n_branches[splits.attribute])])
        dropped = np.isin(made.nodes[splits.node], taken)
        divided, division = judged(training, made.level, splits, slot_start, told, dropped)
        if mover is None:
            mover = self._mover(made, splits.node, device.up(slot_start), slot_start)
        mover.learn(splits.node, slot_start)
        following = self._moved(mover, division) if len(division.kept) else made.level.only(division.kept)
        left, number = ~dropped, np.cumsum(~dropped) - 1
        mine = Splits(made.nodes[splits.node[left]], splits.attribute[left], splits.cut[left])
        divided = divided._replace(split=number[divided.split])
        return Step(following, made.to_keep, mine, divided, told.below[left], told.above[left], taken, gathered)

    def _moved(self, mover: Mover, division: Division) -> Level:
        """The next level; where cases count 1, their entries are not counted before the host knows the splits."""
        if self._training.counted:
            mover.count()
        return mover.run(division)

    def _launch(self) -> Launched:
        """Finish small nodes; score, choose and mark the others."""
        running, gathered, is_scored = self._finish()
        nodes = np.flatnonzero(is_scored)
        level = self._level.only(nodes)
        scorer = Scorer(self._device, self._training, level, self._kept())
        chosen = self._choose(scorer, len(nodes))
        asked = self._asked(level, chosen)
        marked = Splitter(self._device, self._training, level, asked).mark()
        return Launched(nodes, level, running, gathered, chosen, asked, marked, scorer.to_keep)

    def _finish(self) -> tuple[list[Running], list[Gathered], Bools]:
        """Start to finish small nodes; which nodes are to be scored all the same."""
        running: list[Running] = []
        gathered: list[Gathered] = []
        is_scored = np.ones(len(self._level.start), np.bool_)
        for how, nodes in self._finisher.batches(self._level):
            running.append(self._finisher.begin(self._level, nodes, how))
            is_scored[nodes] = running[-1].may_fail
            if RECORDS_SHARE * sum(one.table.nbytes for one in running) > self._device.sizes.histogram_bytes:
                gathered += self._gathered(running, self._device.down_all([one.rows for one in running]))
                running = []
        return running, gathered, is_scored

    def _gathered(self, running: list[Running], rows: list[Int64s]) -> list[Gathered]:
        """The subtrees that were finished, put together on the device."""
        put, pairs = self._finisher.gather, zip(running, rows, strict=True)
        return [self._device.persist(partial(put, one, its), self._shrink) for one, its in pairs]

    def _choose(self, scorer: Scorer, m: int) -> Chosen:
        """The tests of nodes, on the device."""
        device, training, n_used = self._device, self._training, len(self._training.n_branches)
        chosen = Chosen(*device.xp.empty((len(Chosen._fields), m), np.int64))
        batch = max(1, BATCH_BYTES // (CANDIDATE_BYTES * max(1, n_used)))
        for first in range(0, m, batch):
            stop = min(first + batch, m)
            weight, found = scorer.found(first, stop)
            net = device.xp.empty(max(1, (stop - first) * n_used), np.float64)
            its = Chosen(*(x[first:stop] for x in chosen))
            choosing = (weight, Found(*found), training.facts, training.settings, training.places[2, 1:], net, its)
            device.over(choose_tests, stop - first, *choosing)
        return chosen

    def _asked(self, level: Level, chosen: Chosen) -> Asked:
        """The splits, as far as anyone knows them."""
        device, training = self._device, self._training
        widest = int(training.n_branches.max(initial=0))
        few_slots = self._slot_bytes * len(level.start) * widest <= SLOT_BYTES
        if few_slots and (training.counted or suits_all(widest, device.sizes)):
            return asked_by_device(device, training, level, chosen)
        attribute, cut = device.down_all([chosen.attribute, chosen.cut])
        return asked_by_host(device, training, level, splits_of(attribute, cut))

    @property
    def _slot_bytes(self) -> int:
        """What is told of a slot: class weights, instances, whether a code is unknown, lengths of lists."""
        of_lists = 0 if self._training.counted else len(self._level.list_start)
        return 8 * (self._training.settings.n_classes + 2 + of_lists)

    def _first_slots(self, made: Launched) -> int:
        """Slots that come with the first transfer, at most."""
        return SLOTS_OF_NODE * len(made.asked.node) + MORE_BYTES // self._slot_bytes

    def _mover(self, made: Launched, node: Int64s, starts: Any, start: Int64s | None) -> Mover:
        n_slots = made.asked.n_slots if start is None else int(start[-1])
        slots = Slots(node, starts, n_slots, made.asked.widest, start)
        return Mover(self._device, self._training, made.level, made.marked, slots)

    def _arrays(self, made: Launched, lengths: Any) -> list[Any]:
        """What the host must know of the level."""
        asked, marked = made.asked, made.marked
        most = self._first_slots(made)
        of_splits = [made.chosen.attribute, made.chosen.cut, *marked.sides, marked.room[-1:]]
        rows = [one.rows for one in made.running]
        return [*of_splits, *of_slots(marked, lengths, 0, min(asked.n_slots, most)), *rows]

    def _fetched(self, made: Launched, lengths: Any) -> list[Any]:
        """That, and what of earlier levels waits, on the host: one transfer."""
        return list(self._device.down_all([*self._arrays(made, lengths), *self._later.waiting()]))

    def _told(self, made: Launched, lengths: Any, found: list[Any]) -> tuple[Splits, Told]:
        """The splits, and what the host is told of them, the slots that did not come yet included."""
        attribute, cut, below, above, spread, *slots = found
        splits, n_classes = made.asked.splits, self._training.settings.n_classes
        if splits is None:
            splits = splits_of(attribute, cut)
            below, above = below[splits.node], above[splits.node]  # of nodes until now
        n_slots, most = int(self._training.n_branches[splits.attribute].sum()), self._first_slots(made)
        cells, flawed, by_list = told_of_slots(slots, n_classes)
        if n_slots > most:
            more = told_of_slots(self._device.down_all(of_slots(made.marked, lengths, most, n_slots)), n_classes)
            cells, flawed = np.concatenate([cells, more[0]]), np.concatenate([flawed, more[1]])
            by_list = np.concatenate([by_list, more[2]], axis=1)
        of_slot = cells[:n_slots], flawed[:n_slots], by_list[:, :n_slots]
        return splits, Told(*of_slot, below, above, int(spread.sum()))


def splits_of(attribute: Int64s, cut: Int64s) -> Splits:
    """The splits of nodes, given the attribute that each tests or NO_TEST."""
    tested = np.flatnonzero(attribute != NO_TEST)
    return Splits(tested, attribute[tested], cut[tested])
