"""Rules and their evaluation in the layout of the original's c4.5rules, line for line.

Rule 4:
        outlook = rain
        windy = false
        ->  class Play  [63.0%]          one less the pessimistic error

Rule  Size  Error  Used  Wrong             Advantage
   4     2  37.0%     3      0 (0.0%)          0 (0|0)      Play
                                               ^better less worse than what would be said without the rule

A round of the evaluation ends with the rule that is dropped, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from c45gpu.data.schema import Schema
from c45gpu.rules.cases import RuleCases
from c45gpu.rules.derive import Round
from c45gpu.rules.rule import Rule
from c45gpu.show.text import MOST_CLASSES_IN_CONFUSION, amount, confusion_text

_HEADING: Final = (
    "Rule  Size  Error  Used  Wrong\t          Advantage\n----  ----  -----  ----  -----\t          ---------\n"
)


def rules_text(schema: Schema, rules: Sequence[Rule], default: int) -> str:
    """Rules in their order, and the default class.

    Parameters
    ----------
    schema : Schema
    rules : sequence of Rule
    default : int

    Returns
    -------
    str
        Lines, each with its newline.
    """
    parts = [
        f"Rule {rule.number}:\n"
        + "".join(f"    \t{condition.text(schema.attributes[condition.attribute])}\n" for condition in rule.conditions)
        + f"\t->  class {schema.classes[rule.label]}  [{100 * rule.confidence:.1f}%]\n\n"
        for rule in rules
    ]
    return "".join(parts) + f"Default class: {schema.classes[default]}\n"


def use_text(rounds: Sequence[Round], cases: RuleCases, *, data: str = "training data") -> str:
    """How rules do on cases, round by round, and the confusion matrix of the last one up to 21 classes.

    Parameters
    ----------
    rounds : sequence of Round
        Each but the last one drops a rule.
    cases : RuleCases
    data : str
        What the cases are called in the heading.

    Returns
    -------
    str
    """
    schema, last = cases.table.schema, rounds[-1].use
    text = f"Evaluation on {data} ({cases.table.n_cases} items):\n\n"
    for one in rounds:
        text += _HEADING + "".join(_lines(one, cases))
        text += f"\nDrop rule {one.dropped.number}\n\n" if one.dropped is not None else ""
    confusion = cases.cases(last.confusion)
    total, right = float(confusion.sum()), float(confusion.trace())
    text += f"\nTested {amount(total)}, errors {amount(total - right)} ({100 * (total - right) / total:.1f}%)   <<\n\n"
    return text + (confusion_text(confusion, schema) if schema.n_classes <= MOST_CLASSES_IN_CONFUSION else "")


def _lines(one: Round, cases: RuleCases) -> list[str]:
    """A line for each rule that fires for any case."""
    figures = zip(
        *(cases.cases(units).tolist() for units in (one.use.used, one.use.wrong, one.use.better, one.use.worse)),
        strict=True,
    )
    lines = []
    for rule, (used, wrong, better, worse) in zip(one.rules, figures, strict=True):
        if used > 0:
            lines.append(
                f"{rule.number:4d}  {len(rule.conditions):4d}  {100 * rule.error:4.1f}%  {amount(used):>4}"
                f"   {amount(wrong):>4} ({100 * wrong / used:.1f}%)"
                f"\t{amount(better - worse):>6} ({amount(better)}|{amount(worse)}) \t"
                f"{cases.table.schema.classes[rule.label]}\n"
            )
    return lines
