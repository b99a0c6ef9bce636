from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness_nb.lab.cache_check import RESTARTED, CacheCheck, check_cache
from harness_nb.lab.transcripts import read_with_report

START = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)
BILLS = [(2_000, 0), (3_000, 2_000), (4_000, 0), (5_000, 4_000)]
"""Prompt tokens and how many of them were read, of four calls; the third read nothing."""


def entry(kind: str, at: int, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": (START + timedelta(seconds=at)).isoformat(), **fields}


def user(at: int) -> dict[str, Any]:
    return entry("message", at, message={"role": "user", "content": [{"type": "text", "text": "Go on."}]})


def answer(at: int, tokens: int, read: int) -> dict[str, Any]:
    usage = {"input": tokens - read, "cacheRead": read, "cacheWrite": 0, "output": 9}
    content = [{"type": "text", "text": "Done."}]
    message = {"role": "assistant", "model": "claude-sonnet-4-5", "content": content, "usage": usage}
    return entry("message", at, message=message)


def session(folder: Path, *between: dict[str, Any], pause: int = 60) -> CacheCheck:
    """Four turns a pause apart; the entries given stand before the third."""
    lines = [entry("session", 0, cwd="/w", modelId="claude-sonnet-4-5", thinkingLevel="off")]
    for number, (tokens, read) in enumerate(BILLS):
        lines += between if number == 2 else ()
        lines += [user(number * pause), answer(number * pause + 5, tokens, read)]
    path = folder / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return check_cache(*read_with_report(path))


def test_what_the_recording_does_not_explain_is_put_down_to_a_restart(tmp_path: Path) -> None:
    check = session(tmp_path)
    assert [call.predicted.tokens for call in check.calls] == [0, 2_000, 3_000, 4_000]
    assert [call.informed.tokens for call in check.calls] == [0, 2_000, 0, 4_000]
    assert (check.billed, check.predicted, check.informed) == (6_000 / 14_000, 9_000 / 14_000, 6_000 / 14_000)
    assert check.restarts == 1
    first = check.records[0]
    assert (first["message"], first["difference"]) == (5, 3_000)
    assert first["reason"].startswith(RESTARTED)
    assert "60 s after the last request, not even prompt and schemas, at the start of a turn" in first["reason"]


def test_a_pause_and_recorded_marks_explain_it_without_a_restart(tmp_path: Path) -> None:
    model = entry("model_change", 70, provider="anthropic", modelId="claude-opus-4-5")
    thinking = entry("thinking_level_change", 70, thinkingLevel="high")
    compaction = entry("compaction", 70, summary="They talked.", firstKeptEntryIndex=1, tokensBefore=3_000)
    assert session(tmp_path, pause=400).predicted == 0
    assert session(tmp_path, model).calls[2].predicted == (0, "the model changed to claude-opus-4-5")
    assert session(tmp_path, thinking).calls[2].predicted.reason == "the level of thinking changed to high"
    assert session(tmp_path, compaction).calls[2].predicted.reason == "the recorded system compacted"


def test_a_level_of_thinking_that_is_changed_back_before_the_next_turn_breaks_nothing(tmp_path: Path) -> None:
    there = entry("thinking_level_change", 70, thinkingLevel="high")
    back = entry("thinking_level_change", 71, thinkingLevel="off")
    assert session(tmp_path, there, back).calls[2].predicted.tokens == 3_000


def test_a_check_shows_itself_and_has_a_frame(tmp_path: Path) -> None:
    check = session(tmp_path)
    assert "1 restarts" in str(check) or "1 restart" in str(check)
    assert "<table" in check._repr_mimebundle_()["text/html"]
    assert check.df["difference"].tolist() == [3_000, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "billed", "limit"), [("before-compaction", 0.970, 0.02), ("large-session", 0.910, 0.09)]
)
def test_recorded_bills_are_predicted_within_the_limit_and_what_remains_has_a_name(
    data: Path, name: str, billed: float, limit: float
) -> None:
    check = check_cache(*read_with_report(data / "pi_sessions" / f"{name}.jsonl"))
    assert check.billed == pytest.approx(billed, abs=0.0005)
    assert abs(check.predicted - check.billed) < limit
    assert abs(check.informed - check.billed) < 0.001
    unexplained = [call for call in check.calls if not call.is_restart and abs(call.difference) > 1_000]
    assert unexplained == []
