from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness_nb import presets, replay
from harness_nb.core.config import TruncateArgsConfig
from harness_nb.errors import ConfigError
from harness_nb.lab.adapters import langchain
from harness_nb.model.scripted import ScriptedModel
from tests.gates import need
from tests.lab.adapters.talks import RULE, talk, transcript

need("langchain", "langgraph")

from langchain.agents import create_agent  # noqa: E402 - the tests need the package
from langchain.agents.middleware import SummarizationMiddleware  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import (  # noqa: E402
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    convert_to_messages,
    trim_messages,
)
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402

KEEPS_FOUR = presets.get("harness", keep_messages=4, trigger_messages=20)


def theirs(turns: int = 30, *, with_tools: bool = False) -> list[BaseMessage]:
    return convert_to_messages([one.to_openai() for one in talk(turns, with_tools=with_tools)])


def answering(*texts: str) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter(AIMessage(content=text) for text in texts))


def test_before_a_request_the_policy_replaces_the_messages_and_what_stays_is_the_same_object() -> None:
    said = theirs()
    update = langchain.middleware(KEEPS_FOUR).before_model({"messages": said}, None)
    remove, prompt, *after = update["messages"]
    assert isinstance(remove, RemoveMessage) and prompt is said[0] and after[-1] is said[-1] and len(after) < 12
    assert any(RULE in one.text for one in after)


def test_below_its_trigger_nothing_is_replaced() -> None:
    assert langchain.middleware(KEEPS_FOUR).before_model({"messages": theirs(3)}, None) is None


def test_the_awaited_form_does_the_same() -> None:
    said = theirs()
    middleware = langchain.middleware(KEEPS_FOUR)
    awaited = asyncio.run(middleware.abefore_model({"messages": said}, None))
    now = middleware.before_model({"messages": said}, None)
    assert [one.text for one in awaited["messages"][1:]] == [one.text for one in now["messages"][1:]]


def test_an_agent_of_langchain_runs_with_it_and_goes_on_from_a_checkpoint() -> None:
    agent = create_agent(
        answering(*(f"Answer {at}." for at in range(40))),
        middleware=[langchain.middleware(KEEPS_FOUR)],
        checkpointer=InMemorySaver(),
    )
    thread: Any = {"configurable": {"thread_id": "t"}}
    agent.invoke({"messages": [HumanMessage(f"Hello. {RULE}")]}, thread)
    for at in range(25):
        agent.invoke(
            {"messages": [HumanMessage(f"Question {at} about long rows in the importer of the tool.")]}, thread
        )
    messages = agent.get_state(thread).values["messages"]
    assert len(messages) < 22 and messages[-1].text == "Answer 25."
    assert sum("<standing_instructions>" in one.text and RULE in one.text for one in messages) == 1
    assert sum("<summary_of_earlier_conversation>" in one.text for one in messages) == 1


def test_arguments_that_a_policy_shortens_are_shortened_in_langchains_messages() -> None:
    said = theirs(with_tools=True)
    said[4].tool_calls[0]["args"] = {"path": "p" * 900}
    shortening = TruncateArgsConfig(trigger_messages=10, keep_messages=4, max_arg_length=50)
    middleware = langchain.middleware(presets.get("harness", trigger_messages=500, truncate_args=shortening))
    _, *after = middleware.before_model({"messages": said}, None)["messages"]
    assert len(after[4].tool_calls[0]["args"]["path"]) < 100 and after[4].tool_calls[0]["id"] == "call-0"
    assert all(one is other for at, (one, other) in enumerate(zip(after, said, strict=True)) if at != 4)


def test_trimming_is_a_policy_and_its_broken_rounds_are_completed() -> None:
    policy = langchain.policy(trim_messages(max_tokens=300, token_counter="approximate"), trigger_tokens=900)
    run = replay(transcript(30, with_tools=True), policy, window=2_000, model=None)
    step = next(step for step in run.steps if step.outcome == "compacted")
    assert step.tokens_after < step.tokens_before
    assert run.final.input[-1].message.text == "And what now?"


def test_summarization_middleware_is_a_policy_whose_summary_the_driver_asks_for() -> None:
    policy = langchain.asking_policy(
        lambda model: SummarizationMiddleware(model, trigger=("messages", 12), keep=("messages", 4))
    )
    model = ScriptedModel(summary=["Rows were split."], repeat_last=True)
    run = replay(transcript(30), policy, window=100_000, model=model)
    written = [item for item in run.final.input if item.how == "summary"]
    assert policy.name == "langchain SummarizationMiddleware" and model.requests
    assert len(written) == 1 and "Rows were split." in written[0].message.text


def test_a_function_of_messages_is_a_policy() -> None:
    policy = langchain.policy(lambda messages: messages[-3:], name="last three", trigger_tokens=600)
    assert policy.name == "langchain last three"
    assert replay(transcript(30), policy, window=2_000, model=None).totals.compactions > 0


def test_what_can_be_no_policy_is_refused() -> None:
    with pytest.raises(ConfigError, match="trigger_tokens='soon'"):
        langchain.policy(lambda messages: messages, trigger_tokens="soon")  # type: ignore[arg-type]
