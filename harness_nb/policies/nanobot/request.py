"""What the model that summarises is asked, and what its reply becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core import archive
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask, Reply
from harness_nb.core.view import View
from harness_nb.policies.nanobot import replay
from harness_nb.policies.nanobot.config import NanobotConfig
from harness_nb.policies.nanobot.sending import joined
from harness_nb.policies.nanobot.sizes import NanobotSizes
from harness_nb.policies.nanobot.wording import ARCHIVE_INSTRUCTION, ARCHIVE_PROMPT, NO_SUMMARY, raw_entry, rendered


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What became of a chunk.

    Attributes:
        remember: The text for the archive, none for a model's word that there is nothing.
        is_raw: Whether it is a dump instead of a summary.
        reason: Why, in words.
        failed: Kind of the failure where a model was asked and did not answer; empty otherwise.
        tokens: Estimate of the request, None where it was not measured.
    """

    remember: tuple[str, ...] = ()
    is_raw: bool = False
    reason: str = ""
    failed: str = ""
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Prefix:
    """The conversation that a summary's request begins with.

    Attributes:
        system: The system prompt with its sections.
        rows: The messages up to the chunk's end, as they are replayed.
        budget: Tokens that the request may have.
    """

    system: str
    rows: tuple[Item, ...]
    budget: int


def archived_as_text(
    view: View,
    config: NanobotConfig,
    sizes: NanobotSizes,
    chunk: Sequence[Item],
    also: Sequence[Item],
    budget: int,
) -> Archived:
    """Has a chunk summarised from its rendered rows, cut at the end to what fits."""
    rows = (*chunk, *also)
    text = rendered(row.message for row in rows)
    text = archive.cut_tokens(text, budget, sizes.text) if budget > 0 else archive.cut_chars(text, archive.RAW_CHARS)
    messages = (Message.system(config.instruction or ARCHIVE_PROMPT), Message.user(text, origin="harness"))
    reply = view.reply(_ask(config, messages, rows))
    if reply.failure is not None or reply.finish == "error":
        return _dumped(chunk, "the model failed", reply)
    return Archived(remember=(reply.text or NO_SUMMARY,))


def archived_with_prefix(
    view: View, config: NanobotConfig, sizes: NanobotSizes, chunk: Sequence[Item], prefix: Prefix
) -> Archived:
    """Has a chunk summarised behind the conversation that led to it; without a call where that does not fit."""
    visible = replay.shown(chunk)
    count = len(visible)
    ends = [row.index for row in prefix.rows[-count:]] if count else []
    if prefix.budget <= 0 or not count or ends != [row.index for row in visible]:
        return _dumped(chunk, "the chunk can't be shown whole")
    messages = instructed(prefix, config, count)
    tokens = sizes.prompt(messages, view.tools)
    if tokens > prefix.budget:
        return _dumped(chunk, "the request would be too long", tokens=tokens)
    reply = view.reply(_ask(config, messages, prefix.rows))
    if _is_refused(config, reply):
        return _dumped(chunk, "the model failed", reply, tokens=tokens)
    nothing = reply.text.strip() == archive.NOTHING
    return Archived(remember=() if nothing else (reply.text,), tokens=tokens)


def instructed(prefix: Prefix, config: NanobotConfig, count: int) -> tuple[Message, ...]:
    """The request of the prefix form.

    Args:
        prefix: The conversation.
        config: May have the user's own instruction.
        count: Messages that the summary is about.
    """
    said = (config.instruction or ARCHIVE_INSTRUCTION).replace("{n}", str(count))
    asking = Message.user(said, origin="harness")
    rows = [row.message for row in prefix.rows]
    if rows and rows[-1].role == "user":
        return (Message.system(prefix.system), *rows[:-1], joined(rows[-1], asking))
    return (Message.system(prefix.system), *rows, asking)


def _ask(config: NanobotConfig, messages: tuple[Message, ...], rows: Sequence[Item]) -> Ask:
    shown = tuple(row.index for row in rows if row.index is not None)
    return Ask(purpose="summary", messages=messages, shown=shown, max_tokens=config.max_output_tokens)


def _is_refused(config: NanobotConfig, reply: Reply) -> bool:
    if reply.failure is not None or reply.finish == "error":
        return True
    return config.strict_replies and (reply.finish in ("length", "tool_calls") or not reply.text.strip())


def _dumped(chunk: Sequence[Item], reason: str, reply: Reply | None = None, *, tokens: int | None = None) -> Archived:
    failed = "" if reply is None else reply.failure.kind if reply.failure is not None else reply.finish or "blank"
    text = raw_entry([row.message for row in chunk])
    return Archived(remember=(text,), is_raw=True, reason=reason, failed=failed, tokens=tokens)
