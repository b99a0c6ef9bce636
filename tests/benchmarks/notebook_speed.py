"""How quick the notebook's face is: `python -m tests.benchmarks.notebook_speed`. Exits 1 when a limit is passed.

A slider is moved as a front-end moves it, by a message with its new state; the time ends when the last new state has been
sent, in the kernel. In the browser it is moved by a key in a real JupyterLab, and the time ends when the strip has been drawn
anew. Results are drawn in both forms, and their size is that of the larger one. What happens in one process is judged by the
time that it had the processor, so that a busy computer gives the same verdict; what the clock said stands beside it.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

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

PROJECT = Path(__file__).parent.parent.parent
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


class Spent(NamedTuple):
    """Milliseconds that something took."""

    processor: float
    clock: float


def spent(work: Callable[[], object]) -> Spent:
    """How long something takes in this thread and by the clock."""
    begun, processor = time.perf_counter(), time.thread_time()
    work()
    return Spent((time.thread_time() - processor) * 1_000, (time.perf_counter() - begun) * 1_000)


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    name: str
    times: tuple[Spent, ...]
    limit_ms: float
    size: int = 0
    is_counted: bool = True

    @property
    def median_ms(self) -> float:
        """Median of the processor's time."""
        return statistics.median(one.processor for one in self.times)

    @property
    def is_kept(self) -> bool:
        """Whether median and size are within their limits."""
        return not self.is_counted or (self.median_ms <= self.limit_ms and self.size <= REPR_LIMIT_BYTES)

    def __str__(self) -> str:
        clock = [one.clock for one in self.times]
        spread = f"{statistics.median(clock):7.1f} ({min(clock):.1f} … {max(clock):.1f})"
        size = f"{self.size:,} B" if self.size else ""
        verdict = "" if not self.is_counted else "ok" if self.is_kept else "ABOVE THE LIMIT"
        limit = f"{self.limit_ms:,.0f}" if self.is_counted else ""
        return f"{self.name:<44} {self.median_ms:8.1f}  {spread:>28}  {limit:>6}  {size:>9}  {verdict}"


def moved(slider: Any, value: int) -> Spent:
    """The time from a front-end's message to the last new state that is sent for it."""
    message = {"content": {"data": {"method": "update", "state": {"value": value}, "buffer_paths": []}}, "buffers": []}
    return spent(lambda: slider._handle_msg(message))


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
            times.append(spent(draw))
            size = max(len(str(form).encode()) for form in draw().values())
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
            time_of_one = spent(partial(bundle, result))
            size = max(len(str(form).encode()) for form in bundle(result).values())
            figures.append(Figure(type(result).__name__, (time_of_one,), REPR_LIMIT_MS, size))
    return figures


BROWSER_CELL = """\
import sys
sys.path.insert(0, {project!r})
from tests.benchmarks.notebook_speed import talk
from harness_nb import TunerWidget
tuner = TunerWidget(talk({messages}), "harness")
tuner.settle(120)
tuner"""

PRESS = """async () => {
    const strip = () => document.querySelector('.hnb-widget .hnb-strip img').src;
    const before = strip(), begun = performance.now();
    const handle = [...document.querySelectorAll('[role=slider]')][2];
    handle.focus();
    handle.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    while (strip() === before && performance.now() - begun < 8000) await new Promise(requestAnimationFrame);
    if (strip() === before) return null;
    await new Promise(requestAnimationFrame);
    return performance.now() - begun;
}"""
"""Presses a key on the slider of `keep_messages` and waits until another strip is on the screen; null where the cut is where it was."""


def browser_figures() -> Iterator[Figure]:
    """A key on a slider to the redrawn strip, in a real JupyterLab; nothing where there is no Chromium."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, Book, running_lab

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        return
    with tempfile.TemporaryDirectory() as folder, running_lab(Path(folder)) as lab, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        for messages in SIZES:
            name = f"speed{messages}.ipynb"
            lab.write(name, [BROWSER_CELL.format(project=str(PROJECT), messages=messages)])
            page = browser.new_page(viewport={"width": 1100, "height": 1600})
            book = Book(page, lab, name)
            book.run_all()
            page.wait_for_selector(".hnb-widget .hnb-strip img", timeout=120_000)
            times = filter(None, (page.evaluate(PRESS) for _ in range(RUNS[messages])))
            shown = tuple(Spent(one, one) for one in times)
            yield Figure(f"tuner to the redrawn strip, {messages:,} messages", shown, 0, is_counted=False)
            page.close()
        browser.close()


def main() -> int:
    """Prints the table and says whether every limit was kept."""
    head = ("median, in milliseconds", "processor", "by the clock (least … most)", "limit", "size")
    print(f"{head[0]:<44} {head[1]:>8}  {head[2]:>28}  {head[3]:>6}  {head[4]:>9}")
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for figure in chain(
            chain.from_iterable(map(slider_figures, SIZES)),
            chain.from_iterable(map(repr_figures, SIZES)),
            agent_figures(),
            browser_figures(),
        ):
            print(figure, flush=True)
            kept = kept and figure.is_kept
        os.chdir("/")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
