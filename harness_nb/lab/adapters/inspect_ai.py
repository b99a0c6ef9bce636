"""inspect_ai: policies as its compaction strategies, and its strategies as policies.

For an agent of inspect_ai::

    from harness_nb.lab.adapters.inspect_ai import strategy

    react(compaction=strategy("harness"))
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from harness_nb.core.config import PinsConfig
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask
from harness_nb.core.tool import Tool
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.lab.adapters.inspect_messages import PACKAGE, changed, edited, place_of, placed, to_ours, to_theirs
from harness_nb.lab.adapters.listed import MARK, Applied, Compacted, Given, afinished, compacting
from harness_nb.lab.adapters.ours import Awaited, text_from
from harness_nb.lab.adapters.packages import foreign
from harness_nb.lab.adapters.theirs import TheirPolicy, asked, at_once, relisted
from harness_nb.model.base import Model
from harness_nb.model.resolve import resolve
from harness_nb.presets import Preset

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy
    from inspect_ai.model import Model as TheirModel
    from inspect_ai.tool import ToolInfo


def strategy(
    policy: str | Preset | CompactionPolicy = "harness",
    *,
    model: str | Model | None = None,
    threshold: int | float = 0.9,
    pins: PinsConfig | None = None,
) -> CompactionStrategy:
    """A policy as a compaction strategy of inspect_ai, which says when it acts.

    The policy is told of a window as large as the threshold, since inspect_ai refuses a list that is above it still. Messages
    that stay are the objects that were given; what the policy wrote carries a mark in its metadata, by which the next
    compaction knows it, so one strategy serves any number of samples.

    Args:
        policy: Name of a preset, a preset, or a policy.
        model: Answers the policy's model calls; None is the model that inspect_ai compacts for.
        threshold: Tokens, or the share of the context window, from which inspect_ai lets it act.
        pins: What stays word for word; by default as the preset has it.

    Raises:
        ConfigError: Something of these is not valid, or inspect_ai is not installed.
    """
    base = foreign("inspect_ai.model", PACKAGE).CompactionStrategy
    applied = Applied.of(policy, pins=pins)
    answering = None if model is None else resolve(model)

    async def compact(
        self: CompactionStrategy, model: TheirModel, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], None]:
        async def ask(request: Ask) -> str:
            return await (_generated(model, request) if answering is None else text_from(answering, request))

        given = [Given(to_ours(one), _mark(one)) for one in messages]
        within = applied.within(_threshold(model, self.threshold))
        steps = compacting(given, within, "manual", tools=tuple(map(_tool, tools)))
        result = await afinished(steps, Awaited(ask))
        return _list(messages, result), None

    def shown(self: CompactionStrategy) -> dict[str, Any]:
        return {"policy": applied.policy.name, "threshold": self.threshold}

    members = {"compact": compact, "_repr_params_": shown}
    made: CompactionStrategy = type("PolicyStrategy", (base,), members)(
        type="summary", threshold=threshold, memory=False
    )
    return made


def _threshold(model: TheirModel, threshold: int | float) -> int:
    """The threshold in tokens, as inspect_ai works it out."""
    module = foreign("inspect_ai.model._compaction._compaction", PACKAGE, "_resolve_threshold")
    return max(1, int(module._resolve_threshold(model, threshold)))


async def _generated(model: TheirModel, request: Ask) -> str:
    """What a model of inspect_ai answers."""
    config = foreign("inspect_ai.model", PACKAGE).GenerateConfig(max_tokens=request.max_tokens)
    output = await model.generate([to_theirs(one) for one in request.messages], config=config)
    return str(output.completion)


def _tool(theirs: ToolInfo) -> Tool:
    """A tool for the size of its schema; nothing calls it."""
    parameters = theirs.parameters.model_dump(exclude_none=True)
    return Tool(name=theirs.name, description=theirs.description, parameters=parameters, function=str)


def _mark(theirs: ChatMessage) -> dict[str, Any] | None:
    """What a policy noted of a message that it made, unless inspect_ai has since joined another to it."""
    noted = (theirs.metadata or {}).get(MARK)
    if not noted or noted.get("chars") != len(theirs.text):
        return None
    mark: dict[str, Any] = noted["mark"]
    return mark


def _list(messages: Sequence[ChatMessage], result: Compacted) -> list[ChatMessage]:
    """The list after in inspect_ai's own messages."""
    after = [one for one in messages if one.role == "system" and _mark(one) is None]
    for item in result.items:
        place = result.place(item)
        if place is not None:
            after.append(messages[place])
        elif item.index is not None:
            after.append(edited(messages[result.places[item.index]], item.message))
        else:
            noted = {MARK: {"mark": result.mark(item), "chars": len(item.message.text)}}
            after.append(to_theirs(item.message, noted | ({"summary": True} if item.how == "summary" else {})))
    return after


