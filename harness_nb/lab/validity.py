"""Whether a replay is valid: every request one that a provider takes, nothing lost, and no compaction in vain.

A failing check is a bug of the policy, not a score. What the checks say is in `CHECKS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from harness_nb.agent.driver import Pass
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, to_json
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.rounds import problems
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import Hook
from harness_nb.lab.run import Replay
from harness_nb.lab.sent import Sent, sent_requests
from harness_nb.lab.step import Step
from harness_nb.memory.results import Displayed

if TYPE_CHECKING:
    from pandas import DataFrame

CHECKS: Mapping[str, str] = {
    "pairing": "every tool result follows the message that made the call, only sibling results between; every call has one",
    "start": "the first message is a user's, and the system text is unchanged",
    "order": "kept messages stand in their order and as they were said, nothing twice, and the end can be answered",
    "budget": "what is sent after a compaction fits the window, or the policy says that it does not",
    "progress": "nothing is compacted twice while nothing new was said",
    "fail-safe": "after a failed model call or a failed write the list stays, or the plan says what it did instead",
    "recoverable": "every message that left is found as it was said",
}
"""The checks by name."""

OF_PROMPTS = ("pairing", "start", "order")
"""Those that make a prompt invalid."""


class Break(NamedTuple):
    """One break of a check.

    Attributes:
        check: Its name.
        message: Messages of the transcript said by then.
        detail: What is wrong, in words.
    """

    check: str
    message: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Validity(Displayed):
    """What the checks found.

    Attributes:
        requests: Recorded requests that were looked at.
        breaks: What is wrong, in the order of the session.
    """

    requests: int
    breaks: tuple[Break, ...]

    def __repr__(self) -> str:
        return f"Validity({self.requests} requests, {len(self.breaks)} breaks)"

    def __str__(self) -> str:
        if not self.breaks:
            return f"valid: {self.requests:,} requests, no check broken"
        return f"{self.invalid_prompts:,} of {self.requests:,} prompts are invalid, {len(self.breaks):,} breaks in all"

    @property
    def is_valid(self) -> bool:
        """Whether no check is broken."""
        return not self.breaks

    @property
    def invalid_prompts(self) -> int:
        """Requests that a provider would refuse or that misquote the conversation."""
        return len({one.message for one in self.breaks if one.check in OF_PROMPTS})

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each break."""
        return [one._asdict() for one in self.breaks]

    @property
    def df(self) -> DataFrame:
        """One row a break."""
        from harness_nb.frames import validity_frame

        return validity_frame(self.records)


def check_validity(
    run: Replay, *, policy: CompactionPolicy | None = None, archive: Sequence[Message] | None = None
) -> Validity:
    """Checks a replay.

    Args:
        run: The replay.
        policy: The policy, to ask it for a second plan right after each one that was carried out: it has to leave the list
            alone. Without it only what happened in the replay is looked at.
        archive: What was written down of the conversation, as read back; by default the log of the replay.
    """
    sent = tuple(sent_requests(run))
    found = [
        *_prompts(run, sent),
        *_system(run.steps),
        *(one for step in run.acted for one in _point(step, run.window)),
        *_twice(run.acted),
        *_recoverable(run, run.final.log if archive is None else archive),
        *(_again(run.compactions, policy) if policy is not None else ()),
    ]
    return Validity(requests=len(sent), breaks=tuple(sorted(found, key=lambda one: one.message)))


def invalid_prompts(run: Replay) -> float:
    """Requests that a provider would refuse or that misquote the conversation."""
    return check_validity(run).invalid_prompts


# What is sent


def _prompts(run: Replay, sent: Iterable[Sent]) -> Iterator[Break]:
    """Breaks of all requests; of a list that only grew since a sound one, only what is new is looked at."""
    sound = 0
    for one in sent:
        found = list(_prompt(run, one, sound if one.kept == sound else 0))
        sound = 0 if found else len(one.items)
        yield from found


def _prompt(run: Replay, one: Sent, start: int) -> Iterator[Break]:
    """Breaks of one request, whose first items are known to be sound."""
    talk = [item for item in one.items[start:] if item.message.role != "system"]
    in_progress = run.transcript[one.reply - 1].role != "assistant" if one.reply else True
    for problem in problems([item.message for item in talk], needs_reply=in_progress):
        check = _KINDS[problem.kind]
        if not (start and check == "start"):
            yield Break(check, one.reply, problem.detail)
    last = max((item.index for item in one.items[:start] if item.index is not None), default=-1) if start else -1
    yield from _order(run.transcript, one.items[start:], last, one.reply)


