"""The pressure display: figures that add up, words that say it all, and a form that reads without styles."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core import edits
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.core.plan import Plan, Tier, Trigger
from harness_nb.core.requests import Reply
from harness_nb.core.tool import Tool
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.render.card import card_html, card_text
from harness_nb.render.pressure import CoursePoint, Part, PressureModel, Threshold, pressure_model, scaled, thinned
from harness_nb.render.pressure_svg import bar_svg, course_svg
from harness_nb.render.pressure_view import pressure_card, pressure_words, text_bar
from harness_nb.render.theme import ROLE_COLOURS

FULL = PressureModel(
    tokens=156_000,
    window=200_000,
    source="154,800 from the last bill plus an estimate of 1,200 since",
    parts=(Part("system", 6_000), Part("tool results", 150_000, 70)),
    reserved=18_000,
    tier=1,
    thresholds=(
        Threshold(name="tier 1", at=150_000, value=156_000, number=1, action="shorten"),
        Threshold(name="tier 2", at=180_000, value=156_000, number=2, action="summarise"),
        Threshold(name="tier 3", at=190_000, value=156_000, number=3, action="cut"),
    ),
    policy="eney",
    next="shorten the largest tool result",
    course=tuple(
        CoursePoint(turn, 1, 1_000 * turn, 200_000, "compacted" if turn == 40 else None) for turn in range(1, 80)
    ),
)
EMPTY = PressureModel(tokens=0, window=128_000)
OVER = PressureModel(tokens=240_000, window=200_000, parts=(Part("user", 240_000, 1),))


class _Words(HTMLParser):
    """What is left of HTML when every style, script and attribute but `alt` is taken away."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._skip = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skip = tag == "style"
        self.words += [value for name, value in attrs if name == "alt" and value]

    def handle_endtag(self, tag: str) -> None:
        self._skip = False

    def handle_data(self, data: str) -> None:
        self.words += [] if self._skip else [data]


def stripped(html: str) -> str:
    parser = _Words()
    parser.feed(html)
    return " ".join(" ".join(parser.words).split())


def conversation() -> View:
    tools = (Tool.of(stripped),)
    messages = [Message.system("Be brief."), Message.user("hello " * 50), Message.assistant("answer " * 80)]
    view = View.of(Transcript(messages), model=ModelLimits(name="m", window=10_000, max_output=500), tools=tools)
    return replace(view, fixed_tokens=view.fixed_tokens + view.measure.tools(tools))


def test_parts_add_up_to_the_figure_that_triggers() -> None:
    model = pressure_model(conversation())
    assert [part.name for part in model.parts] == ["system", "tool schemas", "user", "assistant"]
    assert sum(part.tokens for part in model.parts) == model.tokens == conversation().tokens
    assert not model.is_scaled
    assert model.free + model.reserved_shown + model.tokens == model.window


def test_parts_are_scaled_to_a_reported_total_and_say_so() -> None:
    view = conversation()
    billed = replace(view, usage=Usage(900, 100), billed=2)
    model = pressure_model(billed)
    assert model.tokens == 1_000 and sum(part.tokens for part in model.parts) == 1_000
    assert model.is_scaled and "scaled to the total" in stripped(card_html(pressure_card(model)))


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=7), st.integers(0, 10**7))
def test_scaling_adds_up_exactly(sizes: list[int], total: int) -> None:
    parts = [Part(name, size) for name, size in zip(ROLE_COLOURS, sizes, strict=False)]
    made = scaled(parts, total)
    assert sum(part.tokens for part in made) == (total if sum(sizes) else 0)
    assert all(part.tokens >= 0 for part in made)


def test_a_summary_is_a_part_of_its_own_and_memory_is_taken_from_the_fixed_part() -> None:
    view = conversation()
    after = view.after(Plan(input=(edits.summary(Reply("short"), of=view.input[:1]), *view.input[1:])))
    model = pressure_model(after, memory_tokens=2)
    names = [part.name for part in model.parts]
    assert "summaries and notes" in names and "memory" in names and "user" not in names


