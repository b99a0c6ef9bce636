"""The command `diff`: whether scores got worse, with an exit code that a pipeline can act on."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness_nb.cli.output import as_csv, as_json, as_markdown, write_as
from harness_nb.cli.values import names, out_file, setting
from harness_nb.errors import ConfigError

_EVERY = ""


@click.command("diff")
@click.argument("old", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("new", metavar="NEW", type=click.Path(path_type=Path))
@click.option(
    "--tolerance",
    "tolerances",
    metavar="[NAME=]SHARE",
    multiple=True,
    help="By how much figures, or that of a name, may get worse: 0.02 for 2 % of the old one.  [default: 0]",
)
@click.option("--metrics", metavar="NAME,...", type=names, help="The figures that count.  [default: all]")
@click.option("--json", "is_json", is_flag=True, help="One JSON object and nothing else.")
@click.option("--out", metavar="FILE", type=out_file(".json", ".csv", ".md"), help="Write all figures there.")
def diff_command(
    old: Path,
    new: Path,
    tolerances: tuple[str, ...],
    metrics: tuple[str, ...] | None,
    is_json: bool,
    out: Path | None,
) -> None:
    """Compare two reports of scores: which figure moved, by how much, and whether that is worse.

    Ends with exit code 0 when all is the same or better, 1 when a figure is worse or missing, and 2 when the reports can't
    be compared.
    """
    from harness_nb.lab.diff import diff
    from harness_nb.lab.score import ScoreReport

    shares = dict(map(_share, tolerances))
    before = ScoreReport.read(old)
    every = shares.pop(_EVERY, 0.0)
    tolerance = {one["name"]: every for one in before.metrics} | shares
    found = diff(before, ScoreReport.read(new), tolerance=tolerance, metrics=metrics)
    record = {"counts": found.counts, "versions": found.versions, "changes": found.records}
    if out is not None:
        forms = {".json": lambda: as_json(record), ".csv": lambda: as_csv(found), ".md": lambda: as_markdown(found)}
        write_as(out, forms)
    click.echo(as_json(record) if is_json else str(found), nl=not is_json)
    sys.exit(found.is_worse)


def _share(text: str) -> tuple[str, float]:
    """The name of a figure, empty for all of them, and its tolerance.

    Raises:
        ConfigError: It is no number.
    """
    name, value = setting(text) if "=" in text else (_EVERY, text)
    try:
        return name, float(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"--tolerance {text!r} is no share.", "Give one such as 0.02 for 2 %.", subject=text
        ) from error
