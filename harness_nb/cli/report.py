"""An executed notebook as one HTML page that needs nothing else: no script, no address outside of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_nb.render.card import Card, card_html
from harness_nb.render.html import Markup, escape, tag

if TYPE_CHECKING:
    from nbformat import NotebookNode

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""What a browser may load for the page: what stands in it."""

_STYLE = """
:root{color-scheme:light}
body{font:15px/1.55 system-ui,sans-serif;max-width:900px;margin:2rem auto;padding:0 1rem;color:#1d2329;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem}
a.anchor-link{display:none}
code,pre{font:12.5px/1.5 ui-monospace,monospace}
.cell{margin:.8rem 0}
.prompt{font:11px ui-monospace,monospace;color:#6b7680}
.prompt:empty{display:none}
.input_area pre{background:#f4f6f8;border-left:3px solid #c3ccd5;padding:.5rem .8rem;margin:.2rem 0;overflow-x:auto}
.output_subarea{padding:0 .8rem;overflow-x:auto}
.output_subarea>pre{margin:.3rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
.output_stderr,.output_error{border-left:3px solid #d55e00}
table.dataframe{border-collapse:collapse;font-size:13px}
table.dataframe th,table.dataframe td{padding:2px 10px 2px 0;text-align:right;border-bottom:1px solid #d8dde3}
"""


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
{body}
</html>
"""


def report_page(title: str, cards: Sequence[Card], notebook: NotebookNode) -> str:
    """A page with a title, cards and the notebook below.

    Args:
        title: Of the page.
        cards: What is to be said first.
        notebook: Was run; its cells tagged `remove-cell` are left out.
    """
    body = tag(
        "body",
        tag("h1", title),
        *(Markup(card_html(card)) for card in cards),
        tag("h2", "The notebook as it ran"),
        Markup(_body_of(notebook)),
    )
    return _PAGE.format(title=escape(title), policy=_POLICY, style=_STYLE + _code_style(), body=body)


def _body_of(notebook: NotebookNode) -> str:
    """The cells with their outputs, in markup without scripts."""
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    config = Config()
    config.TagRemovePreprocessor.remove_cell_tags = ("remove-cell",)
    config.TagRemovePreprocessor.enabled = True
    body, _ = HTMLExporter(template_name="basic", config=config).from_notebook_node(notebook)
    return str(body)


def _code_style() -> str:
    """Colours of code."""
    from pygments.formatters import HtmlFormatter

    return str(HtmlFormatter(nobackground=True).get_style_defs(".highlight"))
