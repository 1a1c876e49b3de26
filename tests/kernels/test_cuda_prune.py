"""Pruning on the emulated device, step by step and as a whole, against the reference engine and loops over cases."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba_cuda", reason="kernels need numba-cuda: pip install 'c45gpu[cuda-test]'")
pytest.importorskip("greenlet", reason="the emulator of CUDA needs greenlet: pip install 'c45gpu[cuda-test]'")

from c45gpu.data.c45files import read_stem
from c45gpu.data.frames import read_file
from c45gpu.data.table import Table
from c45gpu.induction.grow import Grower
from c45gpu.induction.options import Options
from c45gpu.induction.problem import pose
from c45gpu.induction.prune import ErrorBasedPruning
from c45gpu.induction.train import train
from c45gpu.kernels import cuda_prune
from c45gpu.kernels.cuda_device import Device, Sizes
from c45gpu.kernels.cuda_prune import SAMPLES, WholePlacement, added_errors
from c45gpu.kernels.cuda_prune_divided import DividedPlacement
from c45gpu.kernels.descend import Placement
from c45gpu.kernels.engine import Pairs
from c45gpu.kernels.level import Int64s, Problem
from c45gpu.kernels.reference import ReferenceEngine
from c45gpu.model.tree import LEAF, Tree, ranges
from tests.cuda_emulator import Emulation
from tests.kernels import cuda_memory
from tests.kernels.cuda_here import SMALL, EmulatedLauncher
from tests.kernels.seeded import TABLES
from tests.kernels.test_cpu_prune import Judge, Twins, cut, raise_some, some_pairs, units_at_leaves
from tests.kernels.test_cuda_engine import TILES
from tests.kernels.test_descend import Both, in_few_units
from tests.strategies import Asked, Sample, asked, larger_samples, samples

CASES = {  # how many cases of a table are sent; a branch is raised in all but the last
    "whole cases": 800,
    "3 classes": 1200,
    "60 classes": 1500,
    "strange float64": 1200,
    "whole weights": 1200,
    "fractional weights": 1500,
    "unknown values": 1200,
    "unknown values and weights": 1000,
    "unknown among many values": 300,
    "mostly unknown": 500,
}


def placed(problem: Problem, tree: Tree, gpu: Emulation, sizes: Sizes = SMALL) -> WholePlacement | DividedPlacement:
    """The cases on an emulated device, as the engine chooses."""
    device = Device(gpu.xp, EmulatedLauncher(gpu), sizes)
    placement = DividedPlacement if problem.table.has_unknown() else WholePlacement
    return placement(device, problem, tree, device.up(problem.table.classes.astype(np.uint16)))


def grown(problem: Problem) -> Tree:
    """The tree before pruning."""
    grower = Grower(ReferenceEngine(), problem)
    for _ in grower:
        pass
    return grower.tree


def few(name: str) -> Table:
    """Some cases of a table."""
    table = TABLES[name]()
    return table.take(np.linspace(0, table.n_cases - 1, CASES[name]).astype(np.int64))


class OnDevice(Twins):
    """The device's and the reference engine's placement, each asked what the other is."""

    def __init__(self, problem: Problem, gpu: Emulation, sizes: Sizes = SMALL) -> None:
        self.problem, self.gpu, self.sizes, self.raised = problem, gpu, sizes, 0

    def place(self, tree: Tree) -> OnDevice:
        self.ours = placed(self.problem, tree, self.gpu, self.sizes)  # type: ignore[assignment]
        self.theirs = Placement(self.problem, tree)
        return self

    def assert_same_instances(self) -> None:
        """Of tables with unknown values; the others' lie in the order of leaves without naming them."""
        placed: Any = self.ours
        if isinstance(placed, DividedPlacement):
            ours = units_of(placed._leaf_of[placed._placed.node], placed._placed.case, placed._placed.units)
            assert ours == units_of(self.theirs._leaf, self.theirs._case, self.theirs._units)


def units_of(leaf: Int64s, case: Int64s, units: Int64s) -> Counter[tuple[int, int]]:
    """The units of each case at each leaf: one may have come there by several ways."""
    found = Counter[tuple[int, int]]()
    for at, number, parts in zip(leaf.tolist(), case.tolist(), units.tolist(), strict=True):
        found[at, number] += parts
    assert units.min(initial=1) > 0
    return found


@pytest.mark.parametrize(("name", "tile"), [(name, TILES[i % len(TILES)]) for i, name in enumerate(CASES)])
def test_pruning_step_by_step(name: str, tile: int) -> None:
    problem = pose(few(name), Options())
    twins = OnDevice(problem, Emulation(tile, checks=False), SMALL._replace(tile=tile, threads=3))
    pruned = Judge(grown(problem), twins, problem, 0.25).run()  # type: ignore[arg-type]
    assert twins.raised or name == "mostly unknown"
    engine = ReferenceEngine()
    engine.load(problem)
    assert pruned.equals(ErrorBasedPruning(grown(problem), engine, problem, 0.25).run())


