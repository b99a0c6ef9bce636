"""The command `conformance`: recordings of real systems against the presets."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command("conformance")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object a case and nothing else.")
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Run this system only; may be repeated.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Run this kind of cases only; may be repeated.")
def conformance_command(
    files: tuple[Path, ...], as_json: bool, systems: tuple[str, ...], kinds: tuple[str, ...]
) -> None:
    """Run recordings of real systems against the presets.

    Prints what passed and failed by system and kind, and for each failure what was expected beside what came. Ends with
    exit code 1 when a case failed.
    """
    from harness_nb.lab.conformance import conformance

    report = conformance(files, systems=systems or None, kinds=kinds or None)
    if as_json:
        for line in report.lines:
            click.echo(line)
    else:
        click.echo(str(report))
    sys.exit(not report.passed)
