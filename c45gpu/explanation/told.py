"""What there is to say of a case, and how it is said in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Step:
    """One test on the way to a leaf.

    Parameters
    ----------
    condition : str
        What the branch stands for: ``humidity <= 75.0``.
    value : str or None
        The value of the case; None where it is unknown.
    decided : bool
        Whether the value says that this is the way. Where it is unknown, or one that the test has no branch for, the
        case divides.
    share : float
        The part of the case that is left after this step.
    """

    condition: str
    value: str | None
    decided: bool
    share: float


@dataclass(frozen=True)
class Reached:
    """A leaf that a case reaches.

    Parameters
    ----------
    steps : tuple of Step
        From the root down.
    share : float
        The part of the case that ends here.
    label : str
        The class that the leaf stands for.
    weights : dict of str to float
        Weight of the training cases of each class at the leaf, in cases; empty where there were none.
    """

    steps: tuple[Step, ...]
    share: float
    label: str
    weights: dict[str, float]


@dataclass(frozen=True)
class Change:
    """What would have to be different for another class.

    Parameters
    ----------
    label : str
        That class.
    conditions : tuple of str
        What would have to hold: one for each attribute whose value does not do.
    """

    label: str
    conditions: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a case is given its class.

    Parameters
    ----------
    label : str
        The class.
    probabilities : dict of str to float
        Of each class.
    reached : tuple of Reached
        The leaves with the largest shares, the largest first.
    others : int
        How many more leaves it reaches.
    change : Change or None
        The way to the nearest leaf of another class: from the leaf of this class with the largest share up to the first
        node that has such a leaf below it, and there the leaf for which the fewest values have to change. None if there
        is none.
    """

    label: str
    probabilities: dict[str, float]
    reached: tuple[Reached, ...]
    others: int
    change: Change | None

    def __str__(self) -> str:
        shown = sorted(self.probabilities.items(), key=lambda pair: -pair[1])
        lines = [f"{self.label} (" + ", ".join(f"{name} {part:.1%}" for name, part in shown if part > 0) + ")"]
        for reached in self.reached:
            lines += _told(reached)
        if self.others:
            rest = 1.0 - sum(reached.share for reached in self.reached)
            lines.append(f"  {rest:.1%} of the case: {self.others} more leaves")
        if self.change is not None:
            lines.append(f"  it would be {self.change.label} if {' and '.join(self.change.conditions)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The explanation in plain values for JSON.

        Returns
        -------
        dict
            Its attributes by their names, and so within.
        """
        return asdict(self)


def _told(reached: Reached) -> Iterator[str]:
    indent = "  "
    if reached.share < 1:
        yield f"  {reached.share:.1%} of the case:"
        indent = "    "
    before = 1.0
    for step in reached.steps:
        if step.decided:
            yield f"{indent}{step.condition} (it is {step.value})"
        else:
            value = "unknown" if step.value is None else f"{step.value}, which has no branch"
            yield f"{indent}{step.condition} (it is {value}: {step.share / before:.1%} go this way)"
        before = step.share
    whole = sum(reached.weights.values())
    wrong = whole - reached.weights.get(reached.label, 0.0)
    told = (
        f"of {whole:g} training cases there {wrong:g} were of another class" if whole else "no training case was there"
    )
    yield f"{indent}so {reached.label}: {told}"
