"""Windowing: grow on some of the cases, add cases that the tree gets wrong, grow again (specification section 11).

A *window* is the cases that a tree is grown on, an *exception* a case outside it that the tree gets wrong, a *cycle*
the growing of one tree, and a *trial* the cycles from an initial window until there is no exception. The cases lie in
an order of which the window is the front::

    | window ............ | exceptions | right ones ......... |     after a cycle
    | window of the next cycle .. |                                 exceptions that fit are in it

What a tree decides by is all cases, though it is grown on few: thresholds are values of the whole columns, an
attribute has many values if it has them for the number of all cases, and all cases are used to prune.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from c45gpu.estimates import wrong_as_leaves
from c45gpu.induction.checkpoint import Checkpoint, Kept
from c45gpu.induction.grown import grown
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.progress import NOBODY, Watch
from c45gpu.induction.prune import pruned
from c45gpu.induction.prunings import labels_of
from c45gpu.kernels.descend import Placement
from c45gpu.kernels.engine import Engine
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.model.predict import predicted_classes
from c45gpu.model.tree import LEAF, Tree, ranges

_TREES = ("unpruned", "pruned")
TRIALS = 10  # where windowing is asked for and their number is not


class Windows(NamedTuple):
    """How windows are made; what is not asked for has Quinlan's default.

    Attributes
    ----------
    trials : int
        10.
    initial : int
        Cases in the first window of a trial: a fifth of all, or twice their square root where that is more; never
        more than there are.
    increment : int
        As many exceptions are added to a window, or half of them where that is more: a fifth of the initial window.
    """

    trials: int
    initial: int
    increment: int

    @classmethod
    def of(cls, options: Options, n_cases: int) -> Windows:
        """The windows that the options ask for, of so many cases."""
        initial = options.initial_window or max(math.isqrt(4 * n_cases), n_cases // 5)
        increment = options.window_increment or max(initial // 5, 1)
        return cls(options.n_trials or TRIALS, min(initial, n_cases), increment)


@dataclass(frozen=True)
class Cycle:
    """One tree of a trial: its nodes, the cases of its window, and the errors in and outside the window."""

    size: int
    window: int
    errors: float
    exceptions: float

    @property
    def total(self) -> float:
        """Errors on all cases."""
        return self.errors + self.exceptions


class Trial(NamedTuple):
    """A trial that has run: its cycles, which of them had the least errors (the first of equals), and its trees."""

    cycles: list[Cycle]
    best: int
    unpruned: Tree
    pruned: Tree

    def facts(self, chosen: bool) -> dict[str, Any]:
        """Plain values for a model's record."""
        return {
            "cycles": [asdict(cycle) for cycle in self.cycles],
            "best": self.best,
            "before": self.unpruned.n_nodes,
            "after": self.pruned.n_nodes,
            "estimate": float(self.pruned.errors[0]),
            "chosen": chosen,
        }


def train_windowed(
    whole: Problem,
    options: Options,
    engine: Engine,
    watch: Watch = NOBODY,
    checkpoint: Checkpoint | None = None,
) -> tuple[Tree, Tree, list[dict[str, Any]]]:
    """Grow and prune a tree in several trials, and keep the one that pruning expects the least errors of.

    Parameters
    ----------
    whole : Problem
        Of all cases.
    options : Options
        `n_trials`, `initial_window`, `window_increment` and `random_state`, and what a tree is grown and pruned by.
    engine : Engine
        Ready to load; it is left open.
    watch : Watch
        Told of each tree.
    checkpoint : Checkpoint, optional
        Trials that have run are kept in it.

    Returns
    -------
    unpruned, pruned : Tree
        Of the best trial, the first of equals. Weights of the unpruned tree are those of its window.
    trials : list of dict
        What was done, plain values: the `cycles` of each trial (see :class:`Cycle`) and `best`, the number of the one
        whose tree was kept; the size of that tree `before` and `after` pruning, and its `estimate`, the errors expected
        on as many unseen cases; `chosen` is True for one trial.
    """
    windowing = Windowing(whole, options, engine, watch)
    if checkpoint is not None and checkpoint.begun is not None:
        windowing.resume(checkpoint.begun)
    trials = windowing.trials
    while len(trials) < windowing.windows.trials:
        trials.append(windowing.trial())
        if checkpoint is not None:
            checkpoint.offer(windowing)
    chosen = min(trials, key=lambda trial: float(trial.pruned.errors[0]))  # the first of equals
    return chosen.unpruned, chosen.pruned, [trial.facts(trial is chosen) for trial in trials]


