"""Nanobot's compaction, as a policy: at the budget old turns are noted as facts in the archive and leave the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from harness_nb.core import archive
from harness_nb.core.archive import ArchiveEntry
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.view import View
from harness_nb.policies.nanobot import replay
from harness_nb.policies.nanobot.config import NanobotConfig
from harness_nb.policies.nanobot.record import NanobotRecord
from harness_nb.policies.nanobot.request import Archived, Prefix, archived_as_text, archived_with_prefix
from harness_nb.policies.nanobot.sending import Sending, joined
from harness_nb.policies.nanobot.sizes import NanobotSizes, sizes_of
from harness_nb.policies.nanobot.wording import raw_entry

PROBE = "[token-probe]"
"""Stands for the next request where a prompt is measured."""

_EARLY = ("idle", "capped")
"""What may come of a pass before anything is measured."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where a chunk ends.

    Attributes:
        need: Tokens that have to leave.
        index: Log index of the first message behind the chunk; None when there is no place to cut.
        removed: Tokens of the chunk.
    """

    need: int
    index: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """What a check goes by.

    Attributes:
        tokens: Estimate of the prompt; None where nothing is measured.
        budget: Tokens at which it archives.
        target: Tokens down to which it does.
        boundary: Where the next chunk ends; None when nothing is to be archived.
    """

    tokens: int | None
    budget: int
    target: int
    boundary: Boundary | None = None


class NanobotPolicy(CompactionPolicy):
    """Archives whole turns, oldest first, and replays the rest.

    Args:
        config: Budget, replay, what a summary is asked for, and the last pass before a request.
        name: Shown in events.
    """

    name = "nanobot"
    hooks = frozenset({"turn", "request", "end", "idle", "new", "manual", "overflow"})
    record = NanobotRecord

    def __init__(self, config: NanobotConfig | None = None, *, name: str = "nanobot") -> None:
        self.config = config or NanobotConfig()
        self.name = name
        self.passes = (
            self.config.max_rounds + 3
        )  # the file cap, the replay window, and the pass that finds nothing more

    def plan(self, view: View) -> Plan:
        """Archives, or makes the next request fit."""
        if view.hook == "request":
            return self._sent(view)
        if view.hook == "idle":
            return self._left_idle(view)
        if view.hook == "new":
            return self._begun_anew(view)
        return self._checked(view)

    # What is known

    def sizes(self, view: View) -> NanobotSizes:
        """Counts tokens as the settings say."""
        return sizes_of(self.config.estimator, view.measure)

    def state(self, view: View) -> NanobotRecord:
        """The record."""
        return view.state if isinstance(view.state, NanobotRecord) else NanobotRecord()

    def stored(self, view: View) -> list[Item]:
        """The session's messages without the turn that begins now."""
        end = self._upto(view)
        begins = self.state(view).begins
        said = enumerate(view.log[begins:end], begins)
        return [Item(index, message) for index, message in said if message.role != "system"]

    @staticmethod
    def _upto(view: View) -> int:
        """Log index behind the session's last stored message."""
        return view.turn if view.hook in ("turn", "request") else len(view.log)

    def system(self, view: View, *, for_estimate: bool = False) -> str:
        """The system prompt with the sections of the memory behind it.

        Args:
            view: The conversation.
            for_estimate: Whether it is for the trigger, which may leave out the line above the session's summary.
        """
        bare = for_estimate and not self.config.estimates_summary_line
        return archive.DIVIDER.join(part for part in (view.system, *self._sections(view, bare)) if part)

    def _sections(self, view: View, bare: bool) -> list[str]:
        told = view.host.get("sections")
        found = [str(one) for one in told] if isinstance(told, tuple | list) else [str(view.host.get("memory") or "")]
        summary, active = (str(view.host.get(key) or "") for key in ("summary", "last_active"))
        recent = self.recent(view)
        found += [archive.recent_heading(recent)] if recent else []
        if summary:
            found.append(archive.summary_heading(summary if bare else archive.summary_line(summary, active)))
        return found

    def recent(self, view: View) -> str:
        """The archive's new entries, those of this call included, which the memory does not have yet."""
        told, summary = view.host.get("archive"), str(view.host.get("summary") or "")
        entries = tuple(ArchiveEntry(*one) for one in told) if isinstance(told, tuple) else ()
        time = f"{view.now:%Y-%m-%d %H:%M}"
        new = (ArchiveEntry(time, archive.kept(text)) for plan in view.done for text in plan.remember)
        entries = (*entries, *new)
        if summary and self.config.shows_summary_once:
            entries = archive.shown_once(entries, summary)
        count = self.sizes(view).text
        return archive.recent_section(
            entries, most=self.config.recent_entries, most_tokens=self.config.recent_tokens, count=count
        )

    def replayed(
        self, view: View, state: NanobotRecord, rows: Sequence[Item], *, tokens: int, window: int = 0
    ) -> list[Item]:
        """Rows of the session that a prompt begins with.

        Args:
            view: The conversation.
            state: Where the archive ends.
            rows: The session's messages.
            tokens: Most tokens; 0 for no limit.
            window: Most messages; 0 for no limit.
        """
        start = sum((row.index or 0) < state.archived for row in rows)
        if self.config.replay_min_messages:
            start = min(start, replay.window_start(rows, self.config.replay_min_messages))
        fresh = rows[start:]
        if window:
            fresh = fresh[replay.window_start(fresh, window, extend=False) :]
        made = replay.shown(replay.aligned(fresh), trims=self.config.trims_replies)
        return list(replay.within(made, tokens, self.sizes(view).message))

    def estimate(self, view: View, state: NanobotRecord) -> int:
        """Tokens of the prompt that the next request would have, without the token limit of the replay."""
        rows = self.replayed(view, state, self.stored(view), tokens=0)
        messages = [Message.system(self.system(view, for_estimate=True)), *(row.message for row in rows)]
        probe = Message.user(PROBE)
        is_open = messages[-1].role == "user"
        messages = [*messages[:-1], joined(messages[-1], probe)] if is_open else [*messages, probe]
        return self.sizes(view).prompt(messages, view.tools)

    def standing(self, view: View) -> Standing:
        """What the next round of a check goes by."""
        window, state = self.config.window(view.model), self.state(view)
        budget, target = self.config.budget(window), self.config.target(window)
        rows = self.stored(view)
        if window <= 0 or not rows:
            return Standing(None, budget, target)
        tokens, rounds = self.estimate(view, state), [one for one in view.done if one.outcome in ("archived", "raw")]
        is_forced = view.hook in ("manual", "overflow") and not rounds
        is_over = (tokens > target if rounds else tokens >= budget) and tokens > 0
        if (
            not (is_forced or is_over)
            or len(rounds) >= self.config.max_rounds
            or (rounds and rounds[-1].outcome == "raw")
        ):
            return Standing(tokens, budget, target)
        need = max(1, tokens - target, tokens // 2 if is_forced else 0)
        return Standing(tokens, budget, target, self._boundary(view, state, rows, need))

    def _boundary(self, view: View, state: NanobotRecord, rows: Sequence[Item], need: int) -> Boundary:
        """The first message of the user before which enough leaves; the last one where that is never so."""
        size, removed = self.sizes(view).message, 0
        found = Boundary(need)
        fresh = [row for row in rows if (row.index or 0) >= state.archived]
        for at, row in enumerate(fresh):
            if at and row.message.role == "user":
                found = Boundary(need, row.index, removed)
                if removed >= need:
                    break
            removed += size(row.message)
        return found

    # At the ends of a turn

    def _checked(self, view: View) -> Plan:
        early = self._was_idle(view) or self._capped(view) or self._outside_window(view)
        if early is not None:
            return early
        standing = self.standing(view)
        at = standing.boundary.index if standing.boundary is not None else None
        if at is None:
            return self._listed(view, self.state(view), "nothing more to archive", standing)
        rows = [row for row in self.stored(view) if (row.index or 0) >= self.state(view).archived]
        chunk = [row for row in rows if (row.index or 0) < at]
        return self._archived(view, chunk, at, standing)

    def _capped(self, view: View) -> Plan | None:
        """Dumps and drops what is above the cap of a session's file, after a turn."""
        cap, rows = self.config.session_file_cap, self.stored(view)
        if view.hook != "end" or view.done or not 0 < cap < len(rows):
            return None
        kept = replay.aligned(rows[-cap:])
        begins = kept[0].index if kept and kept[0].index is not None else len(view.log)
        state = self.state(view)
        lost = [row.message for row in rows if state.archived <= (row.index or 0) < begins]
        after = NanobotRecord(begins=begins, archived=max(state.archived, begins))
        remember = (raw_entry(lost),) if lost else ()
        return view.unchanged(
            "over the cap of the session", state=after, remember=remember, again=True, outcome="capped"
        )

    def _outside_window(self, view: View) -> Plan | None:
        """Archives what the replay window does not hold, whatever its size."""
        most, state = self.config.replay_messages(self.config.window(view.model)), self.state(view)
        fresh = [row for row in self.stored(view) if (row.index or 0) >= state.archived]
        if (
            self.config.window(view.model) <= 0
            or not 0 < most < len(fresh)
            or any(one.outcome not in _EARLY for one in view.done)
        ):
            return None
        kept = replay.aligned(fresh[replay.window_start(fresh, most) :])
        first = kept[0].index if kept and kept[0].index is not None else (fresh[-1].index or 0) + 1
        chunk = [row for row in fresh if (row.index or 0) < first]
        if not chunk:
            return None
        made = self._archived(view, chunk, first, self.standing(view))
        return replace(made, outcome="windowed")

    def _archived(self, view: View, chunk: Sequence[Item], upto: int, standing: Standing) -> Plan:
        """Has a chunk summarised; the cursor moves on even where that fails."""
        state = replace(self.state(view), archived=upto)
        made = self.summarised(view, chunk)
        reason = (
            f"archived {len(chunk)} messages" if not made.is_raw else f"dumped {len(chunk)} messages: {made.reason}"
        )
        plan = self._listed(view, state, reason, standing, failed=made.failed)
        outcome = "raw" if made.is_raw else "archived"
        return replace(plan, outcome=outcome, remember=made.remember, again=True)

    def summarised(self, view: View, chunk: Sequence[Item], also: Sequence[Item] = ()) -> Archived:
        """What becomes of a chunk.

        Args:
            view: The conversation.
            chunk: What is archived.
            also: Messages behind it that are shown to the model, too, in the text form.
        """
        window, sizes = self.config.window(view.model), self.sizes(view)
        budget = self.config.budget(window)
        if self.config.request_form == "text":
            return archived_as_text(view, self.config, sizes, chunk, also, budget)
        upto = (chunk[-1].index or 0) + 1
        before = [row for row in self.stored(view) if (row.index or 0) < upto]
        rows = self.replayed(view, self.state(view), before, tokens=max(budget, 0)) if budget > 0 else []
        prefix = Prefix(self.system(view), tuple(rows), budget)
        return archived_with_prefix(view, self.config, sizes, chunk, prefix)

    def _listed(self, view: View, state: NanobotRecord, reason: str, standing: Standing, *, failed: str = "") -> Plan:
        """A plan whose list is what the session replays now, and the running turn."""
        window = self.config.window(view.model)
        rows = self.stored(view)
        kept: list[Item] = self.replayed(
            view,
            state,
            rows,
            tokens=self.config.replay_tokens(window),
            window=self.config.replay_messages(window),
        )
        known = {row.index for row in rows}
        since = [item for item in view.input if (item.index or 0) >= state.begins and item.index not in known]
        filed = {item.index: item for item in view.input if item.how == "evicted"}
        items = (*(filed.get(item.index, item) for item in kept), *since)
        if failed and items:
            gone = tuple(item.index for item in view.input if item.index is not None and item.index < state.archived)
            items = (replace(items[0], how="merged", stands_for=gone, meta={"failed": failed}), *items[1:])
        pressure = self._pressure(view, standing)
        if items == view.input[:]:
            return view.unchanged(reason, state=state, pressure=pressure)
        return view.becomes(items, reason, state=state, pressure=pressure, outcome="unchanged" if not failed else "raw")

    def _pressure(self, view: View, standing: Standing) -> Pressure:
        tokens = standing.tokens or 0
        trigger = Trigger(name="budget", value=tokens, threshold=max(1, standing.budget))
        return Pressure(
            tokens=tokens,
            window=self.config.window(view.model),
            triggers=(trigger,),
            source="estimated by Nanobot's rule",
        )

    # Between turns

    def idle_chunk(self, view: View) -> tuple[Sequence[Item], Sequence[Item]]:
        """What a session left idle has archived, and what of it stays in the list; nothing where the first is empty."""
        state = self.state(view)
        fresh = [row for row in self.stored(view) if (row.index or 0) >= state.archived]
        if not self.config.idle_drops:
            return fresh, ()
        kept = self._suffix(fresh)
        return fresh[: len(fresh) - len(kept)], kept

    def is_idle(self, view: View) -> bool:
        """Whether nothing was said for so long that the session is archived."""
        times = [row.message.time for row in self.stored(view)[-1:] if row.message.time is not None]
        minutes = self.config.idle_minutes
        return bool(minutes and times) and view.now - times[0] >= timedelta(minutes=minutes)

    def _was_idle(self, view: View) -> Plan | None:
        """Sees to a session that lay idle, when its next turn begins."""
        if view.hook != "turn" or view.done or not (self.config.idle_at_turn and self.is_idle(view)):
            return None
        made = self._left_idle(view)
        return replace(made, outcome="idle", again=True) if made.outcome != "unchanged" else None

    def _left_idle(self, view: View) -> Plan:
        """Archives all that is not archived yet; its newest messages stay in the list."""
        chunk, kept = self.idle_chunk(view)
        if not chunk or not self.is_idle(view):
            return view.unchanged("nothing to archive")
        made = self.summarised(view, chunk, kept)
        if not self.config.idle_drops:
            return self._left(view, replace(self.state(view), archived=self._upto(view)), made, len(chunk))
        begins = kept[0].index if kept and kept[0].index is not None else self._upto(view)
        return self._left(view, NanobotRecord(begins=begins, archived=begins), made, len(chunk))

    def _left(self, view: View, state: NanobotRecord, made: Archived, count: int) -> Plan:
        outcome = "raw" if made.is_raw else "archived"
        reason = f"archived {count} messages of an idle session"
        return view.unchanged(reason, state=state, remember=made.remember, outcome=outcome)

    def _suffix(self, rows: Sequence[Item]) -> Sequence[Item]:
        """The last messages, from one of the user on."""
        start = max(0, len(rows) - self.config.idle_keep)
        if not start:
            return rows
        at = next((at for at in range(start, -1, -1) if rows[at].message.role == "user"), start)
        return replay.aligned(rows[at:])

    def _begun_anew(self, view: View) -> Plan:
        """Archives the rest of a session that the user ends, and empties the list."""
        state = self.state(view)
        fresh = [row for row in self.stored(view) if (row.index or 0) >= state.archived]
        made = self.summarised(view, fresh) if fresh else None
        after = NanobotRecord(begins=len(view.log), archived=len(view.log))
        outcome = "unchanged" if made is None else "raw" if made.is_raw else "archived"
        remember = () if made is None else made.remember
        return view.becomes((), "a new session", state=after, remember=remember, outcome=outcome)

    # A request

    def _sent(self, view: View) -> Plan:
        """The list of one request; results that were made shorter stay so for the rest of the turn at least."""
        sending = Sending(view, self.config, self.sizes(view), self.system(view))
        shorter = sending.shortened(view.input) if not view.done else view.input[:]
        if shorter != view.input[:]:
            return view.becomes(shorter, "shortened results", outcome="shortened", again=True)
        items = sending.fitted(view.input)
        if items == view.input[:]:
            return view.unchanged("the request fits")
        return view.becomes(items, "made the request fit", lasts="request", outcome="fitted")
