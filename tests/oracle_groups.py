"""The oracle's tests on groups of values (specification section 7), and on one value against all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from tests.oracle_grow import EPS, Candidate, Case, Json, Node, Training, split_by_value, worth
from tests.oracle_numbers import SAME, exceeds, information, near

Units = list[int]
Pair = tuple[int, int]

STEPS = 3000  # merges that are tried to follow a guide
FEW_STEPS = 100


@dataclass(frozen=True)
class Group:
    """Values that share a branch, from 0, and their units of each class."""

    values: tuple[int, ...]
    units: Units

    @property
    def weight(self) -> int:
        return sum(self.units)

    def with_other(self, other: Group) -> Group:
        return Group(self.values + other.values, [a + b for a, b in zip(self.units, other.units, strict=True)])


@dataclass(frozen=True)
class Told:
    """What a test gains and is worth, and its split information."""

    gain: Decimal
    worth: Decimal
    info: Decimal


Merged = tuple[list[Group], Told]


class Merging:
    """Merges the values of an attribute at a node."""

    def __init__(self, training: Training, cases: list[Case], attribute: int, guide: Json | None) -> None:
        self.training, self.attribute = training, attribute
        found = split_by_value(training, cases, attribute)
        self.unknown = sum(found.pop(None, [0]))
        nothing = [0] * training.problem.n_classes
        self.values = [Group((v,), found.get(v, nothing)) for v in range(training.n_values(attribute))]
        self.totals = [sum(column) for column in zip(*(group.units for group in self.values), strict=True)]
        self.guide = guide if guide is not None and guide.get("att") == attribute else None
        self.gives_way = guide is not None and guide.get("att", attribute) != attribute

    def told(self, groups: Sequence[Group], least: Fraction) -> Told:
        """Of a test whose branches are these groups; two of them must have the least weight."""
        weight = self.unknown + sum(self.totals)
        info = information([self.unknown, *(group.weight for group in groups)]) / weight
        gain = self.gain(groups) / weight if sum(group.weight >= least for group in groups) >= 2 else -EPS
        return Told(gain, worth(self.training.settings, Candidate(self.attribute, gain, info), EPS), info)

    def gain(self, groups: Sequence[Group]) -> Decimal:
        criterion, known = self.training.settings.criterion, sum(self.totals)
        if criterion in ("gini", "chi2"):
            told = sum((square(group.units, self.totals, criterion) for group in groups), Fraction(0))
            gain = told - square(self.totals, self.totals, criterion)
            gain *= known if criterion == "chi2" else 1
            return Decimal(gain.numerator) / Decimal(gain.denominator) if gain > 0 else Decimal(0)
        base = information(self.totals)
        gained = base - sum((information(group.units) for group in groups), Decimal(0))
        return Decimal(0) if abs(gained) <= SAME * (base + known) else gained

    def grouped(self) -> Candidate | None:
        """The test.

        With a guide it may differ by what near ties decide: it is the guide's, if there is such a one, or else, where
        the guide tests another attribute, the one that is worth least.
        """
        one_case = self.training.one_case
        groups = [group for group in self.values if group.weight > one_case / 2]
        pure = self.pure_ones_merged(groups)
        told = self.told(pure if len(pure) < len(groups) else self.values, one_case)
        self.rare = [v for v in range(len(self.values)) if all(v not in group.values for group in groups)]
        straight = self.straight(pure, told)
        if self.guide is not None and self.subsets(straight[0]) != self.wanted:
            others = self.near_ties(pure, told, STEPS)
            straight = next((end for end in others if self.subsets(end[0]) == self.wanted), straight)
        elif self.gives_way:
            straight = min(self.near_ties(pure, told, FEW_STEPS), key=lambda end: end[1].worth, default=straight)
        return self.candidate(*straight)

    @property
    def wanted(self) -> list[list[int]] | None:
        """The guide's groups."""
        subsets = None if self.guide is None else self.guide.get("subsets")
        return None if subsets is None else [[v - 1 for v in subset] for subset in subsets]

    def subsets(self, groups: list[Group]) -> list[list[int]]:
        return [sorted(group.values) for group in groups] + ([self.rare] if self.rare else [])

    def candidate(self, groups: list[Group], told: Told) -> Candidate | None:
        if told.worth <= 0:
            return None
        final = self.told(groups, self.training.least())
        rest = [sum(column) for column in zip(*(self.values[v].units for v in self.rare), strict=True)]
        if final.gain == -EPS or any(self.training.is_too_light(units) for units in [*[g.units for g in groups], rest]):
            return None
        return Candidate(self.attribute, final.gain, told.info, subsets=self.subsets(groups))

    def pure_ones_merged(self, groups: list[Group]) -> list[Group]:
        groups, tenth, first = list(groups), self.training.one_case / 10, 0
        while first < len(groups) - 1:
            present = [c for c, units in enumerate(groups[first].units) if units >= tenth]
            pure = bool(present) and groups[first].weight - groups[first].units[present[0]] <= tenth
            second = first + 1
            while pure and second < len(groups):  # the first group may grow impure, which nobody asks
                if groups[second].weight - groups[second].units[present[0]] <= tenth:
                    groups = joined(groups, first, second)
                else:
                    second += 1
            first += 1
        return groups

    def straight(self, groups: list[Group], told: Told) -> Merged:
        """Merge by the exact rule."""
        enough = told.gain / 2
        while (step := self.next_pairs(groups, told, enough)) is not None:
            groups, told = joined(groups, *step[0][0]), step[0][1]
        return groups, told

    def near_ties(self, groups: list[Group], told: Told, steps: int) -> Iterator[Merged]:
        """Where merging may end if near ties are decided one way or another, in so many steps."""
        enough, pending = told.gain / 2, [(groups, told)]
        for _ in range(steps):
            if not pending:
                return
            groups, told = pending.pop()
            pairs = self.next_pairs(groups, told, enough)
            if pairs is None:
                yield groups, told
            pending += [(joined(groups, *pair), found) for pair, found in reversed(pairs or [])]

    def next_pairs(self, groups: list[Group], told: Told, enough: Decimal) -> list[tuple[Pair, Told]] | None:
        """The pair to merge, and what is nearly as good; None if merging is over."""
        if len(groups) <= 2:
            return None
        ample = sum(group.weight >= self.training.least() for group in groups)
        weights = [group.weight for group in groups]
        barred = -1 if ample >= 3 else weights.index(max(weights))
        free = self.training.settings.criterion == "gain_ratio" and ample >= 2
        pairs = [pair for pair in combinations(range(len(groups)), 2) if barred not in pair]
        found = [(pair, self.told(joined(groups, *pair), self.training.one_case)) for pair in pairs]
        best = self.best_pair(found, not free, enough)
        if free and (best is None or best[1].worth < told.worth + Decimal("1e-5")):
            return None
        assert best is not None
        by_units = {str(sorted(groups[g].units for g in pair)): (pair, of_pair) for pair, of_pair in found}
        return [best, *(one for one in by_units.values() if near(one[1].worth, best[1].worth) and one != best)]

    def best_pair(self, pairs: list[tuple[Pair, Told]], must: bool, enough: Decimal) -> tuple[Pair, Told] | None:
        best: tuple[Pair, Told] | None = None
        for pair, found in pairs:
            gain, value = (best[1].gain, best[1].worth) if best is not None else (-EPS, Decimal(0))
            better = not exceeds(value, found.worth) or (not exceeds(enough, found.gain) and exceeds(enough, gain))
            if better or (best is None and must):
                best = pair, found
        return best

    def one_value(self) -> Candidate | None:
        """The value that gains most against all others."""
        best: tuple[Candidate, int] | None = None
        asked = self.guide["subsets"][0] if self.guide is not None else []
        for v, group in enumerate(self.values):
            rest = Group((), [t - u for t, u in zip(self.totals, group.units, strict=True)])
            if min(group.weight, rest.weight) < self.training.least():
                continue
            told = self.told([group, rest], self.training.least())
            others = [other for other in range(len(self.values)) if other != v]
            found = Candidate(self.attribute, told.gain, told.info, subsets=[[v], others])
            better = best is None or exceeds(found.gain, best[0].gain)
            if best is not None and asked == [v + 1] and near(found.gain, best[0].gain):
                better = True
            if best is not None and asked == [best[1] + 1] and near(found.gain, best[0].gain):
                better = False
            best = (found, v) if better else best
        return None if best is None else best[0]


