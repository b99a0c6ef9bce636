"""Scores over seeds and shuffled sessions."""

from __future__ import annotations

import pytest

from harness_nb import Message, ScriptedModel, Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.datasets import Conversation, Question
from harness_nb.lab.spread import spread

FACT = Message.user("The spare key lies under the third flowerpot.")
CHAT = Conversation(
    name="chat",
    transcript=Transcript(
        message
        for n in range(6)
        for message in (
            FACT if n == 0 else Message.user(f"Tell me about day {n}."),
            Message.assistant(f"Day {n}. " * 500),
        )
    ),
    starts=(0, 2, 4, 6, 8, 10),
    questions=(Question(id="1", text="Where is the spare key?", category="single", evidence=(0,)),),
)


def test_a_replay_as_recorded_has_no_spread_and_shuffled_sessions_move_the_evidence() -> None:
    found = spread(CHAT, "harness", window=4_000)
    assert found.of("evidence_verbatim", "recorded").values == (0.0,)
    shuffled = found.of("evidence_verbatim").values
    assert len(shuffled) == 5 and set(shuffled) == {0.0, 1.0}  # the fact is last with some seed
    assert found.records == spread(CHAT, "harness", window=4_000).records


def test_a_model_made_from_the_seed_answers_each_seed() -> None:
    made: list[int] = []

    def model(seed: int) -> ScriptedModel:
        made.append(seed)
        return ScriptedModel(["A summary. " * (seed + 1)], repeat_last=True)

    found = spread(CHAT, "harness", metrics=["summary_tokens"], seeds=(0, 7), window=4_000, model=model)
    assert made == [0, 7, 0, 7]
    few, many = found.of("summary_tokens", "recorded").values
    assert few < many


def test_the_deviation_is_that_of_a_sample() -> None:
    record = spread(CHAT, "harness", window=4_000).of("evidence_verbatim").record
    ones = round(record["mean"] * 5)
    # n values of 0 and 1 with mean m: variance n m (1 - m) / (n - 1)
    assert record["deviation"] == pytest.approx((5 * ones / 5 * (1 - ones / 5) / 4) ** 0.5)
    assert (record["least"], record["most"], record["seeds"]) == (0.0, 1.0, 5)


def test_a_conversation_of_one_session_is_not_shuffled() -> None:
    one = Conversation(name="one", transcript=CHAT.transcript, questions=CHAT.questions)
    assert {each.order for each in spread(one, window=4_000).spreadings} == {"recorded"}


def test_a_spread_is_a_frame_and_a_card_and_unknown_names_are_refused() -> None:
    found = spread(CHAT, "harness", seeds=(1, 2), window=4_000)
    assert set(found.df["order"]) == {"recorded", "shuffled"}
    assert "harness on chat · seeds 1, 2" in str(found)
    with pytest.raises(ConfigError, match="There is no 'nothing' in 'shuffled' order"):
        found.of("nothing")
    with pytest.raises(ConfigError, match="There is no seed"):
        spread(CHAT, seeds=())
