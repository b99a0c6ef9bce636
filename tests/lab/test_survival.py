"""What became of evidence, on a conversation of six messages worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.datasets import Conversation, Question, load
from harness_nb.lab.rarity import RareWords
from harness_nb.lab.survival import Evidence, Survival

SAID = Transcript(
    [
        Message.user("walnut cabinet stands upstairs"),
        Message.assistant("copper kettle whistles loudly"),
        Message.user("violet curtains hang downstairs"),
        Message.assistant("granite doorstep cracked yesterday"),
        Message.user("silver thimble vanished completely"),
        *(Message.assistant(f"filler number {n} of nothing") for n in range(15)),
    ]
)


def asking(*evidence: int, category: str = "single", **groups: tuple[int, ...]) -> Question:
    text = " ".join(SAID[index].text.split()[0] for index in evidence)
    return Question(id=text, text=text, category=category, evidence=evidence, groups=groups)


def chat(*questions: Question) -> Conversation:
    return Conversation(name="chat", transcript=SAID, questions=questions)


def looked_at(*questions: Question, items: list[Item], memory: list[str] | None = None, k: int = 10) -> Survival:
    return Evidence(chat(*questions), k=k).survival(items, memory or [])


def kept(*indices: int) -> list[Item]:
    return [Item(index, SAID[index]) for index in indices]


def reaches(survival: Survival) -> list[str]:
    return [standing.reach for one in survival.outcomes for standing in one.evidence]


def test_each_evidence_message_gets_the_best_of_five_classes() -> None:
    questions = [asking(index) for index in range(5)]
    summary = Message.user("the copper kettle whistles, they said", origin="harness")
    items = [*kept(0), Item(None, summary, "summary", stands_for=(1, 2, 3, 4))]
    memory = ["violet curtains are what she likes"]
    with_search = looked_at(*questions, items=items, memory=memory)
    # 0 is there; the summary has three of four rare words of 1 and none of the others; memory has two of four of 2
    assert reaches(with_search) == ["verbatim", "truncated", "memory", "search", "search"]
    assert reaches(looked_at(*questions, items=items, memory=memory, k=0))[3:] == ["gone", "gone"]


def test_a_shortened_message_is_truncated_while_a_word_of_it_is_shown_and_gone_when_cleared() -> None:
    for text, expected in (("walnut …", "truncated"), ("[cleared]", "gone")):
        items = [Item(0, Message.user(text), "truncated")]
        assert reaches(looked_at(asking(0), items=items, k=0)) == [expected]


def test_a_summary_tells_a_message_from_half_of_its_rare_words_on() -> None:
    for text, expected in (("walnut cabinet", "truncated"), ("walnut", "gone")):
        items = [Item(None, Message.user(text, origin="harness"), "summary", stands_for=(0,))]
        assert reaches(looked_at(asking(0), items=items, k=0)) == [expected]


def test_a_pinned_text_is_verbatim_whatever_holds_it() -> None:
    items = [Item(None, Message.user(f"Pinned:\n- {SAID[0].text}", origin="harness"), "note")]
    assert reaches(looked_at(asking(0), items=items, k=0)) == ["verbatim"]


def test_survival_is_the_mean_over_questions_of_the_share_of_their_evidence() -> None:
    one, two = asking(0), asking(1, 2, 3, category="multi")
    survival = looked_at(one, two, items=kept(0, 1), k=0)
    # first question 1 of 1, second 1 of 3: (1 + 1/3) / 2
    assert survival.verbatim == pytest.approx(2 / 3)
    assert survival.reach("gone") == pytest.approx(1 / 3)
    assert survival.of_category("multi").verbatim == pytest.approx(1 / 3)
    assert sum(map(survival.reach, ("verbatim", "truncated", "memory", "search", "gone"))) == pytest.approx(1)


def test_reachable_is_what_is_there_or_among_the_first_hits_that_are_not() -> None:
    one, two = asking(0), asking(1, 2)
    survival = looked_at(one, two, items=kept(1))
    assert survival.reachable == 1 and survival.all_reachable == 1
    # one hit: it brings 1 or 2 for the second question, but 1 is in the context, so the hit is 2
    first_only = looked_at(one, two, items=kept(1), k=1)
    assert first_only.reachable == 1 and first_only.all_reachable == 1
    nothing_there = looked_at(two, items=[], k=1)
    assert nothing_there.reachable == 0.5 and nothing_there.all_reachable == 0


def test_graded_survival_weighs_rare_words_by_how_rare_they_are() -> None:
    # 20 messages; `one` is in one message, `two` in two: weights log 20 and log 10; `all` is in each and is not rare
    said = [Message.user("all one two"), Message.user("all two"), *(Message.user("all") for _ in range(18))]
    rare = RareWords(said)
    assert rare.weights(0) == {"one": math.log(20), "two": math.log(10)}
    assert rare.share(0, {"all", "two"}) == pytest.approx(math.log(10) / (math.log(10) + math.log(20)))
    assert rare.share(2, set()) == 1 and rare.told(2, set()) == 0  # a message without rare words


def test_graded_survival_counts_words_anywhere_in_the_context() -> None:
    note = Item(None, Message.user("granite! silver thimble?", origin="harness"), "note")
    survival = looked_at(asking(3), asking(4), items=[note], k=0)
    # one of four rare words of the first, two of four of the second, all of one weight: (1/4 + 2/4) / 2
    assert survival.graded == pytest.approx(3 / 8)
    assert looked_at(asking(3), items=kept(3), k=0).graded == 1


def test_a_superseded_fact_is_stale_when_it_is_shown_and_its_successor_is_not() -> None:
    update = asking(0, 2, original_info=(0,), updated_info=(2,))
    assert looked_at(update, items=kept(0), k=0).stale == 1
    assert looked_at(update, items=kept(0, 2), k=0).stale == 0
    assert looked_at(update, items=[], k=0).stale == 0
    assert looked_at(asking(0), items=kept(0), k=0).stale is None


def test_questions_without_evidence_are_left_out_and_without_any_there_is_nothing_to_say() -> None:
    nothing = Question(id="n", text="?", category="single")
    assert len(looked_at(nothing, asking(0), items=[]).outcomes) == 1
    with pytest.raises(ConfigError, match="'chat' has no question with evidence"):
        Evidence(chat(nothing))


def test_survival_is_a_frame_and_a_card() -> None:
    survival = looked_at(asking(0), asking(1, 2, category="multi"), items=kept(0))
    assert list(survival.df["reach"]) == ["verbatim", "search", "search"]
    assert list(survival.df["index"]) == [0, 1, 2]
    assert "2 questions with evidence" in str(survival) and "multi" in str(survival)
    assert "verbatim" in survival._repr_mimebundle_()["text/html"]


def test_the_last_twenty_messages_keep_what_was_measured_before(data: Path) -> None:
    """Floors that were measured with other code: 2.4 % of the evidence of LoCoMo's questions, 5.5 % of BEAM's."""
    for name, floor in (("locomo", 0.024), ("beam_100k", 0.055)):
        shares = []
        for one in load(data / name):
            last = [Item(index, one.transcript[index]) for index in range(len(one.transcript))[-20:]]
            shares += [
                outcome.share(lambda e: e.reach == "verbatim") for outcome in Evidence(one, k=0).survival(last).outcomes
            ]
        assert sum(shares) / len(shares) == pytest.approx(floor, abs=0.0005)
