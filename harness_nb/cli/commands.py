"""The commands and their options."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import click

from harness_nb.cli.conformance import conformance_command
from harness_nb.cli.diff import diff_command
from harness_nb.cli.group import Commands
from harness_nb.cli.progress import progress_bar
from harness_nb.cli.replay import replay_command
from harness_nb.cli.score import score_command
from harness_nb.cli.search import search_command
from harness_nb.cli.sweep import sweep_command
from harness_nb.cli.values import window as tokens


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version("harness_nb"), prog_name="harness-nb")
def main() -> None:
    """A laboratory for LLM-agent memory, inside Jupyter."""


@main.command()
@click.option("--transcript", metavar="FILE", type=click.Path(path_type=Path), help="Replay this conversation.")
@click.option("--preset", metavar="NAME", help="Policy and memory design.  [default: harness]")
@click.option("--window", metavar="TOKENS", type=tokens, help="Context window.  [default: the model's]")
@click.option("--model", metavar="NAME", help="offline, local, or any model of litellm.  [default: offline]")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path("harness-nb-demo"),
    show_default=True,
    help="Folder for the executed notebook and the report.",
)
def demo(transcript: Path | None, preset: str | None, window: int | None, model: str | None, out: Path) -> None:
    """Run the quickstart in a kernel, or replay a conversation, and say what happened.

    Needs no key and no network. Writes the notebook as it ran and a report in HTML.
    """
    from harness_nb.cli import demo as demos
    from harness_nb.render.card import card_text

    settings = demos.Settings(model=model, preset=preset, window=window)
    with progress_bar("Running the quickstart" if transcript is None else "Replaying") as progress:
        if transcript is None:
            outcome = demos.quickstart(settings, out, progress)
        else:
            outcome = demos.recording(transcript, settings, out, progress)
    for card in outcome.cards:
        click.echo(f"{card_text(card)}\n")
    click.echo(f"Notebook: {outcome.notebook}\nReport:   {outcome.report}")


@main.command()
@click.option(
    "--dir",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path("harness-nb-notebooks"),
    show_default=True,
    help="Folder for the copies; files that are there already stay as they are.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- JUPYTERLAB OPTIONS]")
def lab(folder: Path, arguments: tuple[str, ...]) -> None:
    """Open JupyterLab on a copy of the notebooks."""
    from harness_nb.cli.folders import copy_notebooks
    from harness_nb.cli.jupyter import open_lab

    copied = copy_notebooks(folder)
    click.echo(f"{len(copied.new)} files copied to {folder}, {len(copied.same)} were there.")
    for name in copied.kept:
        click.echo(f"Changed by you and left alone: {name}")
    sys.exit(open_lab(folder, arguments))


@main.command()
@click.option(
    "--workspace", metavar="DIR", type=click.Path(path_type=Path), help="Check this workspace instead of the usual one."
)
def doctor(workspace: Path | None) -> None:
    """Say what is installed, which models and front-ends will work, and why not."""
    from harness_nb.cli.doctor import checks, doctor_card
    from harness_nb.render.card import card_text

    found = checks(workspace)
    click.echo(card_text(doctor_card(found)))
    sys.exit(any(check.is_essential and not check.is_fine for check in found))


main.add_command(conformance_command)
main.add_command(diff_command)
main.add_command(replay_command)
main.add_command(score_command)
main.add_command(search_command)
main.add_command(sweep_command)
