"""The rounds of one check, as Nanobot's recordings have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness_nb.core.archive import NOTHING, RAW_MARK
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Reply
from harness_nb.core.view import View
from harness_nb.presets.nanobot import NanobotRecord, has_text, rendered

if TYPE_CHECKING:
    from harness_nb.policies.nanobot.policy import NanobotPolicy

_ROUNDS = ("archived", "raw", "windowed")


@dataclass(frozen=True, slots=True)
class Round:
    """One chunk that was archived.

    Attributes:
        view: What the policy was given.
        plan: What it planned.
        asked: Its model calls.
        chunk: Log indices of the chunk.
    """

    view: View
    plan: Plan
    asked: tuple[tuple[Ask, Reply], ...]
    chunk: tuple[int, ...]


class Watching(CompactionPolicy):
    """A policy, with the view that it was given last in each pass.

    Args:
        policy: The policy.
        views: Takes the views.
    """

    def __init__(self, policy: NanobotPolicy, views: list[View]) -> None:
        self._policy, self._views = policy, views
        self.name, self.passes, self.hooks = policy.name, policy.passes, policy.hooks

    def plan(self, view: View) -> Plan:
        """What the policy plans."""
        if self._views and len(self._views[-1].done) == len(view.done):
            self._views[-1] = view
        else:
            self._views.append(view)
        return self._policy.plan(view)


def rounds_of(policy: NanobotPolicy, views: Sequence[View], plans: Sequence[Plan]) -> tuple[Round, ...]:
    """The rounds among the passes of a check."""
    found = []
    for view, plan in zip(views, plans, strict=True):
        earlier, after = policy.state(view), plan.state
        if plan.outcome in _ROUNDS and isinstance(after, NanobotRecord):
            end = view.turn if view.hook == "turn" else len(view.log)
            chunk = tuple(range(max(earlier.archived, earlier.begins), min(after.archived, end)))
            asked = tuple((one, reply) for one, reply in view.replies.items() if isinstance(one, Ask))
            found.append(Round(view, plan, asked, chunk))
    return tuple(found)


def detail(policy: NanobotPolicy, one: Round) -> dict[str, Any]:
    """What became of a chunk, and what was asked."""
    found: dict[str, Any] = {
        "archived": list(one.chunk),
        "mode": _mode(one),
        "model_calls": len(one.asked),
        "entries_written": len(one.plan.remember),
    }
    if policy.config.request_form == "prefix":
        tokens = _request_tokens(policy, one)
        found |= {} if tokens is None else {"request_estimate": tokens}
        return found | ({"request": _as_prefix(one, one.asked[0][0])} if one.asked else {})
    if one.asked:
        shown = list(one.asked[0][0].shown)
        found |= {"request": _as_text(one, one.asked[0][0])}
        found |= {"shown_to_model": shown} if shown != list(one.chunk) else {}
    return found


def estimates(policy: NanobotPolicy, views: Sequence[View], plans: Sequence[Plan]) -> dict[str, Any]:
    """The figures that a check went by: none is taken after a dump, nor before the replay window was looked at."""
    found = [
        policy.standing(view)
        for at, (view, plan) in enumerate(zip(views, plans, strict=True))
        if plan.outcome not in ("windowed", "capped") and not (at and plans[at - 1].outcome == "raw")
    ]
    return {
        "budget": found[0].budget,
        "target": found[0].target,
        "before": found[0].tokens,
        "after_rounds": [one.tokens for one in found[1:]],
        "boundary_searches": [
            {"need": one.boundary.need, "boundary": one.boundary.index, "removed": one.boundary.removed}
            for one in found
            if one.boundary is not None
        ],
    }


def status(modes: Sequence[str]) -> str:
    """What came of a check, in one word."""
    if "summary" in modes:
        return "compressed"
    if "nothing" in modes:
        return "nothing"
    return "raw" if modes else "noop"


def _mode(one: Round) -> str:
    if any(text.startswith(RAW_MARK) for text in one.plan.remember):
        return "raw"
    said = one.asked[0][1].text.strip() if one.asked else ""
    return "nothing" if said == NOTHING else "summary"


def _request_tokens(policy: NanobotPolicy, one: Round) -> int | None:
    view = replace(one.view, strict=False)
    chunk = [item for item in policy.stored(view) if item.index in one.chunk]
    return policy.summarised(view, chunk).tokens


def _as_text(one: Round, request: Ask) -> dict[str, Any]:
    text, whole = request.messages[-1].text, rendered(one.view.log[index] for index in request.shown)
    return {
        "form": "text",
        "messages_in_request": len(request.messages),
        "chars": len(text),
        "truncated": text != whole,
        "full_chars": len(whole),
        "rows": [index for index in request.shown if has_text(one.view.log[index])],
    }


def _as_prefix(one: Round, request: Ask) -> dict[str, Any]:
    is_merged = bool(request.shown) and one.view.log[request.shown[-1]].role == "user"
    return {
        "form": "prefix",
        "messages_in_request": len(request.messages),
        "scope": len([index for index in request.shown if index in one.chunk]),
        "instruction_merged_into_last_user": is_merged,
        "rows": list(request.shown[:-1] if is_merged else request.shown),
        "tool_choice": "none",
    }
