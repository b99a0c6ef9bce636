from __future__ import annotations

from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.rounds import UNANSWERED, problems
from harness_nb.lab.assembly import CompactionMark, assemble, conversations
from harness_nb.lab.entries import Begins, Compacted, Dropped, Entry, ModelNamed, Place, Said, Skipped


def said(line: int, message: Message, model: str = "") -> Said:
    return Said(Place(line), message, model)


def calling(*ids: str) -> Message:
    return Message.assistant(calls=[ToolCall(one, "look") for one in ids])


def test_r004_an_orphan_result_is_dropped_and_an_unanswered_call_gets_a_stub_with_ids_and_lines() -> None:
    entries = [
        said(1, Message.tool("c0", "lost")),
        said(2, Message.user("U1")),
        said(3, calling("c1")),
        said(4, Message.user("U2")),
    ]
    transcript, report = assemble(entries, format="test")
    assert [message.role for message in transcript] == ["user", "assistant", "tool", "user"]
    assert (transcript[2].text, transcript[2].origin) == (UNANSWERED, "harness")
    assert problems(transcript[:]) == ()
    assert (report.read, report.dropped, report.repaired) == (4, 1, 1)
    assert report.notes == (
        "line 1: dropped a result without a call, id 'c0'",
        "line 3: call 'c1' never got a result; a stub was added",
    )
    assert transcript.report == report.notes


def test_r003_refused_failed_interrupted_and_empty_results_answer_their_calls() -> None:
    statuses = ("denied", "error", "interrupted", "")
    entries: list[Entry] = [said(1, Message.user("Go."))]
    for number, status in enumerate(statuses):
        entries += [said(2, calling(f"c{number}")), said(3, Message.tool(f"c{number}", "", status=status))]
    transcript, report = assemble(entries, format="test")
    assert (len(transcript), report.notes) == (9, ())
    assert [message.status for message in transcript if message.role == "tool"] == [*statuses]


def test_a_result_that_stands_apart_is_put_next_to_its_call() -> None:
    entries = [said(1, calling("c1")), said(2, Message.user("Wait.")), said(3, Message.tool("c1", "one"))]
    transcript, report = assemble(entries, format="test")
    assert [message.role for message in transcript] == ["assistant", "tool", "user"]
    assert report.notes == ("line 3: put a result next to its call",)


def test_notes_stand_in_the_order_of_the_file() -> None:
    entries = [said(5, calling("c1")), Dropped(Place(7), "this"), Skipped(Place(2), "that")]
    _, report = assemble(entries, format="test")
    assert [note.partition(":")[0] for note in report.notes] == ["line 2", "line 5", "line 7"]


def test_a_mark_names_the_first_message_said_after_it() -> None:
    entries = [
        said(1, Message.tool("c0", "lost")),
        said(2, calling("c1")),
        Compacted(Place(3), "So far.", 900),
        said(4, Message.user("On.")),
        Compacted(Place(5), "All."),
    ]
    transcript, report = assemble(entries, format="test")
    assert report.compactions == (
        CompactionMark(index=2, summary="So far.", tokens_before=900),
        CompactionMark(index=3, summary="All."),
    )
    assert transcript[2].text == "On."


def test_the_model_is_the_one_of_most_answers_or_the_one_that_the_header_names() -> None:
    header = ModelNamed(Place(1), "first")
    answers = [
        said(2, Message.assistant("a"), "x"),
        said(3, Message.assistant("b"), "y"),
        said(4, Message.assistant("c"), "y"),
    ]
    assert assemble([header, *answers], format="test")[1].model == "y"
    assert assemble([header], format="test")[1].model == "first"
    assert assemble([], format="test")[1].model is None


def test_a_file_of_several_conversations_is_divided_where_each_begins() -> None:
    first, second = said(1, Message.user("a")), said(2, Message.user("b"))
    assert [*conversations([first, second])] == [[first, second]]
    one, two = Begins(Place(1)), Begins(Place(2))
    assert [*conversations([one, first, two, second])] == [[one, first], [two, second]]
    assert [*conversations([Begins(Place(1))])] == []


def test_notes_without_a_conversation_are_told_by_the_one_before() -> None:
    first, odd = said(1, Message.user("a")), Skipped(Place(2), "that")
    entries = [Begins(Place(1), "one"), first, Begins(Place(2), "two"), odd]
    assert [*conversations(entries)] == [[Begins(Place(1), "one"), first, odd]]
    assert [*conversations([Begins(Place(2)), odd])] == []
