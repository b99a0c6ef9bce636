from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness_nb import presets, replay
from harness_nb.core.messages import Image, Opaque, Text, Thinking
from harness_nb.errors import ConfigError
from harness_nb.lab.adapters import inspect_ai
from harness_nb.lab.adapters.inspect_messages import edited, to_ours, to_theirs
from harness_nb.model.scripted import ScriptedModel
from tests.gates import need
from tests.lab.adapters.talks import RULE, talk, transcript

need("inspect_ai")

from inspect_ai.model import (  # noqa: E402 - the tests need the package
    ChatMessage,
    ChatMessageAssistant,
    CompactionAuto,
    CompactionEdit,
    CompactionNative,
    CompactionSummary,
    CompactionTrim,
    ContentData,
    ContentImage,
    ContentReasoning,
    ContentText,
    ModelOutput,
    compaction,
    get_model,
)

pytestmark = [
    pytest.mark.usefixtures("vocabularies"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),  # inspect_ai's use of tenacity
]

KEEPS_FOUR = presets.get("harness", keep_messages=4)


def theirs(turns: int = 30, *, with_tools: bool = False) -> list[ChatMessage]:
    return [to_theirs(one) for one in talk(turns, with_tools=with_tools)]


def compacted(strategy: Any, said: list[ChatMessage], text: str = "They spoke.", **options: Any) -> list[ChatMessage]:
    """The list that inspect_ai's own handler sends."""

    async def run() -> list[ChatMessage]:
        outputs = [ModelOutput.from_content("mockllm/model", text) for _ in range(9)]
        model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
        handler = compaction(strategy, prefix=said[:1], model=model)
        after, _ = await handler.compact_input(said, **options)
        return after

    return asyncio.run(run())


def test_inspects_handler_compacts_with_a_policy_and_what_stays_is_the_same_object() -> None:
    said = theirs()
    after = compacted(inspect_ai.strategy(KEEPS_FOUR, model="offline", threshold=900), said)
    assert after[0] is said[0] and after[-1] is said[-1] and len(after) < 12
    assert any(RULE in one.text for one in after)


def test_a_strategy_says_which_policy_it_is() -> None:
    assert inspect_ai.strategy("opencode", threshold=0.5)._repr_params_() == {"policy": "opencode", "threshold": 0.5}


def test_below_the_threshold_nothing_happens() -> None:
    said = theirs(2)
    assert compacted(inspect_ai.strategy("harness", threshold=100_000), said) == said


def test_inspects_model_writes_the_summary_unless_another_is_given() -> None:
    after = compacted(inspect_ai.strategy(KEEPS_FOUR, threshold=900), theirs(), "Rows were split.")
    assert any("Rows were split." in one.text and (one.metadata or {}).get("summary") for one in after)


def test_a_strategy_knows_what_it_made_in_an_earlier_compaction() -> None:
    strategy = inspect_ai.strategy(KEEPS_FOUR, model="offline", threshold=900)
    first = compacted(strategy, theirs())
    second = compacted(strategy, [*first, ChatMessageAssistant(content="Then this."), *theirs()[3:]])
    assert sum(bool((one.metadata or {}).get("summary")) for one in second) == 1
    assert sum("<standing_instructions>" in one.text for one in second) == 1


@pytest.mark.parametrize("name", ["harness", "opencode", "openharness"])
def test_inspect_takes_the_list_with_whole_rounds_of_calls(name: str) -> None:
    after = compacted(inspect_ai.strategy(name, model="offline", threshold=1_500), theirs(with_tools=True))
    calls = [call.id for one in after for call in getattr(one, "tool_calls", None) or ()]
    assert calls == [one.tool_call_id for one in after if one.role == "tool"]


def test_parts_that_are_no_text_go_there_and_back() -> None:
    content = [
        ContentReasoning(reasoning="hm", signature="s"),
        ContentText(text="look"),
        ContentImage(image="data:image/png;base64,AA=="),
        ContentData(data={"a": 1}),
    ]
    said = ChatMessageAssistant(content=content)
    ours = to_ours(said)
    assert list(map(type, ours.parts)) == [Thinking, Text, Image, Opaque]
    back = edited(said, ours.with_text("shorter"))
    assert [one.type for one in back.content] == ["reasoning", "text", "image", "data"]
    assert back.content[0] is content[0] and back.content[1].text == "shorter" and back.id != said.id


@pytest.mark.parametrize("strategy", [CompactionTrim(preserve=0.3), CompactionEdit(keep_tool_uses=1)])
def test_its_strategies_without_a_model_are_policies(strategy: Any) -> None:
    policy = inspect_ai.policy(strategy, trigger_tokens=900)
    run = replay(transcript(30, with_tools=True), policy, window=2_000, model=None)
    step = next(step for step in run.steps if step.outcome == "compacted")
    assert step.tokens_after < step.tokens_before and policy.name == f"inspect_ai {type(strategy).__name__}"
    assert all(one.asked == () for one in step.passes)


def test_what_edit_clears_is_told_as_cleared() -> None:
    policy = inspect_ai.policy(CompactionEdit(keep_tool_uses=1), trigger_tokens=900)
    run = replay(transcript(30, with_tools=True), policy, window=2_000, model=None)
    hows = {item.how for step in run.steps for one in step.passes if one.plan.input for item in one.plan.input}
    assert hows == {"kept", "cleared"}


@pytest.mark.parametrize("strategy", [CompactionSummary(), CompactionAuto()])
def test_its_summaries_are_asked_for_by_the_driver(strategy: Any) -> None:
    model = ScriptedModel(summary=["<analysis>a</analysis><summary>Rows.</summary>"], repeat_last=True)
    run = replay(transcript(30), inspect_ai.policy(strategy, trigger_tokens=600), window=2_000, model=model)
    assert model.requests
    written = [item.message.text for item in run.final.input if item.how == "summary"]
    assert written and "<summary>Rows.</summary>" in written[0] and "<analysis>" not in written[0]


def test_what_can_be_no_policy_is_refused() -> None:
    with pytest.raises(ConfigError, match="lets the provider compact"):
        inspect_ai.policy(CompactionNative())
    with pytest.raises(ConfigError, match="a model of its own"):
        inspect_ai.policy(CompactionSummary(model="mockllm/model"))
