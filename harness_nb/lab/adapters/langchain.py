"""langchain: policies as middleware of its agents, and its middleware and trimming as policies.

For an agent of langchain::

    from harness_nb.lab.adapters.langchain import middleware

    create_agent(model, tools, middleware=[middleware("harness")])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness_nb.agent.driver import finished
from harness_nb.core.config import PinsConfig
from harness_nb.core.item import How, Item
from harness_nb.core.messages import Message
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask
from harness_nb.core.view import View
from harness_nb.lab.adapters.listed import MARK, Applied, Compacted, Given, afinished, compacting
from harness_nb.lab.adapters.ours import Awaited, text_from
from harness_nb.lab.adapters.packages import foreign
from harness_nb.lab.adapters.theirs import TheirPolicy, asked, relisted
from harness_nb.lab.answers import Answers
from harness_nb.model.base import Model
from harness_nb.model.resolve import resolve
from harness_nb.presets import Preset

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

_PACKAGE = "langchain"


def middleware(
    policy: str | Preset | CompactionPolicy = "harness",
    *,
    model: str | Model = "offline",
    window: int | None = None,
    pins: PinsConfig | None = None,
) -> AgentMiddleware:
    """A policy as middleware: it is asked before each request to the model and replaces the messages of the state.

    Messages that stay are those that were there. What the policy wrote carries a mark in its `additional_kwargs`, by which
    the next request knows it, so one middleware serves any number of threads and goes on after a checkpoint.

    Args:
        policy: Name of a preset, a preset, or a policy.
        model: Answers the policy's model calls.
        window: Context window of the agent's model in tokens; by default what the preset assumes.
        pins: What stays word for word; by default as the preset has it.

    Raises:
        ConfigError: Something of these is not valid, or langchain is not installed.
    """
    base = foreign("langchain.agents.middleware", _PACKAGE).AgentMiddleware
    applied = Applied.of(policy, window=window, pins=pins)
    answering = resolve(model)
    answers = Answers(answering)

    async def ask(request: Ask) -> str:
        return await text_from(answering, request)

    def before_model(self: AgentMiddleware, state: Any, runtime: Any) -> dict[str, Any] | None:
        messages = state["messages"]
        return _update(messages, finished(compacting(_given(messages), applied, "request"), answers))

    async def abefore_model(self: AgentMiddleware, state: Any, runtime: Any) -> dict[str, Any] | None:
        messages = state["messages"]
        return _update(messages, await afinished(compacting(_given(messages), applied, "request"), Awaited(ask)))

    members = {
        "before_model": before_model,
        "abefore_model": abefore_model,
        "name": property(lambda self: f"harness_nb {applied.policy.name}"),
    }
    made: AgentMiddleware = type("PolicyMiddleware", (base,), members)()
    return made


def _given(messages: Sequence[BaseMessage]) -> list[Given]:
    return [
        Given(one, theirs.additional_kwargs.get(MARK)) for one, theirs in zip(_ours(messages), messages, strict=True)
    ]


def _ours(messages: Sequence[BaseMessage]) -> list[Message]:
    """Messages of langchain as ours, by way of the OpenAI form."""
    convert = foreign("langchain_core.messages", _PACKAGE).convert_to_openai_messages
    found = []
    for theirs in messages:
        message = Message.from_openai(convert(theirs))
        is_made = theirs.additional_kwargs.get("lc_source") or MARK in theirs.additional_kwargs
        found.append(replace(message, origin="harness") if is_made and message.role == "user" else message)
    return found


def _update(messages: Sequence[BaseMessage], result: Compacted) -> dict[str, Any] | None:
    """The change of an agent's state, or None where the list stays."""
    if result.error is not None:
        raise result.error
    if not result.changed:
        return None
    core = foreign("langchain_core.messages", _PACKAGE)
    everything = foreign("langgraph.graph.message", _PACKAGE).REMOVE_ALL_MESSAGES
    prompt = [one for one in messages if one.type == "system" and MARK not in one.additional_kwargs]
    after = (_theirs(messages, result, item) for item in result.items)
    return {"messages": [core.RemoveMessage(id=everything), *prompt, *after]}


def _theirs(messages: Sequence[BaseMessage], result: Compacted, item: Item) -> BaseMessage:
    place = result.place(item)
    if place is not None:
        return messages[place]
    if item.index is not None:
        return _edited(messages[result.places[item.index]], item.message)
    made: BaseMessage = foreign("langchain_core.messages", _PACKAGE).convert_to_messages([item.message.to_openai()])[0]
    made.additional_kwargs[MARK] = result.mark(item)
    return made