@settings(max_examples=30)
@given(
    sample=larger_samples(max_cases=60),
    question=asked(),
    tile=st.sampled_from(TILES),
    least=st.sampled_from([1, 1 << 14]),
    coarse=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_pairs(sample: Sample, question: Asked, tile: int, least: int, coarse: bool, seed: int) -> None:
    """Pruning asks for the largest branch only; here any branch is sent to, raised, or cut."""
    problem = pose(sample.table, question.options)
    with mock.patch.object(cuda_prune, "LEAST_SAMPLE", least):
        play(in_few_units(problem) if coarse else problem, Emulation(seed & 1023), tile, seed)


def play(problem: Problem, gpu: Emulation, tile: int, seed: int) -> None:
    """Send, cut and raise at random; both placements must hold the same instances all the time."""
    chance, tree = np.random.default_rng(seed), grown(problem)
    twins = OnDevice(problem, gpu, SMALL._replace(tile=tile))
    twins.place(tree).known(tree)
    for _ in range(4):
        twins.assert_same_instances()
        pairs = some_pairs(tree, living(tree), chance, int(problem.units.sum()))
        if not len(pairs.top):
            break
        twins.send(tree, units_at_leaves(problem, twins.theirs, tree.n_nodes), pairs)
        half = chance.random(len(pairs.top)) < 0.5
        cut(tree, twins, pairs.top[half])
        raise_some(tree, twins, Pairs(*(x[~half] for x in pairs)))


def living(tree: Tree, root: int = 0) -> Int64s:
    """Nodes that a case can get to from a root."""
    found, nodes = [], np.array([root])
    while len(nodes):
        found.append(nodes)
        nodes = nodes[tree.kind[nodes] != LEAF]
        nodes = tree.branch[ranges(tree.branch_start[nodes], tree.branch_start[nodes + 1])]
    return np.sort(np.concatenate(found))


class ByHand(Both):
    """The comparison by hand, of what is known at branches that a case can still get to."""

    def check_known(self, known: Any) -> None:
        root = max((node for node, entry in self.entry.items() if entry < 0), default=0)
        nodes = living(self.tree, root)
        nodes = nodes[self.tree.kind[nodes] != LEAF]
        entries = ranges(self.tree.branch_start[nodes], self.tree.branch_start[nodes + 1]).tolist()
        held = self.hand.known
        assert {e: known[e] for e in entries if e in held} == {e: held[e] for e in entries if e in held}


class OneDevice:
    """As much of an engine as the comparison by hand needs."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def place(self, tree: Tree) -> WholePlacement | DividedPlacement:
        return placed(self.problem, tree, Emulation(0, checks=False))


@settings(max_examples=30)
@given(samples() | larger_samples(max_cases=40), st.randoms(use_true_random=False))
def test_trees_by_hand(sample: Sample, chance: random.Random) -> None:
    problem = pose(sample.table, Options(min_cases=1))
    ByHand(problem, OneDevice(problem), grown(problem), chance).prune(0)  # type: ignore[arg-type]


def root_pair(problem: Problem, tree: Tree, allowed: int) -> tuple[Pairs, Int64s]:
    """The root and its last branch, and the class weights at the leaves."""
    pairs = Pairs(np.zeros(1, np.int64), tree.branches(0)[-1:], np.array([allowed]))
    return pairs, units_at_leaves(problem, Placement(problem, tree), tree.n_nodes)


@pytest.mark.parametrize("least", [1, 1 << 14])
def test_hopeless_is_what_rises_by_more_than_is_allowed(least: int) -> None:
    problem = pose(few("3 classes"), Options())
    tree = grown(problem)
    cases = placed(problem, tree, Emulation(0, checks=False))
    pairs, units = root_pair(problem, tree, 1 << 60)
    expected = Placement(problem, tree).send(tree, units, pairs)
    rise = int(added_errors(units[expected.leaf], expected.units).sum())
    assert rise > len(SAMPLES)
    with mock.patch.object(cuda_prune, "LEAST_SAMPLE", least):
        kept = cases.send(tree, units, pairs._replace(allowed=np.array([rise])))
        given_up = cases.send(tree, units, pairs._replace(allowed=np.array([rise - 1])))
    assert [x.tolist() for x in kept] == [x.tolist() for x in expected]
    assert [x.tolist() for x in given_up] == [[True], [], [], []]


def divided_pairs() -> tuple[DividedPlacement, Tree, Int64s, Pairs]:
    """Cases with unknown values, and the first branches of three nodes of a level, all of them allowed."""
    problem = pose(few("unknown values"), Options())
    tree = grown(problem)
    top = tree.levels[3][tree.kind[tree.levels[3]] != LEAF][:3]
    pairs = Pairs(top, tree.branch[tree.branch_start[top]], np.full(3, 1 << 60))
    units = units_at_leaves(problem, Placement(problem, tree), tree.n_nodes)
    cases = placed(problem, tree, Emulation(0, checks=False))
    assert isinstance(cases, DividedPlacement)
    return cases, tree, units, pairs


def test_divided_cases_are_sent_where_no_rise_is_allowed_but_not_where_less_is() -> None:
    cases, tree, units, pairs = divided_pairs()
    all_sent = cases.send(tree, units, pairs)
    assert set(all_sent.pair.tolist()) == {0, 1, 2}
    exact = cases.send(tree, units, pairs._replace(allowed=np.zeros(3, np.int64)))
    assert [x.tolist() for x in exact] == [x.tolist() for x in all_sent]
    fewer = cases.send(tree, units, pairs._replace(allowed=np.array([-1, 0, 0])))
    sent = all_sent.pair > 0
    assert fewer.hopeless.tolist() == [True, False, False]
    assert [x.tolist() for x in fewer[1:]] == [x[sent].tolist() for x in all_sent[1:]]


def test_many_cases_of_many_nodes_are_told_apart() -> None:
    """Three nodes and so many cases make more pairs than 32 bits number."""
    cases, tree, units, pairs = divided_pairs()
    expected = cases.send(tree, units, pairs)
    cases._n_cases = (1 << 31) + 7
    assert [x.tolist() for x in cases.send(tree, units, pairs)] == [x.tolist() for x in expected]


def sent_cases(least: int) -> int:
    """How many cases walk until a pair that allows nothing is given up."""
    problem, gpu = pose(few("3 classes"), Options()), Emulation(0, checks=False)
    tree = grown(problem)
    cases = placed(problem, tree, gpu)
    pairs, units = root_pair(problem, tree, 0)
    done = len(gpu.launches)
    with mock.patch.object(cuda_prune, "LEAST_SAMPLE", least):
        assert cases.send(tree, units, pairs).hopeless.all()
    walks = [launch for launch in gpu.launches[done:] if launch.kernel == "walk_ranges"]
    return sum(launch.traffic["leaves"].written for launch in walks) // 4


def test_the_hopeless_are_known_from_a_sample() -> None:
    all_of_them = sent_cases(1 << 14)
    assert 0 < sent_cases(1) < all_of_them / 4


def launches_of(pairs_at_a_time: int, unknown: bool) -> tuple[set[int], int]:
    """Launches of questions about so many pairs, and the levels that instances go down at most."""
    problem, gpu = pose(few("unknown values" if unknown else "whole cases"), Options()), Emulation(0, checks=False)
    tree = grown(problem)
    cases = placed(problem, tree, gpu)
    units = units_at_leaves(problem, Placement(problem, tree), tree.n_nodes)
    inner = tree.levels[3][tree.kind[tree.levels[3]] != LEAF]
    counts = set()
    for first in range(0, len(inner) - pairs_at_a_time + 1, pairs_at_a_time):
        top = inner[first : first + pairs_at_a_time]
        done = len(gpu.launches)
        cases.send(tree, units, Pairs(top, tree.branch[tree.branch_start[top]], np.full(len(top), 1 << 60)))
        counts.add(len(gpu.launches) - done)
    return counts, tree.depth


def test_launches_do_not_grow_with_pairs() -> None:
    assert launches_of(1, unknown=False)[0] <= {1, 2}
    assert launches_of(3, unknown=False)[0] == {2}  # one to walk, one to add up
    counts, depth = launches_of(3, unknown=True)
    assert counts
    assert max(counts) <= 3 + 3 * depth  # gather twice, add up; three for a level


@pytest.mark.parametrize("name", ["r8_golf", "r8_vote", "r8_labor-neg", "sk_iris"])
def test_trees_of_the_original_programs_tables(name: str, golden: Path) -> None:
    (names,) = (golden / "sets").glob(f"{name}.names")
    same_pruned(read_stem(names.with_suffix(""), compat="r8")[0], TILES[len(name) % len(TILES)])


def test_penguins(examples: Path) -> None:
    same_pruned(read_file(examples / "penguins.csv", target="species"), 33)


def same_pruned(table: Table, tile: int) -> None:
    problem = pose(table, Options())
    tree, gpu = grown(problem), Emulation(tile, checks=False)
    found = ErrorBasedPruning(tree, Placer(problem, gpu, tile), problem, 0.25).run()  # type: ignore[arg-type]
    assert found.equals(train(table, Options(), "reference").pruned)
    assert {"walk_ranges", "copy_ranges"} & {launch.kernel for launch in gpu.launches}


class Placer:
    """An engine that only places."""

    def __init__(self, problem: Problem, gpu: Emulation, tile: int) -> None:
        self.problem, self.gpu, self.sizes = problem, gpu, SMALL._replace(tile=tile)

    def place(self, tree: Tree) -> WholePlacement | DividedPlacement:
        return placed(self.problem, tree, self.gpu, self.sizes)


def test_memory_is_as_planned() -> None:
    for name, (peak, planned) in zip(cuda_memory.PLACED, cuda_memory.measured("pruning"), strict=True):
        assert 0.5 * planned < peak < planned, name
