"""OpenClaw's figures and its reading of what it wrote itself, for displays, replays and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask
from harness_nb.policies.openclaw.compaction import summary_of
from harness_nb.policies.openclaw.conversation import repaired
from harness_nb.policies.openclaw.gates import stored
from harness_nb.policies.openclaw.parts import SummaryParts, parts_of
from harness_nb.policies.openclaw.prompts import FEEDBACK_MARK, UPDATE_MARK
from harness_nb.policies.openclaw.results import kept_chars
from harness_nb.policies.openclaw.sizes import context_tokens, pressure, request_pressure, summary_text, tokens
from harness_nb.policies.openclaw.wording import PART_LABEL, REDISTILL_OPENING


class OpenClawFigures:
    """What needs no settings."""

    @staticmethod
    def tokens(items: Sequence[Item]) -> int:
        """Tokens of a list by OpenClaw's count: the last bill, and an estimate of what came after."""
        return context_tokens(items)

    @staticmethod
    def size(item: Item) -> int:
        """Estimated tokens of a message."""
        return tokens(item)

    @staticmethod
    def pressure_of(item: Item) -> int:
        """Estimated tokens of a message that is about to be sent."""
        return pressure(item)

    @staticmethod
    def request_tokens(items: Sequence[Item], system: str, prompt: str) -> int:
        """Estimated tokens of a request that is about to be sent."""
        return request_pressure(items, system, prompt)

    @staticmethod
    def stored_tokens(messages: Sequence[Message]) -> int:
        """Tokens of the next request as far as the stored messages tell."""
        return stored(messages).prompt_tokens

    @staticmethod
    def repaired(items: Sequence[Item]) -> tuple[Item, ...]:
        """The list with blank requests made a short text, as before every compaction."""
        return repaired(items)

    @staticmethod
    def summary(text: str, *, of: Sequence[int], files: Mapping[str, Sequence[str]], from_hook: bool = True) -> Item:
        """A summary as an item of the list, for a session that was compacted elsewhere.

        Args:
            text: The summary.
            of: Log indices that it stands for.
            files: Paths under `read` and `modified`.
            from_hook: Whether the safeguard mode wrote it.
        """
        return summary_of(text, of, {"files": dict(files), "from_hook": from_hook})

    @staticmethod
    def text(item: Item) -> str:
        """The text of a summary in the list, without what is wrapped around it."""
        return summary_text(item) or ""

    @staticmethod
    def parts(item: Item) -> SummaryParts | None:
        """What a summary in the list is made of; None for any other item."""
        text = summary_text(item)
        return None if text is None else parts_of(text)

    @staticmethod
    def kept_chars(text: str) -> tuple[int, int]:
        """Units of a shortened result that are left of its beginning and of its end."""
        return kept_chars(text)

    @staticmethod
    def partials(ask: Ask) -> int:
        """How many partial summaries a request shows."""
        return len(PART_LABEL.findall(ask.messages[-1].text))

    @staticmethod
    def retries(ask: Ask) -> bool:
        """Whether a request for a summary names what was wrong with an earlier one."""
        return FEEDBACK_MARK in _task(ask)

    @staticmethod
    def earlier(ask: Ask) -> str:
        """How a request shows an earlier summary: `redistill`, as a message; `update`, as the text to update; or empty."""
        if UPDATE_MARK in _task(ask):
            return "update"
        return "redistill" if f"[User]: {REDISTILL_OPENING}" in ask.messages[-1].text else ""


def _task(ask: Ask) -> str:
    """What a request asks for, behind the conversation in it."""
    return ask.messages[-1].text.rpartition("</conversation>")[2]
