"""What the harness itself costs: `python tests/benchmarks/harness_cost.py`. Exits 1 when a limit is passed.

CPU time of the whole process per model call, with a model that answers at once, at three lengths of the conversation:
ours with its session log written to disk and nothing triggering, beside smolagents and langchain, which keep theirs in
memory, where they are installed (the extra `bench`). Then counting tokens: the first time beside plain tiktoken, and again.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_nb import CompactionConfig, HarnessAgent, MemoryConfig, Message
from harness_nb.core.limits import ModelLimits
from harness_nb.core.tokens import Measure
from harness_nb.model.base import Delta, ModelRequest, TextDelta
from harness_nb.model.tokenizer import counter_for

LENGTHS = (50, 500, 5_000)
CALLS, ROUNDS = 40, 7
LIMIT_MS = 0.5
TEXT = "The solver went from RK45 to DOP853, because the old one drifted after two hours of run time. " * 3
ANSWER = "Noted."
COUNTED = 1_000
AGAIN_LIMIT_MS = 1.0

Ask = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of the table: milliseconds at each length, and the limit if there is one."""

    name: str
    times: tuple[float, ...]
    limit: float | None = None

    @property
    def is_kept(self) -> bool:
        """Whether every time is within the limit."""
        return self.limit is None or max(self.times) <= self.limit

    def __str__(self) -> str:
        verdict = "" if self.limit is None else "ok" if self.is_kept else "ABOVE THE LIMIT"
        limit = "" if self.limit is None else f"{self.limit:.2f}"
        return f"{self.name:<34}" + "".join(f"{one:>12.3f}" for one in self.times) + f"{limit:>8}  {verdict}"


class AtOnce:
    """A model that answers at once and keeps nothing."""

    limits = ModelLimits(name="at-once", window=10**9)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Message]:
        """One piece and the reply."""
        yield TextDelta(ANSWER)
        yield Message.assistant(ANSWER, finish="stop")


def cpu_ms(ask: Ask, calls: int = CALLS) -> float:
    """CPU time of one call: the least of several rounds, since everything else only adds to it."""
    ask()
    rounds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(calls):
            ask()
        rounds.append((time.process_time() - begin) / calls * 1_000)
    return min(rounds)


@contextmanager
def ours(length: int) -> Iterator[Ask]:
    """An agent of this package with so many messages behind it."""
    quiet = CompactionConfig(trigger_messages=0, trigger_tokens=10**8)
    with (
        tempfile.TemporaryDirectory(prefix="hnb-") as folder,
        HarnessAgent(
            model=AtOnce(),
            workspace=Path(folder) / "ws",
            compaction=quiet,
            memory=MemoryConfig(flush="never"),
            session="s",
        ) as agent,
    ):
        files = agent.workspace.session(agent.name, agent.session)
        agent.close()
        files.append([_record(at) for at in range(length)])
        agent.reset("s")
        assert len(agent.messages) == length
        yield lambda: agent.ask(TEXT)


def _record(index: int) -> dict[str, object]:
    role = "assistant" if index % 2 else "user"
    return {"kind": "message", "index": index, "message": {"role": role, "content": TEXT}}


@contextmanager
def smolagents(length: int) -> Iterator[Ask]:
    """A tool-calling agent of smolagents."""
    from smolagents import ToolCallingAgent
    from smolagents.memory import ActionStep, TaskStep
    from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model
    from smolagents.monitoring import LogLevel, Timing

    class Fixed(Model):
        def generate(self, messages: object, **_: object) -> ChatMessage:
            function = ChatMessageToolCallFunction(name="final_answer", arguments={"answer": ANSWER})
            call = ChatMessageToolCall(function=function, id="c", type="function")
            return ChatMessage(role=MessageRole.ASSISTANT, content=ANSWER, tool_calls=[call])

    agent = ToolCallingAgent(tools=[], model=Fixed(model_id="fixed"), verbosity_level=LogLevel.OFF)
    agent.run(TEXT)
    for at in range(length // 2):
        agent.memory.steps.append(TaskStep(task=TEXT))
        agent.memory.steps.append(ActionStep(step_number=at, timing=Timing(0, 1), model_output=TEXT))
    yield lambda: agent.run(TEXT, reset=False)


@contextmanager
def langchain(length: int) -> Iterator[Ask]:
    """An agent of langchain, given its messages at each call."""
    from langchain.agents import create_agent
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Fixed(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "fixed"

        def _generate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:
            return ChatResult(generations=[ChatGeneration(message=AIMessage(ANSWER))])

    agent = create_agent(Fixed(), tools=[])
    said: list[BaseMessage] = [(AIMessage if at % 2 else HumanMessage)(TEXT) for at in range(length)]

    def ask() -> None:
        said[:] = agent.invoke({"messages": [*said, HumanMessage(TEXT)]})["messages"]

    yield ask


def cost_row(name: str, made: Callable[[int], object], limit: float | None = None) -> Row | None:
    """Measures one system at every length; None where it is not installed."""
    times = []
    for length in LENGTHS:
        try:
            with made(length) as ask:  # type: ignore[attr-defined]
                times.append(cpu_ms(ask, CALLS if limit is not None or length < 5_000 else 5))
        except ImportError:
            return None
    return Row(name, tuple(times), limit)


def counting_rows() -> list[Row]:
    """Counting messages: plain tiktoken over their texts, and a measure, the first time and again."""
    import tiktoken

    counter = counter_for("gpt-4o")
    messages = [Message.user(f"{at}. {TEXT * (at % 7 + 1)}") for at in range(COUNTED)]
    encoding = tiktoken.get_encoding(counter.name.removeprefix("tiktoken "))
    plain = min(
        _timed(lambda: sum(len(encoding.encode(one.text, disallowed_special=())) for one in messages)) for _ in range(5)
    )
    measures = [Measure(counter) for _ in range(5)]
    first = min(_timed(lambda one=measure: one.total(messages)) for measure in measures)  # type: ignore[misc]
    again = min(_timed(lambda: measures[0].total(messages)) for _ in range(5))
    return [
        Row("plain tiktoken", (plain,)),
        Row("a measure, the first time", (first,), plain * 1.02),  # two per cent are the clock's
        Row("a measure, again", (again,), AGAIN_LIMIT_MS),
    ]


def _timed(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1_000


def main() -> int:
    """Prints both tables and says whether every limit was kept."""
    print(f"{'CPU ms per model call, messages:':<34}" + "".join(f"{one:>12,}" for one in LENGTHS) + f"{'limit':>8}")
    rows = []
    for name, made, limit in (
        ("harness_nb", ours, LIMIT_MS),
        ("smolagents", smolagents, None),
        ("langchain", langchain, None),
    ):
        row = cost_row(name, made, limit)
        print(row or f"{name:<34}not installed (pip install -e '.[bench]')", flush=True)
        rows += [row] if row else []
    print(f"\n{f'CPU ms for {COUNTED:,} messages':<34}")
    for row in counting_rows():
        print(row, flush=True)
        rows.append(row)
    return 0 if all(row.is_kept for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
