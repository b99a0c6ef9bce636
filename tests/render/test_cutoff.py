"""The strip: which block has which fate, where the cut is, what is drawn, and what is read without styles."""

from __future__ import annotations

import base64
import re
from dataclasses import replace

import pytest

from harness_nb import Message, Transcript, View, edits, presets
from harness_nb.core.pins import Pin
from harness_nb.render.card import card_html, card_text
from harness_nb.render.cutoff import outcome_model, planned_model, saved_words
from harness_nb.render.cutoff_view import cut_words, cutoff_card, planned_card, reading_card, strip_words
from harness_nb.render.strip_svg import MAX_SEGMENTS, segments, strip_svg


def talk(rounds: int, chars: int = 200) -> Transcript:
    """A conversation in which each answer calls a tool once."""
    said: list[Message] = []
    for at in range(rounds):
        call = {"id": f"c{at}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        said += [
            Message.user(f"question {at}"),
            Message.from_openai({"role": "assistant", "content": "", "tool_calls": [call]}),
            Message.tool(f"c{at}", "r" * chars, name="look"),
            Message.assistant(f"answer {at}"),
        ]
    return Transcript(said)


def asked(rounds: int = 10, **settings: object) -> View:
    return View.of(talk(rounds), hook="manual", **settings)


def policy(keep: int, name: str = "harness"):
    return presets.get(name, keep_messages=keep).policy


def model_of(view: View, keep: int = 6):
    return planned_model(view, policy(keep).plan(view), "harness")


def test_every_item_is_a_block_and_the_tokens_add_up() -> None:
    view = asked()
    model = model_of(view)
    assert len(model.blocks) == len(view.input) == 40
    assert model.tokens + view.fixed_tokens == view.tokens == model.tokens_before
    assert [block.position for block in model.blocks] == list(range(40))
    assert {block.part for block in model.blocks} == {"user", "assistant", "tool results"}


def test_what_goes_and_what_stays_is_what_the_plan_says() -> None:
    view = asked()
    plan = policy(6).plan(view)
    model = planned_model(view, plan)
    fates = {fate.index: fate.fate for fate in plan.fates(view)}
    assert {block.message: block.fate for block in model.blocks} == fates
    assert model.tokens_after == view.tokens_of(plan.input or ())
    assert [one.how for one in model.made] == ["summary"] and model.model_calls == 1


def test_the_cut_says_where_it_is_where_it_was_wanted_and_why_it_moved() -> None:
    model = model_of(asked(), keep=6)  # 34 is the result of the call at 33
    assert (model.cutoff.index, model.cutoff.wanted) == (33, 34)
    said = cut_words(model)
    assert "cutoff at 33" in said and "wanted at 34" in said and "round stays whole" in said
    assert said in strip_words(model) and said in card_text(cutoff_card(model))


def test_a_policy_that_names_no_cut_shows_one_behind_what_leaves() -> None:
    view = asked(30)
    view = replace(view, model=replace(view.model, window=2_000))
    plan = presets.get("eney").policy.plan(view)
    model = planned_model(view, plan, "eney")
    leaving = [block.position for block in model.blocks if block.leaves]
    assert model.cutoff.index == leaving[-1] + 1


def test_nothing_to_do_shows_every_block_and_no_cut() -> None:
    view = asked(1)
    model = planned_model(view, view.unchanged("quiet"))
    assert model.cutoff is None and not any(block.leaves for block in model.blocks)
    assert "every message stays" in strip_words(model) and "→" not in model.line


def test_an_empty_conversation_is_shown() -> None:
    view = View.of(Transcript())
    model = planned_model(view, view.unchanged("there is nothing"))
    assert "there is nothing" in card_text(cutoff_card(model)) and card_html(cutoff_card(model))
    assert model.block_at(0.5) is None


def test_an_edit_in_place_is_marked_and_earlier_ones_are_not() -> None:
    view = asked(3)
    items = tuple(edits.cleared(item) if item.index == 2 else item for item in view.input)
    after = view.after(view.becomes(items, "cleared one"))
    model = planned_model(view, view.becomes(items, "cleared one"))
    assert [block.message for block in model.blocks if block.fate == "changed"] == [2]
    assert planned_model(after, after.unchanged("quiet")).blocks[2].fate == "kept"


