"""Rules for elsewhere: as sentences, as an SQL expression, and as the source of a Python function.

Numbers are written so that reading them gives the same float64. If the rules were made with compat="r8", values are
compared after rounding to float32 and -999 is unknown; `c45gpu.model.unrounded` says it without rounding.
"""

from __future__ import annotations

import keyword
import math

from c45gpu.data.schema import Attribute
from c45gpu.errors import DataError, OptionError
from c45gpu.model.unrounded import float64_threshold, unknown_range
from c45gpu.rules.rule import Condition, RuleSet


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
    return "".join(f"{sentence}\n" for sentence in sentences(rules))


def sentences(rules: RuleSet) -> list[str]:
    """What each rule says, and at the end what holds otherwise."""
    said = []
    for rule in rules.rules:
        conditions = " and ".join(in_words(c, rules.schema.attributes[c.attribute]) for c in rule.conditions)
        said.append(f"if {conditions} then {rules.schema.classes[rule.label]} ({100 * rule.confidence:.1f}%)")
    return [*said, f"otherwise {rules.schema.classes[rules.default]}"]


def in_words(condition: Condition, attribute: Attribute) -> str:
    """A condition with all digits of its threshold."""
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
        lines.append(f"  WHEN {said} THEN {sql_text(rules.schema.classes[rule.label])}")
    return "\n".join([*lines, f"  ELSE {sql_text(rules.schema.classes[rules.default])}", "END"])


def _in_sql(rules: RuleSet, condition: Condition) -> str:
    attribute = rules.schema.attributes[condition.attribute]
    name = sql_name(attribute.name)
    if condition.threshold is None:
        values = [sql_text(attribute.values[code]) for code in condition.values]
        return f"{name} = {values[0]}" if len(values) == 1 else f"{name} IN ({', '.join(values)})"
    number, unknown = _as_float64(rules, condition.threshold)
    unless = "" if unknown is None else f" AND NOT {name} BETWEEN {unknown[0]!r} AND {unknown[1]!r}"
    return f"{name} {condition.sign} {sql_number(number, attribute.name)}{unless}"


def sql_name(name: str) -> str:
    """A name in the quotes that the SQL standard has for it."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def sql_number(number: float, name: str) -> str:
    """A number as an SQL literal, with which the attribute of that name is compared.

    Raises
    ------
    DataError
        When it is infinite.
    """
    if math.isinf(number):
        raise DataError(f"{name!r} is compared with infinity, which SQL cannot say: use another export")
    return repr(number)


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
    require_function_name(name)
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
    number, unknown = _as_float64(rules, condition.threshold)
    unless = "" if unknown is None else f" and not {unknown[0]!r} <= {name} <= {unknown[1]!r}"
    return f"{name} is not None and {name} {condition.sign} {python_number(number)}{unless}"


def require_function_name(name: str) -> None:
    """Refuse what is no name of a Python function.

    Raises
    ------
    OptionError
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise OptionError(f"name={name!r} will not do: give a name that a Python function can have")


def python_number(number: float) -> str:
    """A number as Python source that gives the same float64."""
    return repr(number) if math.isfinite(number) else f"float({str(number)!r})"


def _as_float64(rules: RuleSet, threshold: float) -> tuple[float, tuple[float, float] | None]:
    """The threshold for values that nobody rounds, and the range that is unknown, if there is one."""
    release8 = rules.options.get("compat") == "r8"
    return float64_threshold(threshold, release8=release8), unknown_range(release8=release8)
