"""Scripted judges hold answers against rubrics and gold answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_nb import ScriptedModel
from harness_nb.errors import ConfigError
from harness_nb.lab.datasets import Conversation, load
from harness_nb.lab.exchanges import FILE
from harness_nb.lab.judging import Judgement, judge, verdict_in
from harness_nb.lab.questions import answer
from harness_nb.model.local import LocalModel
from tests.gates import skip_or_fail
from tests.lab.datasets.samples import LOCOMO, write_beam
from tests.lab.files import write_document

YES, NO = "It does.\nverdict: yes", "It does not.\nVerdict: **no**"


@pytest.fixture
def beam(tmp_path: Path) -> Conversation:
    return load(write_beam(tmp_path / "beam", "1"))[0]


@pytest.fixture
def judged(beam: Conversation) -> Judgement:
    answers = answer(beam, ScriptedModel(["Not known.", "950 euros.", "- one"]))
    strict = ScriptedModel([YES, YES, NO, NO], name="strict")
    mild = ScriptedModel([YES, YES, YES, "Hard to say."], name="mild")
    return judge(answers, [strict, mild])


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (YES, True),
        (NO, False),
        ("At first verdict: no, but then\nverdict: yes", True),
        ("Yes.", True),
        (" **no** ", False),
        ("Yes, it names the date.", None),
        ("verdict: maybe", None),
        ("", None),
    ],
)
def test_a_verdict_is_read_from_its_line_or_from_a_bare_word(reply: str, expected: bool | None) -> None:
    assert verdict_in(reply) is expected


def test_a_rubric_is_judged_statement_by_statement(judged: Judgement) -> None:
    said = [(one.judge, one.statement, one.is_met) for one in judged.verdicts]
    assert said[:4] == [
        ("strict", "says it is not known", True),
        ("strict", "states 950", True),
        ("strict", "a table", False),
        ("strict", "short", False),
    ]
    # an answer's score is its share of statements met: 1, 1 and 0 of 2
    assert [value for _, value in judged.scores("strict")] == [1, 1, 0]
    assert judged.score() == pytest.approx(2 / 3)


def test_a_reply_without_a_verdict_is_unread_and_never_a_no(judged: Judgement) -> None:
    assert judged.unread("mild") == 1 and judged.unread("strict") == 0
    assert [value for _, value in judged.scores("mild")] == [1, 1, 1]


def test_judges_are_compared_where_both_gave_a_verdict(judged: Judgement) -> None:
    (found,) = judged.agreements
    # three statements have both: yes/yes, yes/yes, no/yes; by chance 2/3 * 1 + 1/3 * 0, which is what was observed
    assert (found.first, found.second, found.number) == ("strict", "mild", 3)
    assert found.share == pytest.approx(2 / 3) and found.kappa == pytest.approx(0)


def test_a_judge_sees_question_answer_and_statement_and_nothing_of_the_context(beam: Conversation) -> None:
    answers = answer(beam, ScriptedModel(["Not known.", "950 euros.", "- one"]))
    model = ScriptedModel([YES], repeat_last=True)
    judge(answers, model)
    system, user = model.requests[1].messages
    assert system.text.startswith("You check a reply against one statement")
    assert user.text == (
        "<question>\nWhat is my rent?\n</question>\n\n<answer>\n950 euros.\n</answer>\n\n<statement>\nstates 950\n</statement>"
    )


def test_without_a_rubric_the_gold_answer_is_compared_and_absence_checked(tmp_path: Path) -> None:
    chat = load(write_document(tmp_path / "x.json", LOCOMO))["conv-26"]
    answers = answer(chat, ScriptedModel(["Comet", "?", "?", "?", "not said"]))
    model = ScriptedModel([YES, NO, NO, NO, YES])
    judged = judge(answers, model, folder=tmp_path / "kept")
    assert judged.score() == pytest.approx(2 / 5)
    assert "<right_answer>\nComet\n</right_answer>" in model.requests[0].messages[1].text
    system, user = model.requests[4].messages
    assert system.text.startswith("The question below can't be answered") and "right_answer" not in user.text
    assert judge(answers, ScriptedModel([]), folder=tmp_path / "kept").score() == judged.score()


def test_a_judgement_has_intervals_categories_a_frame_and_a_card(judged: Judgement) -> None:
    assert judged.interval("strict").clusters == 1
    assert judged.of_category("instruction_following").score() == 0
    assert list(judged.df["is_met"].isna()) == [False] * 7 + [True]
    text = str(judged)
    assert "8 verdicts" in text and "Cohen's kappa" in text and "strict: 66.7 % [66.7, 66.7]" in text


def test_two_judges_of_one_name_are_refused(beam: Conversation) -> None:
    answers = answer(beam, ScriptedModel(["a"], repeat_last=True))
    with pytest.raises(ConfigError, match="can't be told apart"):
        judge(answers, [ScriptedModel([]), ScriptedModel([])])


@pytest.mark.local
@pytest.mark.slow
def test_a_real_small_model_answers_and_judges_over_http(tmp_path: Path) -> None:
    """Whether all goes through litellm, not whether the model is any good: it is far too small to be."""
    chat = load(write_document(tmp_path / "x.json", LOCOMO))["conv-26"]
    try:
        model = LocalModel(window=1_024)
    except ConfigError as error:
        skip_or_fail(str(error))
    try:
        answers = answer(chat, model, questions=chat.questions[:1], folder=tmp_path / "kept")
        judged = judge(answers, model, folder=tmp_path / "kept")
    finally:
        model.close()
    assert answers.answers[0].text and judged.verdicts[0].exchange.reply
    assert len((tmp_path / "kept" / FILE).read_text(encoding="utf-8").splitlines()) == 2
