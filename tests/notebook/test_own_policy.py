"""A policy written in a cell is a preset at once, for every magic and widget."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_nb import Message, Transcript, TunerWidget, presets
from harness_nb.notebook.widgets import column as columns

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def cell() -> Iterator[str]:
    """The policy that the README shows."""
    text = README.read_text(encoding="utf-8")
    code = next(one for one in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) if "presets.register" in one)
    yield code.partition("\n\n\nrun = ")[0]
    if "keep-eight" in presets.names():
        presets.unregister("keep-eight")


def test_a_policy_of_a_cell_is_listed_shown_used_and_tuned(shell, cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "QUICK_SECONDS", 30.0)
    shell.cell(cell)
    shell.cell(cell)
    listed = shell.cell("%policy list").df.set_index("name")
    assert listed.loc["keep-eight", "about"] == "Summarises all but the last eight messages."
    assert shell.cell("%policy show keep-eight").df["name"].tolist() == ["keep", "at"]
    shell.cell("%%agent --preset keep-eight\nHello.")
    assert shell.cell("%agent status").preset == "keep-eight"

    said = [m for n in range(200) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))]
    tuner = TunerWidget(Transcript(said), "harness", "keep-eight")
    own = tuner.columns[1]
    before = own.run.totals.peak_tokens
    own.settings["at"].value = 10_000
    assert own.run.totals.peak_tokens < before
    assert own.tuned.code == 'presets.get("keep-eight", at=10_000)'
    tuner.close()
