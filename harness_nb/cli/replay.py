"""The command `replay`: what a policy does to a recorded conversation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness_nb.cli.output import as_csv, as_json, as_markdown, write_as
from harness_nb.cli.progress import progress_bar
from harness_nb.cli.values import out_file, setting
from harness_nb.cli.values import window as tokens

if TYPE_CHECKING:
    from harness_nb.lab.run import Replay

NO_MODEL = "none"
_MOST_REMARKS = 5


@click.command("replay")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--preset", metavar="NAME", default="harness", show_default=True, help="Whose policy.")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    type=setting,
    help="A setting of the preset; may be repeated.",
)
@click.option("--window", metavar="TOKENS", type=tokens, help="Context window.  [default: the recorded model's]")
@click.option(
    "--model",
    metavar="NAME",
    default="offline",
    show_default=True,
    help="Answers what the policy asks: offline, local, any model of litellm, or none to assume its replies.",
)
@click.option("--conversation", metavar="N", type=int, help="Which one of a file that holds several, 0 for the first.")
@click.option("--json", "is_json", is_flag=True, help="One JSON object and nothing else.")
@click.option(
    "--out",
    metavar="FILE",
    type=out_file(".json", ".csv", ".md"),
    help="Write the points at which the policy was called: .json, .csv or .md.",
)
def replay_command(
    file: Path,
    preset: str,
    settings: tuple[tuple[str, Any], ...],
    window: int | None,
    model: str,
    conversation: int | None,
    is_json: bool,
    out: Path | None,
) -> None:
    """Let a policy act on a recorded conversation where the live loop would, and say what it did.

    The recorded answers stand; only what the policy itself asks for is answered by the model.
    """
    from harness_nb import presets
    from harness_nb.lab.replay import replay
    from harness_nb.lab.transcripts import read_transcript

    acting = presets.get(preset, **dict(settings))
    transcript = read_transcript(file, conversation=conversation)
    with progress_bar("Replaying") as progress:
        answering = None if model == NO_MODEL else model
        run = replay(transcript, acting, window=window, model=answering, progress=progress)
    if out is not None:
        forms = {".json": lambda: as_json(_record(run)), ".csv": lambda: as_csv(run), ".md": lambda: as_markdown(run)}
        write_as(out, forms)
    click.echo(as_json(_record(run)) if is_json else str(run), nl=not is_json)
    _tell(transcript.report)


def _tell(remarks: Sequence[str]) -> None:
    """Says beside the result what was dropped or repaired when the file was read; the first remarks are enough to judge."""
    for remark in remarks[:_MOST_REMARKS]:
        click.echo(remark, err=True)
    if len(remarks) > _MOST_REMARKS:
        click.echo(f"and {len(remarks) - _MOST_REMARKS:,} more; the report of harness-nb demo has all", err=True)


def _record(run: Replay) -> dict[str, Any]:
    """All of a replay that is plain values."""
    return {
        "transcript": run.transcript.name,
        "policy": run.policy,
        "window": run.window,
        "totals": run.totals.to_dict(),
        "steps": run.records,
    }
