"""Draws a cutoff: the strip as a picture, words as text around it, sizes before and after, and figures as tables."""

from __future__ import annotations

from collections.abc import Sequence

from harness_nb.core.messages import Message
from harness_nb.core.plan import Fate, Plan
from harness_nb.core.view import View
from harness_nb.render.card import MAX_ROWS, Block, Card, Drawing, Pre, Rich, Table
from harness_nb.render.cutoff import LEAVES, CutoffModel, StripBlock, planned_model, saved_words
from harness_nb.render.html import Markup, join, picture, tag
from harness_nb.render.scale import PLAIN_WIDTH, SCALE_STYLES, label, scale, swatch, width_of
from harness_nb.render.strip_svg import BAR_HEIGHT, STRIP_HEIGHT, bar_svg, strip_svg
from harness_nb.render.text import clip, count, money, one_line, short
from harness_nb.render.theme import NEUTRAL, ROLE_COLOURS

ACCENT = "#3a86d8"
MAX_READ_CHARS = 6_000
_TEXT_CELLS = 60
_MADE_SHOWN = 3

STYLES = """
.hnb .hnb-bars{margin-top:4px}
.hnb.hnb .hnb-bars table{width:100%}
.hnb.hnb .hnb-bars table tr td{border:0;padding:1px 10px 1px 0;vertical-align:middle}
.hnb.hnb .hnb-bars table td:nth-child(2){width:55%}
.hnb.hnb .hnb-bars table td:last-child{white-space:normal}
"""


def cutoff_card(
    model: CutoffModel, more: Sequence[Block] = (), *, selected: int | None = None, can_drag: bool = False
) -> Card:
    """The display as a card.

    Args:
        model: What is shown.
        more: Further tables and texts, below the figures.
        selected: Position of the block that is being read, or None.
        can_drag: Whether the cut has a handle for the pointer, as in a live widget.
    """
    blocks: list[Block] = []
    if model.blocks:
        blocks.append(Drawing(strip(model, selected, can_drag=can_drag), _strip_text(model)))
    if model.tokens_before != model.tokens_after:
        blocks.append(Drawing(_bars(model), _bars_text(model)))
    if model.blocks:
        blocks.append(_sums(model))
    notes = tuple(filter(None, (_cost_words(model), _provenance(model))))
    return Card(model.title, model.line, (*blocks, *more), notes, (SCALE_STYLES, STYLES))


def planned_card(view: View, plan: Plan, policy: str = "") -> Card:
    """What a plan does to a conversation, with the reason."""
    return cutoff_card(planned_model(view, plan, policy), plan_details(view, plan))


# The strip


def strip(model: CutoffModel, selected: int | None = None, *, can_drag: bool = False, column: int = 0) -> Markup:
    """The strip with its labels.

    Args:
        model: What is shown.
        selected: Position of the block that is being read, or None.
        can_drag: Whether the cut has a handle for the pointer.
        column: Number of the strip among several of one widget.
    """
    drawing = picture(strip_svg(model, selected), strip_words(model), width=PLAIN_WIDTH, height=STRIP_HEIGHT)
    handle = _handle(model) if can_drag and model.cutoff is not None else None
    around = tag("div", drawing, handle, class_="hnb-strip", data_column=str(column), style="position:relative")
    return join(scale(*_top_labels(model)), around, scale(*_cut_label(model)))


def _handle(model: CutoffModel) -> Markup:
    index = model.cutoff.index if model.cutoff is not None else 0
    at = 100 * model.places[min(index, len(model.blocks))]
    style = f"position:absolute;left:{at:.2f}%;top:0;width:16px;margin-left:-8px;height:{STRIP_HEIGHT}px"
    return tag("span", "", class_="hnb-handle", style=style, title="drag to see another keep")


def _top_labels(model: CutoffModel) -> list[Markup]:
    """What goes, above the left of the strip, and what stays, above the right."""
    if model.cutoff is None:
        return [label(f"{count(len(model.blocks), 'message')}, {short(model.tokens)}", 0)]
    left, right = _gone_words(model), _kept_words(model)
    at = 100 * model.places[min(model.cutoff.index, len(model.blocks))]
    labels = [label(left, 0)] if left else []
    free_from = width_of(left)
    if at >= free_from and at + width_of(right) <= 100:
        return [*labels, label(right, at)]
    return [*labels, label(right, 100, to_left=True)] if free_from + width_of(right) <= 100 else labels