def square(units: Units, totals: Units, criterion: str) -> Fraction:
    """Sum of squares over the weight, for chi-square each over the weight of its class too."""
    weight = sum(units)
    pairs = [(u, t if criterion == "chi2" else 1) for u, t in zip(units, totals, strict=True) if u]
    return sum((Fraction(u * u, weight * t) for u, t in pairs), Fraction(0))


def joined(groups: list[Group], first: int, second: int) -> list[Group]:
    """Both groups in the place of the first; the last one moves into that of the second."""
    result = list(groups)
    result[first] = groups[first].with_other(groups[second])
    result[second] = groups[-1]
    return result[:-1]


def grouped_candidate(training: Training, cases: list[Case], attribute: int, guide: Json | None) -> Candidate | None:
    """The test on groups, or on one value, as the settings say."""
    merging = Merging(training, cases, attribute, guide)
    if training.settings.forgets_least and sum(merging.totals) < training.one_case / 1000:
        training.has_forgotten = True
    return merging.one_value() if training.settings.binary_splits else merging.grouped()


def strike_out_impossible_values(training: Training, root: Node) -> None:
    """Leave only possible values in the last branches of tests on groups, and no such branch without values."""
    pending: list[tuple[Node, dict[int, list[int]]]] = [(root, {})]
    while pending:
        node, possible = pending.pop()
        if node.branches and node.subsets is not None:
            a = node.attribute
            everything = list(range(training.n_values(a)))
            last = [v for v in node.subsets[-1] if v in possible.get(a, everything)]
            node.subsets = [*node.subsets[:-1], *([last] if last else [])]
            node.branches = node.branches[: len(node.subsets)]
            pending += [(b, possible | {a: s}) for b, s in zip(node.branches, node.subsets, strict=True)]
        else:
            pending += [(branch, possible) for branch in node.branches]
