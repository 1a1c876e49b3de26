"""How much room texts take, where matplotlib is fetched from, and axes of a given size."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from c45gpu.errors import MissingPackageError

LINE_HEIGHT: Final = 1.35  # of the font's size
POINTS_PER_INCH: Final = 72.0
LONGEST_SIDE: Final = 200.0  # inches: 30,000 pixels at 150 dots per inch, and Agg draws fewer than 65,536
LARGEST_AREA: Final = 2500.0  # square inches: 225 MB of pixels at 150 dots per inch


def matplotlib(module: str) -> Any:
    """A module of matplotlib, ``matplotlib("patches")``.

    Raises
    ------
    MissingPackageError
        When it is not installed.
    """
    try:
        return import_module(f"matplotlib.{module}")
    except ImportError as fault:
        raise MissingPackageError(f"this needs matplotlib ({fault}): pip install 'c45gpu[plot]'") from fault


FONT_UNITS: Final = 100.0  # the size of the font in which matplotlib gives outlines


class Outline(NamedTuple):
    """The outline of one line of text of font size 1, from where it begins on its base line, upwards."""

    points: npt.NDArray[np.float64]
    codes: npt.NDArray[np.uint8]


@lru_cache(maxsize=1 << 14)
def outline_of(line: str, bold: bool = False) -> Outline:
    """What a line of text looks like; as an outline it is as wide as measured at any size and resolution."""
    font = matplotlib("font_manager").FontProperties(size=FONT_UNITS, weight="bold" if bold else "normal")
    points, codes = matplotlib("textpath").text_to_path.get_text_path(font, line, ismath=False)
    return Outline(np.array(points, np.float64).reshape(-1, 2) / FONT_UNITS, np.array(codes, np.uint8))


@lru_cache(maxsize=1 << 16)
def width_of(line: str, font_size: float, bold: bool = False) -> float:
    """The width of one line of text in points; dollar signs are dollar signs."""
    font = matplotlib("font_manager").FontProperties(size=font_size, weight="bold" if bold else "normal")
    width, _, _ = matplotlib("textpath").text_to_path.get_text_width_height_descent(line, font, ismath=False)
    return float(width)


def new_figure(width: float, height: float) -> Any:
    """A figure of pyplot's that is so wide and high, in points, or less if that is too large."""
    wide, high = max(width, 1.0) / POINTS_PER_INCH, max(height, 1.0) / POINTS_PER_INCH
    scale = min(1.0, LONGEST_SIDE / wide, LONGEST_SIDE / high, (LARGEST_AREA / (wide * high)) ** 0.5)
    return matplotlib("pyplot").figure(figsize=(wide * scale, high * scale))


def new_axes(width: float, height: float) -> Any:
    """Axes without margins in a figure of their own; sizes are in points."""
    return new_figure(width, height).add_axes((0.0, 0.0, 1.0, 1.0))


def new_panels(width: float, height: float, **how: Any) -> Any:
    """Axes in a figure of pyplot's of this size in inches, laid out so that no label is cut off."""
    return matplotlib("pyplot").subplots(figsize=(width, height), layout="constrained", **how)[1]
