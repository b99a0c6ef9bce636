"""Rounds: the conversation goes on to a cut, is compacted there, and what the next request would send is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import Pass, finished, manage
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask
from harness_nb.core.tokens import Measure
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import Hook
from harness_nb.lab.answers import Answers
from harness_nb.lab.canaries.items import Canary, Sighting, code_words, seen

_START = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One compaction, and what it left.

    Attributes:
        number: 1 for the first.
        index: Messages said by then.
        tokens_before: Size of the list before, system prompt and schemas left out.
        tokens_after: The same of the list that the next request would send.
        outcome: What came of the plan: `completed`, `failed`, `skipped`, or `quiet` where there was none.
        reason: Why, in words.
        model_calls: Model calls that the policy made.
        sightings: For each canary by number, what is left of it.
    """

    number: int
    index: int
    tokens_before: int
    tokens_after: int
    outcome: str
    reason: str
    model_calls: int
    sightings: dict[int, Sighting]


def played(
    transcript: Transcript,
    canaries: Sequence[Canary],
    cuts: Sequence[int],
    policy: CompactionPolicy,
    limits: ModelLimits,
    *,
    answers: Answers,
    measure: Measure,
) -> tuple[Round, ...]:
    """Lets a policy compact a conversation at some lengths of it, and nowhere else.

    Args:
        transcript: What is said, canaries included.
        canaries: What to look for.
        cuts: Lengths at which the list is compacted, in ascending order.
        policy: What compacts; called as the user's own command would, and then as before the next request.
        limits: The model's limits as the policy is told them.
        answers: Who answers what the policy asks.
        measure: Sizes of messages.
    """
    talk = _Talk(transcript, policy, limits, answers, measure)
    return tuple(talk.round(number, cut, canaries) for number, cut in enumerate(cuts, start=1))


class _Talk:
    """One conversation under way."""

    def __init__(
        self, transcript: Transcript, policy: CompactionPolicy, limits: ModelLimits, answers: Answers, measure: Measure
    ) -> None:
        self._transcript, self._policy, self._answers, self._measure = transcript, policy, answers, measure
        self._now = _START
        self._conversation = Conversation(measure, lambda: self._now)
        system = "\n\n".join(message.text for message in transcript if message.role == "system")
        self._around = Surroundings(model=limits, system=system, system_tokens=measure.text(system))

    def round(self, number: int, cut: int, canaries: Iterable[Canary]) -> Round:
        """Goes on to a length, compacts, and looks."""
        conversation = self._conversation
        for index in range(len(conversation.log), cut):
            self._take(self._transcript[index])
        before = self._size(conversation.outgoing)
        passes = (*self._at("manual"), *self._at("request"))
        sent = conversation.outgoing
        words = code_words("\n".join(map(_all_text, sent)))
        last = next((one for one in passes if one.plan.changes), passes[0] if passes else None)
        return Round(
            number=number,
            index=cut,
            tokens_before=before,
            tokens_after=self._size(sent),
            outcome=last.outcome if last is not None else "quiet",
            reason=last.reason if last is not None else "the policy had nothing to do",
            model_calls=sum(isinstance(request, Ask) for one in passes for request, _ in one.asked),
            sightings={canary.number: seen(canary, words) for canary in canaries},
        )

    def _take(self, message: Message) -> None:
        self._now = message.time or self._now
        conversation = self._conversation
        if message.role == "system":
            conversation.log = conversation.log.append(message)
        elif message.role == "user" and message.origin == "user":
            conversation.begin_turn(message)
        elif message.role == "assistant":
            conversation.add_reply(_unbilled(message))
        else:
            conversation.add(message)

    def _at(self, hook: Hook) -> tuple[Pass, ...]:
        """Lets the policy act."""
        return finished(manage(self._conversation, self._policy, hook, self._around), self._answers)

    def _size(self, items: Iterable[Item]) -> int:
        return self._measure.total(item.message for item in items)


def _unbilled(message: Message) -> Message:
    """The reply without the recorded bill, which is that of another context than the one that is compacted here."""
    return replace(message, usage=None) if message.usage is not None else message


def _all_text(item: Item) -> str:
    """What a model reads of an item: its text, and the arguments of its calls."""
    return "\n".join((item.message.text, *(call.arguments for call in item.message.calls)))
