"""Two recorded sessions under every preset and variant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness_nb import Message, Transcript, presets, read_transcript, replay
from harness_nb.core.item import Item
from harness_nb.core.rounds import problems
from harness_nb.core.tokens import CharsCounter, Measure

SESSIONS = ("before-compaction", "large-session")

MEASURES = {session: Measure(CharsCounter()) for session in SESSIONS}  # each message is counted once for all presets


@cache
def session_of(path: Path) -> Transcript:
    return read_transcript(path)


def as_sent(items: Iterable[Item]) -> list[Message]:
    """Messages in the order sent: what a policy puts into the system prompt comes first."""
    return sorted((item.message for item in items), key=lambda message: message.role != "system")


def variants() -> list[Any]:
    found = [(name, variant) for name in presets.names() for variant in presets.get(name).variants or ("",)]
    return [pytest.param(name, variant, id=f"{name} {variant}".strip()) for name, variant in found]


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize(("name", "variant"), variants())
def test_no_request_is_invalid_and_each_compaction_has_its_figures(
    data: Path, session: str, name: str, variant: str
) -> None:
    preset = presets.get(name, **({"variant": variant} if variant else {}))
    run = replay(session_of(data / "pi_sessions" / f"{session}.jsonl"), preset, measure=MEASURES[session], model=None)
    for one in run.plans:
        if one.plan.input is not None:
            assert problems(as_sent(one.plan.input), needs_reply=False) == ()
    assert problems(as_sent(run.final.input), needs_reply=False) == ()
    frame = run.frame()
    made = frame[frame["index"].isin([step.index for step in run.compactions])]
    assert {"hook", "reason", "model_calls", "tokens_before", "tokens_after"} <= set(frame.columns)
    assert made["reason"].str.len().gt(0).all()
    assert frame["model_calls"].sum() == run.totals.model_calls
