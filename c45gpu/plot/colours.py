"""Colours of classes, and how pure a node is."""

from __future__ import annotations

import colorsys
from typing import Final

import numpy as np
import numpy.typing as npt

Colour = tuple[float, float, float]

# Okabe and Ito's colours, which people tell apart however they see colours, without black.
_FEW: Final = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#F0E442")
INK: Final = "#222222"
FAINT: Final = "#8a8a8a"
CUT: Final = "#c1121f"
RAISED: Final = "#0050b3"
WHITE: Final = (1.0, 1.0, 1.0)
_LEAST_TINT: Final = 0.08  # a node of equal classes keeps a hint of its label's colour
_MOST_TINT: Final = 0.62  # black text stays readable on it


def class_colours(n_classes: int) -> list[Colour]:
    """A colour for each class; distinct hues where there are more than seven."""
    if n_classes <= len(_FEW):
        return [_rgb(colour) for colour in _FEW[:n_classes]]
    levels = (0.9, 0.65)
    return [colorsys.hsv_to_rgb(c / n_classes, 0.75, levels[c % 2]) for c in range(n_classes)]


def purity(class_weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How far each row is from equal classes: 0 where all weigh the same, 1 where there is one; shape (n,)."""
    total = class_weights.sum(axis=1)
    n_classes = class_weights.shape[1]
    largest = class_weights.max(axis=1) / np.where(total > 0, total, 1.0)
    if n_classes == 1:
        return np.ones(len(total))
    pure: npt.NDArray[np.float64] = np.clip((largest - 1 / n_classes) / (1 - 1 / n_classes), 0.0, 1.0)
    return pure


def tinted(colour: Colour, strength: float) -> Colour:
    """A colour mixed with white; `strength` 1 is the strongest that text is read on."""
    part = _LEAST_TINT + (_MOST_TINT - _LEAST_TINT) * strength
    red, green, blue = (1.0 - part + part * channel for channel in colour)
    return red, green, blue


def _rgb(code: str) -> Colour:
    red, green, blue = (int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue
