"""The demonstrations: a notebook is run in a kernel, and what happened in it is said and written down."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness_nb import presets
from harness_nb.cli.cards import reading_card, replay_card, session_card
from harness_nb.cli.folders import notebooks_folder, writable, write
from harness_nb.cli.kernel import Progress, answer, ask_kernel, run_notebook, with_parameters
from harness_nb.cli.recording import recording_notebook
from harness_nb.cli.report import report_page
from harness_nb.lab.account import Account
from harness_nb.lab.transcripts import read_with_report
from harness_nb.model.resolve import resolve
from harness_nb.render.card import Card

if TYPE_CHECKING:
    from nbformat import NotebookNode

QUICKSTART = "00_quickstart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a demonstration is to use; None leaves it to the notebook.

    Attributes:
        model: Name of the model.
        preset: Name of the preset.
        window: Context window in tokens.
    """

    model: str | None = None
    preset: str | None = None
    window: int | None = None

    @property
    def given(self) -> dict[str, object]:
        """Those that are not left to the notebook."""
        found = {"model": self.model, "preset": self.preset, "window": self.window}
        return {name: value for name, value in found.items() if value is not None}

    def check(self) -> None:
        """Refuses what is wrong before a kernel is started.

        Raises:
            ConfigError: A name is unknown, or the window is no number of tokens.
        """
        presets.get(self.preset or "harness")
        resolve(self.model or "offline", **({} if self.window is None else {"window": self.window}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a demonstration.

    Attributes:
        cards: What happened.
        notebook: Path of the notebook as it ran.
        report: Path of the HTML page.
    """

    cards: tuple[Card, ...]
    notebook: Path
    report: Path


def quickstart(settings: Settings, out: Path, progress: Progress) -> Outcome:
    """Runs the quickstart notebook, with files of the agent in a temporary folder.

    Args:
        settings: What differs from the notebook's own.
        out: Folder for what is written.
        progress: Called with the number of cells that ran and of all cells.

    Raises:
        HarnessError: A setting is wrong, a cell failed, or the folder can't be written.
    """
    from nbformat import NO_CONVERT, read

    settings.check()
    path, page = _paths(out, QUICKSTART)
    notebook = with_parameters(read(notebooks_folder() / f"{QUICKSTART}.ipynb", NO_CONVERT), settings.given)
    with tempfile.TemporaryDirectory(prefix="hnb-", ignore_cleanup_errors=True) as folder:
        account = _executed(notebook, "_account.account_of_agent(agent, hits)", Path(folder), path, progress)
    card = session_card(account, model=settings.model or "offline")
    write(page, report_page("The quickstart of harness_nb, as it ran", (card,), notebook))
    return Outcome(cards=(card,), notebook=path, report=page)


def recording(transcript: Path, settings: Settings, out: Path, progress: Progress) -> Outcome:
    """Replays a recorded conversation under a preset.

    Args:
        transcript: File of the conversation.
        settings: The preset (default `harness`), the window (default: that of the recorded model) and the model that
            answers what the policy asks (default `offline`).
        out: Folder for what is written.
        progress: Called with the number of cells that ran and of all cells.

    Raises:
        HarnessError: The file can't be read, a setting is wrong, a cell failed, or the folder can't be written.
    """
    settings.check()
    _, report = read_with_report(transcript)
    preset = settings.preset or "harness"
    path, page = _paths(out, f"{transcript.stem}-{preset}")
    title = f"{transcript.name} under the preset {preset!r}"
    parameters = {"transcript": str(transcript.resolve()), **settings.given}
    notebook = with_parameters(recording_notebook(title), parameters)
    account = _executed(notebook, "_account.account_of_replay(run)", out, path, progress)
    replayed = replay_card(account, title=title)
    write(page, report_page(title, (replayed, reading_card(report, with_notes=True)), notebook))
    return Outcome(cards=(reading_card(report, with_notes=False), replayed), notebook=path, report=page)


def _paths(out: Path, stem: str) -> tuple[Path, Path]:
    """Where the notebook and the page go; the folder is made."""
    writable(out)
    return out / f"{stem}.ipynb", out / f"{stem}.html"


def _executed(notebook: NotebookNode, expression: str, folder: Path, path: Path, progress: Progress) -> Account:
    """Runs a notebook, writes it as it ran, also when it failed, and gives the account that its kernel made."""
    from nbformat import writes

    ask_kernel(notebook, "from harness_nb.lab import account as _account", f"{expression}.to_record()")
    try:
        run_notebook(notebook, folder, progress=progress)
    finally:
        record = answer(notebook)
        write(path, writes(notebook))
    return Account.from_record(record)
