"""What compactors made of a policy have in common: a budget told to the policy, and who answers what it asks for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.agent.guards import must_stay
from harness_nb.core.messages import Message
from harness_nb.core.pins import note_of
from harness_nb.core.redact import redact
from harness_nb.core.requests import Ask, Failure, Reply, assume
from harness_nb.core.view import View
from harness_nb.errors import HarnessError
from harness_nb.lab.adapters.budget import Shown, shown
from harness_nb.lab.adapters.listed import Applied, Compacted, Given, Steps, compacting
from harness_nb.model.base import Model, ModelRequest, complete

CHARS_PER_TOKEN = 4
"""How a budget in characters is told to a policy, which counts tokens; the measure of a list takes a token for as many."""

LEAST_SUMMARY_TOKENS = 40
"""Least length of a summary that a model is asked for, however little room there is."""

_FRAME_TOKENS = 40
"""What stands around a summary: its marks and the frames of the messages."""


def to_text(given: Sequence[Given], applied: Applied, budget_chars: int | None) -> Steps:
    """Steps to a list that is to be read as one text, as after a compaction that the user asks for.

    Args:
        given: The list.
        applied: What acts.
        budget_chars: Most characters: the policy is told of a window as large as that, and no summary is asked for that
            would not fit. None is no limit.
    """
    if budget_chars is None:
        return compacting(given, applied, "manual")
    within = applied.within(max(1, budget_chars // CHARS_PER_TOKEN))
    return _in_room(compacting(given, within, "manual"))


def text_of(result: Compacted, budget_chars: int | None) -> Shown:
    """The list after as one text, with the prompt that it was given with."""
    prompt = [one.message for one in result.given if one.message.role == "system" and one.mark is None]
    return shown(prompt, result.items, budget_chars)


def _in_room(steps: Steps) -> Steps:
    """The same steps, but that no reply is asked for which is longer than what the window leaves."""
    room = LEAST_SUMMARY_TOKENS
    answer: Answer = None
    while True:
        try:
            effect = steps.send(answer)
        except StopIteration as end:
            result: Compacted = end.value
            return result
        if isinstance(effect, Begun):
            room = _room(effect.view)
        if isinstance(effect, Ask):
            effect = replace(effect, max_tokens=min(effect.max_tokens or room, room))
        answer = yield effect


def _room(view: View) -> int:
    """Tokens that the window leaves beside the prompt, the pins and what no compaction may take."""
    taken = view.fixed_tokens + view.measure.total(item.message for item in must_stay(view)) + _FRAME_TOKENS
    if view.pins:
        taken += view.measure(note_of(view.pins).message)
    return max(LEAST_SUMMARY_TOKENS, view.model.window - taken)


@dataclass(frozen=True, slots=True)
class Awaited:
    """Answers the effects of a driver on the loop that runs, without any file.

    Attributes:
        ask: Asks a model and gives its text; whatever it raises is a failed call.
    """

    ask: Callable[[Ask], Awaitable[str]]

    async def __call__(self, effect: Effect) -> Answer:
        """What came of an effect."""
        if isinstance(effect, Begun | Leaving):
            return None
        if not isinstance(effect, Ask):
            return assume(effect)
        try:
            return Reply(redact(await self.ask(effect)))
        except HarnessError as error:
            return Reply(None, Failure("server_error", error.problem))
        except Exception as error:  # noqa: BLE001 - a model of another package may raise anything
            return Reply(None, Failure("server_error", f"{type(error).__name__}: {error}"))


async def text_from(model: Model, request: Ask) -> str:
    """What one of our own models answers."""
    asked = ModelRequest(messages=request.messages, purpose=request.purpose, max_tokens=request.max_tokens)
    return (await complete(model, asked)).text


def split_prompt(messages: Sequence[Message]) -> tuple[str, str]:
    """A request as packages want it that take one prompt: what its system messages say, and what the others do."""
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    return system, "\n\n".join(message.text for message in messages if message.role != "system")
