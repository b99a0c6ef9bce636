"""One compaction of OpenHarness, step by step: clear, cut, digest, summarise; each step with its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from harness_nb.core.item import Item, covered
from harness_nb.core.requests import Consult, Reply
from harness_nb.core.view import View
from harness_nb.policies.openharness.boundary import Boundary, Kind, rebuilt
from harness_nb.policies.openharness.carryover import Carryover, hook_note, notes
from harness_nb.policies.openharness.checkpoint import inserted
from harness_nb.policies.openharness.clearing import cleared, collapsed
from harness_nb.policies.openharness.config import OpenHarnessConfig
from harness_nb.policies.openharness.digest import Digest, checkpoint_item, digest, digest_item, texts_item
from harness_nb.policies.openharness.overflow import is_overflow
from harness_nb.policies.openharness.peers import Peer, Peers, items_of, peers_of, sanitized, split, without_oldest
from harness_nb.policies.openharness.record import OpenHarnessRecord
from harness_nb.policies.openharness.sizes import OpenHarnessEstimate
from harness_nb.policies.openharness.summary import INSTRUCTION, summary_ask, summary_item

PRE_HOOK, POST_HOOK = "pre_compact", "post_compact"
"""Questions to the host before and after a summary."""


class Mark(NamedTuple):
    """How far a compaction has come.

    Attributes:
        name: Of the step.
        messages: Messages at that point.
        tokens: Estimated tokens at that point.
    """

    name: str
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a compaction starts from.

    Attributes:
        trigger: `auto`, `reactive` or `manual`.
        keep: Newest messages that a summary leaves as they are.
        carryover: State of the work.
        checkpoint: Text of the session's checkpoint file, or empty.
        record: What is remembered.
        threshold: Estimated tokens at which it acts.
    """

    trigger: str
    keep: int
    carryover: Carryover
    checkpoint: str
    record: OpenHarnessRecord
    threshold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a compaction did.

    Attributes:
        items: The list.
        steps: Steps that acted, in order; empty where none did.
        outcome: In one word, the last of them; `failed` when the summary failed, `unchanged` when nothing was to be done.
        marks: How far it came, point by point.
        cleared_tokens: Estimate after clearing, None where that was not tried.
        freed: Tokens of the results that were cleared, without the factor.
        collapsed_tokens: Estimate after cutting long texts, None where there was nothing to cut.
        digest: The digest, where there is one.
        requests: The messages of each request for a summary.
        consulted: Hooks that were called.
        record: What is remembered from now on.
    """

    items: tuple[Item, ...]
    steps: tuple[str, ...] = ()
    outcome: str = "unchanged"
    marks: tuple[Mark, ...] = ()
    cleared_tokens: int | None = None
    freed: int | None = None
    collapsed_tokens: int | None = None
    digest: Digest | None = None
    requests: tuple[Peers, ...] = ()
    consulted: tuple[str, ...] = ()
    record: OpenHarnessRecord = field(default_factory=OpenHarnessRecord)


class _Summarised(NamedTuple):
    """What came of asking for a summary: a reply; none when every attempt was used up on leaving things out."""

    reply: Reply | None
    shown: Peers = ()
    failed: bool = False


class Work:
    """A compaction under way.

    Args:
        view: The conversation.
        config: Settings.
        estimate: Its estimate.
        given: What it starts from.
    """

    def __init__(self, view: View, config: OpenHarnessConfig, estimate: OpenHarnessEstimate, given: Given) -> None:
        self._view = view
        self._config = config
        self._estimate = estimate
        self._given = given
        self._steps: list[str] = []
        self._marks: list[Mark] = []
        self._requests: list[Peers] = []
        self._consulted: list[str] = []
        self._done = Done(items=view.input[:], record=given.record)

    # The pipeline

    def first(self) -> Done:
        """Marks the beginning, and clears old results."""
        items = self._view.input[:]
        self._mark(f"query_{self._given.trigger}_triggered", items)
        items = self._clear(items)
        self._mark("query_microcompact_end", items)
        return self._end(items, "masked" if self._done.freed else "unchanged")

    def is_over(self, items: Sequence[Item]) -> bool:
        """Whether a list is at or over the threshold; never once summaries have failed too often."""
        if self._given.record.failures >= self._config.failure_limit:
            return False
        return self._estimate(items) >= self._given.threshold

    def rest(self, items: tuple[Item, ...]) -> Done:
        """Cuts long texts; if that is not enough, a digest, and if that can't be, a summary."""
        shorter = collapsed(items, self._config, self._estimate)
        if shorter is not None:
            self._mark("query_context_collapse_start", items)
            items = shorter
            self._steps.append("collapse")
            self._mark("query_context_collapse_end", items)
            self._done = replace(self._done, collapsed_tokens=self._estimate(items))
            if self._given.trigger != "reactive" and not self.is_over(items):
                return self._end(items, "truncated")
        condensed = self._condensed(items) if self._config.session_memory else None
        if condensed is not None:
            return self._end(condensed, "condensed", self._given.record.succeeded())
        return self._summarised_or_kept(items)

    def _summarised_or_kept(self, items: tuple[Item, ...]) -> Done:
        if not self._config.llm_summary:
            return self._texts(items)
        made = self._full(items)
        if made is not None:
            return self._end(*made, self._given.record.succeeded())
        self._mark(f"query_{self._given.trigger}_failed", items)
        return self._end(items, "failed", self._given.record.failed())

    def by_hand(self) -> Done:
        """A summary now, or the digest of texts when that fails."""
        items = self._view.input[:]
        if not self._config.llm_summary:
            return self._texts(items)
        made = self._full(items)
        if made is not None:
            return self._end(*made)
        return self._texts(cleared(items, self._config, self._estimate).items)

    def _texts(self, items: tuple[Item, ...]) -> Done:
        """The first version's digest: some texts in the place of all older messages."""
        peers, config = peers_of(items), self._config
        if len(peers) <= self._given.keep:
            return self._end(items_of(sanitized(peers)) if config.pair_safe else items, "digest")
        older, recent = split(peers, self._given.keep, pair_safe=config.pair_safe)
        item = texts_item(older, config.digest_role)
        self._steps.append("digest_fallback")
        return self._end((*([item] if item is not None else []), *items_of(recent)), "digest")

    # Steps

    def _clear(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        found = cleared(items, self._config, self._estimate)
        before = self._done.freed or 0
        if found.freed and "microcompact" not in self._steps:
            self._steps.append("microcompact")
        tokens = self._done.cleared_tokens
        tokens = self._estimate(found.items) if tokens is None else tokens
        self._done = replace(self._done, freed=before + found.freed, cleared_tokens=tokens)
        return found.items

    def _condensed(self, items: tuple[Item, ...]) -> tuple[Item, ...] | None:
        """The list with a digest, or the checkpoint file, in the place of older messages; None where that can't be."""
        peers, config = peers_of(items), self._config
        keep = max(self._given.keep, config.session_memory_keep)
        if len(peers) <= max(config.session_memory_more_than, keep):
            return None
        older, recent = split(peers, keep, pair_safe=config.pair_safe)
        item, found = self._stand_in(older)
        kept = items_of(recent)
        tokens = self._estimate(items)
        if self._estimate((item, *kept)) >= tokens and len(recent) + 1 >= len(peers):
            return None
        boundary = self._boundary("session_memory", items)
        made = rebuilt(boundary, self._around(item, kept, self._state(older)), self._estimate)
        if config.rechecks and self._estimate(made) >= self._given.threshold:
            return None
        self._done = replace(self._done, digest=found)
        self._mark("query_session_memory_start", items)
        self._mark("query_session_memory_end", made)
        self._steps.append("session_memory")
        return made

    def _stand_in(self, older: Peers) -> tuple[Item, Digest | None]:
        text = inserted(self._given.checkpoint) if self._config.use_checkpoint else ""
        if text:
            known = (peer for peer in older if all(index < self._view.turn for index in covered(peer.items)))
            return checkpoint_item(text, known), None
        found = digest(older, self._config)
        return digest_item(found), found

    def _full(self, items: tuple[Item, ...]) -> tuple[tuple[Item, ...], str] | None:
        """The list with a model's summary and what that counts as; None when the summary failed."""
        if len(peers_of(items)) <= self._given.keep:
            return self._passed_through(items, "within_keep")
        items = self._clear(items)
        self._mark("compact_prepare", items)
        if self._asks_hooks and self._consult(PRE_HOOK).failure is not None:
            self._mark("compact_failed", items)
            return self._passed_through(items, "hook_blocked")
        self._mark("compact_start", items)
        older, recent = split(peers_of(items), self._given.keep, pair_safe=self._config.pair_safe)
        came = self._summary(older)
        if came.failed:
            return None
        if came.reply is None:
            self._mark("compact_failed", items)
            return self._passed_through(items, "no_summary")
        item = summary_item(came.reply, came.shown, has_recent=bool(recent))
        return self._with_summary(items, item, older, recent), "compressed"

    def _with_summary(self, items: tuple[Item, ...], item: Item, older: Peers, recent: Peers) -> tuple[Item, ...]:
        said = hook_note(self._consult(POST_HOOK).text) if self._asks_hooks else ()
        rest = (*self._around(item, items_of(recent), self._state(older)), *said)
        made = rebuilt(self._boundary("full", items), rest, self._estimate, again=True)
        self._steps.append("llm_summary")
        self._mark("compact_end", made)
        return made

    def _passed_through(self, items: tuple[Item, ...], why: str) -> tuple[tuple[Item, ...], str]:
        """The list as it is, with a marker in front: nothing was done, and it is reported as done."""
        if not self._config.reports_passthrough:
            return items, "unchanged"
        self._steps.append(f"passthrough:{why}")
        kept = items_of(sanitized(peers_of(items))) if self._config.pair_safe else items
        return rebuilt(self._boundary("full", items), kept, self._estimate), "passthrough"

    # The summary

    def _summary(self, older: Peers) -> _Summarised:
        """Asks for a summary, some times; after a request that was too long without the oldest part."""
        drops = 0
        for attempt in range(1, self._config.attempts + 1):
            reply = self._ask(older, attempt)
            if reply.failure is None and reply.text.strip():
                return _Summarised(reply, older)
            too_long = reply.failure is not None and is_overflow(reply.failure)
            fewer = without_oldest(older) if too_long and drops < self._config.overflow_retries else None
            if fewer is not None:
                drops += 1
                older = fewer
                self._steps.append("overflow_drop")
                self._mark_request("compact_retry_prompt_too_long", older)
            elif attempt == self._config.attempts:
                self._mark_request("compact_failed", older)
                return _Summarised(None, failed=True)
            else:
                self._mark_request("compact_retry", older)
        return _Summarised(None)

    def _ask(self, older: Peers, attempt: int) -> Reply:
        self._requests.append(older)
        return self._view.reply(summary_ask(older, self._config, system=self._view.system, nth=attempt))

    @property
    def _asks_hooks(self) -> bool:
        return self._config.hooks and self._given.trigger != "manual"

    def _consult(self, question: str) -> Reply:
        self._consulted.append(question)
        return self._view.reply(Consult(question=question))

    # What is common

    def _boundary(self, of: Kind, items: Sequence[Item]) -> Boundary:
        return Boundary(trigger=self._given.trigger, of=of, messages=len(peers_of(items)), tokens=self._estimate(items))

    def _state(self, older: Sequence[Peer]) -> tuple[Item, ...]:
        if not self._config.attachments:
            return ()
        carried = {} if self._given.trigger == "manual" else self._given.carryover
        return notes(older, carried, self._config.attachment_paths)

    def _around(self, item: Item, kept: tuple[Item, ...], state: tuple[Item, ...]) -> tuple[Item, ...]:
        return (item, *state, *kept) if self._config.attachments_first else (item, *kept, *state)

    def _mark(self, name: str, items: Sequence[Item]) -> None:
        self._marks.append(Mark(name, len(peers_of(items)), self._estimate(items)))

    def _mark_request(self, name: str, older: Peers) -> None:
        size = self._estimate.size
        tokens = sum(size(item.message) for item in items_of(older)) + size.text(INSTRUCTION)
        self._marks.append(Mark(name, len(older) + 1, self._estimate.padded(tokens)))

    def _end(self, items: tuple[Item, ...], outcome: str, record: OpenHarnessRecord | None = None) -> Done:
        return replace(
            self._done,
            items=items,
            outcome=outcome,
            steps=tuple(self._steps),
            marks=tuple(self._marks),
            requests=tuple(self._requests),
            consulted=tuple(self._consulted),
            record=record or self._given.record,
        )
