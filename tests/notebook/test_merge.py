"""Facts, messages and compactions are joined by keys, and the session's log on disk says the same."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from harness_nb import CompactionConfig, HarnessAgent, ScriptedModel, read_transcript


def spoken(data: Path, most: int) -> list[tuple[str, str]]:
    """What a person said in a recorded session, each with the last text of the answer to it."""
    pairs: list[tuple[str, str]] = []
    for message in read_transcript(data / "pi_sessions" / "before-compaction.jsonl"):
        if message.role == "user" and message.origin == "user" and message.text.strip():
            pairs.append((message.text[:2_000], "ok"))
        elif message.role == "assistant" and message.text.strip() and pairs:
            pairs[-1] = (pairs[-1][0], message.text[:2_000])
    return pairs[:most]


def replayed(data: Path) -> HarnessAgent:
    """A recorded session, said once more to a live agent that notes a fact a turn and compacts."""
    pairs = spoken(data, 24)
    facts = [f"- Fact number {at} was said in turn {at}." for at in range(1, len(pairs) + 1)]
    model = ScriptedModel(chat=[answer for _, answer in pairs], flush=facts, summary=["## SUMMARY\nshort"], repeat_last=True)  # fmt: skip
    compaction = CompactionConfig(trigger_messages=12, keep_messages=4)
    agent = HarnessAgent("lab", model=model, workspace="ws", session="pi", compaction=compaction)
    for text, _ in pairs:
        agent.ask(text)
    return agent


def test_one_merge_says_which_compaction_dropped_the_message_that_a_fact_came_from(data: Path) -> None:
    with replayed(data) as agent:
        facts, messages, plans = agent.frames.daily_logs(), agent.frames.messages(), agent.frames.plans()
        keys = {"left_on": ["session", "first_message"], "right_on": ["session", "index"]}
        answer = facts.merge(messages, **keys, suffixes=("", "_said"))
        assert len(answer) == len(facts) > 10
        path = agent.workspace.path / "agents/lab/sessions/pi.log.jsonl"
        log = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        dropped = {
            index: record["plan_number"]
            for record in log
            if record.get("event") == "compaction_finished" and record["outcome"] == "completed"
            for index in record["left"]
        }
        assert len(dropped) > 10
        for fact in answer.to_dict("records"):
            number = None if pd.isna(fact["plan_number"]) else fact["plan_number"]
            assert number == dropped.get(fact["first_message"])
        assert set(answer["plan_number"].dropna()) <= set(plans["plan_number"])


def test_hits_logs_and_sessions_have_their_keys(data: Path) -> None:
    with replayed(data) as agent:
        hits = agent.frames.hits("fact number 3", limit=20)
        joined = hits.merge(agent.frames.daily_logs(), on=["path", "line"], suffixes=("", "_log"))
        assert (joined["session_log"] == "pi").all() and len(joined) > 0
        said = hits[hits["kind"] == "session"]
        assert (said["session"] == "pi").all()
