"""A model's trees as nested dictionaries: the format of the golden files, and of the oracle."""

from __future__ import annotations

import io
import json
from typing import Any

from c45gpu.model.store import Model
from c45gpu.show.document import document, write_json
from tests.recursion import deep_recursion


def nested_trees(model: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tree as grown and the pruned one, as ``c45gpu train --json`` prints them."""
    stream = io.StringIO()
    write_json(document(model, []), stream)
    with deep_recursion():  # readers of nested JSON recurse; the package does not
        whole = json.loads(stream.getvalue())
    return whole["unpruned"], whole["pruned"]
