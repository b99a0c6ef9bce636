"""The command `sweep`: settings of policies over recorded conversations, as one table."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness_nb.cli.output import as_csv, as_json, as_markdown, write_as
from harness_nb.cli.progress import progress_bar
from harness_nb.cli.values import choices as choices_of
from harness_nb.cli.values import names, out_file, windows
from harness_nb.errors import ConfigError
from harness_nb.lab.sweep import Sweep
from harness_nb.store.files import read_text

METRICS = ("compactions", "model_calls", "tokens_sent", "peak_tokens", "final_tokens")


@click.command("sweep")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--preset", metavar="NAME", default="harness", show_default=True, help="Whose settings --set names.")
@click.option(
    "--set",
    "choices",
    metavar="NAME=VALUE,...",
    multiple=True,
    type=choices_of,
    help="Values of a setting to try; may be repeated.",
)
@click.option(
    "--grid",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help='Policies and their values in JSON: {"harness": {"keep_messages": [4, 8]}, "eney": {}}.',
)
@click.option(
    "--window", metavar="TOKENS,...", type=windows, help="Context windows to try.  [default: the recorded model's]"
)
@click.option(
    "--metrics",
    metavar="NAME,...",
    type=names,
    default=",".join(METRICS),
    show_default=True,
    help="Columns of the table.",
)
@click.option("--workers", metavar="N", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option(
    "--folder", metavar="DIR", type=click.Path(path_type=Path), help="Keep results here, and go on from those there."
)
@click.option("--json", "is_json", is_flag=True, help="One JSON object a trial and nothing else.")
@click.option(
    "--out", metavar="FILE", type=out_file(".json", ".csv", ".md"), help="Write the table: .json, .csv or .md."
)
def sweep_command(
    files: tuple[Path, ...],
    preset: str,
    choices: tuple[tuple[str, list[Any]], ...],
    grid: Path | None,
    window: tuple[int, ...] | None,
    metrics: tuple[str, ...],
    workers: int,
    folder: Path | None,
    is_json: bool,
    out: Path | None,
) -> None:
    """Replay conversations under every combination of some settings, and show what each brings.

    Replies of models are assumed, so nothing is paid. Settings come from --set, or from a --grid for several policies.
    Ends with exit code 1 when the settings of every trial were refused.
    """
    tried = {preset: dict(choices)} if grid is None else _read_grid(grid, bool(choices))
    with progress_bar("Sweeping") as progress:
        pool = workers if workers > 1 else None
        table = _swept(files, tried, metrics, window, executor=pool, folder=folder, progress=progress)
    if out is not None:
        forms = {
            ".json": lambda: as_json(list(table.records)),
            ".csv": lambda: as_csv(table),
            ".md": lambda: as_markdown(table),
        }
        write_as(out, forms)
    click.echo("\n".join(map(_line, table.records)) if is_json else str(table))
    sys.exit(all(one["error"] for one in table.records))


def _swept(
    files: Sequence[Path],
    grid: dict[str, dict[str, Any]],
    metrics: Sequence[str],
    window: Sequence[int] | None,
    **how: Any,
) -> Sweep:
    from harness_nb.lab.sweep import sweep
    from harness_nb.lab.transcripts import read_transcripts

    transcripts = [transcript for file in files for transcript in read_transcripts(file)]
    return sweep(transcripts, grid, metrics=metrics, window=window, **how)


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, default=str, ensure_ascii=False)


def _read_grid(path: Path, has_choices: bool) -> dict[str, dict[str, Any]]:
    """The policies of a file with their values.

    Raises:
        ConfigError: The file is missing, or holds no such mapping; or settings were given beside it.
    """
    if has_choices:
        raise ConfigError("Both --grid and --set were given.", "Put the values of --set into the grid.", subject=path)
    text = read_text(path)
    if text is None:
        raise ConfigError(f"There is no file {str(path)!r}.", "Name the file of the grid.", subject=path)
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{str(path)!r} is no JSON: {error}.", _GRID, subject=path) from error
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise ConfigError(f"{str(path)!r} holds no grid.", _GRID, subject=path)
    return found


_GRID = 'Write {"preset": {"setting": [value, value]}}.'
