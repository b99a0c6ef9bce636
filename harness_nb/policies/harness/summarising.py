"""A summary, written part by part where the conversation is too long for one request, and never one that is no use.

Each part's request is given the summary of the parts before it, as it is given the summary of an earlier compaction: so
the last reply is the merged one, and nothing is asked for only to merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness_nb.core.config import CompactionConfig
from harness_nb.core.edits import summary_text
from harness_nb.core.item import Item
from harness_nb.core.prompts import split, stricter, summary_request, without_thinking
from harness_nb.core.requests import Ask, Reply
from harness_nb.core.tokens import LARGEST_FACTOR
from harness_nb.core.view import View

BUDGETS = 4
"""How often the room for the conversation in a request is halved when the summariser's own input is too long."""

SUMMARY_SHARE = 0.3
"""Longest summary that is asked for after one that was no use, as a share of what it stands for."""

_LEAST_CHARS = 2_000
_CUT = ("length", "max_tokens")
_ASK_AGAIN = ("blank", "bad_reply")


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a summary.

    Attributes:
        reply: The last reply, without reasoning.
        problem: Why there is no summary, or empty.
        parts: Number of parts in which the conversation was read.
    """

    reply: Reply
    problem: str = ""
    parts: int = 1


def written(view: View, items: Sequence[Item], config: CompactionConfig) -> Written:
    """A summary of some items. A reply that can't be used is asked for once more, in stricter words."""
    budget = _input_chars(view)
    found = _in_parts(view, items, config, budget)
    for _ in range(BUDGETS - 1):
        failure = found.reply.failure
        if failure is None or failure.kind != "overflow":
            break
        budget = max(_LEAST_CHARS, budget // 2)
        found = _in_parts(view, items, config, budget)
    return found


def _in_parts(view: View, items: Sequence[Item], config: CompactionConfig, max_chars: int) -> Written:
    earlier = "\n\n".join(summary_text(item) for item in items if item.how == "summary")
    parts = split([item for item in items if item.how != "summary"], max_chars) or ((),)
    found = Written(Reply(None), "there is nothing to summarise")
    for nth, part in enumerate(parts):
        request = summary_request(
            part,
            prompt=config.summary_prompt,
            max_input_chars=max_chars,
            earlier=earlier,
            words=view.words,
            model=config.summary_model,
            nth=nth,
        )
        found = replace(_asked(view, request, items), parts=len(parts))
        if found.problem:
            return found
        earlier = found.reply.text
    return found


def _asked(view: View, request: Ask, items: Sequence[Item]) -> Written:
    """Asks, and where the reply is no use asks once more as a different request; a model that failed is not."""
    reply = _bare(view.reply(request))
    problem = _problem(view, reply, items)
    if not problem or (reply.failure is not None and reply.failure.kind not in _ASK_AGAIN):
        return Written(reply, problem)
    words = max(100, int(_tokens(view, items) * SUMMARY_SHARE))
    second = _bare(view.reply(stricter(request, problem, words)))
    again = _problem(view, second, items)
    return Written(second, f"{again}, also the second time" if again else "")


def _bare(reply: Reply) -> Reply:
    return replace(reply, value=without_thinking(reply.text)) if isinstance(reply.value, str) else reply


def _problem(view: View, reply: Reply, items: Sequence[Item]) -> str:
    """Why a reply can't stand for some items, or empty."""
    if reply.failure is not None:
        return reply.failure.detail or reply.failure.kind
    if not reply.text.strip():
        return "the reply was blank"
    if reply.finish in _CUT:
        return "the reply was cut at its limit of length"
    size, was = view.measure.text(reply.text), _tokens(view, items)
    if size >= was and not reply.assumed:
        return f"inflated: the summary is {size:,} tokens and what it stands for {was:,}"
    return ""


def _tokens(view: View, items: Sequence[Item]) -> int:
    return view.measure.total(item.message for item in items)


def _input_chars(view: View) -> int:
    """Characters of conversation that fit into a request for a summary: half the window, at four characters a token.

    They are fewer where a token turned out to have fewer; more than a few times as few is a window that is smaller than it
    is said to be, and then the request is refused and tried in smaller parts.
    """
    return max(_LEAST_CHARS, int(view.model.window * 2 / min(view.scale, LARGEST_FACTOR)))
