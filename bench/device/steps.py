"""The steps of the device check, in their order; each by itself, so that one may fail and the others go on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from bench.device import micro, sanitizer, trees
from bench.device.big import BIG, EMULATED, FULL, SMALL, UNKNOWN, Scale, table
from bench.device.card import Card
from bench.device.tables import TABLES, digest_of_table, digests_of, kept

Outcome = dict[str, Any]


class Step(NamedTuple):
    """What to do, the seconds that it may take, and why it cannot be done here (asked before; None if it can)."""

    run: Callable[[Card, Scale], Outcome]
    limit: float
    hindrance: Callable[[], str | None] = lambda: None


class Different(Exception):
    """A tree is not the one that it should be."""


def scale_of(small: bool, emulate: bool) -> Scale:
    """How large the tables are."""
    return EMULATED if emulate else SMALL if small else FULL


def device(card: Card, scale: Scale) -> Outcome:
    """What is measured."""
    return card.facts()


def digest(name: str, card: Card, scale: Scale) -> Outcome:
    """Compare both trees of a table with the digests that are kept, or with the reference engine's made here."""
    cases, expected = TABLES[name].make(), kept()[name]
    same_table = digest_of_table(cases) == expected["table"]
    if not same_table:
        expected = digests_of(name, cases, "reference")
    found = digests_of(name, cases, card.engine())
    wrong = [tree for tree in found if found[tree] != expected[tree]]
    if wrong:
        raise Different(f"another tree than the reference engine's: {' and '.join(wrong)}")
    return {"cases": cases.n_cases, "against": "kept digests" if same_table else "the reference engine, run here"}


def tree(name: str, unknown: float, card: Card, scale: Scale) -> Outcome:
    """A whole tree on the card, not pruned."""
    return trees.on_card(card, table(name, scale, unknown), trees.Asked(BIG[name].levels))


def prune(name: str, card: Card, scale: Scale) -> Outcome:
    """The same with pruning, once."""
    return trees.on_card(card, table(name, scale), trees.Asked(prune=True), most_runs=1)


def predict(name: str, unknown: float, engine: str, card: Card, scale: Scale) -> Outcome:
    """Rows that a tree of the same distribution classifies in a second."""
    return trees.predicted(table(name, scale, unknown), trees.opener(card, engine))


def on_cpu(name: str, unknown: float, card: Card, scale: Scale) -> Outcome:
    """The same tree by the CPU engine."""
    asked = trees.Asked(BIG[name].levels)
    return trees.measured(table(name, scale, unknown), trees.opener(None, "cpu"), asked, most_runs=1)


def by_scikit_learn(name: str, card: Card, scale: Scale) -> Outcome:
    """The same table by scikit-learn."""
    return trees.scikit_learn(table(name, scale), BIG[name].levels)


def sanitized(tool: str, card: Card, scale: Scale) -> Outcome:
    """A tool of compute-sanitizer on small tables."""
    return sanitizer.run(tool)


def _no_scikit_learn() -> str | None:
    return None if find_spec("sklearn") else "scikit-learn is not installed"


def _no_sanitizer() -> str | None:
    return None if sanitizer.binary() else "there is no compute-sanitizer on the PATH"


def _steps() -> dict[str, Step]:
    found = {"device": Step(device, 60)}
    found |= {f"digest/{name}": Step(partial(digest, name), 90) for name in TABLES}  # the first compiles all kernels
    found |= {f"micro/{name}": Step(part, 40) for name, part in micro.PARTS.items()}
    for name in ("covertype", "higgs-1m", "higgs", "agrawal"):
        found[f"tree/{name}"] = Step(partial(tree, name, 0.0), 60)
    for name in ("covertype", "higgs", "agrawal"):
        found[f"tree/{name} unknown"] = Step(partial(tree, name, UNKNOWN), 60)
    found["predict/higgs"] = Step(partial(predict, "higgs", 0.0, "cuda"), 40)
    found["predict/higgs unknown"] = Step(partial(predict, "higgs", UNKNOWN, "cuda"), 40)
    found |= {f"prune/{name}": Step(partial(prune, name), 60) for name in ("covertype", "higgs-1m")}
    found |= {f"sanitizer/{t}": Step(partial(sanitized, t), 100, _no_sanitizer) for t in sanitizer.TOOLS}
    found["cpu/covertype"] = Step(partial(on_cpu, "covertype", 0.0), 150)  # compiles the CPU engine
    found["cpu/covertype unknown"] = Step(partial(on_cpu, "covertype", UNKNOWN), 150)
    found |= {f"cpu/{name}": Step(partial(on_cpu, name, 0.0), 90) for name in ("higgs-1m", "higgs", "agrawal")}
    found["cpu-predict/higgs"] = Step(partial(predict, "higgs", 0.0, "cpu"), 90)
    for name in ("covertype", "higgs-1m"):
        found[f"sklearn/{name}"] = Step(partial(by_scikit_learn, name), 90, _no_scikit_learn)
    return found


STEPS: Final = _steps()
