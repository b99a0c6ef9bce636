"""The figures of a column of the tuner, and the progress of a comparison."""

from __future__ import annotations

from harness_nb import Message, Transcript, replay
from harness_nb.notebook.comparing import Told, figures, reused_tokens


def talk(turns: int = 40) -> Transcript:
    return Transcript([m for n in range(turns) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))])


def test_the_figures_are_those_of_the_replay() -> None:
    run = replay(talk(), "harness", window=8_000, model=None)
    assert figures(run)["compactions"] == run.totals.compactions > 0
    assert figures(run)["mean_prompt_tokens"] == round(run.totals.tokens_sent / run.totals.requests)


def test_a_prefix_is_reused_until_the_list_is_replaced() -> None:
    quiet = replay(talk(5), "harness", model=None)
    sizes = [step.tokens_after for step in quiet.steps if step.hook == "request"]
    assert reused_tokens(quiet) == sum(sizes[:-1])
    busy = replay(talk(), "harness", window=8_000, model=None)
    assert 0 < reused_tokens(busy) < busy.totals.tokens_sent


def test_costs_are_given_where_the_price_is_known() -> None:
    priced = Transcript(talk(5), model="gpt-4o")
    assert figures(replay(priced, "harness", model=None))["input_cost"] > 0
    assert figures(replay(talk(5), "harness", model=None))["input_cost"] is None


def test_an_empty_conversation_has_figures() -> None:
    assert figures(replay(Transcript(), "harness", model=None))["mean_prompt_tokens"] == 0


def test_systems_are_compared_by_their_facts_without_a_conversation(shell) -> None:
    shown = shell.cell("%policy compare hermes eney --facts")
    assert repr(shown) == "Comparison(hermes shipped, hermes report, eney)"
    assert len(shell.cell("%policy compare --facts").df) >= 18


def test_a_comparison_is_one_of_the_lab_and_says_who_answered(shell) -> None:
    shell.user_ns["talk"] = talk()
    shown = shell.cell("%policy compare harness eney --on talk --window 8000")
    assert repr(shown) == "Comparison(harness, eney)" and "replies are assumed" in str(shown)
    answered = shell.cell("%policy compare harness --on talk --window 8000 --model offline")
    assert "replies by offline" in str(answered)


def test_progress_is_shown_after_a_moment_and_goes_with_the_result(shell) -> None:
    from IPython.utils.capture import capture_output

    seconds = iter([0.0, 0.1, 0.7, 0.7, 1.5, 1.5])
    with capture_output() as quick:
        Told(lambda: 0.0)(1, 2)
    with capture_output() as slow:
        told = Told(lambda: next(seconds))
        for done in (10, 20, 30):
            told(done, 40)
    assert quick.outputs == []
    assert [str(one.data["text/plain"]) for one in slow.outputs] == [
        "50 % replayed; stop it as any cell",
        "75 % replayed; stop it as any cell",
    ]
