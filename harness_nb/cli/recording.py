"""The notebook of a replay: what a user would write, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

_PARAMETERS = """\
transcript = ""
preset = "harness"
window = None  # that of the recorded model
model = "offline"  # answers what the policy asks for"""

_CELLS = (
    ("code", "from harness_nb import PressureWidget, read_transcript, replay"),
    ("markdown", "Reading repairs what the recording left open; `report` says what was dropped or repaired, by line."),
    ("code", "conversation = read_transcript(transcript)\nconversation.report[:10]"),
    ("markdown", "The replay calls the policy where a live session would; the recorded answers stand."),
    ("code", "run = replay(conversation, preset, window=window, model=model)\nrun"),
    ("markdown", "How full the context was at the end, and over the session."),
    ("code", "PressureWidget(run)"),
    ("markdown", "A row for each point at which the policy was called; here those at which it acted."),
    ("code", "points = run.frame()\npoints[points.tokens_after < points.tokens_before]"),
)


def recording_notebook(title: str) -> NotebookNode:
    """A notebook, not run yet, whose cell tagged `parameters` takes `transcript`, `preset`, `window` and `model`.

    Args:
        title: Its heading.
    """
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    make = {"code": new_code_cell, "markdown": new_markdown_cell}
    cells = [
        new_markdown_cell(f"# {title}", id="title"),
        new_code_cell(_PARAMETERS, id="parameters", metadata={"tags": ["parameters"]}),
        *(make[kind](source, id=f"cell-{number}") for number, (kind, source) in enumerate(_CELLS, start=1)),
    ]
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook: NotebookNode = new_notebook(cells=cells, metadata=spec)
    return notebook
