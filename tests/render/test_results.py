"""Every result shows itself in text and HTML, small, escaped, and without ever raising."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, date, datetime, time

import pytest

from harness_nb.core import edits
from harness_nb.core.events import CompactionFinished, Event, FactsWritten, StepFinished, TurnStarted
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Reply
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.memory.results import DailyLogView, MemoryText
from harness_nb.render.card import Card, Pre, Table, card_text
from harness_nb.render.core_cards import events_card
from harness_nb.render.cutoff_view import planned_card, span
from harness_nb.render.event_words import words as event_words
from harness_nb.render.results import MAX_BYTES, bundle, card_bundle, reply_bundle
from harness_nb.render.text import clip, money, percent, seconds, short
from harness_nb.store.daily_log import Entry
from harness_nb.store.hits import SearchHit, SearchHits

NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)
HOSTILE = '<script>alert("x")</script> $5 ![p](http://e.example/) & ' + "é漢\ud800\x00" * 10


def hostile_results() -> list[object]:
    call = ToolCall("c1", HOSTILE, HOSTILE)
    message = Message.assistant(HOSTILE, (call,))
    transcript = Transcript([Message.user(HOSTILE), message] * 3000, report=[HOSTILE], name=HOSTILE)
    hit = SearchHit(HOSTILE, 1, HOSTILE, -1.0, f"[{HOSTILE}] found", "daily", date(2026, 4, 12))
    entry = Entry(date=date(2026, 4, 12), text=HOSTILE * 50, line=1, time=time(9), session=HOSTILE, messages=(1, 2))
    view = View.of(transcript)
    return [
        message,
        transcript,
        view,
        view.input,
        view.input[0],
        view.pressure(),
        Plan(input=view.input[:], reason=HOSTILE),
        Usage(1, 2),
        TurnStarted(time=NOW, text=HOSTILE, index=0),
        SearchHits([hit] * 500, query=HOSTILE, stage="all words"),
        SearchHits(query=HOSTILE),
        DailyLogView([entry] * 500),
        DailyLogView([], date(2026, 4, 12)),
        MemoryText(HOSTILE, HOSTILE * 5000),
        MemoryText("MEMORY.md", ""),
    ]


@pytest.mark.parametrize("result", hostile_results(), ids=lambda result: type(result).__name__)
def test_a_hostile_text_is_shown_as_text_within_the_limit(result: object) -> None:
    shown = bundle(result)
    assert set(shown) == {"text/plain", "text/html"}
    assert "<script>" not in shown["text/html"]
    assert all(len(form.encode("utf-8", "replace")) <= MAX_BYTES for form in shown.values())


def test_what_is_not_known_shows_as_its_text() -> None:
    assert bundle({"a": 1}) == {"text/plain": "{'a': 1}"}


def test_a_broken_result_still_shows() -> None:
    class SearchHits:  # the name decides, and this one has nothing of it
        def __repr__(self) -> str:
            raise ValueError("broken")

    shown = bundle(SearchHits())
    assert shown["text/plain"].startswith("<SearchHits>\n(its display failed: ")


def test_a_reply_is_exact_in_text_and_markdown_beside_it_without_html() -> None:
    shown = reply_bundle("<b>costs $5</b>")
    assert shown == {"text/plain": "<b>costs $5</b>", "text/markdown": "&lt;b>costs <span>\\$</span>5&lt;/b>"}


def test_r096_messages_are_shown_exactly_as_sent() -> None:
    text = "costs $5 and then $7 per run **not bold**"
    shown = bundle(Message.user(text))
    assert text in shown["text/plain"]
    assert f"<pre>{text}</pre>" in shown["text/html"].replace("<span>$</span>", "$")


def test_a_list_shows_its_first_rows_and_says_how_many_there_are() -> None:
    hits = SearchHits(
        [SearchHit("a.md", n, "x", -1.0, "[x]", "topic", None) for n in range(45)], query="x", stage="all words"
    )
    assert "and 25 more hits" in bundle(hits)["text/plain"]
    assert "and 25 more hits" in bundle(hits)["text/html"]


def test_finds_are_marked_and_the_excerpt_is_kept_letter_by_letter() -> None:
    hit = SearchHit("memory/2026-04-12.md", 3, "x", -1.5, "use [Python] 3 <b>", "daily", date(2026, 4, 12))
    html = bundle(SearchHits([hit], query="python", stage="all words"))["text/html"]
    assert "use <mark>[Python]</mark> 3 &lt;b&gt;" in html
    assert "<code>memory/2026-04-12.md:3</code>" in html


def planned() -> tuple[View, Plan]:
    view = View.of(Transcript([Message.user("a" * 400), Message.assistant("b" * 400), Message.user("now?")]))
    summary = edits.summary(Reply("short", assumed=True), of=view.input[:2])
    return view, Plan(input=(summary, *view.input[2:]), outcome="compacted", reason="trigger_tokens reached")


def test_a_plan_with_its_view_names_fates_and_sizes_by_the_same_measure() -> None:
    view, plan = planned()
    text = card_text(planned_card(view, plan, "harness"))
    assert "What harness would do now" in text and "Nothing has been changed" in text
    assert f"{short(view.tokens)} → {short(view.tokens_of(plan.items(view)))} tokens" in text
    assert "stood for (summary)" in text and "assumed: no model was asked" in text


def test_a_plan_that_changes_nothing_says_why() -> None:
    view, _ = planned()
    assert "below all triggers" in card_text(planned_card(view, Plan(reason="below all triggers")))


def test_r105_an_event_says_before_and_after_as_the_plan_does() -> None:
    event = CompactionFinished(
        time=NOW, policy="harness", hook="request", outcome="completed", reason="r", detail="compacted", tokens_before=9_000,
        tokens_after=3_000, messages_before=30, messages_after=9, model_calls=1,
    )  # fmt: skip
    assert event_words(event) == "compacted by harness: 9k → 3k tokens (−67 %), 30 → 9 messages, 1 model call"


@pytest.mark.parametrize("kind", Event.__subclasses__(), ids=lambda kind: kind.kind)
def test_every_event_has_words(kind: type[Event]) -> None:
    values = {"str": "x", "datetime": NOW, "Usage | None": None, "tuple[str, ...]": ("a",), "tuple[int, ...]": (1, 2)}
    given = {one.name: values.get(str(one.type), 1) for one in fields(kind)}
    words = event_words(kind(**given))
    assert words and "\n" not in words and words != kind.kind.replace("_", " ")


def test_a_list_of_events_leaves_out_pieces_and_shows_the_newest() -> None:
    steps = tuple(StepFinished(time=NOW, turn=1, step=n, usage=Usage(10, 1)) for n in range(30))
    facts = FactsWritten(time=NOW, facts=("a", "b"), path="memory/x.md")
    text = card_text(events_card((*steps, facts)))
    assert "31 events, the last 20 shown" in text and "2 facts written to memory/x.md" in text


def test_items_say_what_they_stand_for() -> None:
    item = Item(None, Message.user("s", origin="harness"), "summary", (0, 1, 2, 7))
    assert "for 0-2, 7" in bundle(ModelInput([item]))["text/plain"]
    assert span(tuple(range(0, 20, 2))) == "0, 2, 4, 6 and 6 more"


def test_a_card_of_any_size_is_cut_to_the_limit() -> None:
    card = Card("t" * 100, "l" * 900, (Table.of(("a",), [("é" * 500,)] * 900, most=900), Pre("漢" * 50_000)))
    assert all(len(form.encode()) <= MAX_BYTES for form in card_bundle(card).values())


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1_000, "1k"), (6_240, "6.2k"), (99_960, "100k"), (128_000, "128k"), (999_400, "999k"), (1_048_576, "1M"), (16_010, "16k")],
)  # fmt: skip
def test_tokens_are_short(number: int, text: str) -> None:
    assert short(number) == text


def test_figures_read_well() -> None:
    assert [percent(0.75), percent(0.123), percent(1.2, 0)] == ["75 %", "12.3 %", "120 %"]
    assert [seconds(0.0842), seconds(1.24), seconds(185)] == ["84 ms", "1.2 s", "3 min 5 s"]
    assert [money(None), money(0), money(0.0123), money(2.5)] == ["price not known", "$0.00", "$0.0123", "$2.50"]
    assert [clip("abcdef", 4), clip("abc", 4)] == ["abc…", "abc"]
