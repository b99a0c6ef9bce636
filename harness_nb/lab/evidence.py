"""Metrics of a replay that need a conversation's questions or task: how much of the evidence a policy leaves in reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness_nb.lab.datasets.record import Conversation
from harness_nb.lab.gold import GoldArguments
from harness_nb.lab.metrics import Better, Metric
from harness_nb.lab.run import Replay
from harness_nb.lab.survival import REACHES, Evidence, K, Reach, Survival, is_update

_BETTER: dict[Reach, Better | None] = {"verbatim": "higher", "gone": "lower"}
_SHARE = "0 to 1"


def survival(run: Replay, evidence: Evidence | Conversation) -> Survival:
    """What became of a conversation's evidence at the end of a replay of it.

    The durable memory of a replay is what plans wrote to it: a replay runs no flush.

    Args:
        run: A replay of the conversation's transcript.
        evidence: The conversation, or its evidence made ready, which many replays may share.
    """
    ready = Evidence(evidence) if isinstance(evidence, Conversation) else evidence
    memory = (text for one in run.plans if one.outcome != "failed" for text in one.plan.remember)
    return ready.survival(run.final.input, memory)


def evidence_metrics(conversation: Conversation, *, k: int = K) -> tuple[Metric, ...]:
    """The metrics that a conversation's own labels allow; a replay of another transcript has none of these figures.

    Args:
        conversation: With questions that name evidence, or with the calls that solve its task.
        k: Hits of a search that count.

    Returns:
        Metrics for `score` and `sweep`: the five shares of the evidence, graded survival, reachability, whether all is
        reachable, and stale facts where updates are labelled; for a task gold-argument survival. None without labels.
    """
    found: tuple[Metric, ...] = ()
    if any(question.evidence for question in conversation.questions):
        found += _of_questions(conversation, k)
    if conversation.actions:
        found += (_of_task(conversation),)
    return found


def _of_questions(conversation: Conversation, k: int) -> tuple[Metric, ...]:
    shared = _Shared(conversation, Evidence(conversation, k=k))

    def metric(name: str, figure: Figure, better: Better | None, meaning: str) -> Metric:
        compute = _OfEvidence(shared, figure)
        return Metric(name=name, compute=compute, unit=_SHARE, better=better, meaning=meaning)

    shares = [
        metric(f"evidence_{reach}", reach, _BETTER.get(reach), f"share of the evidence that is {_MEANING[reach]}")
        for reach in REACHES
    ]
    others = [
        metric("evidence_graded", "graded", "higher", "share of its rare words anywhere in the context"),
        metric(f"reachable_at_{k}", "reachable", "higher", f"share word for word in the context or in {k} hits"),
        metric(f"all_reachable_at_{k}", "all_reachable", "higher", "share of questions all whose evidence is"),
    ]
    if any(is_update(question) for question in conversation.questions):
        others.append(
            metric("stale_shown", "stale", "lower", "share of superseded facts shown without what superseded them")
        )
    return (*shares, *others)


_MEANING: dict[Reach, str] = {
    "verbatim": "in the context word for word",
    "truncated": "there shortened or told in other words",
    "memory": "told in the durable memory only",
    "search": "found by a search only",
    "gone": "nowhere in reach",
}


def _of_task(conversation: Conversation) -> Metric:
    return Metric(
        name="gold_arguments",
        compute=_OfTask(conversation, GoldArguments(conversation)),
        unit=_SHARE,
        better="higher",
        meaning="share of the values that the task still needs, of those said, in the requests",
    )


Figure = str
"""A class of `REACHES`, or the name of a property of `Survival`."""


class _Shared:
    """The survival of the replay that was last looked at, for the metrics of one conversation."""

    def __init__(self, conversation: Conversation, evidence: Evidence) -> None:
        self.conversation = conversation
        self._evidence = evidence
        self._last: tuple[Replay, Survival] | None = None

    def __call__(self, run: Replay) -> Survival | None:
        if run.transcript != self.conversation.transcript:
            return None
        if self._last is None or self._last[0] is not run:
            self._last = (run, survival(run, self._evidence))
        return self._last[1]

    def __getstate__(self) -> dict[str, object]:
        """Without the replay, which is not needed elsewhere."""
        return self.__dict__ | {"_last": None}


@dataclass(frozen=True, slots=True)
class _OfEvidence:
    """Computes one figure of the evidence."""

    shared: Callable[[Replay], Survival | None]
    figure: Figure

    def __call__(self, run: Replay) -> float | None:
        found = self.shared(run)
        if found is None:
            return None
        reach = next((one for one in REACHES if one == self.figure), None)
        return found.reach(reach) if reach is not None else getattr(found, self.figure)


@dataclass(frozen=True, slots=True)
class _OfTask:
    """Computes gold-argument survival."""

    conversation: Conversation
    gold: GoldArguments

    def __call__(self, run: Replay) -> float | None:
        return self.gold.survival(run.contexts()) if run.transcript == self.conversation.transcript else None