def _edited(theirs: BaseMessage, message: Message) -> BaseMessage:
    """A message of langchain with the content and the arguments of ours."""
    wire = message.to_openai()
    update: dict[str, Any] = {"content": wire["content"] if wire.get("content") is not None else theirs.content}
    if message.calls:
        arguments = {call.id: call.parsed() for call in message.calls}
        update["tool_calls"] = [one | {"args": arguments.get(one["id"]) or one["args"]} for one in theirs.tool_calls]
    changed: BaseMessage = theirs.model_copy(update=update)
    return changed


def policy(
    theirs: Callable[[list[BaseMessage]], list[BaseMessage]], *, name: str = "", trigger_tokens: int | float = 0.8
) -> CompactionPolicy:
    """A function from messages to messages, such as `trim_messages` with its settings, as a policy.

    It is called as it is and must ask no model: `policy(trim_messages(max_tokens=8_000, token_counter="approximate"))`.

    Args:
        theirs: The function, or a runnable.
        name: Shown in events; by default the function's own.
        trigger_tokens: Tokens from which it acts, or a share of the window.

    Raises:
        ConfigError: The trigger is not valid, or langchain is not installed.
    """
    foreign("langchain_core.messages", _PACKAGE)
    call = getattr(theirs, "invoke", theirs)
    shown = name or getattr(theirs, "name", None) or getattr(theirs, "__name__", type(theirs).__name__)
    return TheirPolicy(
        f"langchain {shown}",
        lambda view: _relisted(view, call(_placed(view)), "note"),
        trigger_tokens=trigger_tokens,
    )


def asking_policy(
    make: Callable[[BaseChatModel], AgentMiddleware], *, trigger_tokens: int | float | None = None
) -> CompactionPolicy:
    """Middleware that changes the messages before a request, such as `SummarizationMiddleware`, as a policy.

    Args:
        make: Makes the middleware from a chat model, which is asked by the driver:
            `lambda model: SummarizationMiddleware(model, trigger=("messages", 50))`.
        trigger_tokens: Tokens from which it acts, or a share of the window; None leaves that to the middleware.

    Raises:
        ConfigError: The trigger is not valid, or langchain is not installed.
    """

    def made(view: View) -> Sequence[Item] | None:
        update = make(_asking_model(view)).before_model({"messages": _placed(view)}, None)
        return None if not update else _relisted(view, update["messages"], "summary")

    name = type(make(_asking_model(None))).__name__
    return TheirPolicy(f"langchain {name}", made, trigger_tokens=trigger_tokens)


def _placed(view: View) -> list[BaseMessage]:
    """The prompt and the messages of a view as langchain's; each message has its place in the list as its id."""
    convert = foreign("langchain_core.messages", _PACKAGE).convert_to_messages
    messages: list[BaseMessage] = convert([item.message.to_openai() for item in view.input])
    for at, one in enumerate(messages):
        one.id = f"{MARK}-{at}"
    prompt = convert([{"role": "system", "content": view.system}]) if view.system else []
    return [*prompt, *messages]


def _relisted(view: View, after: Sequence[BaseMessage], how: How) -> Sequence[Item]:
    """What langchain made as items; a message that is as it was given stays what it is."""
    given = {one.id: one for one in _placed(view) if one.id}
    made: list[tuple[int | None, Message]] = []
    for one in after:
        if one.type in ("system", "remove"):
            continue
        place = int(one.id.rpartition("-")[2]) if one.id in given else None
        if place is None:
            made.append((None, replace(_ours([one])[0], origin="harness")))
        else:
            was = view.input[place].message
            made.append((place, was if one == given[one.id] else replace(was, content=_ours([one])[0].content)))
    return relisted(view, made, how)


def _asking_model(view: View | None) -> BaseChatModel:
    """A chat model that looks replies up in a view."""
    core = foreign("langchain_core.language_models.chat_models", _PACKAGE)
    messages = foreign("langchain_core.messages", _PACKAGE)
    outputs = foreign("langchain_core.outputs", _PACKAGE)

    def _generate(self: Any, asking: list[BaseMessage], *_: Any, **__: Any) -> Any:
        text = "" if view is None else asked(view, _ours(asking))
        return outputs.ChatResult(generations=[outputs.ChatGeneration(message=messages.AIMessage(content=text))])

    members = {"_generate": _generate, "_llm_type": property(lambda self: MARK)}
    made: BaseChatModel = type("AskingChatModel", (core.BaseChatModel,), members)()
    return made
