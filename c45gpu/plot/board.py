"""A picture of a tree: its boxes with their words and colours, and how they come onto axes of matplotlib.

Everything is measured in points of a picture that is as large as it needs to be. Axes that are smaller get it smaller,
letters included, so what does not overlap in the picture does not overlap there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from c45gpu.plot.colours import FAINT, INK, WHITE, Colour
from c45gpu.plot.layout import GAP_OF_LINES, Floats, Part, Places, place
from c45gpu.plot.measure import LINE_HEIGHT, POINTS_PER_INCH, matplotlib, new_axes, outline_of, width_of

MARGIN: Final = 14.0  # points around the picture
PADDING: Final = 7.0  # points between words and the edge of a box
BAR: Final = 5.0  # points that the bar of classes is thick
SWATCH: Final = 10.0
BETWEEN_ENTRIES: Final = 16.0


class Box(NamedTuple):
    """A node of a picture.

    Attributes
    ----------
    lines : list of str
        The first is printed bold.
    face : Colour
    shares : list of float
        The part of each class at the node; empty for a node without cases, whose edge is dashed.
    edge : Colour or str
    heavy : bool
        Whether the edge is drawn to be seen.
    faint : bool
        Whether all of it is to stay in the background.
    """

    lines: list[str]
    face: Colour
    shares: list[float]
    edge: Any = FAINT
    heavy: bool = False
    faint: bool = False


@dataclass(frozen=True)
class Picture:
    """All that is to be drawn.

    Parameters
    ----------
    part : Part
    boxes : list of Box
        One for each drawn node.
    labels : list of str
        Of the branch that leads to it; empty for the root.
    colours : list of Colour
        One for each class.
    legend : list of (str, Colour)
    notes : list of str
        Lines below the legend.
    down : bool
        The root is above, and leaves are below; else it is on the left.
    font_size : float
    title : str
    """

    part: Part
    boxes: list[Box]
    labels: list[str]
    colours: list[Colour]
    legend: list[tuple[str, Colour]]
    notes: list[str]
    down: bool
    font_size: float
    title: str = ""
    _places: list[Places] = field(default_factory=list, repr=False)

    @property
    def places(self) -> Places:
        """Where the nodes are, without margins and legend."""
        if not self._places:
            boxes = np.array([self._box_size(box) for box in self.boxes])
            labels = np.array([self._label_size(label) for label in self.labels])
            order = [0, 1] if self.down else [1, 0]
            self._places.append(place(self.part, boxes[:, order], labels[:, order]))
        return self._places[0]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in points, with margins and legend."""
        width = self.width
        across, along = self.places.size
        return width, (along if self.down else across) + self.header(width) + 2 * MARGIN

    @property
    def width(self) -> float:
        """In points: what the tree takes, or the widest line above it."""
        across, along = self.places.size
        words = [width_of(self.title, self.font_size + 2, True), *(width_of(n, self.font_size) for n in self.notes)]
        entries = [self.entry_width(name) for name, _ in self.legend]
        least = min(sum(entries), 60 * self.font_size)  # a legend of a few classes stays in one row
        return max(across if self.down else along, least, *words, *entries, 0.0) + 2 * MARGIN

    def header(self, width: float) -> float:
        """How high title, legend and notes are."""
        line = self.font_size * LINE_HEIGHT
        rows = len(self.rows(width))
        title = (self.font_size + 2) * LINE_HEIGHT + 4 if self.title else 0.0
        return title + (rows + len(self.notes)) * (line + 2) + 10

    def entry_width(self, name: str) -> float:
        """What an entry of the legend takes."""
        return SWATCH + 5 + width_of(name, self.font_size) + BETWEEN_ENTRIES

    def rows(self, width: float) -> list[list[tuple[str, Colour]]]:
        """The entries of the legend in rows that fit."""
        rows: list[list[tuple[str, Colour]]] = []
        room = 0.0
        for name, colour in self.legend:
            needed = self.entry_width(name)
            if needed > room:
                rows.append([])
                room = max(width - 2 * MARGIN, needed) + 0.01
            rows[-1].append((name, colour))
            room -= needed
        return rows

    def _box_size(self, box: Box) -> tuple[float, float]:
        widths = [width_of(line, self.font_size, bold=i == 0) for i, line in enumerate(box.lines)]
        bar = BAR if box.shares else 0.0
        return max(widths) + 2 * PADDING, len(box.lines) * self.font_size * LINE_HEIGHT + bar + PADDING

    def _label_size(self, label: str) -> tuple[float, float]:
        if not label:
            return 0.0, 0.0
        lines = label.split("\n")
        return max(width_of(line, self.font_size) for line in lines) + 6, len(lines) * self.font_size * LINE_HEIGHT + 2


