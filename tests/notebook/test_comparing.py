"""Policies compared over one conversation."""

from __future__ import annotations

from harness_nb import Message, Transcript, replay
from harness_nb.notebook.comparing import compare, figures, reused_tokens


def talk(turns: int = 40) -> Transcript:
    return Transcript([m for n in range(turns) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))])


def test_the_figures_are_those_of_the_replays() -> None:
    found = compare(talk(), ["harness", "eney"], window=8_000)
    run = replay(talk(), "harness", window=8_000, model=None)
    assert found.records[0]["compactions"] == run.totals.compactions > 0
    assert found.records[0]["mean_prompt_tokens"] == round(run.totals.tokens_sent / run.totals.requests)
    assert found.df["policy"].tolist() == ["harness", "eney"]
    assert repr(found) == "Comparison(harness, eney)" and "mean prompt" in str(found)


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


def test_an_agents_own_conversation_can_be_compared() -> None:
    from harness_nb import HarnessAgent, ScriptedModel

    model = ScriptedModel(chat=["word " * 50], flush=["NO_REPLY"], repeat_last=True)
    with HarnessAgent("lab", model=model, workspace="ws") as agent:
        agent.ask("hello")
        assert compare(agent, ["harness"]).records[0]["messages_seen"] == 2


def test_an_empty_conversation_has_figures() -> None:
    assert figures(replay(Transcript(), "harness", model=None))["mean_prompt_tokens"] == 0


def test_systems_are_compared_by_their_facts_without_a_conversation(shell) -> None:
    shown = shell.cell("%policy compare hermes eney --facts")
    assert repr(shown) == "Comparison(hermes shipped, hermes report, eney)"
    assert len(shell.cell("%policy compare --facts").df) >= 18
