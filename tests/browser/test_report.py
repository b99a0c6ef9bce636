"""The report of a comparison in a real browser: it loads nothing, fits, and can be read in light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness_nb import Message, Transcript, compare
from tests.browser.test_widgets import CONTRASTS

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every section."""
    said = [m for n in range(60) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))]
    talk = Transcript(said, name="talk", model="gpt-4o")
    found = compare(talk, ["harness", "eney", "hermes", "opencode"], window=8_000)
    return found.write(tmp_path_factory.mktemp("report") / "report.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_of_a_report_can_be_read(browser: Browser, report: Path, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1_200, "height": 900})  # type: ignore[arg-type]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = page.evaluate(CONTRASTS.replace("'.hnb'", "'main'"))  # headings, too
    assert len(found) > 100
    assert [pair for pair in found if pair[0] < 4.5] == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()


@pytest.mark.parametrize("width", [1_200, 400])
def test_a_report_is_never_wider_than_the_window(browser: Browser, report: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".hnb-lane").count() == 4
    assert (page.locator(".hnb-lanes img").bounding_box() or {"width": 0})["width"] >= 150
    page.close()
