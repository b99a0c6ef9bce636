"""OpenCode's compaction as it is: a failed summary still takes the head out, and an empty one is as good as any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness_nb.core import edits
from harness_nb.core.cutoff import Cutoff
from harness_nb.core.item import Item, covered
from harness_nb.core.messages import Message, Usage
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Evict, Reply
from harness_nb.core.view import View
from harness_nb.policies.opencode import session
from harness_nb.policies.opencode.config import Budget, OpenCodeConfig, budget
from harness_nb.policies.opencode.preparation import Preparation, prepare
from harness_nb.policies.opencode.prompt import Shown, request, shown, without_media
from harness_nb.policies.opencode.pruning import Pruning, pruning
from harness_nb.policies.opencode.refusals import is_overflow
from harness_nb.policies.opencode.session import CLEARED_TEXT, Place, Step
from harness_nb.policies.opencode.sizes import Sizes
from harness_nb.policies.opencode.spilling import Spill, spilled

_GO_ON = "Go on with the next step if there is one; otherwise stop and ask."
_MEDIA_GONE = (
    "The last request was larger than the provider takes, because of large attachments. The conversation was compacted and "
    "the attachments were removed. If they were asked about, say that they were too large and suggest smaller ones.\n\n"
)


class OpenCodePolicy(CompactionPolicy):
    """Summarises all but the newest turns once the last count reaches the usable budget.

    Args:
        config: Settings.
        name: Shown in events.
    """

    name = "opencode"
    passes = 1
    hooks = frozenset({"request", "result", "end", "overflow", "manual"})

    def __init__(self, config: OpenCodeConfig | None = None, *, name: str = "opencode") -> None:
        self.config = config or OpenCodeConfig()
        self.name = name
        self.is_overflow = is_overflow

    def plan(self, view: View) -> Plan:
        """Moves long results out, clears old ones after a turn, or compacts when it is time or somebody asks for it."""
        if view.hook == "result":
            return self._moved(view)
        if view.hook == "end":
            return self._pruned(view)
        if view.hook == "manual":
            return self._compacted(view, automatic=False)
        if view.hook == "overflow":
            if not self.config.auto:
                return view.unchanged("auto is off: the error goes to the caller", outcome="stored")
            return self._compacted(view, replays=True)
        return self._looked(view)

    # When

    def budget(self, view: View) -> Budget:
        """The budgets in force."""
        return budget(self.config, view.model)

    def _looked(self, view: View) -> Plan:
        steps = session.stored(view.input)
        if _is_pending(steps):
            return self._compacted(view, is_apart=True)
        pressure = self._pressure(view, steps)
        if not any(one.fired for one in pressure.triggers):
            return view.unchanged("below the usable budget", outcome="noop", pressure=pressure)
        return self._compacted(view)

    def _pressure(self, view: View, steps: Sequence[Step]) -> Pressure:
        limits = self.budget(view)
        used = self._used(view, steps)
        acts = self.config.auto and limits.context > 0 and used is not None
        triggers = (Trigger(name="usable", value=used or 0, threshold=limits.usable),) if acts else ()
        source = "the last reply's count" if used is not None else "not counted yet"
        return Pressure(tokens=used or view.tokens, window=view.model.window, triggers=triggers, source=source)

    def _used(self, view: View, steps: Sequence[Step]) -> int | None:
        """What is compared with the budget: the count that came with the newest reply, where it is of this list.

        None when nothing was answered since the last summary.
        """
        step = _newest_reply(steps)
        if step is None or step.kind == "summary":
            return None
        usage = _usage(step)
        if usage is not None and usage == view.usage:
            return usage.input_tokens + usage.output_tokens
        return view.tokens if self.config.estimates_usage else None

    # What

    def preparation(self, view: View, *, replays: bool = False) -> Preparation:
        """What a compaction would work on now."""
        sizes = Sizes(self.config.provider_package)
        return prepare(session.stored(view.input), sizes, self.config, self.budget(view), replays=replays)

    def request(self, view: View, ready: Preparation) -> Ask:
        """The request for a summary."""
        earlier = ready.anchor.first.message.text.strip() if ready.anchor is not None else ""
        most = self.budget(view).reply or None
        return request(ready.chosen.head, earlier=earlier, config=self.config, words=view.words, max_tokens=most)

    def _compacted(self, view: View, *, automatic: bool = True, replays: bool = False, is_apart: bool = False) -> Plan:
        """A compaction; `is_apart` makes up for one that failed, and answers the prompt instead of a marker."""
        ready = self.preparation(view, replays=replays)
        if not ready.chosen.head:
            return view.unchanged("nothing was said yet", outcome="noop", pressure=self._now(view))
        reply = view.reply(self.request(view, ready))
        if reply.failure is not None:
            return self._failed(view, ready, reply, is_apart)
        place = _next_place(view, ready.steps)
        made = [] if is_apart else [session.marker_item(place, tail_start=ready.chosen.start)]
        made.append(_summary(reply, _after(place, len(made)), is_apart))
        after = ready.replay if automatic else None
        if after is not None:
            made.append(_replay(after.first, _after(place, len(made))))
        elif automatic and self.config.autocontinue:
            made.append(_go_on(_after(place, len(made)), explains=replays))
        outcome = "unanchored" if is_apart else "compressed"
        return self._swapped(view, ready, made, outcome, f"summarised {_count(ready)} messages")

    def _failed(self, view: View, ready: Preparation, reply: Reply, is_apart: bool) -> Plan:
        """A marker without a summary: where a tail was chosen, what stands before it is gone all the same."""
        failure = reply.failure
        if failure is None or is_apart:
            detail = "" if failure is None else failure.detail
            return view.unchanged(f"the summary failed: {detail}", outcome="failed", pressure=self._now(view))
        state = "overflow" if failure.kind == "overflow" else "failed"
        start = ready.chosen.start if state == "failed" else None
        place = _next_place(view, ready.steps)
        marker = session.marker_item(place, tail_start=start, state=state, failure=failure.kind)
        outcome = "failed" if start is None else "cut"
        return self._swapped(view, ready, [marker], outcome, f"the summary failed: {failure.detail}")

    def _swapped(self, view: View, ready: Preparation, made: Sequence[Item], outcome: str, reason: str) -> Plan:
        items = session.items_of(session.read((*ready.steps, *session.stored(made))))
        return view.becomes(
            _with_what_is_gone(items, view.input),
            reason,
            outcome=outcome,
            pressure=self._now(view),
            cutoff=_cutoff(view, ready),
        )

    def _now(self, view: View) -> Pressure:
        return self._pressure(view, session.stored(view.input))

    # A session that is there already

    def read(self, items: Iterable[Item]) -> tuple[Item, ...]:
        """What the model sees of a whole session."""
        return session.items_of(session.read(session.stored(items)))

    def shown(self, ready: Preparation) -> Shown:
        """The head as the summary request shows it."""
        return shown(ready.chosen.head, self.config.result_chars)

    def marked(self, item: Item, *, tail_start: int | None = None, state: str = "done") -> Item:
        """A message that is the marker of an earlier compaction.

        Args:
            item: The message.
            tail_start: Log index at which the tail begins that it left in place, or None.
            state: `done`, `failed`, or `overflow` where the request for the summary was too long.
        """
        start = None if tail_start is None else (tail_start, 0)
        made = session.marker_item(session.place_of(item), tail_start=start, state=state)
        return replace(item, meta=made.meta)

    def summarised(self, item: Item) -> Item:
        """A message that is the summary of an earlier compaction."""
        return replace(item, meta={"opencode": "summary"})

    def cleared(self, item: Item) -> Item:
        """A result that was cleared."""
        return edits.cleared(item, CLEARED_TEXT)

    # Old results

    def pruning(self, view: View) -> Pruning:
        """What clearing would do now."""
        return pruning(session.stored(view.input), self.config)

    def _pruned(self, view: View) -> Plan:
        found = self.pruning(view)
        if found.prunable <= self.config.prune_minimum:
            return view.unchanged("too little to clear", outcome="noop")
        items = (
            self.cleared(item) if item.index in found.indices and item.message.role == "tool" else item
            for item in view.input
        )
        return view.becomes(items, f"cleared {len(found.indices)} old results", outcome="pruned")

    # Long results

    def spill(self, name: str, text: str) -> Spill | None:
        """What stays of a tool's result, or None when all of it does."""
        is_shell = name in self.config.shell_tools
        return spilled(
            text,
            max_lines=self.config.max_lines,
            max_bytes=self.config.max_bytes,
            keeps_end=is_shell or name in self.config.tail_tools,
            splits_line=is_shell,
        )

    def _moved(self, view: View) -> Plan:
        items = list(view.input)
        at = len(items)
        while at > 0 and items[at - 1].message.role == "tool":
            at -= 1
            items[at] = self._spilled(view, items[at])
        if all(new is old for new, old in zip(items, view.input, strict=True)):
            return view.unchanged("no result is too long", outcome="noop")
        return view.becomes(items, "moved a long result to a file", outcome="truncated")

    def _spilled(self, view: View, item: Item) -> Item:
        name, text = item.message.name or "", item.message.text
        if item.index is None or item.how == "evicted" or name in self.config.spill_excluded_tools:
            return item
        found = self.spill(name, text)
        if found is None:
            return item
        reply = view.reply(Evict(index=item.index, call_id=item.message.call_id or "", text=text))
        if reply.failure is not None:
            return item
        return edits.evicted(item, _preview(found, reply.text, name in self.config.shell_tools), reply.text)


