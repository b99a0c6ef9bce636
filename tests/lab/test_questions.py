"""A scripted model answers the questions about a small chat from what a policy left of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_nb import Message, ScriptedModel, Transcript, replay
from harness_nb.core.item import Item
from harness_nb.errors import ConfigError
from harness_nb.lab.datasets import Conversation, load
from harness_nb.lab.questions import Answers, answer, prompt
from tests.lab.datasets.samples import LOCOMO, write_beam
from tests.lab.files import write_document

ANSWERS = ["Comet", "a kiln", "Ben", "The conversation does not say.", "salmon"]


@pytest.fixture
def chat(tmp_path: Path) -> Conversation:
    return load(write_document(tmp_path / "x.json", LOCOMO))["conv-26"]


@pytest.fixture
def answers(chat: Conversation) -> Answers:
    return answer(chat, ScriptedModel(purposes={"question": ANSWERS}))


def test_a_prompt_shows_who_said_what_and_when(chat: Conversation) -> None:
    system, user = prompt(chat, chat.questions[0], [Item(0, chat.transcript[0])], [4])
    assert "in as few words as it takes" in system.text
    assert user.text == (
        "<context>\n[1:56 pm on 8 April, 2023] Ada: I adopted a greyhound called Comet.\n</context>\n\n"
        "<found>\n[9:05 am on 3 May, 2023] Ben: Lovely! [a blue vase]\n</found>\n\n"
        "Question: What is Ada's dog called?"
    ).replace("Ben: Lovely", "Ada: Lovely")


def test_a_question_with_a_rubric_is_answered_as_the_assistant(tmp_path: Path) -> None:
    beam = load(write_beam(tmp_path, "1"))[0]
    note = Item(None, Message.user("Earlier: rent.", origin="harness"), "summary")
    system, user = prompt(beam, beam.questions[1], [note])
    assert system.text.startswith("You are the assistant in the conversation below.")
    assert "note: Earlier: rent." in user.text and user.text.endswith("The user writes: What is my rent?")


def test_answers_have_f1_by_category_and_say_how_they_decline(answers: Answers) -> None:
    assert [one.text for one in answers.answers] == ANSWERS
    # Comet 1; "a kiln" against 2: 0; Ben 1; declined: no word of the date; salmon, though it can't be answered: 0
    assert [one.f1 for one in answers.answers] == [1, 0, 1, 0, 0]
    assert answers.f1 == pytest.approx(2 / 5)
    assert answers.of_category("open-domain").f1 == 1
    assert answers.abstention == (0, 1 / 4)
    assert answers.interval().mean == pytest.approx(2 / 5)


def test_what_the_policy_left_is_what_the_model_sees(chat: Conversation) -> None:
    said = Transcript([*chat.transcript[:2], Message.user("Bye."), Message.assistant("Bye.")])
    short = Conversation(name="short", transcript=said, questions=chat.questions[:1])
    model = ScriptedModel(["Comet"])
    run = replay(said, "hermes", model=None)
    assert answer(short, model, run=run).policy == "hermes"
    shown = model.requests[0].messages[1].text
    assert all(item.message.text in shown for item in run.final.input)
    with pytest.raises(ConfigError, match="is no replay of 'conv-26'"):
        answer(chat, model, run=run)


def test_a_search_adds_messages_that_are_not_in_the_context(chat: Conversation) -> None:
    fillers = (make(f"Filler {n}. " * 200) for n in range(20) for make in (Message.user, Message.assistant))
    said = Transcript([*chat.transcript, *fillers])
    long = Conversation(name="long", transcript=said, questions=chat.questions[:1])
    run = replay(said, "harness", window=4_000, model=None)
    model = ScriptedModel(["Comet"])
    (found,) = answer(long, model, run=run, k=2).answers
    assert found.found[0] == 0 and len(found.found) <= 2
    assert (
        "<found>\n[1:56 pm on 8 April, 2023] Ada: I adopted a greyhound called Comet."
        in model.requests[0].messages[1].text
    )
    whole = answer(long, ScriptedModel(["Comet"]), k=2)
    assert whole.answers[0].found == () and whole.policy == "whole conversation"


def test_prompts_and_answers_are_kept_and_an_interrupted_run_goes_on(chat: Conversation, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with pytest.raises(Exception, match="asked once more"):
        answer(chat, ScriptedModel(purposes={"question": ANSWERS[:2]}), folder=tmp_path / "kept")
    rest = ScriptedModel(purposes={"question": ANSWERS[2:]})
    whole = answer(chat, rest, folder=tmp_path / "kept", progress=lambda *done: seen.append(done))
    assert [one.text for one in whole.answers] == ANSWERS
    assert len(rest.requests) == 3 and seen[-1] == (5, 5)


def test_answers_about_several_conversations_add_up(answers: Answers, chat: Conversation) -> None:
    both = answers + answers
    assert len(both.answers) == 10 and both.f1 == answers.f1
    with pytest.raises(ConfigError, match="can't be added"):
        answers + answer(chat, ScriptedModel(ANSWERS, name="other"))


def test_answers_are_a_frame_and_a_card(answers: Answers) -> None:
    assert list(answers.df["f1"]) == [1, 0, 1, 0, 0]
    assert "5 answers by scripted · policy whole conversation · 0 hits a question" in str(answers)


def test_a_conversation_without_questions_is_refused(chat: Conversation) -> None:
    with pytest.raises(ConfigError, match="'conv-26' has no question"):
        answer(chat, ScriptedModel([]), questions=[])
