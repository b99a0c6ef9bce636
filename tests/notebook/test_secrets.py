"""A made-up key, set and typed in every way in which a user might, is in no output, state, frame, event, log or notebook."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest

import harness_nb

PROJECT = Path(harness_nb.__file__).parent.parent
CANARY = "sk-test-Canary0123456789abcdefgh"
ODD = "ordinary-canary-value"
"""A key of no known shape; only the environment tells that it is one."""

CELLS = [
    """\
%load_ext harness_nb
import os
from harness_nb import (CompactionConfig, ConsolidationWidget, CutoffWidget, HarnessAgent, LiteLLMModel, PressureWidget,
                        ScriptedModel, ToolResultEvictionConfig, TunerWidget)
os.environ["MINE_API_KEY"] = "CANARY"
litellm_model = LiteLLMModel("openai/gpt-4o", api_key_variable="MINE_API_KEY")
def leak(name: str) -> str:
    '''Gives the settings.

    Args:
        name: Of what.
    '''
    return "OPENAI_API_KEY=CANARY and the other is ODD " + "x" * 400
from harness_nb.core.messages import Message, ToolCall
call = Message.assistant("I use CANARY.", calls=(ToolCall("c1", "leak", '{"name": "CANARY"}'),))
model = ScriptedModel(chat=[call, "Your key is CANARY.", *["It was CANARY, and ODD."] * 9], flush=["- The key is CANARY."],
                      summary=["## SUMMARY\\nThe key CANARY was used."], repeat_last=True, window=4_000)
lab = HarnessAgent("lab", model=model, workspace="ws", tools=[leak], permissions="allow", system_prompt="Use CANARY.",
                   compaction=CompactionConfig(trigger_messages=8, keep_messages=2),
                   tool_result_eviction=ToolResultEvictionConfig(max_result_chars=200, preview_chars=40))
%agent use lab
litellm_model""",
    "%%agent\nMy key is CANARY, and ODD.",
    "%%agent --no-stream\nAgain CANARY.",
    "%%agent --dry-run\nWould CANARY be sent?",
    "lab.ask('once more CANARY')\nlab.ask('and CANARY')\n%context compact keep CANARY",
    """\
from harness_nb.errors import ModelError
outside = LiteLLMModel("openai/gpt-4o", api_base="http://127.0.0.1:9/CANARY/v1", timeout_seconds=2)
far = HarnessAgent("far", model=outside, workspace="ws")
try:
    far.ask("hello")
except ModelError as error:
    print(repr(error), error)
[outside, far, far.status(), far.events, far.settings]""",
    "%memory search CANARY",
    "%memory log",
    "%memory consolidate",
    "%memory pending",
    "%context",
    "%context plan",
    "%context course",
    "%context tiers",
    "%context pin remember CANARY",
    "%policy tune harness eney",
    "%agent status",
    "%agent config",
    "%agent tools",
    "cut = CutoffWidget(lab)\ncut.block.value = 0\ncut",
    "tuner = TunerWidget(lab)\ntuner.block.value = 0\ntuner",
    "PressureWidget(lab)",
    "ConsolidationWidget(lab)",
    "lab.events",
    "lab.view()",
    "[lab.messages, lab.plan().plan, lab.view().input[:], lab.model.requests[-1]]",
    "[lab.frames.messages(), lab.frames.events(), lab.frames.plans(), lab.frames.usage(), lab.frames.daily_logs()]",
    "print(lab.frames.messages().to_csv(), lab.frames.events().to_csv(), lab.frames.hits('key').to_csv())",
    "print(lab.frames.messages().harness.to_markdown())",
    "from harness_nb import Message, Transcript\nTranscript(lab.messages)",
    "import ipywidgets, json\nlen(json.dumps([w.get_state() for w in ipywidgets.widget._instances.values()], default=str))",
    "str([w.get_state() for w in ipywidgets.widget._instances.values()]).count('CAN' + 'ARY'[3:])",
]  # fmt: skip


@contextmanager
def kernel_manager() -> Iterator[Any]:
    """A manager of a kernel of this interpreter that talks over files in a folder with a short name."""
    from jupyter_client.manager import AsyncKernelManager

    with tempfile.TemporaryDirectory(prefix="hnb-", ignore_cleanup_errors=True) as folder:
        yield AsyncKernelManager(kernel_name="python3", connection_file=str(Path(folder) / "k.json"), transport="ipc")


def filled(cell: str) -> str:
    return cell.replace("CANARY", CANARY).replace("ODD", ODD)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[nbformat.NotebookNode, Path]:
    """The cells in a real kernel, with the widget state saved."""
    from nbclient import NotebookClient

    folder = tmp_path_factory.mktemp("canary")
    book = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    book.cells = [nbformat.v4.new_code_cell(filled(cell)) for cell in CELLS]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "OPENAI_API_KEY": CANARY, "ODD_API_KEY": ODD}
    with kernel_manager() as manager:
        client = NotebookClient(
            book, km=manager, timeout=120, store_widget_state=True, resources={"metadata": {"path": str(folder)}}
        )
        client.execute(env=environment, cleanup_kc=True)
    return book, folder


def without_sources(book: nbformat.NotebookNode) -> str:
    """The saved notebook, what the user typed aside."""
    copy = json.loads(json.dumps(book))
    for cell in copy["cells"]:
        cell.pop("source")
    return json.dumps(copy, ensure_ascii=False)


@pytest.mark.notebook
def test_r095_no_key_is_in_a_saved_notebook_with_its_widget_state(ran) -> None:
    book, _ = ran
    saved = without_sources(book)
    assert "widgets" in book.metadata and len(saved) > 100_000
    for key in (CANARY, CANARY[:20]):
        found = saved.find(key)
        assert found < 0, saved[max(0, found - 300) : found + 100]


@pytest.mark.notebook
def test_r095_a_key_of_no_known_shape_is_masked_where_it_is_shown_as_html(ran) -> None:
    book, _ = ran
    pages = [html_of(output) for cell in book.cells for output in cell.outputs]
    assert any(pages) and not [page for page in pages if ODD in page]


def html_of(output: Any) -> str:
    return str(output.get("data", {}).get("text/html", "")) if "hnb" in str(output.get("data", {})) else ""


@pytest.mark.notebook
def test_r095_no_key_is_in_any_file(ran) -> None:
    _, folder = ran
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert [str(path) for path in files if CANARY.encode() in path.read_bytes()] == []
