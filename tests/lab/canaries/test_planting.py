"""Where canaries go, and where the conversation is compacted."""

from __future__ import annotations

import pytest

from harness_nb import Message, Transcript
from harness_nb.core.messages import Image, Text, ToolCall
from harness_nb.core.rounds import problems
from harness_nb.errors import ConfigError
from harness_nb.lab.canaries.items import SAID_BY_USERS, made
from harness_nb.lab.canaries.planting import cuts_of, planted
from harness_nb.lab.counting import measure_for


def work(turns: int = 24) -> Transcript:
    said: list[Message] = [Message.system("Be brief.")]
    for at in range(turns):
        said += [
            Message.user(f"Look at sample {at}. " * 8),
            Message.assistant(calls=[ToolCall(f"c{at}", "look", "{}")]),
            Message.tool(f"c{at}", f"Sample {at} is fine. " * 20),
            Message.assistant(f"Sample {at} is fine."),
        ]
    return Transcript(said, name="work")


def test_cuts_fall_where_a_request_was_made_at_half_and_after_equal_parts() -> None:
    talk = work()
    measure = measure_for(talk)
    sums = talk.sums(measure)
    cuts = cuts_of(talk, 5, measure)
    assert [round(sums[cut] / sums[-1], 1) for cut in cuts] == [0.5, 0.6, 0.7, 0.8, 0.9]
    assert all(talk[cut].role == "assistant" and talk[cut - 1].role in ("user", "tool") for cut in cuts)


def test_too_few_requests_are_refused() -> None:
    short = Transcript([Message.user("a"), Message.assistant("b"), Message.user("c"), Message.assistant("d")])
    with pytest.raises(ConfigError, match="1 requests are too few for 5 rounds"):
        cuts_of(short, 5, measure_for(short))


def test_statements_stand_at_seeded_places_in_messages_that_a_compaction_may_take() -> None:
    talk, canaries = work(), made(0, 5)
    field = planted(talk, canaries, until=48, seed=0)
    assert field == planted(talk, canaries, until=48, seed=0) != planted(talk, canaries, until=48, seed=1)
    last_user = max(at for at in range(48) if talk[at].role == "user")
    for one in canaries:
        for index, text in zip(field.places[one.number], one.said, strict=True):
            assert text in field.transcript[index].text and index < 48 and index != last_user
            assert field.transcript[index].role in (("user",) if one.kind in SAID_BY_USERS else ("user", "tool"))
    assert {field.transcript[at].role for places in field.places.values() for at in places} == {"user", "tool"}


def test_a_later_statement_never_stands_before_an_earlier_one() -> None:
    for one in (field := planted(work(), made(3, 20), until=60, seed=3)).canaries:
        assert list(field.places[one.number]) == sorted(field.places[one.number])


def test_the_transcript_stays_valid_and_nothing_else_is_changed() -> None:
    talk = work()
    field = planted(talk, made(0, 3), until=48, seed=0)
    assert not problems(field.transcript, needs_reply=False)
    for before, after in zip(talk, field.transcript, strict=True):
        assert after.text.startswith(before.text) and (before.role, before.calls) == (after.role, after.calls)
    assert work() == talk and field.transcript.name == "work"


def test_a_message_of_parts_gets_a_part_more() -> None:
    picture = Image("data:,x", '{"type":"image_url","image_url":{"url":"data:,x"}}')
    said = [
        Message.user([picture, Text("See.")]),
        Message.assistant("Yes."),
        Message.user("Go on."),
        Message.assistant("Done."),
    ]
    field = planted(Transcript(said), made(0, 1, kinds=["fact"]), until=3, seed=0)
    assert field.transcript[0].parts[:2] == (picture, Text("See."))
    assert field.transcript[0].parts[2] == Text(field.canaries[0].said[0])


def test_a_conversation_without_a_place_is_refused() -> None:
    with pytest.raises(ConfigError, match="no user message to plant"):
        planted(Transcript([Message.user("a"), Message.assistant("b")]), made(0, 1), until=2, seed=0)
