"""Planting: canaries go into user messages and tool results that are there already, so that a transcript stays valid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from harness_nb.core.messages import Message, Text
from harness_nb.core.tokens import Measure
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.canaries.items import SAID_BY_USERS, Canary

FIRST_SHARE = 0.5
"""Part of the conversation that is said before the first round; all canaries stand in it, so each faces every round."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A transcript with canaries in it.

    Attributes:
        transcript: The transcript.
        canaries: What was planted.
        places: For each canary by number, the index of the message of each of its statements.
    """

    transcript: Transcript
    canaries: tuple[Canary, ...]
    places: Mapping[int, tuple[int, ...]]


def cuts_of(transcript: Transcript, rounds: int, measure: Measure) -> tuple[int, ...]:
    """Lengths at which the conversation is compacted: at half of its tokens, then after equal parts of the rest.

    Each is a point at which a request was made: the next message is the model's, and no call is open.

    Raises:
        ConfigError: The transcript holds too few requests.
    """
    sums = transcript.sums(measure)
    points = _request_points(transcript)
    step = (1 - FIRST_SHARE) / rounds
    cuts: list[int] = []
    for number in range(rounds):
        wanted = (FIRST_SHARE + step * number) * sums[-1]
        later = [point for point in points if not cuts or point > cuts[-1]]
        if not later:
            break
        cuts.append(min(later, key=lambda point: abs(sums[point] - wanted)))
    if len(cuts) < rounds:
        raise ConfigError(
            f"{len(points)} requests are too few for {rounds} rounds of compaction.",
            "Give a longer transcript, or fewer rounds.",
            subject=transcript.name,
        )
    return tuple(cuts)


def _request_points(transcript: Transcript) -> list[int]:
    return [
        at
        for at in range(2, len(transcript))
        if transcript[at].role == "assistant" and transcript[at - 1].role in ("user", "tool")
    ]


def planted(transcript: Transcript, canaries: Sequence[Canary], *, until: int, seed: int) -> Planted:
    """A transcript with each canary's statements at seeded places.

    A safety rule, a constraint and a preference go into user messages; everything else into tool results as well. The last
    user message before `until` is left out, as no compaction may take it, and so is what no reply has answered by then.

    Args:
        transcript: What was said.
        canaries: What to plant.
        until: Statements go into messages before this one.
        seed: Equal seeds give equal places.

    Raises:
        ConfigError: There is no message to plant in.
    """
    random = Random(f"places {seed}")  # noqa: S311 - reproducible, and no secret
    by_users, anywhere = _fields(transcript, until)
    places: dict[int, tuple[int, ...]] = {}
    additions: dict[int, list[str]] = {}
    for canary in canaries:
        field = by_users if canary.kind in SAID_BY_USERS else anywhere
        places[canary.number] = tuple(sorted(random.choice(field) for _ in canary.said))
        for index, text in zip(places[canary.number], canary.said, strict=True):
            additions.setdefault(index, []).append(text)
    messages = [_with(message, additions.get(index, ())) for index, message in enumerate(transcript)]
    grown = Transcript(messages, report=transcript.report, name=transcript.name, model=transcript.model)
    return Planted(grown, tuple(canaries), places)


def _fields(transcript: Transcript, until: int) -> tuple[list[int], list[int]]:
    """Indices of messages to plant in: those of users, and all."""
    users = [at for at in range(until) if transcript[at].role == "user" and transcript[at].origin == "user"]
    answered = next((at for at in range(until - 1, -1, -1) if transcript[at].role == "assistant"), 0)
    by_users = [at for at in users[:-1] if at < answered]
    results = [at for at in range(answered) if transcript[at].role == "tool" and transcript[at].text.strip()]
    if not by_users:
        raise ConfigError(
            "There is no user message to plant canaries in before the first round.",
            "Give a transcript with more than one turn in its first half.",
            subject=transcript.name,
        )
    return by_users, sorted(by_users + results)


def _with(message: Message, statements: Iterable[str]) -> Message:
    """The message with statements behind its own text, each a paragraph."""
    added = "".join(f"\n\n{one}" for one in statements)
    if not added:
        return message
    if isinstance(message.content, tuple):
        return replace(message, content=(*message.content, Text(added.strip())))
    return replace(message, content=f"{message.text}{added}".strip())
