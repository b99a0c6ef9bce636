"""The view model of every result, a card, and the two functions that make HTML and text of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core.redact import redact
from harness_nb.render.html import Markup, join, tag
from harness_nb.render.masking import without_known
from harness_nb.render.text import cell, clip, count, text_table
from harness_nb.render.theme import style_block

NUMBERS = "hnb-num"
"""Class of cells that are set to the right."""

TO_LEFT = "text-align:left"
"""Style of cells of text; JupyterLab sets all to the right where it removes the style block."""

MAX_ROWS = 20
MAX_CELL_CHARS = 240
SHORT_CHARS = 26
MAX_TEXT_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Rich:
    """A cell that is more than its text in HTML."""

    text: str
    html: Markup

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values.

    Attributes:
        head: Names of the columns, units in them.
        rows: The rows to show.
        total: How many rows there are; more than are shown is said below.
        noun: What a row is.
        caption: A heading, or empty.
        is_open: False folds the table under its caption.
        code: Names of the columns that are shown in a fixed-width font.
        figures: Names of the columns that are set to the right though they hold texts, as figures with their units.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    total: int = 0
    noun: str = "row"
    caption: str = ""
    is_open: bool = True
    code: frozenset[str] = frozenset()
    figures: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, head: Sequence[str], rows: Sequence[Sequence[object]], *, most: int = MAX_ROWS, **fields: object
    ) -> Table:
        """A table of the first rows, which knows how many there are."""
        return cls(tuple(head), tuple(tuple(row) for row in rows[:most]), total=len(rows), **fields)  # type: ignore[arg-type]  # the names of the fields are those of the class

    @property
    def right(self) -> tuple[bool, ...]:
        """Which columns hold numbers only, or figures, and are set to the right."""
        return tuple(
            name in self.figures
            or (bool(self.rows) and all(_is_number(row[at]) or row[at] is None for row in self.rows))
            for at, name in enumerate(self.head)
        )

    @property
    def is_short(self) -> tuple[bool, ...]:
        """Which columns hold nothing long and are not broken into lines."""
        return tuple(all(len(cell(row[at])) <= SHORT_CHARS for row in self.rows) for at in range(len(self.head)))

    @property
    def left_out(self) -> str:
        """How many rows are not shown, in words, or empty."""
        hidden = self.total - len(self.rows)
        return f"and {count(hidden, 'more ' + self.noun, 'more ' + self.noun + 's')}" if hidden > 0 else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Pre:
    """A text exactly as it is: no Markdown, no HTML, no formulas."""

    text: str
    caption: str = ""
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class Drawing:
    """Markup with the same said in text; the text is for places without HTML only."""

    html: Markup
    text: str = ""


Block = Table | Pre | Drawing


@dataclass(frozen=True, slots=True)
class Card:
    """What a result shows.

    Attributes:
        title: What it is.
        line: The state in words, so that nothing below is needed to understand it.
        blocks: Tables, texts and drawings.
        notes: Remarks below, such as what to call next.
        styles: Rules of its drawings, each scoped below `.hnb`.
    """

    title: str
    line: str = ""
    blocks: tuple[Block, ...] = ()
    notes: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()


def card_html(card: Card) -> str:
    """A card as HTML that reads well with every style removed."""
    page = tag("div", Markup(style_block(*card.styles)), _header(card), card_body(card), class_="hnb")
    return without_known(str(page))


def card_body(card: Card) -> Markup:
    """The blocks and notes of a card, without its styles and its title: for a page that has these itself."""
    return join(*map(_block_html, card.blocks), *_notes(card))


def card_text(card: Card) -> str:
    """A card as text."""
    head = "\n".join(filter(None, (card.title, card.line)))
    blocks = [text for block in card.blocks if (text := _block_text(block))]
    return without_known(redact("\n\n".join(filter(None, [head, *blocks, *card.notes]))))


def _header(card: Card) -> Markup:
    return join(
        tag("div", tag("strong", card.title), class_="hnb-title") if card.title else None,
        tag("div", card.line, class_="hnb-line") if card.line else None,
    )


def _notes(card: Card) -> list[Markup]:
    return [tag("div", note, class_="hnb-note") for note in card.notes]


def _block_html(block: Block) -> Markup:
    if isinstance(block, Drawing):
        return block.html
    body = _table_html(block) if isinstance(block, Table) else tag("pre", clip(block.text, MAX_TEXT_CHARS))
    if not block.caption:
        return body
    if block.is_open:
        return join(tag("div", block.caption, class_="hnb-caption"), body)
    return tag("details", tag("summary", block.caption), body)


def _table_html(table: Table) -> Markup:
    sides = [_side(*one) for one in zip(table.right, table.is_short, strict=True)]
    head = tag("tr", *(tag("th", name, class_=side) for name, side in zip(table.head, sides, strict=True)))
    rows = [
        tag("tr", *(_cell(value, name, side, table) for value, name, side in zip(row, table.head, sides, strict=True)))
        for row in table.rows
    ]
    whole = tag("table", tag("thead", head) if any(table.head) else None, tag("tbody", *rows))
    left_out = tag("div", table.left_out, class_="hnb-note") if table.left_out else None
    return tag("div", whole, left_out, class_="hnb-wide")


def _side(to_right: bool, is_short: bool) -> str | None:
    return NUMBERS if to_right else "hnb-short" if is_short else None


def _cell(value: object, name: str, side: str | None, table: Table) -> Markup:
    style = None if side == NUMBERS else TO_LEFT
    if isinstance(value, Rich):
        return tag("td", value.html, class_=side, style=style)
    text = clip(cell(value), MAX_CELL_CHARS)
    return tag("td", tag("code", text) if name in table.code and text else text, class_=side, style=style)


def _block_text(block: Block) -> str:
    if isinstance(block, Drawing):
        return block.text
    if isinstance(block, Pre):
        body = clip(block.text, MAX_TEXT_CHARS)
    else:
        body = text_table(block.head, block.rows, block.right) if block.rows else ""
        body = "\n".join(filter(None, (body, block.left_out)))
    return "\n".join(filter(None, (block.caption, body)))
