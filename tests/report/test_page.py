from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from c45gpu.cli import main
from c45gpu.data.table import Table
from c45gpu.report.page import static
from tests.report.made import NASTY, bushy, document_of, every_kind, html_of

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
MEGABYTES_FOR_5000_NODES = 5


class Page(HTMLParser):
    """The elements of a page, and the texts of its scripts and headings."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.inside: str | None = None  # the element that began last, while it has not ended
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = None

    def handle_data(self, data: str) -> None:
        if self.inside is not None:
            self.texts[self.inside][-1] += data


def test_names_cannot_leave_the_document() -> None:
    html = html_of(every_kind(), title=NASTY[0])
    page = Page(html)
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert [attributes.get("type") for attributes in scripts] == ["application/json", None]
    assert json.loads(page.texts["script"][0]) == document_of(every_kind()) | {"title": NASTY[0]}
    assert page.texts["title"] == [NASTY[0]]
    assert page.texts["h1"][0] == NASTY[0]
    assert "</script><script>alert" not in html


def test_names_are_not_taken_for_places_of_the_template() -> None:
    title = "<!--c45gpu:script--> /*c45gpu:document*/"
    page = Page(html_of(every_kind(), title=title))
    assert page.texts["title"] == [title]


def test_nothing_is_fetched() -> None:
    page = Page(html_of(every_kind()))
    (policy,) = (a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    fetching = [value for _, attributes in page.tags for name, value in attributes.items() if name in ("src", "href")]
    assert fetching == ["#drawing"]
    assert "url(" not in static("report.css")


def test_every_control_has_a_name() -> None:
    page = Page(html_of(every_kind()))
    labelled = {attributes.get("for") for tag, attributes in page.tags if tag == "label"}
    inputs = [attributes for tag, attributes in page.tags if tag == "input"]
    assert inputs
    assert all(attributes["id"] in labelled for attributes in inputs)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_size_for_5000_nodes() -> None:
    model, random = bushy(12), np.random.default_rng(5)
    assert model.pruned.n_nodes < 5000 < model.unpruned.n_nodes
    columns = list(random.normal(size=(20, 5000)))
    table = Table(model.schema, columns, random.integers(0, 3, 5000).astype(np.int32))
    html = html_of(model, table)
    assert '"scans"' in html
    assert len(html.encode()) < MEGABYTES_FOR_5000_NODES << 20


def test_the_bundle_is_made_of_the_sources() -> None:
    sources = [
        *FRONTEND.glob("src/*.js"),
        *(FRONTEND / name for name in ("build.js", "package-lock.json", "package.json")),
    ]
    whole = hashlib.sha256()
    for path in sorted(sources, key=lambda path: path.relative_to(FRONTEND).as_posix()):
        whole.update(path.relative_to(FRONTEND).as_posix().encode() + b"\n" + path.read_bytes() + b"\n")
    recorded = re.match(r"/\*! c45gpu report, made of frontend/ with sources ([0-9a-f]{64})\n", static("report.js"))
    assert recorded is not None
    assert recorded[1] == whole.hexdigest(), "run `npm ci && npm run build` in frontend/"


def test_the_bundle_keeps_the_licences() -> None:
    wanted = json.loads((FRONTEND / "package.json").read_text("utf-8"))["dependencies"]
    notices = static("report.js").partition("*/")[0]
    for name, version in wanted.items():
        assert f"{name} {version}\n" in notices
    assert notices.count("Permission to use, copy, modify, and/or distribute") >= len(wanted)


def test_the_bundle_fits_a_script_element() -> None:
    script = static("report.js")
    assert script.isascii()
    assert re.search(r"</script|<!--", script, re.IGNORECASE) is None


def test_command(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, made = tmp_path / "penguins.c45", tmp_path / "report.html"
    assert main(["train", str(examples / "penguins"), "-o", str(model)]) == 0
    capsys.readouterr()
    assert (
        main(["report", str(model), "--data", str(examples / "penguins.data"), "-o", str(made), "--title", "Bills"])
        == 0
    )
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"the report is saved in {made}\n"
    document = json.loads(Page(made.read_text("utf-8")).texts["script"][0])
    assert document["title"] == "Bills"
    assert document["cases"]["name"] == "penguins.data"
    assert main(["report", str(model), "-o", str(made)]) == 0
    document = json.loads(Page(made.read_text("utf-8")).texts["script"][0])
    assert document["title"] == "penguins.c45"
    assert "cases" not in document


def test_command_refuses_cases_without_classes(
    examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, made, cases = (tmp_path / name for name in ("penguins.c45", "report.html", "cases.csv"))
    assert main(["train", str(examples / "penguins"), "-o", str(model)]) == 0
    with open(examples / "penguins.csv", encoding="utf-8") as lines:
        columns, case = next(lines), next(lines)
    cases.write_text(columns.replace("species", "kind") + case, "utf-8")
    assert main(["report", str(model), "--data", str(cases), "-o", str(made)]) == 1
    assert "no case has a class" in capsys.readouterr().err
    assert not made.exists()
