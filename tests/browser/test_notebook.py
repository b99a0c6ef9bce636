"""The main path in a real JupyterLab: what a person sees, and what came back to kernel and disk."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from tests.browser.conftest import Book, value_of

pytestmark = pytest.mark.browser

Open = Callable[..., Book]

AGENT = """\
%load_ext harness_nb
from harness_nb import HarnessAgent, ScriptedModel
answer = " ".join(f"word{n}" for n in range(60)) + " costs $5 and then $7 <b>x</b>"
model = ScriptedModel(chat=[answer], flush=["- Ana reviews every schema change."], repeat_last=True, window=4_000,
                      piece_chars=12, delay_seconds=0.04, reports_usage=True)
lab = HarnessAgent("lab", model=model, workspace="WORKSPACE")
%agent use lab"""


WATCH = """() => {
    window.seen = new Set();
    setInterval(() => window.seen.add(document.querySelectorAll('.jp-Cell')[1]?.innerText || ''), 40);
}"""
"""Keeps every text that the second cell shows."""


def agent_in(workspace: str) -> str:
    """A cell that makes an agent."""
    return AGENT.replace("WORKSPACE", workspace)


def test_an_answer_streams_and_what_is_remembered_is_found(open_book: Open) -> None:
    book = open_book(
        "stream.ipynb",
        [agent_in("ws1"), "%%agent --out reply\nGo.", "%memory search schema", "reply.text == answer"],
    )
    book.page.evaluate(WATCH)
    book.run_all(wait=False)
    book.wait_for_text(3, "True")
    unfinished = {text for text in book.page.evaluate("[...window.seen]") if "word" in text and "▍" in text}
    assert len(unfinished) >= 3
    assert "1 step" in book.text(1) and "costs $5 and then $7 <b>x</b>" in book.text(1)
    assert "Ana reviews every [schema] change." in book.text(2)
    assert [output["output_type"] for output in book.outputs()[1]] == ["display_data", "execute_result"]


def test_the_pressure_widget_follows_the_agent_and_stays_when_reopened_without_a_kernel(open_book: Open) -> None:
    cells = [agent_in("ws2"), "%context", "%%agent --no-stream\nGo.", "lab.view().tokens"]
    book = open_book("pressure.ipynb", cells)
    book.run_all()
    assert "Context pressure" in book.text(1)
    book.wait_for_text(1, "assistant")
    tokens = int(book.text(3).split(":")[-1])
    shown = re.search(r"([\d.]+)(k?) of 4k tokens", book.text(1))
    assert shown and abs(float(shown[1]) * (1000 if shown[2] else 1) - tokens) < 60
    widget = book.page.locator(".jp-Cell").nth(1).locator(".widget-html").filter(has=book.page.locator("img"))
    assert widget.count() == 1
    assert widget.locator("img").first.evaluate("img => img.complete && img.naturalWidth > 0")
    book.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    again = open_book("pressure.ipynb")
    again.wait_for_text(1, "Context pressure")
    assert "tool schemas" in again.text(1)


def test_texts_are_shown_exactly_and_no_formula_is_made(open_book: Open) -> None:
    cells = ["%load_ext harness_nb\nfrom harness_nb import Message", "Message.user('costs $5 and then $7 per run')",
             "from harness_nb import Transcript\nTranscript([Message.user(r'costs $5 and then $7 and \\(x\\) <b>')])"]  # fmt: skip
    book = open_book("exact.ipynb", cells)
    book.run_all()
    book.page.wait_for_timeout(1_500)
    assert "costs $5 and then $7 per run" in book.text(1)
    assert "costs $5 and then $7 and \\(x\\) <b>" in book.text(2)
    assert book.page.locator("mjx-container").count() == 0


def test_a_mistake_is_shown_in_a_few_lines_and_stops_the_run(open_book: Open) -> None:
    book = open_book("error.ipynb", ["%load_ext harness_nb", "%memory serch x", "1 + 1"])
    book.run_all(wait=False)
    book.wait_for_text(1, "Did you mean")
    assert book.text(1).strip().splitlines() == ["%memory has no sub-command 'serch'.", "Did you mean %memory search?"]
    assert book.outputs()[2] == []


def test_the_stop_button_ends_a_turn_within_moments_and_keeps_what_had_come(open_book: Open) -> None:
    slow = agent_in("ws3").replace("delay_seconds=0.04", "delay_seconds=0.5")
    book = open_book("stop.ipynb", [slow, "%%agent\nGo slowly."])
    book.run_all(wait=False)
    book.wait_for_text(1, "word")
    begun = time.monotonic()
    book.command("notebook:interrupt-kernel")
    book.wait_for_text(1, "KeyboardInterrupt")
    assert time.monotonic() - begun < 3
    assert "Stopped" in book.text(1) and "word0" in book.text(1)


def test_notebook_7_shows_a_stream_and_a_widget_whose_blocks_are_read_by_a_click(open_book: Open) -> None:
    cells = [agent_in("ws7"), "%%agent --out reply\nGo.", "cut = CutoffWidget(talk)\ncut", "reply.text == answer"]
    cells[0] += (
        "\nfrom harness_nb import CutoffWidget, Message, Transcript"
        "\ntalk = Transcript([m for n in range(40) for m in (Message.user(f'q{n} ' * 9), Message.assistant(f'a{n} ' * 9))])"
    )
    book = open_book("seven.ipynb", cells, place="notebooks")
    book.page.evaluate(WATCH)
    book.run_all()
    assert book.page.locator("#jp-NotebookLogo, .jp-NotebookKernelLogo").count() > 0
    assert len({text for text in book.page.evaluate("[...window.seen]") if "word" in text and "▍" in text}) >= 3
    assert "True" in book.text(3)
    strip = book.page.locator(".jp-Cell").nth(2).locator(".hnb-widget .hnb-strip").first
    strip.click(position={"x": strip.bounding_box()["width"] * 0.2, "y": 20})
    book.wait_for_text(2, "read block")
    book.wait_for("/message \\d+ · (user|assistant)/.test(document.querySelectorAll('.jp-Cell')[2].innerText)")
    position = int(value_of(book, "cut.block.value"))
    assert position >= 0 and f"message {position} ·" in book.text(2)