def test_tiers_and_triggers_become_thresholds_and_switched_off_triggers_do_not() -> None:
    view = conversation()
    pressure = view.pressure(
        tiers=[Tier(number=1, threshold=100, action="shorten")],
        triggers=[
            Trigger(name="trigger_messages", value=2, threshold=50, unit="messages"),
            Trigger(name="trigger_tokens", value=view.tokens, threshold=0),
        ],
    )
    model = pressure_model(view, pressure, plan=Plan(reason="below all"), policy="p")
    assert [(one.name, one.is_reached) for one in model.thresholds] == [("tier 1", True), ("trigger_messages", False)]
    assert model.title == "Context pressure · tier 1" and "next: below all" in model.line


@pytest.mark.parametrize("model", [FULL, EMPTY, OVER], ids=["full", "empty", "over"])
def test_drawings_are_well_formed_and_say_nothing(model: PressureModel) -> None:
    drawings = [bar_svg(model)] + ([course_svg(model)] if len(model.course) > 1 else [])
    for drawing in drawings:
        assert "".join(ET.fromstring(drawing).itertext()) == ""  # noqa: S314 - made a line above


def test_every_figure_is_read_with_all_styles_removed() -> None:
    words = stripped(card_html(pressure_card(FULL)))
    for said in ("tier 1", "156k of 200k tokens (78 %)", "from the last bill", "tool results 150,000 75 %", "free 26,000",
                 "reserved for the reply 18,000 9 %", "180,000", "summarise", "compacted at turn 40", "policy eney"):  # fmt: skip
        assert said in words


def test_the_text_form_says_the_same() -> None:
    text = card_text(pressure_card(FULL))
    for said in (
        "tier 1",
        "156k of 200k",
        "78 %",
        "tool results",
        "150,000 tokens",
        "summarise",
        "compacted at turn 40",
    ):
        assert said in text


def test_an_input_above_the_window_says_by_how_much() -> None:
    assert "40k too long" in OVER.line
    assert "window" in stripped(card_html(pressure_card(OVER)))
    assert text_bar(OVER).endswith("120 %")


def test_an_empty_conversation_is_shown() -> None:
    assert text_bar(EMPTY) == f"[{'.' * 60}] 0 %"
    assert "0 of 128k tokens (0 %)" in card_text(pressure_card(EMPTY))


def test_labels_of_close_tiers_do_not_cover_each_other() -> None:
    html = card_html(pressure_card(FULL))
    marks = re.findall(r'<span class="hnb-mark" style="position:absolute;[^>]*>([^<]+)', html)
    tiers = [words for words in marks if "turn" not in words]
    assert tiers == ["tier 1 · 75 %", "2 · 90", "3 · 95"]


def test_colours_are_never_the_only_sign() -> None:
    html = card_html(pressure_card(FULL))
    assert all(part.name in stripped(html) for part in FULL.parts)
    assert "url(#h)" in base64.b64decode(re.search(r"base64,([^\"]+)", html)[1]).decode()  # type: ignore[index]


def test_a_long_course_is_thinned_but_keeps_its_marks() -> None:
    course = [CoursePoint(at, 1, at, 9, "compacted" if at % 997 == 0 else None) for at in range(1, 10_001)]
    thin = thinned(course)
    assert len(thin) <= 222 and thin[-1] == course[-1]
    assert [point for point in thin if point[4]] == [point for point in course if point.mark]


def test_the_card_is_small_at_any_size() -> None:
    course = tuple(CoursePoint(at, 1, at * 50, 200_000) for at in range(1, 10_001))
    model = pressure_model(conversation(), course=course)
    assert len(card_html(pressure_card(model))) < 20_000


def test_the_fewest_words_are_share_and_tier() -> None:
    assert pressure_words(FULL) == "78 % · tier 1"
    assert pressure_words(EMPTY) == "0 %"
