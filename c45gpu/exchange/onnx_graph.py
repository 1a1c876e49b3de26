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
from c45gpu.model.tree import LEAF

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
    column_of : list of int
        The column that each node of the tree asks for; -1 at leaves.
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
        self.column_of = [-1] * what.tree.n_nodes
        self.columns = self._columns()

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

    def _columns(self) -> str:
        tree, parts, n_columns = self._what.tree, [], 0
        asked = sorted(set(tree.attribute[tree.kind != LEAF].tolist())) or [self._what.schema.used[0]]
        for a in asked:
            nodes = np.flatnonzero(tree.attribute == a).tolist()
            attribute = self._what.schema.attributes[a]
            if attribute.kind == "continuous":
                parts.append(self._numbers(a))
                ways = dict.fromkeys(nodes, 0)
                width = 1
            else:
                name, ways, width = self._branches(a, attribute, nodes)
                parts.append(name)
            for node in nodes:
                self.column_of[node] = n_columns + ways[node]
            n_columns += width
        return self.add("Concat", *parts, axis=1)

    def _numbers(self, attribute: int) -> str:
        name = self.inputs[attribute]
        if self._what.unknown is None:
            return name
        low, high = (self.constant(np.float64(bound)) for bound in self._what.unknown)
        inside = self.add("And", self.add("GreaterOrEqual", name, low), self.add("LessOrEqual", name, high))
        return self.add("Where", inside, self.constant(np.float64(np.nan)), name)

    def _branches(self, number: int, attribute: Attribute, nodes: list[int]) -> tuple[str, dict[int, int], int]:
        """The columns of a discrete attribute, the one that each node asks for, and how many there are."""
        tree, n_values = self._what.tree, len(attribute.values)
        tables: dict[bytes, npt.NDArray[np.float64]] = {}
        keys = {}
        for node in nodes:
            mapped = tree.value_map(node)
            table = np.full(n_values + 1, np.nan)
            table[: len(mapped)] = np.where(mapped < 0, np.nan, mapped)
            keys[node] = table.tobytes()
            tables.setdefault(keys[node], table)
        place = {key: i for i, key in enumerate(tables)}
        rows = np.stack([*tables.values()] or [np.full(n_values + 1, np.nan)], axis=1)
        made = self.add("Gather", self.constant(rows), self._codes(number, attribute), axis=0)
        return made, {node: place[key] for node, key in keys.items()}, rows.shape[1]

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
