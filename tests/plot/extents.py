"""Where things are on a figure, in pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, PathPatch

Extents = npt.NDArray[np.float64]  # a row (left, bottom, right, top) for each thing


def extents(artists: list[Any]) -> Extents:
    return np.array([artist.get_window_extent().extents for artist in artists]).reshape(-1, 4)


def boxes(ax: Axes) -> Extents:
    """Of the nodes, in preorder."""
    return extents([patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)])


def words_on(ax: Axes) -> list[Any]:
    """Everything that is written, outlines that have their words as labels."""
    return [patch for patch in ax.patches if isinstance(patch, PathPatch)]


def texts(ax: Axes, kind: str) -> tuple[npt.NDArray[np.int64], Extents]:
    """Of the texts in nodes or at branches: which node each is at, and where."""
    found = [text for text in words_on(ax) if (text.get_gid() or "").startswith(kind)]
    return np.array([int(text.get_gid().split()[1]) for text in found], np.int64), extents(found)


def overlaps(one: Extents, other: Extents) -> npt.NDArray[np.bool_]:
    """Whether each of some things overlaps each of others."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    return (low < high).all(axis=2)


def require_no_overlap(ax: Axes) -> None:
    """Boxes and labels of branches are apart, words are in their boxes, and all is inside the axes."""
    ax.get_figure(root=True).draw_without_rendering()
    placed = np.concatenate([boxes(ax), texts(ax, "branch")[1]])
    clash = np.argwhere(np.triu(overlaps(placed, placed), 1))
    assert clash.tolist() == []
    node, words = texts(ax, "node")
    home = boxes(ax)[node]
    assert (words[:, :2] >= home[:, :2]).all()
    assert (words[:, 2:] <= home[:, 2:]).all()
    area = ax.get_window_extent().extents
    every = extents(words_on(ax))
    assert (every[:, :2] >= area[:2]).all()
    assert (every[:, 2:] <= area[2:]).all()
