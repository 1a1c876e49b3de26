"""Pictures as files."""

from __future__ import annotations

import io
from typing import Any, Final

from c45gpu.plot.measure import matplotlib

DOTS_PER_INCH: Final = 150
FORMATS: Final = ("pdf", "png", "svg")
_DATES: Final[dict[str, dict[str, None]]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def as_bytes(axes: Any, format: str) -> bytes:
    """The figure that axes are in, as a file; the same picture gives the same bytes.

    Parameters
    ----------
    axes : matplotlib.axes.Axes or tuple of them
        Axes that were drawn on.
    format : {"pdf", "png", "svg"}
        What kind of file.

    Returns
    -------
    bytes
        What to write to a file that was opened in binary mode.
    """
    first = axes[0] if isinstance(axes, tuple) else axes
    stream = io.BytesIO()
    with matplotlib("style").context({"svg.hashsalt": "c45gpu"}):
        figure = first.get_figure(root=True)
        figure.savefig(stream, format=format, dpi=DOTS_PER_INCH, metadata=_DATES[format])
    return stream.getvalue()
