"""A leaderboard: presets on data sets and recorded sessions, at several windows, without a model and without network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness_nb import presets as known_presets
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.carded import Carded
from harness_nb.lab.datasets import Dataset
from harness_nb.lab.leaderboard.sources import Source, sources
from harness_nb.lab.leaderboard.standings import Standing, standings
from harness_nb.lab.leaderboard.trials import Trial, entrants, jobs, measured, run_all
from harness_nb.lab.progress import Progress, following
from harness_nb.lab.score import REPORT, ScoreReport
from harness_nb.lab.sweeping.workers import Workers
from harness_nb.store.files import write_atomic

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.frames.leaderboard import LeaderboardChart
    from harness_nb.render.card import Card

WINDOWS = (8_000, 32_000, 200_000)
"""A small local model's, a small hosted one's, and that of the large ones."""

TRIALS = "trials"
"""Folder of the results that a later run goes on from."""

Answers = Literal["auto", "offline", "assumed"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Leaderboard(Carded):
    """Who keeps most for how many tokens, by source and window.

    Attributes:
        rows: One for each entrant, source and window.
        report: The scores of all replays, to be compared with those of another day.
        sources: What was replayed.
    """

    rows: tuple[Standing, ...]
    report: ScoreReport
    sources: tuple[Source, ...]

    def __repr__(self) -> str:
        return f"Leaderboard({len(self.rows)} rows, {len(self.report)} replays)"

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, source: str, window: int | None = None) -> tuple[Standing, ...]:
        """The rows of one source at one window, in their order."""
        return tuple(one for one in self.rows if one.source == source and one.window == window)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each row."""
        return [one.record for one in self.rows]

    @property
    def df(self) -> DataFrame:
        """One row for each entrant, source and window."""
        from harness_nb.frames.leaderboard import leaderboard_frame

        return leaderboard_frame(self.records)

    @property
    def chart(self) -> LeaderboardChart:
        """Tokens against survival, a panel for each source and window, with the fronts."""
        from harness_nb.frames.leaderboard import LeaderboardChart

        return LeaderboardChart(self.df)

    def cards(self) -> list[Card]:
        """All rows, a card for each source and window, and what they were made on."""
        from harness_nb.render.leaderboard import panel_cards, source_card

        counters = sorted({score.counter for score in self.report.scores})
        return [*panel_cards(self.rows), source_card(self.report.terms, self.report.version, counters)]

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Writes the table, the report of scores and the chart; returns the paths.

        `leaderboard.csv`, `.md` and `.html` hold the rows, `report.json` the scores of all replays, and `pareto.png` and
        `pareto.vl.json` the chart as a picture and for Vega-Lite.

        Args:
            folder: Made where it is missing; files of these names are replaced.

        Raises:
            StoreError: A file can't be written.
        """
        from harness_nb.render.page import page

        frame, chart = self.df, self.chart
        texts = {
            "leaderboard.csv": frame.to_csv(index=False),
            "leaderboard.md": frame.harness.to_markdown(rows=len(frame)) + "\n",
            "leaderboard.html": page("Leaderboard", self.cards(), [("Tokens against survival", chart.png())]),
            REPORT: self.report.to_json(),
            "pareto.vl.json": chart.chart.to_json(),
        }
        for name, text in texts.items():
            write_atomic(Path(folder) / name, text)
        picture = Path(folder) / "pareto.png"
        picture.write_bytes(chart.png())
        return (*(Path(folder) / name for name in texts), picture)

    def _card(self) -> Card:
        from harness_nb.render.leaderboard import board_card

        return board_card(self.rows, self.report.terms)


def leaderboard(
    data: str | Path | Dataset | Transcript | Iterable[str | Path | Dataset | Transcript],
    *,
    presets: Sequence[str] | None = None,
    windows: Sequence[int | None] = WINDOWS,
    answers: Answers = "auto",
    folder: str | Path | None = None,
    executor: Workers = None,
    progress: Progress | bool = False,
) -> Leaderboard:
    """Replays data under presets, each in all its versions, and ranks them by what they keep and what they send.

    No model is called and no network is used. The offline model answers what policies ask, in real text, so that what
    survives in summaries counts; on recorded sessions, which are long and whose survival is that of identifiers, replies
    are assumed, and survival is the floor of each policy.

    Args:
        data: Paths, data sets or transcripts. Of a folder, data sets and conversations in it and right below are taken.
        presets: Names; all that there are by default.
        windows: Context windows in tokens; None for that of each recorded model.
        answers: Who answers policies: `offline` or `assumed` everywhere, or `auto` as said above.
        folder: Where results are kept as they come; a run that was stopped goes on from them. None keeps none.
        executor: Where conversations are replayed: a number of processes, any `concurrent.futures.Executor`, or None for
            this process. The table is the same. A script that starts processes needs `if __name__ == "__main__":`.
        progress: True for a bar, or called with the conversations done and all of them, each window for itself.

    Raises:
        TranscriptError: Nothing can be read at a path.
        ConfigError: A preset or the way to answer is unknown, or there is nothing to try.
    """
    found = sources([data] if isinstance(data, str | Path | Dataset | Transcript) else data)
    field = entrants(known_presets.names() if presets is None else presets)
    if not found or not field or not windows:
        raise ConfigError("There is nothing to rank.", "Give data, at least one preset and one window.")
    kept = Path(folder) / TRIALS if folder is not None else None
    models = {one.name: _model(one, answers) for one in found}
    work = jobs(found, field, windows, models=models, folder=kept)
    done: dict[int, list[Trial]] = {}
    with following(progress, len(work), "conversations") as told:
        for at, trials in run_all(work, executor):
            done[at] = trials
            told(1)
    trials = [trial for at in range(len(work)) for trial in done[at]]
    return Leaderboard(rows=standings(trials), report=_report(trials, found), sources=found)


def _model(source: Source, answers: Answers) -> str | None:
    """Who answers the policies on a source.

    Raises:
        ConfigError: The way is unknown.
    """
    if answers not in ("auto", "offline", "assumed"):
        raise ConfigError(f"answers={answers!r} is unknown.", "Use auto, offline or assumed.", subject=answers)
    return None if answers == "assumed" or (answers == "auto" and not source.is_labelled) else "offline"


def _report(trials: Sequence[Trial], found: Iterable[Source]) -> ScoreReport:
    scores = tuple(trial.score for trial in trials if trial.score is not None)
    named = {name for score in scores for name in score.values}
    return ScoreReport(
        scores=scores,
        metrics=tuple(one for one in measured(found) if one["name"] in named),
        version=version("harness-nb"),
        terms=_terms(found),
    )


def _terms(found: Iterable[Source]) -> Mapping[str, Any]:
    """What the figures rest on."""
    return {
        "data": {
            one.name: {
                "licence": one.licence,
                "conversations": len(one.conversations),
                "files": dict(one.files),
            }
            for one in found
        }
    }
