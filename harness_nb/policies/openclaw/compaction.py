"""One compaction of OpenClaw's: what goes where, the text that takes its place, and what that text carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness_nb.core.item import Item, covered
from harness_nb.core.messages import Message
from harness_nb.core.utf16 import utf16_len
from harness_nb.core.view import View
from harness_nb.policies.openclaw import prompts, wording
from harness_nb.policies.openclaw.audit import Audit, joined
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.conversation import has_conversation
from harness_nb.policies.openclaw.cutting import Cut, cut
from harness_nb.policies.openclaw.excerpts import (
    MOST_SUMMARY_CHARS,
    Files,
    excerpts,
    failures,
    file_lists,
    files_of,
    preserved,
    suffix_of,
    with_suffix,
)
from harness_nb.policies.openclaw.planning import History, chunk_tokens, shared
from harness_nb.policies.openclaw.sizes import context_tokens, summary_text, total
from harness_nb.policies.openclaw.summarising import HISTORY, TURN_START, Writer, Written


@dataclass(frozen=True, slots=True)
class Draft:
    """What a compaction works on, before a model is asked.

    Attributes:
        cut: The list in three.
        earlier: The summary in the list, or None.
        history: What is summarised.
        turn_prefix: The beginning of the turn that is cut through.
        whole_branch: Whether the whole session is summarised, as nothing before the cut is conversation.
        tokens_before: Tokens of the list by OpenClaw's count.
    """

    cut: Cut
    earlier: Item | None
    history: tuple[Item, ...]
    turn_prefix: tuple[Item, ...]
    whole_branch: bool
    tokens_before: int

    @property
    def previous(self) -> str:
        """Text of the earlier summary, empty for none."""
        return (summary_text(self.earlier) or "") if self.earlier is not None else ""


@dataclass(frozen=True, slots=True)
class Made:
    """The text of a summary and what it stands for.

    Attributes:
        text: The whole.
        failed: Why a call brought nothing, or empty.
        assumed: Whether no model has written it yet.
        faults: What the audit of the last try found.
        summarised: What a model was to summarise.
        excerpted: What only stays as excerpts.
        dropped: The part that was summarised apart.
        body_kept: Whether the model's text is in it; not so where the rest fills the cap.
    """

    text: str
    failed: str = ""
    assumed: bool = False
    faults: tuple[str, ...] = ()
    summarised: tuple[Item, ...] = ()
    excerpted: tuple[Item, ...] = ()
    dropped: tuple[Item, ...] = ()
    body_kept: bool = True


def drafted(items: Sequence[Item], branch: Sequence[Item], config: OpenClawConfig) -> Draft:
    """Cuts a list; `branch` is the session from its beginning on."""
    earlier = next((item for item in items if summary_text(item) is not None), None)
    entries = [item for item in items if item is not earlier]
    found = cut(entries, config.keep)
    nothing = not has_conversation(found.history) and not has_conversation(found.turn_prefix)
    whole = nothing and config.mode == "safeguard" and has_conversation(branch)
    return Draft(
        cut=found,
        earlier=earlier,
        history=tuple(branch) if whole else found.history,
        turn_prefix=() if whole else found.turn_prefix,
        whole_branch=whole,
        tokens_before=context_tokens(items),
    )


def files(draft: Draft, config: OpenClawConfig) -> Files:
    """Files of what leaves; those of an earlier summary count on unless a safeguard pass wrote it."""
    details = draft.earlier.meta.get("files") if draft.earlier is not None else None
    by_hook = draft.earlier is not None and bool(draft.earlier.meta.get("from_hook"))
    earlier = None
    if isinstance(details, dict) and (config.merge_file_lists or not by_hook):
        earlier = Files(tuple(details.get("read", ())), tuple(details.get("modified", ())))
    return files_of((*draft.cut.history, *draft.cut.turn_prefix), earlier)


# Default mode


def plainly(draft: Draft, view: View, config: OpenClawConfig, writer: Writer, words: str) -> Made:
    """A summary in six sections, updated in place; any failed call ends it."""
    files_found = files(draft, config)
    body = wording.NO_HISTORY
    summarised: tuple[Item, ...] = ()
    assumed = False
    if draft.history or not draft.turn_prefix:
        task = prompts.UPDATE if draft.previous else prompts.FRESH
        reply = writer.plain(draft.history, task, HISTORY, previous=draft.previous, focus=words)
        if reply.failure is not None:
            return Made("", reply.failure.kind)
        body, summarised, assumed = reply.text, draft.history, reply.assumed
    split = ""
    if draft.turn_prefix:
        reply = writer.plain(draft.turn_prefix, prompts.TURN_START, TURN_START)
        if reply.failure is not None:
            return Made("", reply.failure.kind)
        split, assumed = wording.SPLIT_TURN + reply.text, assumed or reply.assumed
    lists = file_lists(files_found, bounded=False)
    text = f"{body}{wording.DIVIDER}{split}" if split else body
    failed = "" if text.strip() else "blank"
    return Made(text + lists, failed, assumed, summarised=summarised)


# Safeguard mode


@dataclass(frozen=True, slots=True)
class _Material:
    """What the tries of one summary share."""

    history: tuple[Item, ...]
    turn_prefix: tuple[Item, ...]
    previous: str
    chunk: int
    audit: Audit

    @property
    def is_written(self) -> bool:
        """Whether a model writes anything of it."""
        return bool(self.history or self.turn_prefix)


def safeguarded(draft: Draft, view: View, config: OpenClawConfig, writer: Writer, words: str) -> Made:
    """A summary under five headings, with excerpts, failed calls and file lists behind it, audited and written again."""
    asked = prompts.structure(config, words)
    new_tokens = max(0, draft.tokens_before - total(draft.history) - total(draft.turn_prefix))
    parts = shared(draft.history, new_tokens, writer.window, config.max_history_share)
    dropped = _dropped(parts, draft, writer, asked)
    kept = preserved(parts.rest, config.excerpt_turns)
    rest = parts.rest if config.excerpts_shown else kept.rest
    everything = (*rest, *draft.turn_prefix)
    material = _Material(
        history=rest,
        turn_prefix=draft.turn_prefix if draft.cut.is_split else (),
        previous=draft.previous if dropped is None else dropped.text,
        chunk=chunk_tokens(everything, writer.window),
        audit=Audit.of(everything, strict=config.identifier_policy == "strict"),
    )
    history, split, faults = _tried(material, config, writer, asked)
    lists = file_lists(files(draft, config), bounded=True)
    failed = failures((*draft.history, *draft.turn_prefix))
    suffix = suffix_of(split.text, excerpts(kept.excerpted), failed, lists)
    written = (history, split, *([dropped] if dropped else ()))
    text = with_suffix(history.text or split.text + excerpts(kept.excerpted), suffix)
    return Made(
        text=text,
        failed=next((one.failed for one in written if one.failed), "") or ("" if text.strip() else "blank"),
        assumed=any(one.assumed for one in written),
        faults=faults,
        summarised=(*parts.dropped, *rest),
        excerpted=kept.excerpted,
        dropped=parts.dropped,
        body_kept=utf16_len(suffix) < MOST_SUMMARY_CHARS,
    )


def _dropped(parts: History, draft: Draft, writer: Writer, asked: str) -> Written | None:
    """The summary of what was taken out of the history; None where that was nothing."""
    if not parts.dropped:
        return None
    most = chunk_tokens(parts.dropped, writer.window)
    return writer.staged(parts.dropped, asked, most, previous=draft.previous)


def _tried(
    material: _Material, config: OpenClawConfig, writer: Writer, asked: str
) -> tuple[Written, Written, tuple[str, ...]]:
    """Writes history and split turn until the audit passes or the tries are used up; the last one counts."""
    focus, faults = asked, tuple[str, ...]()
    history = split = Written("")
    for _ in range(config.tries):
        history, split = _one_try(material, writer, focus)
        if not config.quality_guard or not material.is_written or history.assumed or split.assumed:
            return history, split, ()
        pieces = (text for text in (history.text, split.text) if text.strip())
        faults = material.audit.faults(wording.DIVIDER.join(pieces))
        if not faults:
            break
        focus = prompts.with_feedback(asked, joined(faults))
    return history, split, faults


def _one_try(material: _Material, writer: Writer, focus: str) -> tuple[Written, Written]:
    history = (
        writer.staged(material.history, focus, material.chunk, previous=material.previous)
        if material.history
        else Written(wording.stub(material.previous))
    )
    if not material.turn_prefix:
        return history, Written("")
    about = f"{prompts.SPLIT_FOCUS}\n\n{focus}"
    split = writer.staged(material.turn_prefix, about, material.chunk, purpose=TURN_START)
    return history, replace(split, text=wording.SPLIT_TURN + split.text)


def _indices(items: Iterable[Item]) -> list[int]:
    return [item.index for item in items if item.index is not None]


def summary_item(made: Made, draft: Draft, config: OpenClawConfig, kept: Iterable[Item], gone: Iterable[Item]) -> Item:
    """The message that takes the place of what leaves.

    Args:
        made: The text.
        draft: What it was made of.
        config: Says who wrote it.
        kept: What stays in the list.
        gone: What leaves it without being in the text.
    """
    found = files(draft, config)
    meta: dict[str, object] = {
        "from_hook": config.mode == "safeguard",
        "files": {"read": list(found.read), "modified": list(found.modified)},
        "summarised": _indices(made.summarised),
        "turn_prefix": _indices(draft.turn_prefix),
        "excerpted": _indices(made.excerpted),
        "dropped": _indices(made.dropped),
        "whole_branch": draft.whole_branch,
        "body_kept": made.body_kept,
    }
    if made.failed:
        meta["failed"] = made.failed
    if made.assumed:
        meta["assumed"] = True
    if made.faults:
        meta["faults"] = list(made.faults)
    apart = {index for item in (*kept, *gone) for index in item.indices}
    of = (*draft.history, *draft.turn_prefix, *([draft.earlier] if draft.earlier is not None else ()))
    stands = tuple(index for index in covered(of) if index not in apart)
    return summary_of(made.text, stands, meta)


def summary_of(text: str, of: Sequence[int], meta: Mapping[str, object]) -> Item:
    """A summary as an item of the list."""
    shown = f"{wording.SUMMARY_OPENING}{text}{wording.SUMMARY_CLOSING}"
    return Item(None, Message.user(shown, origin="harness"), "summary", tuple(of), meta)