def test_an_earlier_summary_is_a_block_of_its_own() -> None:
    view = asked()
    after = view.after(policy(6).plan(view))
    model = planned_model(after, after.unchanged("quiet"))
    assert (model.blocks[0].part, model.blocks[0].message) == ("summaries and notes", None)
    again = replace(after, log=after.log, hook="manual")
    assert planned_model(again, policy(2).plan(again)).blocks[0].leaves


def test_pins_are_marked_and_said() -> None:
    view = replace(asked(), pins=(Pin("question 1", index=4),))
    model = planned_model(view, view.unchanged("quiet"))
    assert [block.message for block in model.blocks if block.is_pinned] == [4]
    assert "1 message pinned" in strip_words(model)


def test_what_became_of_a_whole_conversation_is_shown_over_its_log() -> None:
    view = asked()
    model = outcome_model(view.after(policy(6).plan(view)), "harness")
    assert len(model.blocks) == 40 and sum(not block.leaves for block in model.blocks) == 7
    assert model.line.startswith("7 messages of 40 are seen.") and model.names == ("said", "seen")


def test_a_place_on_the_strip_is_a_block() -> None:
    model = model_of(asked())
    for block, start, stop in zip(model.blocks, model.places, model.places[1:], strict=False):
        assert model.block_at((start + stop) / 2) is block
    assert model.block_at(-1) is model.blocks[0] and model.block_at(2) is model.blocks[-1]


def svg_of(html: str) -> str:
    return base64.b64decode(re.search(r'hnb-strip.*?base64,([^"]+)', html)[1]).decode()  # type: ignore[index]


def test_what_goes_is_faded_in_place_and_words_stay_out_of_the_picture() -> None:
    drawn = svg_of(card_html(cutoff_card(model_of(asked()))))
    assert 'opacity="0.28"' in drawn and "<text" not in drawn and "stroke-dasharray" in drawn


def test_a_long_conversation_is_drawn_in_few_segments_whose_widths_add_up() -> None:
    model = model_of(asked(3_000))
    drawn = segments(model.blocks)
    assert len(drawn) <= MAX_SEGMENTS + 1
    assert sum(one.width for one in drawn) == pytest.approx(1_000)
    assert len(card_html(cutoff_card(model))) < 20_000


def test_a_huge_message_among_small_ones_hides_none_of_their_fate() -> None:
    said = [
        Message.user("x" * 400_000),
        *(m for n in range(400) for m in (Message.user(f"q{n}"), Message.assistant("a"))),
    ]
    view = View.of(Transcript(said), hook="manual")
    drawn = segments(model_of(view, keep=200).blocks)
    assert any(one.leaves for one in drawn) and any(not one.leaves for one in drawn)


def test_the_card_reads_with_every_style_removed() -> None:
    view = asked()
    text = re.sub(r"<style>.*?</style>|<[^>]+>", " ", card_html(planned_card(view, policy(6).plan(view), "harness")))
    for said in ("What harness would do now", "Nothing has been changed", "cutoff at 33", "summarised: 33 messages", "before", "after", "tool results"):  # fmt: skip
        assert said in text


def test_costs_are_said_where_the_price_is_known() -> None:
    view = asked()
    plan = policy(6).plan(view)
    assert "costs" not in card_text(cutoff_card(planned_model(view, plan)))
    assert "uncached" in card_text(cutoff_card(planned_model(view, plan, price=3e-6)))


def test_r096_a_block_is_read_exactly() -> None:
    text = "costs $5 and then $7 per run <b>x</b> **bold**"
    view = View.of(Transcript([Message.user(text)]))
    model = planned_model(view, view.unchanged("quiet"))
    card = reading_card(model.blocks[0], view.log[0])
    assert text in card_text(card)
    assert "<b>" not in card_html(card).partition("</style>")[2]


def test_a_selected_block_is_framed_and_only_a_live_strip_has_a_handle() -> None:
    model = model_of(asked())
    assert strip_svg(model, 3) != strip_svg(model)
    assert "hnb-handle" not in card_html(cutoff_card(model))
    assert "hnb-handle" in card_html(cutoff_card(model, can_drag=True))


def test_a_gain_and_a_loss_have_their_sign() -> None:
    assert (saved_words(0.25), saved_words(-0.1)) == ("−25 %", "+10 %")
