"""The command `score`: presets on data sets and recorded sessions, as a leaderboard and a report."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness_nb.cli.progress import progress_bar
from harness_nb.cli.values import names, windows

if TYPE_CHECKING:
    from harness_nb.lab.leaderboard import Leaderboard
    from harness_nb.lab.leaderboard.board import Answers
    from harness_nb.lab.score import ScoreReport

ALL = "all"
RECORDED = "recorded"


def _windows(text: str) -> tuple[int | None, ...]:
    """Context windows; those of the recorded models are None."""
    return (None,) if text == RECORDED else windows(text)


@click.command("score")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option(
    "--preset", "presets", metavar="NAME,...", type=names, default=ALL, show_default=True, help="Who is scored."
)
@click.option(
    "--window",
    "sizes",
    metavar="TOKENS,...",
    type=_windows,
    default="8k,32k,200k",
    show_default=True,
    help=f"Context windows; {RECORDED} for those of the recorded models.",
)
@click.option(
    "--answers",
    type=click.Choice(["auto", "offline", "assumed"]),
    default="auto",
    show_default=True,
    help="What answers the policies: the offline model, assumed replies, or assumed ones for recorded sessions only.",
)
@click.option("--workers", metavar="N", type=click.IntRange(1), help="Processes.  [default: one for each core]")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write tables, report and chart; go on from those there.",
)
@click.option("--baseline", metavar="REPORT", type=click.Path(path_type=Path), help="A report to compare with.")
@click.option("--tolerance", metavar="SHARE", type=float, default=0.0, help="How much worse than it a figure may be.")
@click.option("--json", "is_json", is_flag=True, help="One JSON object a row and nothing else.")
def score_command(
    paths: tuple[Path, ...],
    presets: tuple[str, ...],
    sizes: tuple[int | None, ...],
    answers: Answers,
    workers: int | None,
    out: Path | None,
    baseline: Path | None,
    tolerance: float,
    is_json: bool,
) -> None:
    """Score presets on data sets and recorded sessions, and rank them by what they keep and what they send.

    PATH is a data set (LoCoMo, BEAM, LongMemEval, tau-bench), a recorded conversation, or a folder with some of them. Needs
    no model, no key and no network. With --out, a run that was stopped goes on where it was. With --baseline, ends with exit
    code 1 when a figure is worse.
    """
    from harness_nb.lab.leaderboard import leaderboard

    held = _baseline(baseline)
    with progress_bar("Scoring") as progress:
        board = leaderboard(
            paths,
            presets=None if presets == (ALL,) else presets,
            windows=sizes,
            answers=answers,
            folder=out,
            executor=_processes(workers),
            progress=progress,
        )
    written = board.write(out) if out is not None else ()
    _show(board, written, is_json=is_json)
    if held is not None:
        from harness_nb.lab.diff import diff

        found = diff(held, board.report, tolerance=tolerance)
        click.echo(str(found), err=is_json)
        sys.exit(found.is_worse)


def _baseline(path: Path | None) -> ScoreReport | None:
    """The report to compare with, read before any work is done."""
    from harness_nb.lab.score import ScoreReport

    return None if path is None else ScoreReport.read(path)


def _processes(workers: int | None) -> int | None:
    """Processes to start, or None where one is enough."""
    count = workers or os.cpu_count() or 1
    return count if count > 1 else None


def _show(board: Leaderboard, written: Sequence[Path], *, is_json: bool) -> None:
    from harness_nb.render.card import card_text

    if is_json:
        for record in board.records:
            click.echo(json.dumps(record, ensure_ascii=False))
        return
    for card in board.cards():
        click.echo(f"{card_text(card)}\n")
    for path in written:
        click.echo(path)
