"""What only a real kernel can show: loading time, a running event loop, interrupts, and cells that fail."""

from __future__ import annotations

import re
import time

import nbformat
import pytest

pytestmark = pytest.mark.notebook

HEAVY = ("ipywidgets", "pandas", "litellm", "tiktoken", "anywidget", "altair")

SLOW = """
%load_ext harness_nb
from harness_nb import HarnessAgent, ScriptedModel
model = ScriptedModel(chat=["one two three four five six seven eight nine ten " * 20, "fine"], flush=["NO_REPLY"],
                      piece_chars=10, delay_seconds=0.1)
lab = HarnessAgent("lab", model=model, workspace="ws", tools=[])
%agent use lab
"""


def test_loading_loads_nothing_heavy(kernel) -> None:
    assert not kernel.run("%load_ext harness_nb").error
    assert kernel.run(f"import sys\nsys.modules.keys() & set({HEAVY!r})").text == "set()"


def test_r090_blocking_and_async_forms_work_in_a_cell(kernel) -> None:
    ran = kernel.run(
        """
import warnings; warnings.simplefilter("error")
from harness_nb import HarnessAgent
agent = HarnessAgent(workspace="ws")
first = agent.ask("hi").text
second = (await agent.aask("hi")).text
third = [event.kind async for event in agent.stream("hi") if event.kind.startswith("turn_")][-1]
import threading
found = []
thread = threading.Thread(target=lambda: found.append(agent.ask("hi").text)); thread.start(); thread.join()
print(first == second == found[0], third)
"""
    )
    assert not ran.error and ran.text.strip() == "True turn_finished"


def test_r097_an_interrupt_ends_a_streaming_cell_within_a_second_and_the_next_one_works(kernel) -> None:
    assert not kernel.run(SLOW).error
    ran = kernel.run("%%agent\nGo.", until="two")
    assert time.monotonic() - kernel.interrupted < 1
    assert "KeyboardInterrupt" in ran.error and "/harness_nb/" not in ran.error
    assert "Stopped" in ran.text and "one two" in ran.text
    checked = kernel.run(
        """
from harness_nb.core.rounds import problems
kept = lab.messages[-1]
reply = lab.ask("Again?")
print(kept.finish, kept.text.startswith("one two"), reply.text, problems(model.requests[-1].messages))
"""
    )
    assert checked.text.split() == ["interrupted", "True", "fine", "()"]


def test_r097_an_interrupt_while_a_tool_runs_leaves_every_call_with_a_result(kernel) -> None:
    kernel.run(
        """
%load_ext harness_nb
import time
from harness_nb import HarnessAgent, ScriptedModel
from harness_nb.core.messages import ToolCall
def slow(name: str) -> str:
    "Takes its time."
    print("begun", flush=True)
    time.sleep(30)
    return name
calls = [ToolCall(f"c{n}", "slow", '{"name":"x"}') for n in range(3)]
model = ScriptedModel(chat=[calls, "fine"], flush=["NO_REPLY"])
lab = HarnessAgent("lab", model=model, workspace="ws", tools=[slow])
%agent use lab
"""
    )
    ran = kernel.run("%%agent\nGo.", until="begun")
    assert time.monotonic() - kernel.interrupted < 1.5
    assert "KeyboardInterrupt" in ran.error
    checked = kernel.run("print([m.call_id for m in lab.messages if m.role == 'tool'], lab.ask('Again?').text)")
    assert checked.text.strip() == "['c0', 'c1', 'c2'] fine"


def test_magics_work_while_the_kernels_own_loop_runs_and_updates_are_of_one_display(kernel) -> None:
    kernel.run(SLOW.replace("0.1)", "0.01)"))
    ran = kernel.run("%%agent --out reply\nGo.")
    assert not ran.error
    ids = {output["transient"]["display_id"] for output in ran.outputs if output.get("transient")}
    assert len(ids) == 1
    assert kernel.run("type(reply).__name__").text == "'AgentReply'"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%agent\n ", "The cell is empty"),
        ("%memory serch x", "Did you mean %memory search?"),
        ("%agent new --preset hernes", "hernes"),
        ("%agent use nobody", "'nobody' is no variable"),
    ],
)
def test_a_mistake_stops_the_notebook_with_a_short_error(cell: str, said: str) -> None:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(one) for one in ("%load_ext harness_nb", cell, "1")]
    )
    client = NotebookClient(book, kernel_name="python3", timeout=60)
    client.create_kernel_manager().transport = "ipc"
    with pytest.raises(CellExecutionError, match=re.escape(said)):
        client.execute()
    (error,) = book.cells[1].outputs
    assert error["ename"] == "MagicError" and said in "\n".join(error["traceback"])
    assert len(error["traceback"]) <= 3
    assert book.cells[2].outputs == []


@pytest.mark.notebook
def test_r094_background_work_prints_nothing_into_the_cells_that_come_after(kernel) -> None:
    kernel.run(
        "%load_ext harness_nb\n"
        "import logging, threading\n"
        "from harness_nb import CutoffWidget, HarnessAgent, ScriptedModel\n"
        "model = ScriptedModel(chat=['ok'], flush=['- The probe is Kappa.'], repeat_last=True, delay_seconds=0.2)\n"
        "def told(event): logging.getLogger('harness_nb').info(event.kind)\n"
        "lab = HarnessAgent('lab', model=model, workspace='ws', hooks=[told])\n"
        "widget = CutoffWidget(lab)\n"
        "_ = lab.ask('The probe is Kappa.')\n"
        "widget.compact.click()"
    )
    after = kernel.run("import time\ntime.sleep(1)")
    assert after.outputs == [] and after.error == ""
    told = kernel.run(
        "widget.settle(), [e.kind for e in lab.events if e.kind == 'facts_written'], 'Compacting' in widget._said.value"
    )
    assert "facts_written" in told.text and told.text.startswith("(True") and told.text.endswith("True)")
