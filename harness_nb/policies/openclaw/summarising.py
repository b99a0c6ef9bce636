"""How a summary comes about: in stages, in chunks that update each other, and what is done when a call fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask, Reply
from harness_nb.core.view import View
from harness_nb.policies.openclaw import prompts
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.planning import by_size, chunks, stages
from harness_nb.policies.openclaw.sizes import tokens
from harness_nb.policies.openclaw.wording import (
    REDISTILL_CLOSING,
    REDISTILL_OPENING,
    part_label,
    partly,
    too_large,
    unavailable,
)

HISTORY, TURN_START = "summary", "turn_prefix"
ATTEMPTS = 3
HISTORY_SHARE, TURN_START_SHARE = 0.8, 0.5


@dataclass(frozen=True, slots=True)
class Written:
    """A summary.

    Attributes:
        text: Its text.
        failed: Why a call brought nothing, when the text is a makeshift or has a gap; else empty.
        assumed: Whether no model has written it yet.
    """

    text: str
    failed: str = ""
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class _Chunked:
    """What came of the chunks: the text so far, how many were done, and the failure that ended it."""

    text: str
    done: int
    of: int
    failed: str = ""
    assumed: bool = False


@dataclass(slots=True)
class Writer:
    """Writes the summaries of one compaction.

    Attributes:
        view: Answers the requests.
        config: What is asked.
        window: Context window in tokens.
        reserve: Reserve in tokens, from which the length of summaries follows.
        asked: Requests so far; an equal one gets a number of its own.
    """

    view: View
    config: OpenClawConfig
    window: int
    reserve: int
    asked: list[Ask] = field(default_factory=list)
    _repeats: Counter[Ask] = field(default_factory=Counter)

    def plain(self, items: Sequence[Item], task: str, purpose: str, *, previous: str = "", focus: str = "") -> Reply:
        """One call, as `default` mode makes it."""
        share = TURN_START_SHARE if purpose == TURN_START else HISTORY_SHARE
        focus = f"Also: {focus}" if focus else ""
        request = self._request(items, task, purpose, previous=previous, focus=focus, share=share, attempts=1)
        return self._reply(request)

    def staged(
        self, items: Sequence[Item], focus: str, most_tokens: int, *, purpose: str = HISTORY, previous: str = ""
    ) -> Written:
        """A safeguard summary: halves apart and merged where there is much.

        Args:
            items: What to summarise.
            focus: What is asked beside the sections.
            most_tokens: Tokens of one chunk.
            purpose: `summary` or `turn_prefix`.
            previous: An earlier summary, which is worked in anew as one more message.
        """
        if previous.strip():
            items = (_message(f"{REDISTILL_OPENING}{previous.strip()}{REDISTILL_CLOSING}"), *items)
        parts = stages(items, most_tokens)
        if len(parts) == 1:
            return self._with_fallback(items, focus, most_tokens, purpose)
        made = [self._with_fallback(part, focus, most_tokens, purpose) for part in parts]
        labelled = [
            _message(part_label(at + 1, len(parts), *_times(part)) + one.text)
            for at, (part, one) in enumerate(zip(parts, made, strict=True))
        ]
        task = f"{prompts.MERGE}\n\n{focus.strip()}" if focus.strip() else prompts.MERGE
        merged = self._with_fallback(labelled, task, most_tokens, _merging(purpose))
        failed = next((one.failed for one in (*made, merged) if one.failed), "")
        return replace(merged, failed=failed, assumed=any(one.assumed for one in (*made, merged)))

    def _with_fallback(self, items: Sequence[Item], focus: str, most_tokens: int, purpose: str) -> Written:
        """Chunks in a row; after a failure once more without what is too large, and then what there is."""
        first = self._chunked(items, focus, most_tokens, purpose)
        if not first.failed:
            return Written(first.text, assumed=first.assumed)
        sizes = by_size(items, self.window)
        notes = "\n".join(too_large(_role(one), tokens(one)) for one in sizes.large)
        notes = f"\n\n{notes}" if notes else ""
        so_far = _so_far(first)
        if sizes.small and sizes.large:
            second = self._chunked(sizes.small, focus, most_tokens, purpose)
            if not second.failed:
                return Written(second.text + notes, first.failed)
            so_far = _so_far(second) + notes if second.done else so_far
        return Written(so_far or unavailable(len(items), len(sizes.large)), first.failed)

    def _chunked(self, items: Sequence[Item], focus: str, most_tokens: int, purpose: str) -> _Chunked:
        """Chunks in a row, each with the text so far to be brought up to date."""
        parts = chunks(items, most_tokens)
        focus = prompts.chunk_focus(self.config, focus)
        text, assumed = "", False
        for at, part in enumerate(parts):
            task = prompts.UPDATE if text else prompts.FRESH
            request = self._request(part, task, purpose, previous=text, focus=focus)
            reply = self._reply(request)
            if reply.failure is not None:
                return _Chunked(text, at, len(parts), reply.failure.kind, assumed)
            text, assumed = reply.text, assumed or reply.assumed
        return _Chunked(text, len(parts), len(parts), assumed=assumed)

    def _request(
        self,
        items: Sequence[Item],
        task: str,
        purpose: str,
        *,
        previous: str,
        focus: str,
        share: float = HISTORY_SHARE,
        attempts: int = ATTEMPTS,
    ) -> Ask:
        return Ask(
            purpose=purpose,
            messages=prompts.prompt(items, task, previous=previous, focus=focus),
            shown=prompts.shown(items),
            max_tokens=self._most_output(share),
            attempts=attempts,
            timeout_seconds=self.config.timeout_seconds,
        )

    def _most_output(self, share: float) -> int:
        """Longest reply; safeguard mode holds the reserve below what the model can write before it takes its share."""
        most = self.view.model.max_output
        if self.config.mode == "safeguard":
            reserve = max(1, self.reserve if most is None else min(self.reserve, most))
            return max(1, int(share * reserve))
        wanted = int(share * self.reserve)
        return max(1, wanted if most is None else min(wanted, most))

    def _reply(self, request: Ask) -> Reply:
        """What came of a request; a repeated one is asked anew."""
        numbered = replace(request, nth=self._repeats[request])
        self._repeats[request] += 1
        self.asked.append(numbered)
        return self.view.reply(numbered)


def _merging(purpose: str) -> str:
    return "merge" if purpose == HISTORY else f"{purpose}_merge"


def _message(text: str) -> Item:
    """A text that is shown to the summariser as a message."""
    return Item(None, Message.user(text, origin="harness"), "note")


def _so_far(made: _Chunked) -> str:
    return made.text + partly(made.done, made.of) if made.done else ""


def _role(item: Item) -> str:
    return "tool reply" if item.message.role == "tool" else item.message.role


def _times(items: Sequence[Item]) -> tuple[datetime | None, datetime | None]:
    """When the first and the last of some messages were said, where that is known."""
    known = [one.message.time.astimezone(UTC) for one in items if one.message.time is not None]
    return (min(known), max(known)) if known else (None, None)
