"""What a model makes of curated memory and new log entries: asked once or twice, checked, and cut to the cap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness_nb.core.config import MemoryConfig
from harness_nb.core.messages import Message, Usage
from harness_nb.core.tokens import TokenCounter
from harness_nb.errors import ConfigError, ModelError
from harness_nb.memory.changes import Change, differences, lost_share
from harness_nb.memory.consolidation_prompt import consolidation_request, retried
from harness_nb.memory.consolidation_reply import Reading, read_memory
from harness_nb.memory.outline import entries, hand_written, joined
from harness_nb.memory.overlap import is_said
from harness_nb.memory.rewriting import Rewritten, generated, rewritten
from harness_nb.model.base import Model, ModelRequest, complete
from harness_nb.store.daily_log import Entry

_LEAST_ROOM_SHARE = 0.1  # of the cap that hand-written parts must leave for anything to be merged
_LEAST_BATCH_TOKENS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A new MEMORY.md, and how it differs.

    Attributes:
        text: The whole of it, within the cap.
        changes: What becomes of each entry that is not as it was.
        lost: Share of the entries whose content is gone, 0 to 1.
        missing: New facts that it does not hold.
        trimmed: Entries that were taken out to keep the cap.
        calls: Requests that were made.
        usages: What the provider reported for each, where it did.
    """

    text: str
    changes: tuple[Change, ...] = ()
    lost: float = 0.0
    missing: tuple[str, ...] = ()
    trimmed: tuple[str, ...] = ()
    calls: int = 0
    usages: tuple[Usage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposer:
    """Asks a model for a new MEMORY.md.

    Attributes:
        model: The model.
        config: Cap and batch size.
        counter: Counts tokens.
        clean: Makes a text such as may be written.
        timeout_seconds: Longest wait for one reply.
    """

    model: Model
    config: MemoryConfig
    counter: TokenCounter
    clean: Callable[[str], str]
    timeout_seconds: float

    @property
    def batch_tokens(self) -> int:
        """Tokens of entries that one request takes: the setting, or less where the window is small."""
        room = self.model.limits.window - 3 * self.config.max_memory_tokens
        return max(min(self.config.batch_tokens, room), _LEAST_BATCH_TOKENS)

    async def propose(self, base: str, noted: Sequence[Entry]) -> Proposal:
        """Asks, and once more when the reply can't be used or is too long; then entries are taken out to keep the cap.

        Args:
            base: MEMORY.md as it is.
            noted: New log entries, in order of time.

        Raises:
            ModelError: The model failed, or its replies could not be used.
            ConfigError: The hand-written parts leave no room below the cap.
        """
        request, budget = self._request(base, noted)
        replies = [await self._reply(request)]
        text, refused = self._read(replies[0], base)
        fault = refused or self._excess(text, budget)
        if fault:
            replies.append(await self._reply(retried(request, fault)))
            again, refused = self._read(replies[1], base)
            text = again or text
        if not text:
            raise ModelError(
                f"The reply of {self.model.limits.name!r} could not be used: {refused}.", "Try again, or another model."
            )
        return self._proposal(text, base, noted, replies)

    def _request(self, base: str, noted: Sequence[Entry]) -> tuple[ModelRequest, int]:
        cap, hands = self.config.max_memory_tokens, joined(hand_written(base))
        budget = cap - self.counter.count_text(hands)
        if budget < cap * _LEAST_ROOM_SHARE:
            raise ConfigError(
                f"The hand-written parts of MEMORY.md leave no room below max_memory_tokens={cap}.",
                "Shorten them, or raise it.",
                subject="max_memory_tokens",
            )
        memory = generated(base)
        return (
            consolidation_request(memory=memory, hand_written=hands, entries=noted, budget_tokens=budget),
            budget,
        )

    async def _reply(self, request: ModelRequest) -> Message:
        import asyncio

        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await complete(self.model, request)
        except TimeoutError as error:
            raise ModelError(
                f"{self.model.limits.name!r} gave no reply within {self.timeout_seconds:g} seconds.", "Try again later."
            ) from error

    def _read(self, reply: Message, base: str) -> tuple[str, str]:
        """The text in a reply, and why there is none."""
        found: Reading = read_memory(reply.text, generated(base), is_cut=reply.finish == "length")
        return found.text, found.refused

    def _excess(self, text: str, budget: int) -> str:
        size = self.counter.count_text(text)
        return f"it has about {size} tokens and may have at most {budget}" if size > budget else ""

    def _proposal(self, text: str, base: str, noted: Sequence[Entry], replies: Sequence[Message]) -> Proposal:
        made: Rewritten = rewritten(self.clean(text), base, self.config.max_memory_tokens, self.counter)
        if not entries(made.text):
            raise ModelError("Nothing was left of the reply within the cap.", "Raise max_memory_tokens.")
        where = {f"memory/{entry.date.isoformat()}.md#{entry.line}": entry.text for entry in noted}
        changes = differences(base, made.text, where)
        return Proposal(
            text=made.text,
            changes=changes,
            lost=lost_share(base, changes),
            missing=missing_facts(made.text, noted),
            trimmed=made.trimmed,
            calls=len(replies),
            usages=tuple(reply.usage for reply in replies if reply.usage is not None),
        )


def missing_facts(text: str, noted: Sequence[Entry]) -> tuple[str, ...]:
    """The facts among some log entries that no entry of curated memory says, hand-written ones included."""
    plain = [*(entry.bare for entry in entries(text)), *(hand.text for hand in hand_written(text))]
    return tuple(entry.text for entry in noted if not is_said(entry.text, plain))
