"""compactbench: policies as its methods, and its methods as policies.

Its command line takes a class from a file of one's own, so two lines are enough::

    from harness_nb.lab.adapters import compactbench
    Harness = compactbench.method("harness")

    compactbench run --method my_methods.py:Harness --suite starter ...
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness_nb.core.config import PinsConfig
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Role
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.lab.adapters.budget import said
from harness_nb.lab.adapters.listed import Applied, Compacted, Given, afinished
from harness_nb.lab.adapters.ours import Awaited, split_prompt, text_from, text_of, to_text
from harness_nb.lab.adapters.packages import foreign
from harness_nb.lab.adapters.theirs import TheirPolicy, asked, at_once, keeping, stood_for
from harness_nb.model.base import Model
from harness_nb.model.resolve import resolve
from harness_nb.presets import Preset

if TYPE_CHECKING:
    from compactbench.compactors import Compactor
    from compactbench.contracts import CompactionArtifact, Transcript
    from compactbench.providers import CompletionRequest, CompletionResponse, Provider

_PACKAGE = "compactbench"

SUMMARY_CHARS = 8_000
"""Most characters of the text that compactbench takes (compactbench.contracts, 0.1)."""

_WARNING_CHARS = 500  # of one warning, by the same contract
_VERSION = "1.0.0"


def method(
    policy: str | Preset | CompactionPolicy = "harness",
    *,
    model: str | Model | None = "offline",
    window: int | None = None,
    pins: PinsConfig | None = None,
    budget_chars: int = SUMMARY_CHARS,
) -> type[Compactor]:
    """A policy as a class of compactbench's methods.

    Its artifact holds the compacted conversation as one text; the structured state stays empty, as a policy has no such
    sections. The same transcript, grown, comes again in each cycle and is compacted anew.

    Args:
        policy: Name of a preset, a preset, or a policy.
        model: Answers the policy's model calls; None is the provider and the model that compactbench was told to use.
        window: Context window in tokens where the text may be of any length below its limit.
        pins: What stays word for word; by default as the preset has it.
        budget_chars: Most characters of the text, up to 8,000; the policy is told of a window as large as that.

    Raises:
        ConfigError: Something of these is not valid, or compactbench is not installed.
    """
    base = foreign("compactbench.compactors", _PACKAGE).Compactor
    applied = Applied.of(policy, window=window, pins=pins)
    answering = None if model is None else resolve(model)
    chars = min(keeping("budget_chars", budget_chars), SUMMARY_CHARS)

    async def compact(
        self: Compactor,
        transcript: Transcript,
        config: dict[str, Any] | None = None,
        previous_artifact: CompactionArtifact | None = None,
    ) -> CompactionArtifact:
        async def ask(request: Ask) -> str:
            if answering is not None:
                return await text_from(answering, request)
            return await _completed(self.provider, self.model, request)

        given = [Given(Message(_role(turn.role.value), turn.content)) for turn in transcript.turns]
        result = await afinished(to_text(given, applied, chars), Awaited(ask))
        return _artifact(self, transcript, result, text_of(result, chars).text)

    members = {"name": f"harness-nb-{applied.policy.name}", "version": _VERSION, "compact": compact}
    made: type[Compactor] = type("PolicyMethod", (base,), members)
    return made


async def _completed(provider: Provider, model: str, request: Ask) -> str:
    """What compactbench's provider answers."""
    asking = foreign("compactbench.providers", _PACKAGE).CompletionRequest
    system, prompt = split_prompt(request.messages)
    limit = {} if request.max_tokens is None else {"max_tokens": request.max_tokens}
    response = await provider.complete(asking(model=model, prompt=prompt, system=system or None, **limit))
    return str(response.text)


def _role(name: str) -> Role:
    return "system" if name == "system" else "assistant" if name == "assistant" else "user"


def _artifact(self: Compactor, transcript: Transcript, result: Compacted, text: str) -> CompactionArtifact:
    """What compactbench takes: the text, the turns that it shows word for word, what went wrong, and how it was made."""
    artifact = foreign("compactbench.contracts", _PACKAGE).CompactionArtifact
    shown = [place for item in result.items if (place := result.place(item)) is not None]
    warnings = [one.reason for one in result.passes if one.outcome == "failed"]
    asked_for = sum(len(one.asked) for one in result.passes)
    made: CompactionArtifact = artifact(
        summaryText=text,
        selectedSourceTurnIds=[transcript.turns[place].id for place in shown],
        warnings=[one[:_WARNING_CHARS] for one in warnings if one],
        methodMetadata={"method": self.name, "version": self.version, "calls": asked_for, "reason": result.reason},
    )
    return made


def policy(
    theirs: str | type[Compactor], *, trigger_tokens: int | float = 0.8, keep_messages: int = 1
) -> CompactionPolicy:
    """A method of compactbench as a policy; all of its model calls go the way of all policies.

    Its prose and its structured state stand, as compactbench shows them to a model, for all but the end of the
    conversation. What it made before comes again as a turn of the system, not as the artifact that it was.

    Args:
        theirs: Key of one of its own methods, such as `hybrid-ledger`, or a class.
        trigger_tokens: Tokens from which it acts, or a share of the window.
        keep_messages: Messages at the end that stay, at least; so does the latest request of the user.

    Raises:
        ConfigError: A setting is not valid, or compactbench is not installed or has no such method.
    """
    method_class = _method_class(theirs)
    keep = keeping("keep_messages", keep_messages)

    def made(view: View) -> Sequence[Item] | None:
        compactor = method_class(_asking_provider(view), view.model.name)
        return stood_for(view, keep, lambda items: _text(at_once(compactor.compact(_transcript(items)))), "summary")

    settings = {"keep_messages": keep}
    return TheirPolicy(f"compactbench {method_class.name}", made, trigger_tokens=trigger_tokens, settings=settings)


def _method_class(given: str | type[Compactor]) -> type[Compactor]:
    compactors = foreign("compactbench.compactors", _PACKAGE)
    if not isinstance(given, str):
        return given
    if given not in (known := compactors.list_built_ins()):
        raise ConfigError(f"compactbench has no method {given!r}.", f"Use one of {', '.join(known)}.", subject=given)
    found: type[Compactor] = compactors.get_built_in(given)
    return found


def _asking_provider(view: View) -> Provider:
    """A provider that looks replies up in a view; each call is a request of its own."""
    providers = foreign("compactbench.providers", _PACKAGE)
    calls = itertools.count()

    async def complete(self: Provider, request: CompletionRequest) -> CompletionResponse:
        system = [Message.system(request.system)] if request.system else []
        prompt = Message.user(request.prompt, origin="harness")
        text = asked(view, [*system, prompt], max_tokens=request.max_tokens, nth=next(calls))
        response: CompletionResponse = providers.CompletionResponse(
            text=text, prompt_tokens=0, completion_tokens=0, model=request.model
        )
        return response

    made: Provider = type("AskingProvider", (providers.Provider,), {"key": "harness_nb", "complete": complete})()
    return made


def _transcript(items: Sequence[Item]) -> Transcript:
    contracts = foreign("compactbench.contracts", _PACKAGE)
    turns = [
        contracts.Turn(
            id=at, role=_role("system" if item.index is None else item.message.role), content=said(item.message)
        )
        for at, item in enumerate(items)
    ]
    made: Transcript = contracts.Transcript(turns=turns)
    return made


def _text(artifact: CompactionArtifact) -> str:
    """What compactbench itself shows a model of an artifact."""
    return str(foreign("compactbench.runner.evaluation", _PACKAGE).render_artifact_for_prompt(artifact))
