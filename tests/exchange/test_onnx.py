"""ONNX models are run by onnxruntime, and say what the model says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from c45gpu.data.schema import Attribute, Schema
from c45gpu.data.table import Table
from c45gpu.errors import DataError, OptionError
from c45gpu.exchange import to_onnx
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
from tests.golden_trees import leaf

pytest.importorskip("onnx", reason="onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

NO_VALUE = "there is no such value"


def asked(model: Any, table: Table, inputs: dict[str, int]) -> tuple[list[str], np.ndarray]:
    """What onnxruntime says of a table, whose attributes are the inputs."""
    columns = list(zip(*as_values(table), strict=True))
    given = {}
    for name, a in inputs.items():
        if table.schema.attributes[a].kind == "discrete":
            texts = [NO_VALUE if value is None else value for value in columns[a]]
            given[name] = np.array(texts, object)[:, None]
        else:
            given[name] = np.array(columns[a], np.float64)[:, None]
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    label, found = runtime.InferenceSession(model.SerializeToString(), options).run(None, given)
    return label.tolist(), found


def inputs_of(model: Model) -> dict[str, int]:
    schema = model.schema
    return {schema.attributes[a].name or f"attribute {a}": a for a in schema.used}


@pytest.mark.parametrize("kind", MODELS)
def test_fractions_give_the_same_bits(kind: str) -> None:
    model = MODELS[kind]()
    table = cases(beside=model.pruned)
    label, found = asked(to_onnx(model), table, inputs_of(model))
    wanted = probabilities(model, table)
    assert found.tobytes() == wanted.tobytes()
    assert label == class_names(model, wanted)


@pytest.mark.parametrize("kind", MODELS)
def test_one_leaf_for_each_case(kind: str) -> None:
    model = MODELS[kind]()
    table = cases(beside=model.pruned)
    reached, unknown = with_most_common(model, table)
    wanted = leaf_probabilities(model.pruned)[reached]
    names = np.array(class_names(model, wanted), object)
    label, found = asked(to_onnx(model, unknown="most_common"), table, inputs_of(model))
    assert found.tobytes() == wanted.tobytes()
    assert label == names.tolist()
    wanted[unknown], names[unknown] = np.nan, ""
    label, found = asked(to_onnx(model, unknown="refuse"), table, inputs_of(model))
    np.testing.assert_array_equal(found, wanted, strict=True)
    assert label == names.tolist()


def test_names_that_the_graph_needs_itself() -> None:
    names = ("label", "probabilities", "c45gpu_0", "attribute 3", "")
    schema = Schema(tuple(Attribute(name, "continuous") for name in names), ("no", "yes"))
    model = to_onnx(made(leaf(1.0, 3.0), schema))
    graph = model.graph
    assert [i.name for i in graph.input] == ["label", "probabilities", "c45gpu_0", "attribute 3", "attribute 4"]
    assert [o.name for o in graph.output] == ["label_", "probabilities_"]
    table = Table(schema, [np.zeros(3)] * 5, np.full(3, -1, np.int32))
    label, found = asked(model, table, {i.name: a for a, i in enumerate(graph.input)})
    assert (label, found.tolist()) == (["yes"] * 3, [[0.25, 0.75]] * 3)


def test_deep_trees() -> None:
    model = deep_model(300)
    heights = np.array([0.0, 299.0, 300.0, np.nan, 150.5])
    table = Table(model.schema, [heights], np.full(5, -1, np.int32))
    wanted = probabilities(model, table)
    assert asked(to_onnx(model), table, {"height": 0})[1].tobytes() == wanted.tobytes()
    wanted[3] = np.nan
    np.testing.assert_array_equal(asked(to_onnx(model, unknown="refuse"), table, {"height": 0})[1], wanted)


def test_refusals() -> None:
    with pytest.raises(OptionError, match="give 'fractions', 'refuse' or 'most_common'"):
        to_onnx(made(leaf(1.0, 3.0, 2.0)), unknown="guess")  # type: ignore[arg-type]
    schema = Schema((Attribute("a", "ignored"),), SCHEMA.classes)
    with pytest.raises(DataError, match="an ONNX model needs an input"):
        to_onnx(made(leaf(1.0, 3.0, 2.0), schema))