def _gone_words(model: CutoffModel) -> str:
    going = model.leaving
    tokens = sum(block.tokens for block in going)
    stood = any(block.fate == "stood for" for block in going)
    into = sum(one.tokens for one in model.made)
    verb = "summarised" if stood and any(one.how == "summary" for one in model.made) else "taken out"
    return f"{verb}: {count(len(going), 'message')}, {short(tokens)}{f' → {short(into)}' if into else ''} tokens"


def _kept_words(model: CutoffModel) -> str:
    start = model.cutoff.index if model.cutoff is not None else 0
    staying = [block for block in model.blocks[start:] if not block.leaves]
    return f"kept: {count(len(staying), 'message')}, {short(sum(block.tokens for block in staying))}"


def _cut_label(model: CutoffModel) -> list[Markup]:
    if model.cutoff is None or not model.blocks:
        return []
    at = 100 * model.places[min(model.cutoff.index, len(model.blocks))]
    words = cut_words(model)
    if width_of(words) > max(at, 100 - at):  # too long for either side: from the left edge
        return [label(words, 0, name="hnb-now")]
    return [label(words, at, to_left=at > 50, name="hnb-now")]


def cut_words(model: CutoffModel) -> str:
    """Where the cut is, where it was wanted, and why it lies there."""
    cut = model.cutoff
    if cut is None:
        return "no cut"
    wanted = f" · wanted at {cut.wanted}" if cut.moved and f"wanted at {cut.wanted}" not in cut.reason else ""
    return f"cutoff at {cut.index}{wanted} · {cut.reason}"


def strip_words(model: CutoffModel) -> str:
    """The strip in words."""
    changed = sum(block.fate == "changed" for block in model.blocks)
    pinned = sum(block.is_pinned for block in model.blocks)
    said = [_gone_words(model), _kept_words(model), cut_words(model)] if model.cutoff else ["every message stays"]
    said += [f"{count(changed, 'message')} changed in place"] if changed else []
    said += [f"{count(pinned, 'message')} pinned"] if pinned else []
    return "; ".join(said) + "."


def _strip_text(model: CutoffModel) -> str:
    """The strip in text: `#` stays, `.` goes, `~` is changed, `|` the cut."""
    cells, places = [], model.places
    for at in range(_TEXT_CELLS):
        block = model.block_at((at + 0.5) / _TEXT_CELLS)
        sign = "." if block is None or block.leaves else "~" if block.fate == "changed" else "#"
        cells.append(sign)
    if model.cutoff is not None:
        cells[min(_TEXT_CELLS - 1, int(_TEXT_CELLS * places[min(model.cutoff.index, len(model.blocks))]))] = "|"
    return f"[{''.join(cells)}]\n{strip_words(model)}"


# Sizes


def _bar_rows(model: CutoffModel) -> list[tuple[str, int, str]]:
    after = f"{short(model.tokens_after)} tokens · {saved_with_calls(model)}"
    return [
        (model.names[0], model.tokens_before, f"{short(model.tokens_before)} tokens"),
        (model.names[1], model.tokens_after, after),
    ]


def _cost_words(model: CutoffModel) -> str:
    """What a request costs before and after, where the price is known."""
    if model.price is None or model.tokens_before == model.tokens_after:
        return ""
    before, after = (money(tokens * model.price) for tokens in (model.tokens_before, model.tokens_after))
    return f"The input of a request costs {before} before and {after} after, uncached; the cached prefix is lost once."


def saved_with_calls(model: CutoffModel) -> str:
    """What is saved, and the model calls that it takes."""
    calls = f" · {count(model.model_calls, 'model call')}" if model.model_calls else ""
    return f"{saved_words(model.saved)}{calls}"


def _bars(model: CutoffModel) -> Markup:
    most = max(model.tokens_before, model.tokens_after, 1)
    rows = [
        tag(
            "tr",
            tag("td", name),
            tag("td", picture(bar_svg(tokens / most, colour), f"{name} {words}", width=320, height=BAR_HEIGHT)),
            tag("td", words),
        )
        for (name, tokens, words), colour in zip(_bar_rows(model), (NEUTRAL, ACCENT), strict=True)
    ]
    return tag("div", tag("table", tag("tbody", *rows)), class_="hnb-bars")


