"""conpact: policies as its compactors, and its compactors as policies.

A compactor of conpact is a function from a list of messages to the list that replaces it::

    from conpact import evaluate
    from harness_nb.lab.adapters.conpact import compactor

    evaluate(instances, compactor("harness"), out_dir="results")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from harness_nb.agent.driver import finished
from harness_nb.core.config import PinsConfig
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.view import Hook, View
from harness_nb.lab.adapters.listed import Applied, Given, compacting
from harness_nb.lab.adapters.packages import foreign
from harness_nb.lab.adapters.theirs import TheirPolicy, asked, relisted
from harness_nb.lab.answers import Answers
from harness_nb.model.base import Model
from harness_nb.model.resolve import resolve
from harness_nb.presets import Preset

if TYPE_CHECKING:
    from conpact import LLMSummarize

_PACKAGE = "conpact"

Wire = dict[str, Any]
"""A message as conpact has it: a role and a content."""


def compactor(
    policy: str | Preset | CompactionPolicy = "harness",
    *,
    model: str | Model = "offline",
    window: int | None = None,
    pins: PinsConfig | None = None,
    hook: Hook = "manual",
) -> Callable[[list[Wire]], list[Wire]]:
    """A policy as a compactor of conpact, which may call it from several threads.

    Messages that stay are the objects that were given.

    Args:
        policy: Name of a preset, a preset, or a policy.
        model: Answers the policy's model calls.
        window: Context window in tokens; by default what the preset assumes.
        pins: What stays word for word; by default as the preset has it.
        hook: Why it acts: `manual`, as told to by the user, or `request`, so that its own triggers decide.

    Raises:
        ConfigError: The policy, the model or the window is not valid.
    """
    applied = Applied.of(policy, window=window, pins=pins)
    answers = Answers(resolve(model))

    def compact(messages: list[Wire]) -> list[Wire]:
        given = [Given(Message.from_openai(one)) for one in messages]
        result = finished(compacting(given, applied, hook), answers)
        prompt = [one for one in messages if one["role"] == "system"]
        places = ((result.place(item), item) for item in result.items)
        return [*prompt, *(messages[at] if at is not None else item.message.to_openai() for at, item in places)]

    return compact


def policy(
    theirs: Callable[[list[Wire]], list[Wire]] | LLMSummarize, *, trigger_tokens: int | float = 0.8
) -> CompactionPolicy:
    """A compactor of conpact as a policy.

    The summary of its `LLMSummarize` is asked for with the prompt of that, but by the driver, from the agent's own model:
    its endpoint is not called. Any other is called as it is and must ask no model.

    Args:
        theirs: The compactor.
        trigger_tokens: Tokens from which it acts, or a share of the window.

    Raises:
        ConfigError: The trigger is not valid, or conpact is not installed.
    """
    summarising = foreign("conpact", _PACKAGE).LLMSummarize
    name = getattr(theirs, "__name__", type(theirs).__name__)
    if isinstance(theirs, summarising):
        prompt = theirs.prompt
        return TheirPolicy(
            f"conpact {name}",
            lambda view: _summarised(view, prompt),
            trigger_tokens=trigger_tokens,
            settings={"prompt": prompt},
        )
    return TheirPolicy(f"conpact {name}", lambda view: _listed(view, theirs), trigger_tokens=trigger_tokens)


def _listed(view: View, theirs: Callable[[list[Wire]], list[Wire]]) -> Sequence[Item]:
    """The list that a function makes; what stays is known by being the same object."""
    given = [item.message.to_openai() for item in view.input]
    places = {id(one): at for at, one in enumerate(given)}
    after = [(places.get(id(one)), one) for one in theirs(list(given))]
    made = ((at, view.input[at].message if at is not None else _made(one)) for at, one in after)
    return relisted(view, made, "note")


def _summarised(view: View, prompt: str) -> Sequence[Item]:
    """One message of the assistant for all that was said, as `LLMSummarize` makes it."""
    asking = foreign("conpact.prompts", _PACKAGE).summarization_prompt
    messages = [{"role": item.message.role, "content": item.message.text} for item in view.input]
    request = [Message.from_openai(one, origin="harness") for one in asking(prompt, messages)]
    return relisted(view, [(None, _made({"role": "assistant", "content": asked(view, request)}))], "summary")


def _made(wire: Wire) -> Message:
    return Message.from_openai(wire, origin="harness")
