"""The report in a real browser, without a screen; skipped where there is none.

Screenshots go to the folder that C45GPU_SCREENSHOTS names, else to the test's own.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from c45gpu import Options, train
from c45gpu.data.c45files import read_cases, read_names
from c45gpu.induction.record import Recording
from c45gpu.model.predict import class_frequencies
from c45gpu.model.store import Model, model_bytes
from c45gpu.report import report_html
from c45gpu.report.columns import cases_at_nodes
from c45gpu.report.gains import scans_of
from tests.golden_trees import chain, tree_of
from tests.report.made import NASTY, bushy, every_kind, html_of

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed, no browser is driven")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRAWN_AT_FIRST = 60
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    with sync_api.sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
        sandbox = [] if os.name == "nt" or os.geteuid() else ["--no-sandbox"]  # Chromium has none for root
        try:
            running = playwright.chromium.launch(executable_path=found, args=sandbox)
        except sync_api.Error as fault:
            pytest.skip(f"no Chromium: {str(fault).splitlines()[0]}")
        yield running
        running.close()


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    """Where pictures go."""
    folder = Path(os.environ.get("C45GPU_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a report from disk; the test fails where the page complains."""
    complaints: list[str] = []
    pages = []

    def open_page(html: str, **options: Any) -> Any:
        path = tmp_path / "report.html"
        path.write_text(html, "utf-8")
        page = browser.new_page(viewport={"width": 1500, "height": 1000}, **options)
        pages.append(page)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda fault: complaints.append(str(fault)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: None if request.url == path.as_uri() else complaints.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == []


def penguins(examples: Path, **options: Any) -> tuple[Model, Any]:
    table = read_cases(examples / "penguins.data", read_names(examples / "penguins.names"))
    return train(table, Options(**options)), table


def drawn(page: Any) -> int:
    return int(page.locator("#drawing .node").count())


def questions(page: Any) -> list[str]:
    return [str(text) for text in page.locator("#drawing .node .test").all_text_contents()]


def node(page: Any, number: int) -> Any:
    return page.locator(f'#drawing [data-node="{number}"]')


def test_how_it_was_trained(examples: Path, opened: Open) -> None:
    model, table = penguins(examples)
    recording = Recording(0.25)
    assert model_bytes(train(table, Options(), "reference", recording=recording)) == model_bytes(model)
    card = opened(report_html(model, record=recording.record(model))).locator("section[aria-labelledby=record]")
    told = card.inner_text()
    assert "reference, 1 thread" in told
    assert re.search(r"most memory\s+[\d,]+ MB", told)
    assert re.search(r"reading\s+0\.250 s", told)
    assert re.search(r"growing\s+[\d.e-]+ s", told)
    without = opened(report_html(model)).locator("section[aria-labelledby=record]").inner_text()
    assert "c45gpu train --record does" in without


def test_the_penguins(examples: Path, opened: Open, screenshots: Path) -> None:
    model, table = penguins(examples)
    page = opened(html_of(model, table, "Penguins"))
    assert page.title() == "Penguins"
    assert drawn(page) == model.pruned.n_nodes == 15
    assert questions(page)[0] == "flipper_length_mm ≤ 206?"
    assert page.locator("#node-title").inner_text() == "flipper_length_mm ≤ 206?"
    assert "5 errors" in page.locator("section[aria-labelledby=evaluation]").inner_text()
    assert page.locator(".matrix tbody tr").count() == 3
    node(page, 4).click()
    page.screenshot(path=screenshots / "penguins.png")
    page.click("#theme")
    page.screenshot(path=screenshots / "penguins_dark.png")


def test_closing_and_opening(examples: Path, opened: Open) -> None:
    page = opened(html_of(*penguins(examples)))
    node(page, 1).locator(".toggle").click()
    assert drawn(page) == 6
    assert node(page, 1).get_attribute("aria-expanded") == "false"
    page.click("#close-all")
    assert drawn(page) == 1
    page.click("#open-all")
    assert drawn(page) == 15


def test_a_node_tells_its_rule(examples: Path, opened: Open, screenshots: Path) -> None:
    page = opened(html_of(*penguins(examples)))
    node(page, 6).click()
    told = page.locator("#node").inner_text()
    assert "flipper_length_mm ≤ 206" in told
    assert "bill_length_mm > 42.3 and ≤ 43.3" in told
    assert "sex = male" in told
    assert page.locator("#node table").nth(1).locator("tbody tr").count() == 5
    page.screenshot(path=screenshots / "node.png", full_page=True)


def test_a_node_tells_what_other_tests_gain(examples: Path, opened: Open, screenshots: Path) -> None:
    model, table = penguins(examples)
    page = opened(html_of(model, table))
    scan = scans_of(model, table, {"pruned": model.pruned})["pruned"]["1"]
    node(page, 1).click()
    rows = page.locator("#node table").last.locator("tbody tr")
    assert rows.count() == len(scan["attributes"])
    assert rows.first.inner_text().startswith("bill_length_mm ≤ 43.3 (tested here)")
    assert page.locator("#node svg.scan").count() == 2
    points = len(scan["attributes"][0]["curve"]["gains"])
    assert page.locator("#node svg.scan").first.locator("circle").count() == points
    assert page.locator("#node svg.scan .threshold").count() == 1
    page.locator("#node").screenshot(path=screenshots / "gain_scan.png")


def test_keys_move_open_and_close(examples: Path, opened: Open) -> None:
    page = opened(html_of(*penguins(examples)))
    node(page, 0).focus()

    def at() -> str:
        return str(page.evaluate("document.activeElement.dataset.node"))

    for key, place in [("ArrowRight", "1"), ("ArrowDown", "2"), ("End", "14"), ("ArrowUp", "13"), ("ArrowLeft", "11")]:
        page.keyboard.press(key)
        assert at() == place
    page.keyboard.press("ArrowLeft")
    assert (at(), drawn(page)) == ("11", 12)
    page.keyboard.press("Space")
    assert (at(), drawn(page)) == ("11", 15)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    assert (at(), drawn(page)) == ("0", 1)
    assert page.locator('#drawing [tabindex="0"]').count() == 1


def test_search_finds_and_steps(examples: Path, opened: Open, screenshots: Path) -> None:
    page = opened(html_of(*penguins(examples)))
    page.click("#close-all")
    page.fill("#search", "Dream")
    assert page.locator("#found").inner_text() == "2 found"
    page.press("#search", "Enter")
    assert page.locator("#found").inner_text() == "1 of 2"
    assert page.locator("#drawing .node.match").count() == 1
    page.press("#search", "Enter")
    assert page.locator("#found").inner_text() == "2 of 2"
    assert page.locator("#drawing .node.selected .branch").text_content() == "= Dream"
    page.screenshot(path=screenshots / "search.png")


def test_following_a_case(examples: Path, opened: Open, screenshots: Path) -> None:
    model, table = penguins(examples)
    page = opened(html_of(model, table))
    page.get_by_label("bill_length_mm", exact=True).fill("45")
    page.get_by_label("island", exact=True).select_option("Dream")
    page.click("text=Follow >> nth=-1")
    asked = table.take(np.array([0]))
    names = {attribute.name: a for a, attribute in enumerate(model.schema.attributes)}
    for a in model.schema.used:
        asked.column(a)[:] = np.nan if asked.column(a).dtype.kind == "f" else -1
    asked.column(names["bill_length_mm"])[:] = 45
    asked.column(names["island"])[:] = model.schema.attributes[names["island"]].code_of["Dream"]
    frequencies = class_frequencies(model.pruned, asked)[0]
    told = page.locator("#result").inner_text()
    assert f"It is given {model.schema.classes[frequencies.argmax()]}" in told
    for part in frequencies[frequencies > 0]:
        assert f"{100 * part:.0f} %" in told or f"{100 * part:.1f} %" in told
    assert page.locator("#result li").count() == page.locator("#drawing .node.leaf.taken").count() == 2
    page.screenshot(path=screenshots / "following.png", full_page=True)
    page.get_by_label("bill_length_mm", exact=True).fill("long")
    page.click("text=Follow >> nth=-1")
    assert page.locator("#case .fault").inner_text() == "bill_length_mm: type a number, or nothing"
    page.click("text=Clear")
    assert page.locator("#drawing .node.taken").count() == 0


def test_before_and_after_pruning(examples: Path, opened: Open, screenshots: Path) -> None:
    model, table = penguins(examples, min_cases=1, confidence=0.05)
    assert model.unpruned.n_nodes > model.pruned.n_nodes
    page = opened(html_of(model, table))
    page.get_by_label(re.compile("as grown")).check()
    page.click("#open-all")
    assert drawn(page) == model.unpruned.n_nodes
    assert page.locator("#drawing .node.gone").count() > 0
    assert page.locator("#drawing .node.changed").count() > 0
    page.screenshot(path=screenshots / "as_grown.png", full_page=True)
    page.get_by_label(re.compile("pruned")).check()
    assert drawn(page) == model.pruned.n_nodes
    assert page.locator("#drawing .node.gone").count() == 0


def test_names_of_every_sort(opened: Open, screenshots: Path) -> None:
    page = opened(html_of(every_kind(), title=NASTY[0]))
    assert page.title() == NASTY[0]
    assert NASTY[0] in page.locator("#case label").first.inner_text()
    assert page.locator("#legend li").all_inner_texts() == NASTY[1:]
    page.click("#open-all")
    assert drawn(page) == 8
    page.screenshot(path=screenshots / "names.png", full_page=True)


def test_a_hundred_thousand_nodes_draw_few(opened: Open, screenshots: Path) -> None:
    model = bushy(16)
    assert model.unpruned.n_nodes > 100_000
    page = opened(html_of(model))
    assert 1 < drawn(page) <= DRAWN_AT_FIRST
    page.get_by_label(re.compile("as grown")).check()
    assert page.locator("#drawing").get_attribute("data-nodes") == str(model.unpruned.n_nodes)
    page.fill("#search", f"#{model.unpruned.n_nodes - 1}")
    page.press("#search", "Enter")
    assert page.locator("#drawing .node.selected").get_attribute("aria-level") == "17"
    page.screenshot(path=screenshots / "large.png")


def test_the_deepest_node_of_5000_levels(opened: Open) -> None:
    schema, root = chain(5000)
    tree = tree_of(root, schema)
    page = opened(html_of(Model(schema, tree, tree, {}, {})))
    page.fill("#search", f"#{tree.n_nodes - 1}")
    page.press("#search", "Enter")
    assert page.locator("#drawing .node.selected").get_attribute("aria-level") == "5001"
    assert drawn(page) < 400
    assert "… 4941 more …" in page.locator("#node").inner_text()


def test_other_cases_are_told_beside_the_training_cases(examples: Path, opened: Open) -> None:
    model, table = penguins(examples)
    page = opened(html_of(model, table.take(table.classes == 1)))
    weights = page.locator("#node table").first
    assert weights.locator("thead th").all_inner_texts() == ["class", "training cases", "these cases"]
    assert weights.locator("tbody tr td:last-child").all_inner_texts() == ["0", "0", "68"]  # Adelie, Gentoo, Chinstrap
    assert page.locator("section[aria-labelledby=rules]").count() == 0


def test_classes_that_training_did_not_see_at_a_node(examples: Path, opened: Open) -> None:
    model, table = penguins(examples)
    others = replace(table, classes=(table.classes + 1) % 3)
    page = opened(html_of(model, others))
    node(page, 14).click()
    training = model.pruned.class_weights[14]
    cases = cases_at_nodes(model.pruned, others)[14]
    assert (cases[training == 0] > 0).any()
    rows = page.locator("#node table").first.locator("tbody tr")
    assert rows.count() == np.count_nonzero((training > 0) | (cases > 0))


def test_a_narrow_window_needs_no_scrolling_sideways(examples: Path, opened: Open) -> None:
    page = opened(html_of(*penguins(examples)))
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") == 420
    drawing, panel, cards = (page.locator(place).bounding_box()["y"] for place in ("#drawing", "#node", ".cards"))
    assert drawing < panel < cards


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ground_and_ink_are_apart(scheme: str, examples: Path, opened: Open) -> None:
    page = opened(html_of(*penguins(examples)), color_scheme=scheme)
    colours = page.evaluate("(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))")
    ink, ground = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
    assert (ink < ground) == (scheme == "light")
    assert abs(ink - ground) > 400
