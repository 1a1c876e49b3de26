"""One HTML file out of the template, the style, the script and a document; nothing in it is fetched."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

_PLACE: Final = re.compile(r"<!--c45gpu:([a-z]+)-->|/\*c45gpu:([a-z]+)\*/")
_ESCAPES: Final = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def page(document: Mapping[str, Any], title: str) -> str:
    """The report as HTML.

    Parameters
    ----------
    document : mapping
        Plain values for JSON.
    title : str

    Returns
    -------
    str
    """
    content = {
        "title": html.escape(title),
        "style": static("report.css"),
        "document": as_script(document),
        "script": static("report.js"),
    }
    # all places at once, so that nothing in one text is taken for the place of another
    return _PLACE.sub(lambda place: content[place[1] or place[2]], static("report.html"))


def as_script(document: Mapping[str, Any]) -> str:
    """JSON that no name can end: within a script element ``</script>`` and ``<!--`` are spelled without their ``<``."""
    return json.dumps(document, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def static(name: str) -> str:
    """A file that comes with the package."""
    return (resources.files("c45gpu.report") / "static" / name).read_text("utf-8")
