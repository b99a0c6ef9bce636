from __future__ import annotations

import re
from html.parser import HTMLParser

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from harness_nb.cli.report import report_page
from harness_nb.render.card import Card, Table

PICTURE = "data:image/png;base64,iVBORw0KGgo="
WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "x", "version_major": 2, "version_minor": 0}}


class Loads(HTMLParser):
    """What a browser would load for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if tag in ("script", "link", "iframe", "object", "embed"):
            self.found.append(tag)
        self.found += [value for name in ("src", "srcset", "data") if (value := named.get(name))]


def page_of(*cells: object) -> str:
    """The report of a notebook."""
    return report_page("A <title>", (Card("Card", "a line", (Table.of(("n",), [(1,)]),)),), new_notebook(cells=cells))


def test_a_report_loads_nothing_but_what_it_holds() -> None:
    shown = new_output("display_data", data={"text/plain": "w", "text/html": f'<img src="{PICTURE}">', **WIDGET})
    loads = Loads()
    loads.feed(page_of(new_markdown_cell("# Text $a$"), new_code_cell("1", outputs=[shown])))
    assert loads.found == [PICTURE]


def test_a_browser_is_told_to_load_nothing_whatever_a_cell_says() -> None:
    page = page_of(new_markdown_cell("![x](https://example.org/x.png)<script>alert(1)</script>"))
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert policy is not None
    assert policy[1] == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert page.index(policy[0]) < page.index("https://example.org")


def test_a_report_has_title_cards_code_and_outputs() -> None:
    page = page_of(new_code_cell("print(41 + 1)", outputs=[new_output("stream", text="42\n")]))
    assert "<title>A &lt;title&gt;</title>" in page
    assert "a line" in page
    assert "print" in page
    assert "42" in page


def test_cells_that_a_reader_need_not_see_are_left_out() -> None:
    assert "secret_check" not in page_of(new_code_cell("secret_check", metadata={"tags": ["remove-cell"]}))