def _bars_text(model: CutoffModel) -> str:
    width = max(map(len, model.names))
    return "\n".join(f"{name:<{width}}  {words}" for name, _, words in _bar_rows(model))


def _sums(model: CutoffModel) -> Table:
    rows = [
        (Rich(name, join(swatch(name, ROLE_COLOURS[name]), name)), tokens, gone, messages)
        for name, tokens, gone, messages in model.sums
    ]
    head = ("what", "tokens", "of them leave", "messages that leave")
    return Table.of(head, rows, noun="kind")


def _provenance(model: CutoffModel) -> str:
    window = f", window {short(model.window)}" if model.window else ""
    return f"Sizes of messages are estimates; {short(model.fixed_tokens)} tokens of prompt and schemas are in both sizes{window}."


# Details


def plan_details(view: View, plan: Plan) -> tuple[Block, ...]:
    """Folded below the figures: the fates, each message that does not stay as it is, and what is put in."""
    if plan.input is None:
        return ()
    fates = plan.fates(view)
    return (_fate_sums(view, fates), _changed(view, fates), *_made_texts(plan))


def _fate_sums(view: View, fates: Sequence[Fate]) -> Table:
    """How many messages and tokens have which fate."""
    sums = view.log.sums(view.measure)
    groups: dict[tuple[str, str], list[int]] = {}
    for fate in fates:
        groups.setdefault((fate.fate, fate.how), []).append(fate.index)
    rows = [
        (
            f"{name} ({how})" if how else name,
            len(indices),
            sum(sums[index + 1] - sums[index] for index in indices),
            span(tuple(indices)),
        )
        for (name, how), indices in groups.items()
    ]
    return Table.of(("fate", "messages", "tokens", "which"), rows, noun="fate", caption="Fates", is_open=False)


def _changed(view: View, fates: Sequence[Fate]) -> Table:
    """The first messages that do not stay as they are, and how many there are."""
    changed = [fate for fate in fates if fate.fate != "kept"]
    rows = []
    for fate in changed[:MAX_ROWS]:
        message = view.log[fate.index]
        rows.append((fate.index, message.role, fate.fate, fate.how, view.measure(message), shown_text(message)))
    head = ("message", "role", "fate", "how", "tokens", "text")
    caption = "Each that is not kept"
    return Table(head, tuple(rows), total=len(changed), noun="message", caption=caption, is_open=False)


def _made_texts(plan: Plan) -> tuple[Pre, ...]:
    """What the harness would put in, as text."""
    items = [item for item in plan.input or () if item.index is None]
    assumed = " (assumed: no model was asked)"
    return tuple(
        Pre(item.message.text, caption=f"{item.how}{assumed if item.assumed else ''}", is_open=False)
        for item in items[:_MADE_SHOWN]
    )


def shown_text(message: Message) -> str:
    """What a message says, its calls included, on one line."""
    calls = [f"→ {call.name}({one_line(call.arguments, 60)})" for call in message.calls]
    others = [f"[{type(part).__name__.lower()}]" for part in message.parts if type(part).__name__ != "Text"]
    return one_line(" ".join(filter(None, (message.text[:2_000], *others, *calls))), 160)


def span(indices: tuple[int, ...]) -> str:
    """Indices as ranges: `0-5, 8`."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return ", ".join(words[:4]) + (f" and {len(words) - 4} more" if len(words) > 4 else "")


def reading_card(block: StripBlock, message: Message) -> Card:
    """One block to read: exactly what was sent."""
    where = f"message {block.message}" if block.message is not None else block.how or "note"
    fate = "leaves" if block.fate in LEAVES else block.fate
    told = [where, message.role, message.name or "", f"{short(block.tokens)} tokens"]
    told += [f"{fate} ({block.how})" if block.how else fate, "pinned" if block.is_pinned else ""]
    blocks = [Pre(clip(message.text, MAX_READ_CHARS))] if message.text else []
    blocks += [Pre(clip(call.arguments, 1_000), caption=f"call {call.name}") for call in message.calls]
    return Card("", " · ".join(filter(None, told)), tuple(blocks))