def policy(theirs: CompactionStrategy, *, trigger_tokens: int | float | None = None) -> CompactionPolicy:
    """A strategy of inspect_ai as a policy; the model that it asks is the driver's, whatever inspect_ai has active.

    Strategies that let a provider compact are refused, as a policy can't ask for that; `CompactionAuto` goes on to its
    summary. The prompt is given to the strategy and stays what it is.

    Args:
        theirs: The strategy.
        trigger_tokens: Tokens from which it acts, or a share of the window; by default its own threshold.

    Raises:
        ConfigError: It can't be a policy, the trigger is not valid, or inspect_ai is not installed.
    """
    model = foreign("inspect_ai.model", PACKAGE)
    if isinstance(theirs, model.CompactionNative):
        remedy = "Give CompactionEdit, CompactionTrim, CompactionSummary or CompactionAuto."
        raise ConfigError("CompactionNative lets the provider compact, which no policy can.", remedy, subject=theirs)
    if getattr(theirs, "model", None) is not None:
        raise ConfigError(
            f"{type(theirs).__name__} has a model of its own, which would be called while planning.",
            "Leave its `model` out: the summary is then asked for as every policy asks.",
            subject=theirs,
        )
    return TheirPolicy(
        f"inspect_ai {type(theirs).__name__}",
        lambda view: _listed(view, theirs),
        trigger_tokens=theirs.threshold if trigger_tokens is None else trigger_tokens,
        settings={key: value for key, value in theirs._repr_params_().items() if key != "prompt"},
    )


def _listed(view: View, theirs: CompactionStrategy) -> Sequence[Item]:
    """The list that a strategy makes; what stays is known by the place in its metadata."""
    given = placed([item.message for item in view.input])
    prompt = [to_theirs(Message.system(view.system))] if view.system else []
    after, _ = at_once(theirs.compact(_stand_in(view), [*prompt, *given], []))
    made: list[tuple[int | None, Message]] = []
    for one in after:
        place = place_of(one)
        if place is not None:
            made.append((place, changed(view.input[place].message, given[place], one)))
        elif one.role != "system":
            made.append((None, Message.user(one.text, origin="harness")))
    return relisted(view, made, "summary")


def _stand_in(view: View) -> Any:
    """What strategies use of a model: it answers what the view knows, and lets no provider compact."""
    output = foreign("inspect_ai.model", PACKAGE).ModelOutput

    async def generate(input: Sequence[ChatMessage], **_: Any) -> Any:
        return output.from_content(view.model.name, asked(view, map(to_ours, input)))

    async def count_tokens(messages: Sequence[ChatMessage]) -> int:
        return view.measure.total(map(to_ours, messages))

    async def compact(*_: Any, **__: Any) -> None:
        raise NotImplementedError("no provider is asked")

    return SimpleNamespace(
        name=view.model.name,
        generate=generate,
        count_tokens=count_tokens,
        compact=compact,
        canonical_name=lambda: view.model.name,
        input_tokens_name=lambda: view.model.name,
        api=SimpleNamespace(compact_reasoning_history=lambda: True),
    )
