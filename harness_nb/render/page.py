"""One HTML page that needs nothing else: sections made of cards, light and dark, fit for a printer."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from harness_nb.render.card import Card, card_body
from harness_nb.render.html import Markup, tag
from harness_nb.render.masking import without_known
from harness_nb.render.theme import dark_variables, style_block

_PAGE = """
:root{color-scheme:light dark}
body{margin:0;background:#fff;color:#1c2126;font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",
Arial,sans-serif}
main{max-width:1040px;margin:0 auto;padding:40px 28px 64px}
h1{font-size:26px;line-height:1.25;font-weight:650;letter-spacing:-.01em;margin:0 0 6px}
h2{font-size:17px;font-weight:650;margin:38px 0 8px;padding-top:14px;border-top:1px solid #d8dde3}
.lead{color:#4f5a66;margin:0 0 4px;max-width:72ch}
.hnb.hnb{max-width:none}
.hnb.hnb table td,.hnb.hnb table th{max-width:70ch}
@media (max-width:560px){main{padding:24px 14px 40px}}
footer{margin-top:40px;color:#4f5a66;font-size:13px}
@media (prefers-color-scheme:dark){
body{background:#14181d;color:#e3e7eb}
h2{border-color:#39424d}
.lead,footer{color:#a9b3be}
.hnb{DARK}
}
@media print{main{max-width:none;padding:0}h2{break-after:avoid}.hnb-lanes,tr{break-inside:avoid}}
"""


def page(
    title: str,
    cards: Sequence[Card],
    pictures: Sequence[tuple[str, bytes]] = (),
    *,
    lead: Sequence[str] = (),
    footer: str = "",
) -> str:
    """A page as HTML.

    Args:
        title: Of the page.
        cards: A section each, under its title; their styles are put into the page once.
        pictures: Caption and PNG of pictures that stand behind them.
        lead: Sentences below the title.
        footer: A last line.
    """
    styles = tuple(dict.fromkeys(style for card in cards for style in card.styles))
    rules = _PAGE.replace("{DARK}", f"{{{dark_variables()}}}").replace("\n", "")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        Markup(style_block(*styles)),
        Markup(f"<style>{rules}</style>"),
    )
    top = tag("header", tag("h1", title), *(tag("p", text, class_="lead") for text in lead))
    sections = (*map(_section, cards), *(_picture(caption, png) for caption, png in pictures))
    end = tag("footer", footer) if footer else None
    body = tag("body", tag("main", top, *sections, end))
    return without_known(f"<!doctype html>\n{tag('html', head, body, lang='en')}\n")


def _section(card: Card) -> Markup:
    line = tag("p", card.line, class_="lead") if card.line else None
    return tag("section", tag("h2", card.title), line, tag("div", card_body(card), class_="hnb"))


def _picture(caption: str, png: bytes) -> Markup:
    source = f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
    return tag("section", tag("h2", caption), tag("img", src=source, alt=caption, style="max-width:100%"))
