from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness_nb.agent.runner import runner
from harness_nb.core.config import MemoryConfig
from harness_nb.core.events import TextPiece, TurnFinished
from harness_nb.core.messages import ToolCall
from harness_nb.errors import HarnessError
from harness_nb.model.scripted import ScriptedModel
from tests.agent.conftest import Make


def test_r090_blocking_in_a_script(make: Make) -> None:
    assert make("hi").ask("hello").text == "hi"


def test_r090_blocking_inside_a_running_loop_as_in_a_cell(make: Make) -> None:
    agent = make("hi")

    async def cell() -> str:
        return agent.ask("hello").text

    assert asyncio.run(cell()) == "hi"


def test_r090_awaited_on_the_callers_loop(make: Make) -> None:
    agent = make("hi", "there")

    async def cell() -> list[str]:
        return [(await agent.aask("hello")).text, (await agent.aask("more")).text]

    assert asyncio.run(cell()) == ["hi", "there"]


def test_r090_awaited_on_one_loop_after_another(make: Make) -> None:
    agent = make("one", "two", "three")
    assert asyncio.run(agent.aask("a")).text == "one"  # type: ignore[arg-type]
    assert agent.ask("b").text == "two"
    assert asyncio.run(agent.aask("c")).text == "three"  # type: ignore[arg-type]


def test_r090_in_a_thread_and_in_many_threads_with_an_agent_each(make: Make) -> None:
    agents = [make(f"hi {at}", name=f"agent{at}") for at in range(4)]
    heard: dict[int, str] = {}

    def work(at: int) -> None:
        heard[at] = agents[at].ask("hello").text

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {at: f"hi {at}" for at in range(4)}


def test_a_stream_yields_the_pieces_as_they_come_and_sets_the_last_reply(make: Make) -> None:
    agent = make(model=ScriptedModel(chat=["one two three"], piece_chars=4))

    async def cell() -> list[str]:
        return [event.text async for event in agent.stream("go") if isinstance(event, TextPiece)]

    assert asyncio.run(cell()) == ["one ", "two ", "thre", "e"]
    assert agent.last_reply is not None and agent.last_reply.text == "one two three"


def test_followed_events_come_in_the_calling_thread_while_the_turn_runs(make: Make) -> None:
    agent = make(model=ScriptedModel(chat=["one two three"], piece_chars=4))
    seen = [(type(event), threading.current_thread() is threading.main_thread()) for event in agent.follow("go")]
    assert seen[-1] == (TurnFinished, True) and all(here for _, here in seen)
    assert agent.last_reply is not None and agent.last_reply.text == "one two three"


def test_a_blocking_call_on_the_agents_own_loop_is_refused_with_the_way_out(make: Make) -> None:
    other = make("never", name="other")

    async def ask_another() -> str:
        return other.ask("hello").text

    agent = make([ToolCall("c1", "ask_another")], "done", tools=[ask_another])
    agent.ask("go")
    assert "aask()" in next(message.text for message in agent.messages if message.role == "tool")


def test_an_async_tool_may_await_another_agent(make: Make) -> None:
    other = make("from the other", name="other")

    async def ask_another() -> str:
        return (await other.aask("hello")).text

    agent = make([ToolCall("c1", "ask_another")], "done", tools=[ask_another])
    agent.ask("go")
    assert next(message.text for message in agent.messages if message.role == "tool") == "from the other"


def test_compact_works_blocking_and_awaited(make: Make) -> None:
    agent = make("a")
    agent.ask("q")
    assert str(agent.compact()).startswith("skipped: nothing is old enough")

    async def cell() -> str:
        return str(await agent.acompact())

    assert asyncio.run(cell()).startswith("skipped")


def test_one_loop_thread_serves_all_agents_and_tool_threads_end(make: Make) -> None:
    def look() -> str:
        return threading.current_thread().name

    for at in range(3):
        agent = make([ToolCall("c1", "look")], "ok", tools=[look], name=f"agent{at}")
        agent.ask("go")
        assert [message.text for message in agent.messages if message.role == "tool"] == ["harness_nb-tool"]
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("harness_nb-loop") == 1 and "harness_nb-tool" not in names


def test_a_loop_that_was_closed_is_made_anew(make: Make) -> None:
    agent = make("one", "two")
    agent.ask("a")
    runner.close()
    assert agent.ask("b").text == "two"


def test_waiting_on_the_loop_itself_is_refused() -> None:
    async def inside() -> None:
        async def nothing() -> None:
            pass

        runner.wait(nothing())

    with pytest.raises(HarnessError, match="wait for ever"):
        runner.wait(inside())


SCRIPT = """
import asyncio
from harness_nb import HarnessAgent

agent = HarnessAgent(workspace="ws")
print(agent.ask("My lab uses Python 3.11.").text != "")

async def main():
    print((await agent.aask("And it has two GPUs.")).text != "")
    print(agent.ask("blocking, inside a loop").text != "")
    return [event.kind async for event in agent.stream("streamed")][-1]

print(asyncio.run(main()))
"""


def test_r090_a_script_ends_by_itself_and_without_a_warning(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-X", "dev", "-W", "error", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, encoding="utf-8")
    assert done.stderr == "" and done.returncode == 0
    assert done.stdout.split()[:3] == ["True", "True", "True"] and done.stdout.split()[3] in (
        "turn_finished",
        "facts_written",
    )


def test_a_slow_flush_does_not_disturb_a_loop_that_is_closed_meanwhile(make: Make) -> None:
    may_end = threading.Event()

    async def slow(_: object) -> str:
        await asyncio.to_thread(may_end.wait, 10)
        return "NO_REPLY"

    agent = make(model=ScriptedModel(chat=["hi"], flush=[slow]), memory=MemoryConfig(flush="always"))
    assert asyncio.run(agent.aask("hello")).text == "hi"  # type: ignore[arg-type]
    may_end.set()
    agent.close()