_KINDS = {
    "orphan_result": "pairing",
    "unanswered_call": "pairing",
    "start": "start",
    "empty": "start",
    "late_system": "start",
    "end": "order",
}


def _order(log: Transcript, items: Iterable[Item], last: int, reply: int) -> Iterator[Break]:
    for item in items:
        if item.index is None:
            continue
        if item.index <= last:
            yield Break("order", reply, f"message {item.index} stands behind message {last}")
        last = max(last, item.index)
        if item.how == "kept" and item.message is not log[item.index] and item.message != log[item.index]:
            yield Break("order", reply, f"message {item.index} is not as it was said, though it is listed as kept")


def _system(steps: Sequence[Step]) -> Iterator[Break]:
    """The system text only grows by what the transcript says; what was said in the conversation never joins it."""
    for before, step in zip((None, *steps), steps, strict=False):
        if before is not None and not step.view.system.startswith(before.view.system):
            yield Break("start", step.index, "the system text changed")
        for one in step.passes:
            talk = [item for item in one.plan.input or () if item.message.role == "system"]
            if any(item.index is not None or item.stands_for for item in talk):
                yield Break("start", step.index, "text of the conversation stands in the system role")


# What policies do


def _point(step: Step, window: int) -> Iterator[Break]:
    """Breaks of one point at which a policy acted."""
    for one in step.passes:
        if one.outcome == "failed" and one.plan.changes:
            yield Break("fail-safe", step.index, f"the plan failed and changed the list all the same: {one.reason}")
        elif _lost_silently(one):
            yield Break(
                "fail-safe", step.index, f"a model call failed and messages are gone without a word: {one.reason}"
            )
    if step.changed and step.sent_tokens > window and not any(map(_says_so, step.passes)):
        yield Break("budget", step.index, f"{step.sent_tokens:,} tokens are sent after a compaction, of {window:,}")


def _says_so(one: Pass) -> bool:
    """Whether a pass says that something did not come out as wanted."""
    return (
        one.outcome in ("failed", "skipped") or one.plan.error is not None or bool(one.repairs) or "fail" in one.reason
    )


def _lost_silently(one: Pass) -> bool:
    """Whether messages left behind a failed reply, nothing stands for them, and the plan does not say that it failed."""
    if not one.plan.changes or _says_so(one) or not any(reply.failure is not None for _, reply in one.asked):
        return False
    sound = {index for item in one.plan.items(one.view) if not item.failed for index in item.indices}
    return not set(one.plan.leaving(one.view)) <= sound


def _twice(steps: Iterable[Step]) -> Iterator[Break]:
    """Changes of one kind that were carried out more than once while nothing new was said."""
    done: dict[tuple[int, str], int] = {}
    for step in steps:
        for one in step.passes:
            if one.outcome == "completed" and one.plan.changes and one.plan.lasts != "request":
                key = (step.index, one.plan.outcome)
                done[key] = done.get(key, 0) + 1
                if done[key] == 2:
                    yield Break("progress", step.index, f"{one.plan.outcome} twice while nothing new was said")


_FORCED: tuple[Hook, ...] = ("manual", "overflow")  # there a policy is told to act, however little there is to gain


def _again(steps: Iterable[Step], policy: CompactionPolicy) -> Iterator[Break]:
    """Plans that a policy makes right after one that was carried out."""
    for step in steps:
        last = next(one for one in reversed(step.passes) if one.plan.changes)
        if last.plan.lasts != "request":
            hook = last.view.hook if last.view.hook not in _FORCED else "request"
            view = replace(last.view.after(last.plan), hook=hook, words="", error=None, done=())
            second = policy.plan(view)
            if second.changes and second.items(view) != view.input[:] and not second.only_adds(view):
                yield Break("progress", step.index, f"a second plan right away changes the list: {second.reason}")


def _recoverable(run: Replay, archive: Sequence[Message]) -> Iterator[Break]:
    """Messages that left and are not in the archive as they were said."""
    written: set[str] | None = None
    for step in run.acted:
        for one in step.passes:
            for index in one.plan.leaving(one.view) if one.outcome == "completed" else ():
                said = run.transcript[index]
                if index < len(archive) and archive[index] is said:
                    continue
                written = {_wire(message) for message in archive} if written is None else written
                if _wire(said) not in written:
                    yield Break("recoverable", step.index, f"message {index} left and is not found as it was said")


def _wire(message: Message) -> str:
    return to_json(message.to_openai())
