"""Sweeps: settings of policies over conversations, each replayed without a model, as one table.

Work is done in batches of one transcript, in which every message is counted once. A result is written down as soon as its
batch is done, under a key made of transcript, policy, settings, metrics and version, so that a sweep that was stopped goes
on where it was. The table is the same whatever runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.metrics import Metric, chosen
from harness_nb.lab.pareto import Front, front
from harness_nb.lab.progress import Progress, following
from harness_nb.lab.run import Replay
from harness_nb.lab.sweeping.batches import Case, Result, fingerprint
from harness_nb.lab.sweeping.halving import Rung, SuccessiveHalving
from harness_nb.lab.sweeping.kept import Kept, code_of, key_of, making_of
from harness_nb.lab.sweeping.trials import Between, Grid, RandomSearch, Trial, every
from harness_nb.lab.sweeping.workers import Batch, Workers, finished
from harness_nb.memory.results import Displayed
from harness_nb.presets import own_maker

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Between", "RandomSearch", "SuccessiveHalving", "Sweep", "sweep"]

BATCH = 8
"""Trials of one batch: enough that what a batch costs besides does not count, few enough that a lost one is soon done again."""

USUAL = (
    *("requests", "compactions", "failures", "overflows", "model_calls"),
    *("tokens_sent", "peak_tokens", "final_tokens", "cache_reuse"),
)
"""The metrics of a sweep unless others are named: those that need no second look at any text."""

Search = RandomSearch | SuccessiveHalving
Score = str | Metric | Callable[[Replay], float | None]


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Displayed):
    """The table of a sweep.

    Attributes:
        records: A mapping for each trial on each transcript: transcript, policy, window, settings, metrics, error.
        settings: Names of all settings in it.
        metrics: The metrics in it.
        resumed: Trials whose results were there from an earlier run.
        rungs: The rounds of a successive halving; then a record has its last `rung` and the `share` of the data that was
            replayed in it, and figures of different rungs are not to be compared. Empty for other searches.
    """

    records: tuple[dict[str, Any], ...]
    settings: tuple[str, ...]
    measured: tuple[Metric, ...]
    resumed: int = 0
    rungs: tuple[Rung, ...] = ()

    def __repr__(self) -> str:
        return f"Sweep({len(self.records)} trials, {len(self.metrics)} metrics)"

    def __str__(self) -> str:
        return str(self.df.to_string(index=False))

    def __len__(self) -> int:
        return len(self.records)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(one.name for one in self.measured)

    @property
    def df(self) -> DataFrame:
        """One row a trial; settings that a policy does not have are missing."""
        from harness_nb.frames import sweep_frame

        return sweep_frame(self.records, settings=self.settings, metrics=self.metrics, has_rungs=bool(self.rungs))

    @property
    def finalists(self) -> tuple[dict[str, Any], ...]:
        """The records of trials that were replayed on all of the data: all but those that a halving left behind."""
        return tuple(one for one in self.records if one.get("share", 1.0) == 1.0)

    def pareto(self, x: str, y: str, *, better: Mapping[str, str] | None = None) -> Front:
        """The trials that no other beats in two metrics, as means over the transcripts.

        Args:
            x: Name of a metric, drawn to the right.
            y: Name of another, drawn upwards.
            better: For a metric that does not say it, whether `lower` or `higher` is better.

        Raises:
            ConfigError: There is no such metric in the table, or nobody says which direction of it is better.
        """
        return front(
            self.finalists, x, y, measured=self.measured, by=("policy", "window", *self.settings), better=better
        )


def sweep(
    transcripts: Transcript | Iterable[Transcript],
    grid: Grid,
    *,
    metrics: Sequence[Score] = USUAL,
    window: int | Sequence[int] | None = None,
    search: Search | None = None,
    executor: Workers = None,
    folder: str | Path | None = None,
    progress: Progress | bool = False,
) -> Sweep:
    """Replays transcripts under many settings of some policies; replies of models are assumed, so nothing is paid.

    Args:
        transcripts: One transcript, or several.
        grid: For each policy by name, its settings: a list of values to try, a `Between` to draw from, or one value.
        metrics: Names out of `lab.metrics.METRICS`, metrics, or functions of a replay, whose names become columns.
        window: Context window in tokens, or several to try; None for that of each recorded model.
        search: Which combinations are tried: all of them (None), some drawn at random (`RandomSearch`), or ever fewer on
            ever more of the data (`SuccessiveHalving`).
        executor: Where batches run: a number of processes, any `concurrent.futures.Executor`, or a client of dask; None runs
            them here. A script that starts processes needs `if __name__ == "__main__":` around what it does.
        folder: Where results are kept for a later run; None keeps none.
        progress: True for a bar, or a function that is called with the trials done and all of them.

    Raises:
        ConfigError: There is nothing to try, the grid is none, or a metric is unknown. A trial whose settings are refused is a row that
            says so.
    """
    given = [transcripts] if isinstance(transcripts, Transcript) else list(transcripts)
    windows = list(window) if isinstance(window, Sequence) else [window]
    _check_grid(grid)
    trials = _trials(grid, windows, search)
    if not given or not trials:
        raise ConfigError("There is nothing to sweep.", "Give at least one transcript and one policy.")
    work = _Work(trials, chosen(metrics), executor, Kept(Path(folder) if folder is not None else None))
    if not isinstance(search, SuccessiveHalving):
        with following(progress, len(given) * len(trials), "trials") as told:
            records = work.records(given, range(len(trials)), told)
        return _table(records, work)
    with following(progress, _halving_size(search, given, len(trials)), "trials") as told:
        records = _halved(search, work, given, told)
    return replace(_table(records, work), rungs=search.plan(len(trials)))


def _check_grid(grid: Grid) -> None:
    if not isinstance(grid, Mapping) or not all(isinstance(one, Mapping) for one in grid.values()):
        raise ConfigError(
            f"{grid!r} is no grid.",
            'Give settings for each policy: {"harness": {"keep_messages": [4, 8]}, "eney": {}}.',
            subject=grid,
        )


def _trials(grid: Grid, windows: Sequence[int | None], search: Search | None) -> list[Trial]:
    draw = search.draw if isinstance(search, SuccessiveHalving) else search
    if draw is None:
        return every(grid, windows)
    return draw.drawn(grid, windows) if grid else []


def _table(records: Iterable[dict[str, Any]], work: _Work) -> Sweep:
    settings = tuple(dict.fromkeys(name for trial in work.trials for name in trial.settings))
    return Sweep(tuple(records), settings, work.metrics, work.resumed)


class _Work:
    """Trials and what is needed to carry them out."""

    def __init__(self, trials: Sequence[Trial], metrics: tuple[Metric, ...], workers: Workers, kept: Kept) -> None:
        self.trials = trials
        self.metrics = metrics
        self.resumed = 0
        self._workers = workers
        self._kept = kept
        names = {trial.policy for trial in trials}
        self._own = {name: maker for name in sorted(names) if (maker := own_maker(name)) is not None}
        self._makings = [making_of(metric) for metric in metrics]

    def records(
        self, transcripts: Sequence[Transcript], numbers: Sequence[int], told: Callable[[int], object]
    ) -> list[dict[str, Any]]:
        """A record for each of some trials on each transcript, transcript by transcript; each is kept when it is done."""
        digests = [fingerprint(transcript) for transcript in transcripts]
        keys = {(at, number): self._key(digests[at], number) for at in range(len(transcripts)) for number in numbers}
        found = {place: self._kept.results[key] for place, key in keys.items() if key in self._kept.results}
        self.resumed += len(found)
        told(len(found))
        cases = [Case(transcript, self.metrics, self._own) for transcript in transcripts]
        batches = list(_batches(self.trials, [place for place in keys if place not in found]))
        with closing(cast("Any", finished(cases, batches, self._workers))) as done:
            for batch, results in done:
                new = {(batch.case, number): one for number, one in zip(batch.numbers, results, strict=True)}
                found.update(new)
                self._kept.write({keys[place]: one for place, one in new.items()})
                told(len(new))
        return [self._record(transcripts[at], at, number, found[at, number]) for at, number in keys]

    def _key(self, digest: str, number: int) -> str:
        trial = self.trials[number]
        own = [code_of(self._own[trial.policy])] if trial.policy in self._own else []
        return key_of(digest, trial, [*self._makings, *own])

    def _record(self, transcript: Transcript, at: int, number: int, result: Result) -> dict[str, Any]:
        trial = self.trials[number]
        name = transcript.name or str(at)
        return {"trial": number, "transcript": name, "policy": trial.policy, **trial.settings, **result}


def _batches(trials: Sequence[Trial], places: Iterable[tuple[int, int]]) -> Iterator[Batch]:
    by_case: dict[int, list[int]] = {}
    for case, number in places:
        by_case.setdefault(case, []).append(number)
    for case, mine in by_case.items():
        for start in range(0, len(mine), BATCH):
            numbers = tuple(mine[start : start + BATCH])
            yield Batch(case, numbers, tuple(trials[number] for number in numbers))


def _halved(
    search: SuccessiveHalving, work: _Work, given: Sequence[Transcript], told: Callable[[int], object]
) -> list[dict[str, Any]]:
    """The records of each trial's last round."""
    metric = next((one for one in work.metrics if one.name == search.by), None)
    if metric is None or metric.better is None:
        raise ConfigError(
            f"by={search.by!r} can't choose between trials.",
            "Name one of the sweep's metrics that says which direction is better.",
            subject="by",
        )
    numbers = list(range(len(work.trials)))
    last: dict[int, list[dict[str, Any]]] = {}
    rungs = search.plan(len(numbers))
    for rung, following_rung in zip(rungs, (*rungs[1:], None), strict=True):
        made = work.records(search.data(given, rung.share), numbers, told)
        for number in numbers:
            mine = [one for one in made if one["trial"] == number]
            last[number] = [one | {"rung": rung.number, "share": rung.share} for one in mine]
        if following_rung is not None:
            scores = {number: [one[metric.name] for one in last[number]] for number in numbers}
            numbers = search.best(scores, metric, following_rung.trials)
    return [one for number in sorted(last) for one in last[number]]


def _halving_size(search: SuccessiveHalving, given: Sequence[Transcript], trials: int) -> int:
    return sum(len(search.data(given, rung.share)) * rung.trials for rung in search.plan(trials))
