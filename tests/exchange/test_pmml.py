"""PMML is read by PMML4S on a JVM; fractions of cases, which that knows for the last level only, by the book."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError, OptionError
from c45gpu.exchange import to_pmml
from c45gpu.exchange.exported import input_names
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.store import Model
from tests.exchange.made import (
    MODELS,
    SCHEMA,
    as_values,
    cases,
    class_names,
    deep_model,
    made,
    probabilities,
    with_most_common,
)
from tests.golden_trees import inner, leaf

NAMESPACE = "{http://www.dmg.org/PMML-4_4}"
NO_VALUE = "there is no such value"
Row = dict[str, Any]


@pytest.fixture(scope="module")
def reader() -> Iterator[Any]:
    """PMML4S."""
    pypmml = pytest.importorskip("pypmml", reason="pypmml is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java to run PMML4S")
    yield pypmml.Model
    pypmml.Model.close()


def finite(table: Table) -> Table:
    """JSON has no infinities; and PMML can only say of -999 itself that it is unknown, not of what rounds to it."""
    numbers = [np.nan_to_num(table.column(a), nan=0.0, posinf=np.inf, neginf=np.inf) for a in (0, 3)]
    near = [(np.float32(x) == -999) & (x != -999) for x in numbers]
    return table.take(np.isfinite(numbers[0]) & np.isfinite(numbers[1]) & ~near[0] & ~near[1])


def rows_of(table: Table) -> list[Row]:
    """Every other unknown discrete value is one that nobody declared."""
    names = input_names(table.schema)
    rows = [{name: row[a] for a, name in names.items()} for row in as_values(table)]
    for row in rows[::2]:
        texts = [name for a, name in names.items() if table.schema.attributes[a].kind == "discrete"]
        row |= {name: NO_VALUE for name in texts if row[name] is None}
    return rows


def asked(reader: Any, document: str, rows: list[Row]) -> tuple[list[str | None], np.ndarray]:
    """The classes and the probabilities that PMML4S gives; NaN where it gives none."""
    given = {"columns": list(rows[0]), "data": [list(row.values()) for row in rows]}
    data = json.loads(reader.fromString(document).call("predict", json.dumps(given)))["data"]
    numbers = [[np.nan if value is None else value for value in row[1:]] for row in data]
    return [row[0] for row in data], np.array(numbers, np.float64)


@pytest.mark.parametrize("kind", MODELS)
def test_a_jvm_reads_it(kind: str, reader: Any) -> None:
    model = MODELS[kind]()
    table = finite(cases(beside=model.pruned))
    reached, unknown = with_most_common(model, table)
    wanted = leaf_probabilities(model.pruned)[reached]
    names: list[str | None] = list(class_names(model, wanted))
    classes, found = asked(reader, to_pmml(model, unknown="most_common"), rows_of(table))
    assert (classes, found.tobytes()) == (names, wanted.tobytes())
    wanted[unknown] = np.nan
    refused = [None if lost else name for name, lost in zip(names, unknown, strict=True)]
    for how in ("refuse", "fractions"):  # of fractions PMML4S does not tell probabilities
        classes, found = asked(reader, to_pmml(model, unknown=how), rows_of(table)[:1000])
        np.testing.assert_array_equal(found, wanted[:1000], strict=True)
        if how == "refuse":
            assert classes == refused[:1000]


def test_a_jvm_divides_cases_by_weight(reader: Any) -> None:
    branches = [leaf(3.0, 1.0, 0.0), leaf(0.0, 4.0, 1.0), leaf(2.0, 0.5, 7.0), *(leaf(1.0, 2.0, 4.0) for _ in range(4))]
    model = made(inner("discrete", 1, *branches))
    document = to_pmml(model).replace('feature="probability" value="it\'s so"', 'feature="confidence"')
    classes, found = asked(reader, document, [dict.fromkeys(input_names(SCHEMA).values())])
    wanted = probabilities(model, cases(1, unknown=1.0))
    assert classes == class_names(model, wanted)
    assert found[0, 0] == pytest.approx(wanted.max(), rel=1e-14)


class ByTheBook:
    """What the PMML standard says of a TreeModel with weightedConfidence, read from the document."""

    def __init__(self, document: str) -> None:
        root = ElementTree.fromstring(document)
        self.fields = {
            field.get("name"): [value.get("value") for value in self.all(field, "Value") if not value.get("property")]
            for field in self.all(root[1], "DataField")
        }
        self.missing = {
            field.get("name"): [value.get("value") for value in self.all(field, "Value") if value.get("property")]
            for field in self.all(root[1], "DataField")
        }
        self.root = self.all(root[2], "Node")[0]

    @staticmethod
    def all(element: Any, tag: str) -> list[Any]:
        return element.findall(NAMESPACE + tag)

    def confidences(self, row: Row) -> np.ndarray:
        given = {name: value for name, value in row.items() if self.is_known(name, value)}
        return self.below(self.root, given)

    def is_known(self, name: str, value: Any) -> bool:
        if isinstance(value, float):
            return str(int(value) if value.is_integer() else value) not in self.missing[name]
        return value is not None and value in self.fields[name]

    def below(self, node: Any, row: Row) -> np.ndarray:
        children = self.all(node, "Node")
        if not children:
            return np.array([float(part.get("confidence")) for part in self.all(node, "ScoreDistribution")])
        verdicts = [self.holds(child[0], row) for child in children]
        if True in verdicts:
            return self.below(children[verdicts.index(True)], row)
        divided = [child for child, verdict in zip(children, verdicts, strict=True) if verdict is None]
        whole = float(node.get("recordCount"))
        return sum(float(child.get("recordCount")) / whole * self.below(child, row) for child in divided)

    def holds(self, predicate: Any, row: Row) -> bool | None:
        """True, False, or None for UNKNOWN."""
        if predicate.tag == NAMESPACE + "CompoundPredicate":
            verdicts = [self.holds(part, row) for part in predicate]
            decisive = predicate.get("booleanOperator") == "or"
            return decisive if decisive in verdicts else None if None in verdicts else not decisive
        value, operator, limit = row.get(predicate.get("field")), predicate.get("operator"), predicate.get("value")
        if value is None:
            return None
        if operator == "equal":
            return value == limit
        return (value > float(limit)) == (operator == "greaterThan")


@pytest.mark.parametrize("kind", MODELS)
def test_the_document_says_what_the_model_says(kind: str) -> None:
    model = MODELS[kind]()
    table = finite(cases(3000, beside=model.pruned))
    book = ByTheBook(to_pmml(model))
    found = np.array([book.confidences(row) for row in rows_of(table)])
    np.testing.assert_allclose(found, probabilities(model, table), rtol=1e-13)


def test_the_schema_of_pmml_admits_it() -> None:
    etree = pytest.importorskip("lxml.etree", reason="lxml is not installed")
    package = pytest.importorskip("jpmml_evaluator", reason="jpmml-evaluator, which has the schema, is not installed")
    (jar,) = (Path(package.__file__).parent / "dependencies").glob("pmml-model-[0-9]*.jar")
    schema = etree.XMLSchema(etree.fromstring(zipfile.ZipFile(jar).read("pmml.xsd")))
    for make in MODELS.values():
        for how in ("fractions", "refuse", "most_common"):
            schema.assertValid(etree.fromstring(to_pmml(make(), unknown=how).encode()))


def test_a_deep_tree_is_written() -> None:
    document = to_pmml(deep_model())
    assert document.count("<Node ") == document.count("</Node>") == 10_001
    opened = closed = 0
    for part in re.findall("<Node |</Node>", document):
        opened, closed = opened + (part == "<Node "), closed + (part == "</Node>")
        assert closed <= opened


def refused(model: Model, match: str) -> None:
    with pytest.raises(DataError, match=match):
        to_pmml(model)


def test_refusals() -> None:
    schema = Schema((Attribute("a\x07b", "continuous"),), ("no", "yes"))
    refused(made(leaf(1.0, 2.0), schema), "holds a character that XML cannot say")
    schema = Schema((Attribute("a", "continuous"),), ("no", "yes"))
    infinite = inner("threshold", 0, leaf(1.0, 0.0), leaf(0.0, 1.0), cut=float("inf"))
    refused(made(infinite, schema), "'a' is compared with infinity, which PMML cannot say")
    with pytest.raises(OptionError, match="give 'fractions', 'refuse' or 'most_common'"):
        to_pmml(made(infinite, schema), unknown="guess")  # type: ignore[arg-type]
