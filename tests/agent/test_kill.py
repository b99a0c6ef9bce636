from __future__ import annotations

from pathlib import Path

from harness_nb.core.rounds import UNANSWERED
from tests.agent.conftest import Make
from tests.agent.processes import end, start, wait_for, wait_until_file
from tests.agent.reading import all_valid, chats, talk_of

STREAM = """
import time
from harness_nb import HarnessAgent, ScriptedModel, MemoryConfig
from harness_nb.core.events import TextPiece

words = "".join(f"word{at} " for at in range(100_000))
agent = HarnessAgent(model=ScriptedModel(chat=["first answer", words], piece_chars=8, delay_seconds=0.002),
                     workspace="workspace", session="s", memory=MemoryConfig(flush="never"))
agent.ask("first question")
begun, told = time.monotonic(), False
for event in agent.follow("second question"):
    if isinstance(event, TextPiece) and not told and time.monotonic() - begun > 1.2:
        told = True
        print("ready", flush=True)
"""

TOOL = """
import pathlib, time
from harness_nb import HarnessAgent, ScriptedModel, MemoryConfig
from harness_nb.core.messages import ToolCall

def quick() -> str:
    return "quick result"

def slow() -> str:
    pathlib.Path("marker").write_text("running", encoding="utf-8")
    time.sleep(60)
    return "never"

calls = [ToolCall("c1", "quick"), ToolCall("c2", "slow"), ToolCall("c3", "quick")]
agent = HarnessAgent(model=ScriptedModel(chat=["first answer", calls]), workspace="workspace", session="s",
                     tools=[quick, slow], memory=MemoryConfig(flush="never"))
agent.ask("first question")
agent.ask("second question")
"""


def test_a_kill_in_the_middle_of_a_stream_loses_nothing_that_had_been_said(make: Make, workspace: Path) -> None:
    process = start(STREAM, workspace.parent)
    try:
        wait_for(process)
    finally:
        end(process)
    agent = make("third answer", session="s")
    said = [message.text for message in agent.messages]
    assert said[:3] == ["first question", "first answer", "second question"]
    assert said[3].startswith("word0 word1 word2 ") and agent.messages[3].finish == "interrupted"
    agent.ask("third question")
    assert [message.text for message in talk_of(chats(agent)[0])][-1] == "third question"
    assert all_valid(agent)
    agent.close()
    assert [message.text for message in make("x", session="s").messages] == [*said, "third question", "third answer"]


def test_a_kill_in_the_middle_of_a_tool_loses_nothing_that_had_been_said(make: Make, workspace: Path) -> None:
    process = start(TOOL, workspace.parent)
    try:
        wait_until_file(workspace.parent / "marker")
    finally:
        end(process)
    agent = make("third answer", session="s")
    assert [message.text for message in agent.messages] == [
        "first question", "first answer", "second question", "", "quick result",
    ]  # fmt: skip
    assert any("c2" in warning for warning in agent.warnings)
    agent.ask("third question")
    sent = talk_of(chats(agent)[0])
    assert [(message.call_id, message.text) for message in sent if message.role == "tool"] == [
        ("c1", "quick result"), ("c2", UNANSWERED), ("c3", UNANSWERED),
    ]  # fmt: skip
    assert all_valid(agent)
