"""What an agent tells about itself: its settings, how it stands, its sessions, how its context filled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from harness_nb.agent.loop import total
from harness_nb.agent.opened import Opened
from harness_nb.agent.parts import Parts
from harness_nb.agent.results import AgentStatus, SessionList
from harness_nb.core.events import CompactionFinished, Event, StepFinished
from harness_nb.core.view import View

Point = tuple[int, int, int, int, str | None]
"""Turn, step, tokens, window, and what a compaction did."""


def status_of(parts: Parts, opened: Opened) -> AgentStatus:
    """How an agent stands: model, session, sizes, costs, warnings."""
    view, policy = opened.view(), parts.policy
    billed = total([message.usage for message in view.log if message.usage is not None])
    return AgentStatus(
        name=parts.name,
        model=view.model.name,
        key_source=getattr(parts.model, "key_source", ""),
        preset=parts.preset.name,
        policy=policy.name if policy is not None else "",
        session=opened.session.id,
        workspace=parts.workspace.name,
        window=view.model.window,
        window_source=view.model.window_source,
        tokens=view.tokens,
        tokens_source=view.figure.source,
        turns=opened.session.turns,
        messages=len(view.log),
        cost=opened.session.cost if opened.session.cost or (billed is not None and billed.cost is not None) else None,
        compaction=rest_of(opened, view),
        warnings=warnings_of(parts, opened),
    )


def rest_of(opened: Opened, view: View) -> str:
    """Why compaction rests, or empty."""
    stall = opened.session.conversation.stall
    return stall.holds(view) if stall is not None else ""


def warnings_of(parts: Parts, opened: Opened) -> tuple[str, ...]:
    """An assumed window, repairs of a resumed session, a memory that can't be read."""
    from harness_nb.model.windows import window_warning

    found = [window_warning(parts.limits), _room_warning(opened.view()), parts.memory_problem]
    return (*(text for text in found if text), *opened.session.warnings)


def _room_warning(view: View) -> str:
    """One line where prompt and tools leave no room for a conversation, else an empty text."""
    fixed, window = view.fixed_tokens, view.model.window
    if fixed < window:
        return ""
    return f"The prompt and the tools take about {fixed:,} tokens, and the window has {window:,}: no turn fits. Set a larger window=..."


def settings_of(parts: Parts) -> dict[str, Any]:
    """Every setting in force by name: the preset's, those of eviction and memory, and the limits of a turn."""
    found: dict[str, Any] = {"preset": parts.preset.name, **parts.preset.settings}
    groups = {
        "pins": parts.pins,
        "tool_result_eviction": parts.eviction,
        "memory": parts.config,
        "maintenance": parts.maintenance,
    }
    for name, group in groups.items():
        found |= (
            {name: None} if group is None else {f"{name}.{one.name}": getattr(group, one.name) for one in fields(group)}
        )
    return found | asdict(parts.turn_limits) | {"window": parts.limits.window}


def sessions_of(parts: Parts, opened: Opened) -> SessionList:
    """The sessions of the workspace, of all agents."""
    here = opened.session.files.log_path
    return SessionList(
        [
            {
                "agent": files.agent,
                "session": files.session_id,
                "last_activity": files.last_activity(),
                "is_current": files.log_path == here,
            }
            for files in parts.workspace.sessions()
        ]
    )


def course_of(events: Iterable[Event], window: int) -> tuple[Point, ...]:
    """Sizes over a session, a point for each request and two for each compaction, before and after."""
    points: list[Point] = []
    step = 0
    for event in events:
        if isinstance(event, StepFinished) and event.purpose == "chat":
            size = event.usage.input_tokens if event.usage is not None else event.estimate
            step = event.step
            points.append((event.turn, step, size, window, None))
        elif isinstance(event, CompactionFinished) and event.outcome == "completed":
            points.append((event.turn, step, event.tokens_before, window, None))
            points.append((event.turn, step, event.tokens_after, window, event.detail))
    return tuple(points)
