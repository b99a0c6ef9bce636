"""The widgets in a real JupyterLab: what a click, a drag, a key and a check box change in the kernel and on disk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import Book, value_of

pytestmark = pytest.mark.browser

Open = Callable[..., Book]

TALK = """\
%load_ext harness_nb
from harness_nb import *
said = [m for n in range(40) for m in (Message.user(f"question {n} " * 20), Message.assistant(f"answer {n} " * 30))]
talk = Transcript(said, name="talk")"""

MEMORY = """\
%load_ext harness_nb
from pathlib import Path
from harness_nb import *
ws = Path("WORKSPACE/ws")
(ws / "memory").mkdir(parents=True)
_ = (ws / "memory" / "2026-04-12.md").write_text("- Default solver: DOP853 since 30 Nov.\\n- Ana reviews every schema change.\\n- The probe is Kappa.\\n")
_ = (ws / "MEMORY.md").write_text("# Memory\\n\\n- Default solver: RK45.\\n- Bo owns the budget.\\n- Rooms are booked by Ida.\\n- Runs start at noon.\\n")
new = "# Memory\\n\\n- Default solver: DOP853 since 30 Nov.\\n- Bo owns the budget.\\n- Rooms are booked by Ida.\\n- Runs start at noon.\\n- Ana reviews every schema change.\\n- The probe is Kappa.\\n"
model = ScriptedModel(chat=["word " * 60], flush=["NO_REPLY"], consolidation=[new], summary=["## SUMMARY\\nshort"], repeat_last=True, window=9_000)
lab = HarnessAgent("lab", model=model, workspace=ws, memory=MemoryConfig(review="always"), compaction=CompactionConfig(trigger_messages=30, keep_messages=2))
%agent use lab
report = lab.consolidate()"""


def memory_in(folder: str) -> str:
    """A cell that makes an agent with a proposal that waits."""
    return MEMORY.replace("WORKSPACE", folder)


def strip_of(book: Book, cell: int) -> Any:
    """The strip of a widget."""
    return book.page.locator(".jp-Cell").nth(cell).locator(".hnb-widget .hnb-strip").first


def wait_for_value(book: Book, expression: str, wanted: Callable[[str], bool]) -> str:
    """Asks the kernel until it answers as wanted."""
    found = ""
    for _ in range(20):
        found = value_of(book, expression)
        if wanted(found):
            return found
        book.page.wait_for_timeout(150)
    raise AssertionError(f"{expression} is {found!r}")


def test_a_click_on_a_block_reads_it(open_book: Open) -> None:
    book = open_book("click.ipynb", [TALK, "cut = CutoffWidget(talk)\ncut"])
    book.run_all()
    strip = strip_of(book, 1)
    box = strip.bounding_box()
    strip.click(position={"x": box["width"] * 0.25, "y": 20})
    position = int(wait_for_value(book, "cut.block.value", lambda text: text != "-1"))
    book.wait_for_text(1, f"message {position} ·")
    words = "question" if position % 2 == 0 else "answer"
    assert f"{words} {position // 2} {words}" in book.text(1)


def test_dragging_the_mark_moves_the_cut_between_rounds(open_book: Open) -> None:
    book = open_book("drag.ipynb", [TALK, "cut = CutoffWidget(talk)\ncut"])
    book.run_all()
    assert "cutoff at 60" in book.text(1)
    handle = strip_of(book, 1).locator(".hnb-handle")
    box, whole = handle.bounding_box(), strip_of(book, 1).bounding_box()
    book.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    book.page.mouse.down()
    book.page.mouse.move(whole["x"] + whole["width"] * 0.6, box["y"] + 10, steps=8)
    book.page.mouse.move(whole["x"] + whole["width"] * 0.3, box["y"] + 10, steps=8)
    book.page.mouse.up()
    keep = int(wait_for_value(book, "cut.keep.value", lambda text: 52 <= int(text) <= 60))
    book.wait_for_text(1, f"cutoff at {80 - keep}")
    assert f"keep_messages={keep}" in book.text(1)


def test_a_slider_of_the_tuner_changes_the_plan(open_book: Open) -> None:
    book = open_book("tuner.ipynb", [TALK, "tuner = TunerWidget(talk, 'harness', 'eney', window=8_000)\ntuner"])
    book.run_all()
    before = value_of(book, "tuner.columns[0].run.totals")
    slider = book.page.locator(".jp-Cell").nth(1).get_by_role("slider").nth(2)
    slider.focus()
    for _ in range(6):
        slider.press("ArrowLeft")
    keep = wait_for_value(book, "tuner.columns[0].preset.settings['keep_messages']", lambda text: text == "14")
    assert value_of(book, "tuner.columns[0].run.totals") != before
    book.wait_for_text(1, f"keep_messages={keep}")
    assert value_of(book, "tuner.columns[1].preset.settings['thresholds']") == "(75, 90, 95)"


def test_checked_changes_are_in_the_file_and_the_others_are_not(open_book: Open) -> None:
    book = open_book("accept.ipynb", [memory_in("wa"), "%memory pending", "%memory pending"])
    book.run_all()
    cell = book.page.locator(".jp-Cell").nth(1)
    assert "RK45" in value_of(book, "print((ws / 'MEMORY.md').read_text())")
    cell.get_by_role("checkbox").nth(1).uncheck()
    book.wait_for_text(1, "Apply 2 of 3")
    cell.get_by_role("button", name="Apply 2 of 3").click()
    book.wait_for_text(1, "accepted")
    text = value_of(book, "print((ws / 'MEMORY.md').read_text())")
    assert "DOP853" in text and "RK45" not in text and "Bo owns" in text
    book.wait_for_text(2, "1 change to review")  # the other widget of the same memory is in step
    left = value_of(book, "lab.memory.pending().candidates[0].changes[0].after")
    assert left.strip("'").removeprefix("- ") not in text


def test_rejecting_all_leaves_the_file_as_it_is(open_book: Open) -> None:
    book = open_book("reject.ipynb", [memory_in("wr"), "%memory pending"])
    book.run_all()
    before = value_of(book, "(ws / 'MEMORY.md').read_text()")
    book.page.locator(".jp-Cell").nth(1).get_by_role("button", name="Reject all").click()
    book.wait_for_text(1, "rejected")
    assert value_of(book, "(ws / 'MEMORY.md').read_text()") == before
    assert value_of(book, "len(lab.memory.pending().candidates)") == "0"


def test_two_cutoff_widgets_of_an_agent_are_in_step_and_compact_now_is_queued(open_book: Open) -> None:
    ask = "for n in range(4): _ = lab.ask(f'question {n}')"
    book = open_book("step.ipynb", [memory_in("ws"), ask, "%context plan", "%context plan"])
    book.run_all()
    book.page.locator(".jp-Cell").nth(2).get_by_role("button", name="Compact now").click()
    book.wait_for_text(2, "Compacting: completed")
    book.wait_for_text(3, "summaries and notes")
    assert value_of(book, "[e.outcome for e in lab.events if e.kind == 'compaction_finished']") == "['completed']"


def test_the_button_at_a_compaction_in_a_live_turn_opens_its_plan(open_book: Open) -> None:
    ask = "for n in range(14): _ = lab.ask(f'question {n}')"
    book = open_book("link.ipynb", [memory_in("wl"), ask, "%%agent\nGo.", "%%agent\nGo on."])
    book.run_all()
    number = int(value_of(book, "next(e.plan_number for e in reversed(lab.events) if e.kind == 'compaction_finished')"))
    button = book.page.get_by_role("button", name=f"Open plan {number}")
    button.click()
    cell = 2 if f"Close plan {number}" in book.text(2) else 3
    book.wait_for_text(cell, f"Plan {number}: what harness did")
    assert f"%context plan {number}" in book.text(cell)
    before = value_of(book, f"lab.plans[{number - 1}].tokens_before")
    assert f"{int(before) / 1000:.1f}k →" in book.text(cell)


def test_an_error_in_a_handler_is_shown_inside_the_widget(open_book: Open) -> None:
    broken = "cut = CutoffWidget(talk)\ncut._stage.scene = lambda *_: 1 / 0\ncut"
    book = open_book("handler.ipynb", [TALK, broken])
    book.run_all()
    slider = book.page.locator(".jp-Cell").nth(1).get_by_role("slider").first
    slider.focus()
    slider.press("ArrowRight")
    book.wait_for_text(1, "ZeroDivisionError: division by zero")
    assert "cutoff at 60" in book.text(1)


TALK_CUT = """\
said = [m for n in range(20) for m in (Message.user(f"question {n} " * 9), Message.assistant(f"answer {n} " * 9))]
cut = CutoffWidget(Transcript(said))
cut"""


def test_every_control_is_reached_and_worked_by_keyboard_alone(open_book: Open) -> None:
    book = open_book("keys.ipynb", [memory_in("wk"), "%memory pending", TALK_CUT, "%context"])
    book.run_all()
    before = value_of(book, "cut.keep.value")
    cell = book.page.locator(".jp-Cell").nth(1)
    box = cell.get_by_role("checkbox").first
    box.focus()
    book.page.keyboard.press("Space")
    book.wait_for_text(1, "Apply 2 of 3")
    for _ in range(30):
        book.page.keyboard.press("Tab")
        if (book.page.evaluate("document.activeElement.innerText") or "").strip() == "Apply 2 of 3":
            break
    book.page.keyboard.press("Enter")
    book.wait_for_text(1, "accepted")
    assert value_of(book, "len(lab.memory.pending().candidates[0].changes)") == "1"
    cutoff = book.page.locator(".jp-Cell").nth(2)
    cutoff.get_by_role("slider").first.focus()
    book.page.keyboard.press("ArrowRight")
    keep = int(wait_for_value(book, "cut.keep.value", lambda text: text != before))
    book.wait_for_text(2, f"keep_messages={keep}")
    cutoff.get_by_role("slider").first.focus()
    for _ in range(10):
        book.page.keyboard.press("Tab")
        if book.page.evaluate("document.activeElement.type") == "number":
            break
    assert book.page.evaluate(
        "getComputedStyle(document.activeElement).outlineStyle !== 'none' || getComputedStyle(document.activeElement).borderColor !== ''"
    )
    book.page.keyboard.press("ArrowUp")
    book.page.keyboard.press("Tab")
    assert wait_for_value(book, "cut.block.value", lambda text: text == "0")
    pressure = book.page.locator(".jp-Cell").nth(3).locator("summary").first
    pressure.focus()
    book.page.keyboard.press("Enter")
    assert pressure.evaluate("e => e.parentElement.open")


def test_the_static_form_stays_without_a_kernel(open_book: Open) -> None:
    book = open_book("saved.ipynb", [TALK, "CutoffWidget(talk)", "TunerWidget(talk, 'harness', 'eney')"])
    book.run_all()
    book.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    book.page.wait_for_timeout(1_000)
    again = open_book("saved.ipynb")
    again.wait_for_text(1, "What harness would do now")
    again.wait_for_text(2, "mean prompt")
    assert re.search(r"cutoff at \d+", again.text(1)) and 'presets.get("eney")' in again.text(2)


CONTRASTS = """() => {
    const channel = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const parse = text => { const n = (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number); return n.length < 4 ? [...n, 1] : n; };
    const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
    const ground = node => {
        const layers = [];
        for (let one = node; one; one = one.parentElement) layers.push(parse(getComputedStyle(one).backgroundColor));
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
    };
    const found = [];
    for (const root of document.querySelectorAll('.hnb')) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode, parent = node.parentElement;
            if (!node.textContent.trim() || parent.closest('style') || !parent.getClientRects().length) continue;
            const below = ground(parent), shown = over(parse(getComputedStyle(parent).color), below);
            const [a, b] = [light(shown), light(below)].sort((x, y) => y - x);
            found.push([(a + 0.05) / (b + 0.05), node.textContent.trim().slice(0, 40)]);
        }
    }
    return found;
}"""
"""The contrast of every text that is shown, by the formula of WCAG 2, with the text."""


HEATED = """\
from harness_nb import Message, Transcript
said = [m for n in range(9) for m in (Message.user(f"question {n} " * 20), Message.assistant(f"answer {n} " * 30))]
tuner = TunerWidget(Transcript(said), window=8_000)
tuner.columns[0]._folded.selected_index = 0
tuner.columns[0].heat.begin()
_ = tuner.settle()
tuner"""
"""A cell that shows a heat map."""


@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Light"])
def test_every_text_has_a_contrast_of_four_and_a_half_or_more(open_book: Open, theme: str) -> None:
    cells = [
        memory_in(f"wc{theme[-4:]}"), "%context", "%memory pending", "%memory search solver",
        "cut = CutoffWidget(lab)\ncut.block.value = -1\ncut", HEATED, "TunerWidget(replay(Transcript(lab.messages), 'eney'), 'harness')",
        "%%agent\nGo.", "cut.queue('Failing', lambda: 1 / 0)", "%policy list",
    ]  # fmt: skip
    book = open_book(f"contrast-{theme[-4:]}.ipynb", cells)
    book.run_all()
    book.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
    wanted = "false" if "Dark" in theme else "true"
    book.wait_for(f"document.body.dataset.jpThemeLight === '{wanted}'")
    book.page.wait_for_timeout(500)
    found = book.page.evaluate(CONTRASTS)
    assert len(found) > 100
    assert [pair for pair in found if pair[0] < 4.5] == []


def test_a_sweep_becomes_a_heat_map_whose_cells_set_the_sliders_by_pointer_and_by_keys(open_book: Open) -> None:
    book = open_book("heat.ipynb", [TALK, "tuner = TunerWidget(talk, window=8_000)\ntuner"])
    book.run_all()
    cell = book.page.locator(".jp-Cell").nth(1)
    cell.get_by_text("Heat map of two settings").click()
    cell.get_by_label("rows", exact=True).select_option("keep_tokens")
    cell.get_by_label("columns", exact=True).select_option("keep_messages")
    cell.get_by_role("button", name="Sweep").click()
    book.wait_for_text(1, "rows: keep_tokens, columns: keep_messages")
    chosen = "[tuner.columns[0].preset.settings[name] for name in ('keep_tokens', 'keep_messages')]"
    places = "[[one[at] for one, at in zip((m.downs, m.acrosses), place)] for m in [tuner.columns[0].heat.model] for place in ((2, 4), (3, 4))]"
    clicked, stepped = json.loads(value_of(book, places))
    table = cell.locator("table.hnb-heat tbody")
    table.locator("tr").nth(2).locator("td").nth(4).click()
    wait_for_value(book, chosen, lambda text: json.loads(text) == clicked)
    table.locator("tr").nth(2).locator("td[aria-selected=true]").focus()
    book.page.keyboard.press("ArrowDown")
    book.page.keyboard.press("Enter")
    wait_for_value(book, chosen, lambda text: json.loads(text) == stepped)
    book.wait_for_text(1, f"keep_messages={stepped[1]}, keep_tokens={stepped[0]}")
