"""An ONNX graph that is being built: its inputs, its names, and the columns that the tests of a tree ask for.

A *column* is a column of the matrix that all tests read: a continuous attribute as it is, and of a discrete one the
branch of its value, once for each way in which the tree's tests divide the values; NaN where there is no branch.

    "size" (n, 1) ------------------------------------------------.
    "colour" (n, 1) -> LabelEncoder -> code -> Gather(table) -> Concat -> columns (n, k)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from c45gpu.data.schema import Attribute
from c45gpu.errors import DataError
from c45gpu.exchange.exported import Exported, input_names
from c45gpu.exchange.optional import optional
from c45gpu.exchange.two_way import columns_of

ML = "ai.onnx.ml"


class Graph:
    """Nodes and constants of a graph with an input for each attribute that is not ignored.

    Parameters
    ----------
    what : Exported

    Attributes
    ----------
    columns : str
        The name of the matrix of columns, float64.
    branches : Columns
        Which columns these are, and which one each node of the tree asks for.
    """

    def __init__(self, what: Exported) -> None:
        self.helper, self.numpy_helper = optional("onnx.helper"), optional("onnx.numpy_helper")
        self.types = optional("onnx").TensorProto
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._what = what
        used = what.schema.used
        if not used:
            raise DataError("the model uses no attribute, and an ONNX model needs an input: use another export")
        self.inputs = input_names(what.schema)
        self._inner = "c45gpu_"
        while any(name.startswith(self._inner) for name in self.inputs.values()):
            self._inner += "_"
        self.branches = columns_of(what.tree, what.schema)
        self.columns = self._matrix()

    def add(self, kind: str, *given: str, domain: str = "", made: str | None = None, **attributes: Any) -> str:
        """One more node; returns the name of what it makes."""
        made = f"{self._inner}{len(self.nodes)}" if made is None else made
        self.nodes.append(self.helper.make_node(kind, list(given), [made], domain=domain, **attributes))
        return made

    def constant(self, values: npt.ArrayLike) -> str:
        """The name of an array of numbers."""
        array = np.asarray(values)
        return self._keep(self.numpy_helper.from_array(array, self._constant_name()))

    def texts(self, texts: tuple[str, ...]) -> str:
        """The name of an array of texts."""
        encoded = [text.encode() for text in texts]
        return self._keep(self.helper.make_tensor(self._constant_name(), self.types.STRING, [len(texts)], encoded))

    def value_infos(self) -> list[Any]:
        """What the inputs are: float64 or text, of the shape (n, 1)."""
        kinds = {"continuous": self.types.DOUBLE, "discrete": self.types.STRING}
        attributes = self._what.schema.attributes
        info = self.helper.make_tensor_value_info
        return [info(name, kinds[attributes[a].kind], ["n", 1]) for a, name in self.inputs.items()]

    def _constant_name(self) -> str:
        return f"{self._inner}c{len(self.constants)}"

    def _keep(self, tensor: Any) -> str:
        self.constants.append(tensor)
        return str(tensor.name)

    def _matrix(self) -> str:
        attributes = list(dict.fromkeys(self.branches.attribute)) or [self._what.schema.used[0]]
        parts = []
        for a in attributes:
            if self._what.schema.attributes[a].kind == "continuous":
                parts.append(self._numbers(a))
            else:
                tables = [
                    t for t, of in zip(self.branches.branch_of_code, self.branches.attribute, strict=True) if of == a
                ]
                parts.append(self._branches(a, tables))
        return self.add("Concat", *parts, axis=1)

    def _numbers(self, attribute: int) -> str:
        name = self.inputs[attribute]
        if self._what.unknown is None:
            return name
        low, high = (self.constant(np.float64(bound)) for bound in self._what.unknown)
        inside = self.add("And", self.add("GreaterOrEqual", name, low), self.add("LessOrEqual", name, high))
        return self.add("Where", inside, self.constant(np.float64(np.nan)), name)

    def _branches(self, number: int, tables: list[npt.NDArray[np.float64] | None]) -> str:
        """The columns of a discrete attribute, NaN for all values that it does not have."""
        attribute = self._what.schema.attributes[number]
        rows = np.full((len(attribute.values) + 1, max(len(tables), 1)), np.nan)
        for i, table in enumerate(tables):
            rows[:-1, i] = table
        return self.add("Gather", self.constant(rows), self._codes(number, attribute), axis=0)

    def _codes(self, number: int, attribute: Attribute) -> str:
        """Codes, one past the last for any other text; shape (n,)."""
        tensor, n = self.helper.make_tensor, len(attribute.values)
        texts = [value.encode() for value in attribute.values] or [b""]
        codes = self.add(
            "LabelEncoder",
            self.inputs[number],
            domain=ML,
            keys_tensor=tensor("keys", self.types.STRING, [len(texts)], texts),
            values_tensor=tensor("values", self.types.INT64, [len(texts)], [*range(n)] or [0]),
            default_tensor=tensor("default", self.types.INT64, [1], [n]),
        )
        return self.add("Reshape", codes, self.constant(np.array([-1])))
