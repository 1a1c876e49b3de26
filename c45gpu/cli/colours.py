"""What standard output may be: plain text for programs, or colours and tables for a person at a terminal."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from c45gpu.data.schema import Schema
    from c45gpu.show.text import Mark, Part

When = Literal["auto", "always", "never"]

_STYLES: Final[dict[Part, str]] = {"attribute": "bold", "value": "cyan", "left out": "dim"}


@Parameter(name="*")
@dataclass(frozen=True)
class Colouring:
    """Whether results are printed for a person.

    Parameters
    ----------
    color : {"auto", "always", "never"}
        Colours and tables: where standard output is a terminal and NO_COLOR is not set, or in any case, or plain text.
    """

    color: When = "auto"


@dataclass(frozen=True)
class Page:
    """How to print results.

    Parameters
    ----------
    is_rich : bool
        In tables, for a person.
    is_coloured : bool
        With colours.
    """

    is_rich: bool
    is_coloured: bool

    @classmethod
    def of(cls, colouring: Colouring | None = None) -> Page:
        """By what the user says, then by what standard output is, and what TERM and NO_COLOR say."""
        when = (colouring or Colouring()).color
        if when != "auto":
            return cls(when == "always", when == "always")
        for_a_person = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        return cls(for_a_person, for_a_person and not os.environ.get("NO_COLOR"))

    def console(self) -> Console:
        """Where tables are printed."""
        from rich.console import Console

        return Console(force_terminal=self.is_coloured, no_color=not self.is_coloured, highlight=False, markup=False)

    def mark(self, schema: Schema) -> Mark:
        """Colours for the parts of a tree: classes as in pictures, attributes and values apart from them."""
        from c45gpu.show.text import plain

        if not self.is_coloured:
            return plain
        from rich.color import Color
        from rich.console import COLOR_SYSTEMS
        from rich.style import Style

        from c45gpu.plot.colours import class_colours

        system = COLOR_SYSTEMS.get(self.console().color_system or "")
        colours = [Color.from_rgb(*(255 * channel for channel in rgb)) for rgb in class_colours(schema.n_classes)]
        classes = [Style(color=colour, bold=True) for colour in colours]
        styles = {part: Style.parse(style) for part, style in _STYLES.items()}

        def mark(part: Part, text: str, number: int) -> str:
            return (classes[number] if part == "class" else styles[part]).render(text, color_system=system)

        return mark