def _preview(found: Spill, path: str, is_shell: bool) -> str:
    """What stays of a result, and where the whole of it is."""
    where = f"The whole output is in {path}. Search it, or read it in pieces with an offset."
    if is_shell:
        return f"[The beginning of this output is left out. {where}]\n\n{found.text}"
    return f"{found.text}\n\n[{found.omitted:,} {found.unit} are left out. {where}]"


# Steps


def _newest_reply(steps: Sequence[Step]) -> Step | None:
    """The newest finished reply or summary; a summary that failed without an overflow is not finished."""
    finished = (step for step in reversed(steps) if step.kind == "assistant" or _is_finished(step))
    return next(finished, None)


def _is_finished(step: Step) -> bool:
    return step.kind == "summary" and step.state != "failed"


def _is_pending(steps: Sequence[Step]) -> bool:
    """Whether a compaction failed, nothing was answered since, and the user has said something."""
    has_prompt = False
    for step in reversed(steps):
        if step.kind == "assistant" or _is_finished(step):
            return False
        if step.kind == "marker" and step.state == "failed":
            return has_prompt
        has_prompt = has_prompt or step.kind == "user"
    return False


def _usage(step: Step) -> Usage | None:
    said = (item.message for item in step.items if item.message.role == "assistant")
    return next((message.usage for message in said if message.usage is not None), None)


