"""Rules for elsewhere: as sentences, as an SQL expression, and as the source of a Python function.

Numbers are written so that reading them gives the same float64. If the rules were made with compat="r8", values are
compared after rounding to float32 and -999 is unknown; instead of rounding, thresholds are moved here to the last
float64 that rounds to the threshold, and what rounds to -999 is excluded.
"""

from __future__ import annotations

import keyword
import math
from typing import Final

import numpy as np

from c45gpu.errors import DataError, OptionError
from c45gpu.rules.rule import Condition, RuleSet

_OVERFLOW: Final = (2 - 2.0**-24) * 2.0**127  # from here on float64 rounds to a float32 that is infinite


def to_text(rules: RuleSet) -> str:
    """Sentences: ``if outlook = sunny and humidity > 75.0 then Don't Play (63.0%)``, the last ``otherwise Play``.

    Parameters
    ----------
    rules : RuleSet

    Returns
    -------
    str
        A line for each rule, in their order: the first that holds decides.
    """
    lines = []
    for rule in rules.rules:
        said = " and ".join(_in_words(rules, condition) for condition in rule.conditions)
        lines.append(f"if {said} then {rules.schema.classes[rule.label]} ({100 * rule.confidence:.1f}%)\n")
    return "".join(lines) + f"otherwise {rules.schema.classes[rules.default]}\n"


def _in_words(rules: RuleSet, condition: Condition) -> str:
    attribute = rules.schema.attributes[condition.attribute]
    if condition.threshold is not None:
        return f"{attribute.name} {condition.sign} {condition.threshold!r}"
    return condition.text(attribute)


def to_sql(rules: RuleSet) -> str:
    """A CASE expression over columns that have the attributes' names; NULL is unknown.

    Parameters
    ----------
    rules : RuleSet

    Returns
    -------
    str
        Names are quoted as the SQL standard has it: ``CASE WHEN "outlook" = 'sunny' AND "humidity" > 75.0 THEN ...``.

    Raises
    ------
    DataError
        When a rule compares with infinity, which SQL cannot say.
    """
    lines = ["CASE"]
    for rule in rules.rules:
        said = " AND ".join(_in_sql(rules, condition) for condition in rule.conditions)
        lines.append(f"  WHEN {said} THEN {_sql_text(rules.schema.classes[rule.label])}")
    return "\n".join([*lines, f"  ELSE {_sql_text(rules.schema.classes[rules.default])}", "END"])


def _in_sql(rules: RuleSet, condition: Condition) -> str:
    attribute = rules.schema.attributes[condition.attribute]
    name = '"' + attribute.name.replace('"', '""') + '"'
    if condition.threshold is None:
        values = [_sql_text(attribute.values[code]) for code in condition.values]
        return f"{name} = {values[0]}" if len(values) == 1 else f"{name} IN ({', '.join(values)})"
    if math.isinf(condition.threshold):
        raise DataError(f"a rule compares {attribute.name!r} with infinity, which SQL cannot say: use another export")
    less, low, high = _as_float64(rules, condition.threshold)
    unless = "" if low is None else f" AND NOT {name} BETWEEN {low!r} AND {high!r}"
    return f"{name} {condition.sign} {less!r}{unless}"


def _sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def to_python(rules: RuleSet, name: str = "classify") -> str:
    """The source of a function from a case, a mapping of attribute names to values, to the name of its class.

    Parameters
    ----------
    rules : RuleSet
    name : str
        What the function is called.

    Returns
    -------
    str
        It needs no import. None, NaN and what is not in the mapping are unknown; discrete values are texts.

    Raises
    ------
    OptionError
        When `name` is no name of a function.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise OptionError(f"name={name!r} will not do: give a name that a Python function can have")
    tested = sorted({condition.attribute for rule in rules.rules for condition in rule.conditions})
    lines = [f"def {name}(case):"]
    lines += [f"    a{a} = case.get({rules.schema.attributes[a].name!r})" for a in tested]
    for rule in rules.rules:
        said = " and ".join(_in_python(rules, condition) for condition in rule.conditions)
        lines += [f"    if {said}:", f"        return {rules.schema.classes[rule.label]!r}"]
    return "\n".join([*lines, f"    return {rules.schema.classes[rules.default]!r}", ""])


def _in_python(rules: RuleSet, condition: Condition) -> str:
    name = f"a{condition.attribute}"
    if condition.threshold is None:
        values = tuple(rules.schema.attributes[condition.attribute].values[code] for code in condition.values)
        return f"{name} == {values[0]!r}" if len(values) == 1 else f"{name} in {values!r}"
    less, low, high = _as_float64(rules, condition.threshold)
    number = repr(less) if math.isfinite(less) else f"float({str(less)!r})"
    unless = "" if low is None else f" and not {low!r} <= {name} <= {high!r}"
    return f"{name} is not None and {name} {condition.sign} {number}{unless}"


def _as_float64(rules: RuleSet, threshold: float) -> tuple[float, float | None, float | None]:
    """The threshold for values that nobody rounds, and the range that is unknown, if there is one."""
    if rules.options.get("compat") != "r8":
        return threshold, None, None
    return _last_rounding_to(threshold), -_last_rounding_to(999.0), _last_rounding_to(-999.0)


def _last_rounding_to(single: float) -> float:
    """The greatest float64 that becomes a number when it is rounded to float32."""
    if math.isinf(single):
        return single if single > 0 else -_OVERFLOW
    with np.errstate(over="ignore"):
        above = float(np.nextafter(np.float32(single), np.float32(np.inf)))
        middle = _OVERFLOW if math.isinf(above) else single + (above - single) / 2
        return middle if float(np.float32(middle)) == single else math.nextafter(middle, -math.inf)
