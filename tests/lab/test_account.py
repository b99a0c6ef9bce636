from __future__ import annotations

import json
from pathlib import Path

from harness_nb import HarnessAgent, Message, Transcript, replay
from harness_nb.core.config import CompactionConfig
from harness_nb.core.messages import ToolCall
from harness_nb.lab.account import Account, account_of_agent, account_of_replay

LONG = "A long text about nothing that anybody would want to keep. " * 40


def talk(rounds: int) -> Transcript:
    """A conversation of so many questions and answers."""
    messages = []
    for at in range(rounds):
        messages += [Message.user(f"Question {at}?"), Message.assistant(f"Sample {at} measured {at * 3} units. " * 20)]
    return Transcript(messages)


def test_an_account_of_a_replay_has_its_totals() -> None:
    run = replay(talk(30), "harness", window=8_000)
    account = account_of_replay(run)
    assert account.turns == 30
    assert len(account.compactions) == len(run.compactions) > 0
    assert account.model_calls == run.totals.model_calls
    assert (account.window, account.window_source) == (8_000, "user")


def test_every_message_of_the_list_before_is_counted_once() -> None:
    run = replay(talk(30), "harness", window=8_000)
    first = account_of_replay(run).compactions[0]
    assert first.kept + first.shortened + first.summarised + first.gone == len(run.compactions[0].passes[0].view.input)
    assert first.summarised > 0
    assert first.tokens_after < first.tokens_before


def test_a_message_that_is_shortened_again_counts_as_shortened() -> None:
    result = "y" * 40_000
    messages = [Message.user("Go on.")]
    for at in range(12):
        call = Message.assistant(calls=[ToolCall(f"c{at}", "read", "{}")])
        messages += [call, Message.tool(f"c{at}", result), Message.assistant("Done."), Message.user("Go on.")]
    account = account_of_replay(replay(Transcript(messages), "eney", window=60_000))
    tier_one = [one for one in account.compactions if "tier 1" in one.reason]
    assert tier_one
    assert all(one.shortened > 0 for one in tier_one)


def test_an_account_of_a_session_has_turns_facts_and_hits(workspace: Path) -> None:
    compaction = CompactionConfig(trigger_messages=4, keep_messages=2)
    with HarnessAgent(workspace=workspace, compaction=compaction) as agent:
        for text in ("Mira is responsible for the microscope.", LONG, LONG.replace("long", "longer")):
            agent.ask(text)
        account = account_of_agent(agent, agent.memory.search("Mira"))
    assert account.turns == 3
    assert len(account.compactions) == 1
    assert account.compactions[0].summarised > 0
    assert any("Mira" in fact for fact in account.facts)
    assert (account.query, account.hits > 0) == ("Mira", True)


def test_an_account_leaves_a_kernel_as_json() -> None:
    account = account_of_replay(replay(talk(30), "harness", window=8_000))
    assert Account.from_record(json.loads(json.dumps(account.to_record()))) == account