def _next_place(view: View, steps: Sequence[Step]) -> Place:
    """The place behind everything that was written so far."""
    last = (len(view.log) - 1, 0)
    newest = max((session.place_of(item) for step in steps for item in step.items), default=last)
    return max(_after(newest, 1), _after(last, 1))


def _after(place: Place, steps: int) -> Place:
    return place[0], place[1] + steps


# Items


def _summary(reply: Reply, place: Place, is_apart: bool) -> Item:
    meta: dict[str, object] = {"apart": True} if is_apart else {}
    if not reply.text.strip():
        meta["failed"] = "blank"
    if reply.assumed:
        meta["assumed"] = True
    return session.made_item("summary", place, Message.assistant(reply.text, origin="harness"), **meta)


def _replay(item: Item, place: Place) -> Item:
    message, noted = without_media(item.message)
    meta = {"opencode": "replay", "at": list(place), "noted": noted}
    return Item(item.index, message, "truncated" if noted else "kept", (), meta)


def _go_on(place: Place, *, explains: bool) -> Item:
    text = (_MEDIA_GONE if explains else "") + _GO_ON
    return session.made_item("continue", place, Message.user(text, origin="harness"), explains_media=explains)


def _with_what_is_gone(items: Sequence[Item], before: Iterable[Item]) -> tuple[Item, ...]:
    """The new list, in which the newest summary stands for what is in the list no more."""
    at = next((at for at, item in enumerate(items) if item.meta.get("opencode") == "summary"), None)
    if at is None:
        return tuple(items)
    stays = set(covered(items))
    gone = tuple(index for index in covered(before) if index not in stays)
    return (*items[:at], replace(items[at], stands_for=gone), *items[at + 1 :])


def _count(ready: Preparation) -> int:
    return len(session.items_of(ready.chosen.head))


def _cutoff(view: View, ready: Preparation) -> Cutoff:
    """Where what stays begins in the list as it was."""
    start = ready.chosen.start
    at = next((at for at, item in enumerate(view.input) if session.place_of(item) == start), len(view.input))
    why = "nothing fits the budget of the tail" if start is None else f"keeps {ready.chosen.tokens:,} tokens of the end"
    return Cutoff(at, at, why)