class Board:
    """Axes that a picture is drawn on.

    Parameters
    ----------
    picture : Picture
    ax : matplotlib.axes.Axes, optional
        New ones, as large as the picture, if absent.
    """

    def __init__(self, picture: Picture, ax: Any = None) -> None:
        self._picture = picture
        width, height = picture.size
        self.ax = new_axes(width, height) if ax is None else ax
        figure = self.ax.get_figure(root=True)
        area = self.ax.get_position()
        inches = figure.get_size_inches() * POINTS_PER_INCH
        room = area.width * inches[0], area.height * inches[1]
        self._scale = min(room[0] / width, room[1] / height)
        self._width, self._height = width, height
        wide, high = room[0] / self._scale, room[1] / self._scale
        self.ax.set_xlim((width - wide) / 2, (width + wide) / 2)
        self.ax.set_ylim(high, 0.0)
        self.ax.set_axis_off()

    def draw(self) -> Any:
        """Draw all; returns the axes."""
        top = self._header()
        picture = self._picture
        across, along = picture.places.size
        wide = across if picture.down else along
        self._origin = (self._width - wide) / 2, top
        self._lines()
        for i, box in enumerate(picture.boxes):
            self._box(i, box)
            self._label(i)
        return self.ax

    def text(self, x: float, y: float, words: str, *, size: float = 0.0, bold: bool = False, **how: Any) -> None:
        """Lines of words around a place, or to the right of it (`left`), as outlines.

        Fonts that are fitted to pixels are wider at some resolutions than at others; outlines keep to their room.
        """
        size, left = size or self._picture.font_size, how.pop("left", False)
        lines = words.split("\n")
        base = y - (len(lines) - 1) / 2 * size * LINE_HEIGHT + 0.36 * size  # capitals are 0.73 of the size high
        points, codes = [], []
        for line in lines:
            outline = outline_of(line, bold)
            begin = x if left else x - width_of(line, size, bold) / 2
            points.append(outline.points * (size, -size) + (begin, base))
            codes.append(outline.codes)
            base += size * LINE_HEIGHT
        path = matplotlib("path").Path(np.concatenate(points), np.concatenate(codes))
        how = {"facecolor": INK, "linewidth": 0.0, "label": words} | how
        self.ax.add_artist(matplotlib("patches").PathPatch(path, **how))

    def _header(self) -> float:
        """Title, legend and notes; returns where the tree begins."""
        picture, y = self._picture, MARGIN
        line = picture.font_size * LINE_HEIGHT
        if picture.title:
            size = picture.font_size + 2
            self.text(MARGIN, y + size / 2, picture.title, size=size, left=True, bold=True)
            y += size * LINE_HEIGHT + 4
        for row in picture.rows(self._width):
            x = MARGIN
            for name, colour in row:
                self._rectangle((x, y + (line - SWATCH) / 2), SWATCH, SWATCH, facecolor=colour, edgecolor=FAINT)
                self.text(x + SWATCH + 5, y + line / 2, name, left=True)
                x += picture.entry_width(name)
            y += line + 2
        for note in picture.notes:
            self.text(MARGIN, y + line / 2, note, left=True, facecolor=FAINT)
            y += line + 2
        return y + 10

    def _at(self, across: float, along: float) -> tuple[float, float]:
        x, y = (across, along) if self._picture.down else (along, across)
        return x + self._origin[0], y + self._origin[1]

    def _lines(self) -> None:
        """From every node to its branches: along, across in the middle of the gap, and along again."""
        part, places = self._picture.part, self._picture.places
        thickness = np.array([self._picture._box_size(box)[self._picture.down] for box in self._picture.boxes])
        ends = np.zeros(int(part.depth.max()) + 1)
        np.maximum.at(ends, part.depth, places.box + thickness)
        labels = np.full(len(ends), np.inf)
        np.minimum.at(labels, part.depth, places.label)
        paths: list[Any] = []
        for i in range(1, len(part.nodes)):
            p, depth = int(part.parent[i]), int(part.depth[i])
            middle = labels[depth] - GAP_OF_LINES / 2
            start, end = places.box[p] + thickness[p], places.label[i]
            here, there = places.centre[p], places.centre[i]
            paths.append([self._at(*point) for point in ((here, start), (here, middle), (there, middle), (there, end))])
        colours = [("#d5d5d5" if self._picture.boxes[i].faint else FAINT) for i in range(1, len(part.nodes))]
        lines = matplotlib("collections").LineCollection(paths, colors=colours, linewidths=self._scale, zorder=0)
        self.ax.add_collection(lines, autolim=False)

    def _box(self, i: int, box: Box) -> None:
        places, picture = self._picture.places, self._picture
        width, height = picture._box_size(box)
        x, y = self._corner(i, places.box, (width, height))
        style = "--" if not box.shares else "-"
        opacity = 0.35 if box.faint else 1.0
        self.ax.add_artist(
            matplotlib("patches").FancyBboxPatch(
                (x + 2, y + 2),
                width - 4,
                height - 4,
                boxstyle="round,pad=2,rounding_size=3",
                facecolor=box.face if box.shares else WHITE,
                edgecolor=box.edge,
                linewidth=(2.2 if box.heavy else 0.8) * self._scale,
                linestyle=style,
                alpha=opacity,
                zorder=2,
            )
        )
        line = picture.font_size * LINE_HEIGHT
        for number, words in enumerate(box.lines):
            middle = y + PADDING / 2 + (number + 0.5) * line
            opaque = 0.5 if box.faint else 1.0
            self.text(x + width / 2, middle, words, bold=number == 0, zorder=3, alpha=opaque, gid=f"node {i}")
        self._bar(box, x + PADDING, y + PADDING / 2 + len(box.lines) * line, width - 2 * PADDING, opacity)

    def _bar(self, box: Box, x: float, y: float, width: float, opacity: float) -> None:
        """The classes at the node, side by side."""
        for share, colour in zip(box.shares, self._picture.colours, strict=False):
            if share > 0:
                self._rectangle((x, y), share * width, BAR - 2, facecolor=colour, zorder=3, alpha=opacity)
                x += share * width

    def _label(self, i: int) -> None:
        words = self._picture.labels[i]
        if not words:
            return
        size = self._picture._label_size(words)
        x, y = self._corner(i, self._picture.places.label, size)
        faint = self._picture.boxes[i].faint
        middle = x + size[0] / 2, y + size[1] / 2
        self.text(*middle, words, facecolor=FAINT if faint else INK, zorder=3, gid=f"branch {i}")

    def _corner(self, i: int, along: Floats, size: tuple[float, float]) -> tuple[float, float]:
        breadth = size[0] if self._picture.down else size[1]
        return self._at(float(self._picture.places.centre[i]) - breadth / 2, float(along[i]))

    def _rectangle(self, corner: tuple[float, float], width: float, height: float, **how: Any) -> None:
        how = {"linewidth": 0.5 * self._scale} | how
        self.ax.add_artist(matplotlib("patches").Rectangle(corner, width, height, **how))
