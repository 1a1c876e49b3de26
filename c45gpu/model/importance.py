"""How much each attribute tells in a tree."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from c45gpu.errors import OptionError
from c45gpu.model.predict import leaf_probabilities
from c45gpu.model.tree import LEAF, Tree

Importance = Literal["gain", "count"]


def information(tree: Tree) -> npt.NDArray[np.float64]:
    """What the classes at each node tell: -sum p log2 p over classes; shape (n,), in bits for a case."""
    parts = leaf_probabilities(tree)
    logs = np.log2(parts, out=np.zeros_like(parts), where=parts > 0)
    bits: npt.NDArray[np.float64] = 0.0 - (parts * logs).sum(axis=1)
    return bits


def gains(tree: Tree) -> npt.NDArray[np.float64]:
    """What each test gains: by how much its branches hold less information than its node.

    Returns
    -------
    ndarray of float64, shape (n,)
        ``weight * information - sum over branches of weight * information``, in bits; 0 at a leaf. It counts unknown
        values as divided over the branches, so it is at most the gain that the test was chosen by.
    """
    whole = tree.weight * information(tree)
    below = np.bincount(tree.parent[1:], whole[1:], tree.n_nodes)
    lost: npt.NDArray[np.float64] = np.where(tree.kind == LEAF, 0.0, np.maximum(whole - below, 0.0))
    return lost


def importances(tree: Tree, n_attributes: int, kind: Importance = "gain") -> npt.NDArray[np.float64]:
    """How important each attribute is; the importances sum to 1 where there is any test.

    Parameters
    ----------
    tree : Tree
    n_attributes : int
    kind : {"gain", "count"}
        The share of all information that the tests of the attribute gain, or the share of the tests.

    Returns
    -------
    ndarray of float64, shape (n_attributes,)

    Raises
    ------
    OptionError
        When the kind is another.
    """
    if kind not in ("gain", "count"):
        raise OptionError(f"importance {kind!r}: give 'gain' or 'count'")
    inner = np.flatnonzero(tree.kind != LEAF)
    worth = gains(tree)[inner] if kind == "gain" else np.ones(len(inner))
    of_attribute = np.bincount(tree.attribute[inner], worth, n_attributes).astype(np.float64)
    total = float(of_attribute.sum())
    return of_attribute / (total if total > 0 else 1.0)
