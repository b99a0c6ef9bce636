from __future__ import annotations

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.pins import Pin, note_of
from harness_nb.core.requests import Reply
from harness_nb.lab.adapters.budget import rendered, shown

PROMPT = [Message.system("Help.")]
NOTE = note_of([Pin("Never push.")])
SUMMARY = edits.summary(Reply("first line\nsecond line\nthird line"), of=(), opening="<s>\n", closing="\n</s>")
SAID = [Item(0, Message.user("one one one")), Item(1, Message.assistant("two two two"))]


def test_without_a_budget_everything_is_shown() -> None:
    found = shown(PROMPT, [NOTE, SUMMARY, *SAID])
    assert found.text.startswith("[system] Help.\n[user] <standing_instructions>")
    assert found.text.endswith("</s>\n[user] one one one\n[assistant] two two two")
    assert found.left_out == () and not found.shortened


def test_what_was_said_first_is_left_out_first() -> None:
    whole = shown(PROMPT, [SUMMARY, *SAID]).text
    found = shown(PROMPT, [SUMMARY, *SAID], len(whole) - 1)
    assert found.left_out == ("[user] one one one",)
    assert found.text == whole.replace("[user] one one one\n", "")


def test_then_the_summary_is_cut_at_a_line_and_pins_at_last() -> None:
    pinned = rendered(NOTE.message)
    most = len("[system] Help.\n") + len(pinned) + len("\n[user] <s>\nfirst line\nsec")
    found = shown(PROMPT, [SUMMARY, NOTE, *SAID], most)
    assert found.text == f"[system] Help.\n{pinned}\n[user] <s>\nfirst line"
    assert found.shortened and len(found.left_out) == 2
    assert "Never push." not in shown(PROMPT, [SUMMARY, NOTE], 30).text


def test_no_text_is_longer_than_the_budget() -> None:
    for most in range(1, 300, 7):
        assert len(shown(PROMPT, [NOTE, SUMMARY, *SAID], most).text) <= most


def test_calls_are_shown() -> None:
    assert rendered(Message.assistant(calls=[ToolCall("1", "ls", "{}")])) == "[assistant] [calls ls with {}]"