class Windowing:
    """Runs trials, one after the other; the order of cases that one leaves is shuffled for the next."""

    def __init__(self, whole: Problem, options: Options, engine: Engine, watch: Watch) -> None:
        self.windows = Windows.of(options, whole.table.n_cases)
        self._whole, self._options, self._engine, self._watch = whole, options, engine, watch
        self._chance = np.random.default_rng(options.random_state)
        self._order = np.arange(whole.table.n_cases)
        self.trials: list[Trial] = []

    def kept(self) -> Kept:
        """The trials that have run, for a checkpoint."""
        trees = {
            f"{i}/{name}/{f.name}": getattr(getattr(trial, name), f.name)
            for i, trial in enumerate(self.trials)
            for name in _TREES
            for f in fields(Tree)
        }
        facts = [{"cycles": [asdict(cycle) for cycle in trial.cycles], "best": trial.best} for trial in self.trials]
        chance = self._chance.bit_generator.state
        return Kept({"trials": facts, "chance": chance}, {"order": self._order, **trees})

    def resume(self, kept: Kept) -> None:
        """Go on after the trials that have run."""
        self._order, self._chance.bit_generator.state = kept.arrays["order"], kept.facts["chance"]
        for i, facts in enumerate(kept.facts["trials"]):
            cycles = [Cycle(**cycle) for cycle in facts["cycles"]]
            trees = (Tree(**{f.name: kept.arrays[f"{i}/{name}/{f.name}"] for f in fields(Tree)}) for name in _TREES)
            self.trials.append(Trial(cycles, facts["best"], *trees))

    def trial(self) -> Trial:
        """Run a trial."""
        cycles: list[Cycle] = []
        size, n_exceptions, best = self.windows.initial, 1, 0
        self._shuffle()
        while n_exceptions:
            tree, cycle, n_exceptions = self._cycle(size)
            cycles.append(cycle)
            if cycle.total < cycles[best].total or len(cycles) == 1:
                best, kept = len(cycles) - 1, tree
            size += max(min(n_exceptions, self.windows.increment), n_exceptions // 2)
        self._watch.at("sorting")
        self._engine.load(self._whole)
        everything = cycles[best].window == len(self._order)
        by_all = kept if everything else with_all_cases(kept, self._whole)
        return Trial(cycles, best, kept, pruned(by_all, self._engine, self._whole, self._options, self._watch))

    def _shuffle(self) -> None:
        """Put the cases in a new order, an initial window in front."""
        order = self._chance.permutation(self._order)
        classes = self._whole.table.classes[order]
        targets = initial_classes(np.bincount(classes, minlength=self._whole.settings.n_classes), self.windows.initial)
        by_class = np.argsort(classes, kind="stable")
        before = np.searchsorted(classes[by_class], np.arange(len(targets)))
        inside = by_class[ranges(before, before + targets)]
        self._order = np.concatenate([order[inside], np.delete(order, inside)])

    def _cycle(self, size: int) -> tuple[Tree, Cycle, int]:
        """Grow on the first cases, and bring the exceptions among the others to the front of them."""
        whole, window, rest = self._whole, self._order[:size], self._order[size:]
        problem = replace(pose(whole.table.take(window), self._options), facts=whole.facts)
        tree = grown(self._engine, problem, self._options, self._watch, whole.table)
        others = whole.table.take(rest)
        wrong = predicted_classes(self._engine.route(tree, others)) != others.classes
        self._order = np.concatenate([window, rest[wrong], rest[~wrong]])
        errors = float(tree.errors[0])
        exceptions = int(whole.units[rest[wrong]].sum()) / whole.settings.case_units
        errors = float(math.floor(errors + 0.5)) if whole.table.weights is None else errors
        return tree, Cycle(tree.n_nodes, size, errors, exceptions), int(wrong.sum())


def initial_classes(counts: Int64s, size: int) -> Int64s:
    """How many cases of each class are in an initial window of a size that is at most the sum of the counts.

    From the rarest class on (the first of equals), each gets an equal part of what is left, or all of its cases.
    """
    targets = np.zeros(len(counts), np.int64)
    for done, c in enumerate(np.argsort(counts, kind="stable").tolist()):
        targets[c] = min(int(counts[c]), size // (len(counts) - done))
        size -= int(targets[c])
    return targets


def with_all_cases(tree: Tree, whole: Problem) -> Tree:
    """The tree with the weights, labels and errors that it has by all cases instead of those of its window."""
    units = Placement(whole, tree).class_units(tree.n_nodes)
    errors = np.where(tree.kind == LEAF, wrong_as_leaves(units), 0)
    for level in reversed(tree.levels[1:]):
        np.add.at(units, tree.parent[level], units[level])
        np.add.at(errors, tree.parent[level], errors[level])
    weight = units.sum(1)
    label = labels_of(units, tree.label).astype(tree.label.dtype)
    for level in tree.levels[1:]:
        empty = level[weight[level] == 0]
        units[empty] = units[tree.parent[empty]]
    case_units = whole.settings.case_units
    return replace(
        tree, label=label, weight=weight / case_units, errors=errors / case_units, class_weights=units / case_units
    )
