"""How quick the notebook's face is: `python tests/benchmarks/notebook_speed.py`. Exits 1 when a limit is passed.

A slider is moved as a front-end moves it, by a message with its new state; the time ends when the last new state has been
sent, in the kernel. Results are drawn in both forms, and their size is that of the larger one.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from harness_nb import (
    CutoffWidget,
    HarnessAgent,
    Message,
    ScriptedModel,
    Transcript,
    TunerWidget,
    View,
    presets,
    replay,
)
from harness_nb.core.messages import ToolCall
from harness_nb.notebook.widgets.pressure import PressureWidget
from harness_nb.render.results import bundle, card_bundle

SIZES = (100, 1_000, 10_000)
RUNS = {100: 50, 1_000: 50, 10_000: 15}
SLIDER_LIMIT_MS = {100: 100.0, 1_000: 100.0, 10_000: 1_000.0}
REPR_LIMIT_MS = 50.0
REPR_LIMIT_BYTES = 20_000


def talk(messages: int) -> Transcript:
    """A conversation of that length: a question, a call with its result of a few thousand characters, an answer."""
    said: list[Message] = []
    for at in range(messages // 4):
        call = ToolCall(f"c{at}", "read_file", f'{{"path": "src/module_{at % 17}.py", "lines": [{at}, {at + 40}]}}')
        said += [
            Message.user(f"What does function {at} in module {at % 17} do, and who calls it?"),
            Message.assistant("I look at it.", calls=(call,)),
            Message.tool(f"c{at}", f"line {at}: value = compute({at % 7})\n" * (20 + at % 60), name="read_file"),
            Message.assistant(f"Function {at} computes value {at % 7}; module {at % 5} calls it. " * 4),
        ]
    return Transcript(said, name=f"{messages:,} messages")


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    name: str
    times: tuple[float, ...]
    limit_ms: float
    size: int = 0
    is_counted: bool = True

    @property
    def is_kept(self) -> bool:
        """Whether median and size are within their limits."""
        return not self.is_counted or (statistics.median(self.times) <= self.limit_ms and self.size <= REPR_LIMIT_BYTES)

    def __str__(self) -> str:
        spread = f"{min(self.times):6.1f} … {max(self.times):6.1f}"
        size = f"{self.size:,} B" if self.size else ""
        verdict = "" if not self.is_counted else "ok" if self.is_kept else "ABOVE THE LIMIT"
        limit = f"{self.limit_ms:,.0f}" if self.is_counted else ""
        return f"{self.name:<52} {statistics.median(self.times):8.1f}  {spread:>17}  {limit:>6}  {size:>9}  {verdict}"


def moved(slider: Any, value: int) -> float:
    """Milliseconds from a front-end's message to the last new state that is sent for it."""
    message = {"content": {"data": {"method": "update", "state": {"value": value}, "buffer_paths": []}}, "buffers": []}
    begun = time.perf_counter()
    slider._handle_msg(message)
    return (time.perf_counter() - begun) * 1_000


def slider_figures(messages: int) -> list[Figure]:
    """The sliders of the tuner and of the cutoff widget."""
    conversation = talk(messages)
    figures = []
    for policy, setting in (("harness", "keep_messages"), ("eney", "tier2_keep_messages")):
        tuner = TunerWidget(conversation, policy)
        tuner.settle(120)
        times = []
        for run in range(RUNS[messages]):
            times.append(moved(tuner.columns[0].settings[setting], 5 + run % 20))
            tuner.settle(120)
        tuner.close()
        is_counted = policy == "harness"
        figures.append(
            Figure(
                f"tuner, {policy}, {messages:,} messages",
                tuple(times),
                SLIDER_LIMIT_MS[messages],
                is_counted=is_counted,
            )
        )
    cutoff = CutoffWidget(conversation)
    times = tuple(moved(cutoff.keep, 5 + run % 20) for run in range(RUNS[messages]))
    cutoff.close()
    return [*figures, Figure(f"cutoff, {messages:,} messages", times, SLIDER_LIMIT_MS[messages])]


def repr_figures(messages: int) -> list[Figure]:
    """Both forms of what shows a conversation of that length."""
    conversation = talk(messages)
    run = replay(conversation, "harness", model=None)
    view = View.of(conversation, hook="manual")
    plan = presets.get("harness").policy.plan(view)
    widgets = {"CutoffWidget": CutoffWidget(conversation), "PressureWidget": PressureWidget(run), "TunerWidget": TunerWidget(conversation)}  # fmt: skip
    shown: dict[str, Callable[[], dict[str, Any]]] = {
        "Transcript": lambda: bundle(conversation),
        "View": lambda: bundle(view),
        "Plan": lambda: bundle(plan),
        "Replay": run._repr_mimebundle_,
        **{name: (lambda widget=widget: card_bundle(widget.card())) for name, widget in widgets.items()},
    }
    figures = []
    for name, draw in shown.items():
        draw()
        times, size = [], 0
        for _ in range(9):
            begun = time.perf_counter()
            forms = draw()
            times.append((time.perf_counter() - begun) * 1_000)
            size = max(len(str(form).encode()) for form in forms.values())
        figures.append(Figure(f"{name}, {messages:,} messages", tuple(times), REPR_LIMIT_MS, size))
    for widget in widgets.values():
        widget.settle(120)
        widget.close()
    return figures


def agent_figures() -> list[Figure]:
    """What an agent answers with, after some turns."""
    model = ScriptedModel(chat=["word " * 200], flush=["- A fact was noted."], repeat_last=True)
    with HarnessAgent("bench", model=model, workspace=".bench/workspace") as agent:
        for turn in range(20):
            agent.ask(f"question {turn}")
        results = [agent.status(), agent.plan(), agent.memory.status(), agent.memory.log(), agent.memory.pending()]
        figures = []
        for result in results:
            begun = time.perf_counter()
            forms = bundle(result)
            spent = (time.perf_counter() - begun) * 1_000
            size = max(len(str(form).encode()) for form in forms.values())
            figures.append(Figure(type(result).__name__, (spent,), REPR_LIMIT_MS, size))
    return figures


def main() -> int:
    """Prints the table and says whether every limit was kept."""
    import os
    import tempfile

    print(f"{'median, in milliseconds':<52} {'median':>8}  {'least … most':>17}  {'limit':>6}  {'size':>9}")
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for figure in chain(
            chain.from_iterable(map(slider_figures, SIZES)),
            chain.from_iterable(map(repr_figures, SIZES)),
            agent_figures(),
        ):
            print(figure, flush=True)
            kept = kept and figure.is_kept
        os.chdir("/")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
