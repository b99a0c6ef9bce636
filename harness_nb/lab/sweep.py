"""Sweeps: a grid of settings over policies and transcripts, each replayed without a model, as one table.

Work is done in batches of one transcript, in which every message is counted once. A result is written down as soon as its
batch is done, under a key made of transcript, policy, settings, metrics and version, so that a sweep that was stopped goes
on where it was. The table is the same whatever runs it.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_nb.core.messages import to_json
from harness_nb.core.records import parse_line
from harness_nb.core.tokens import Measure
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError, HarnessError
from harness_nb.lab.counting import measure_for
from harness_nb.lab.replay import replay
from harness_nb.lab.run import Replay
from harness_nb.lab.totals import TOTALS
from harness_nb.memory.results import Displayed
from harness_nb.presets import get
from harness_nb.store.files import append_text, read_text

if TYPE_CHECKING:
    from pandas import DataFrame

VERSION = 1
"""Part of every key: results of another version are made anew."""

BATCH = 8
"""Settings that are replayed together, so that they share the counts of their transcript."""

Metric = str | Callable[[Replay], float | None]
Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Trial:
    """One cell of the grid.

    Attributes:
        policy: Name of a preset, or of a policy that was registered.
        settings: Its settings by name.
        window: Context window in tokens, or None for that of the recorded model.
    """

    policy: str
    settings: Mapping[str, Any]
    window: int | None


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Displayed):
    """The table of a sweep.

    Attributes:
        records: A mapping for each trial, in the order of the grid: transcript, policy, window, settings, metrics, error.
        settings: Names of all settings in it.
        metrics: Names of all metrics in it.
        resumed: Trials whose results were there from an earlier run.
    """

    records: tuple[dict[str, Any], ...]
    settings: tuple[str, ...]
    metrics: tuple[str, ...]
    resumed: int = 0

    def __repr__(self) -> str:
        return f"Sweep({len(self.records)} trials, {len(self.metrics)} metrics)"

    def __str__(self) -> str:
        return str(self.df.to_string(index=False))

    def __len__(self) -> int:
        return len(self.records)

    @property
    def df(self) -> DataFrame:
        """One row a trial; settings that a policy does not have are missing."""
        from harness_nb.frames import sweep_frame

        return sweep_frame(self.records, settings=self.settings, metrics=self.metrics)


def sweep(
    transcripts: Transcript | Iterable[Transcript],
    grid: Mapping[str, Mapping[str, Any]],
    *,
    metrics: Sequence[Metric] = TOTALS,
    window: int | Sequence[int] | None = None,
    executor: Executor | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Replays transcripts under every combination of some settings; replies of models are assumed, so nothing is paid.

    Args:
        transcripts: One transcript, or several.
        grid: For each policy by name, its settings: a list of values to try, or one value.
        metrics: Names of `Totals`, or functions of a replay, whose names become columns.
        window: Context window in tokens, or several to try; None for that of each recorded model.
        executor: Where batches run: any `concurrent.futures.Executor`, or an object with its `submit`, such as a client
            of dask; None runs them here. A policy registered in a notebook is known to other processes only where they
            are forked from this one.
        folder: Where results are kept for a later run; None keeps none.
        progress: Called with the trials done and all of them.

    Raises:
        ConfigError: There is nothing to try, or a metric is unknown. A trial whose settings are refused is a row that
            says so.
    """
    given = [transcripts] if isinstance(transcripts, Transcript) else list(transcripts)
    names = tuple(_named(metric) for metric in metrics)
    trials = list(_trials(grid, window))
    if not given or not trials:
        raise ConfigError("There is nothing to sweep.", "Give at least one transcript and one policy.")
    kept = _Kept(Path(folder) if folder is not None else None)
    digests = [_digest(transcript) for transcript in given]
    keys = {
        (at, number): _key(digests[at], trial, names)
        for at, number, trial in (
            (at, number, trial) for at in range(len(given)) for number, trial in enumerate(trials)
        )
    }
    found = {place: kept.results[key] for place, key in keys.items() if key in kept.results}
    resumed = len(found)
    for places, results in _done(given, trials, tuple(metrics), [one for one in keys if one not in found], executor):
        found.update(zip(places, results, strict=True))
        kept.write({keys[place]: found[place] for place in places})
        if progress is not None:
            progress(len(found), len(keys))
    rows = tuple(_row(given[at], at, trials[number], found[at, number]) for at, number in keys)
    settings = tuple(dict.fromkeys(name for trial in trials for name in trial.settings))
    return Sweep(rows, settings, names, resumed)


def _trials(grid: Mapping[str, Mapping[str, Any]], window: int | Sequence[int] | None) -> Iterator[Trial]:
    windows = list(window) if isinstance(window, Sequence) else [window]
    for policy, settings in grid.items():
        choices = [_choices(value) for value in settings.values()]
        for size, values in itertools.product(windows, itertools.product(*choices)):
            yield Trial(policy, dict(zip(settings, values, strict=True)), size)


def _choices(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | range) else [value]


def _named(metric: Metric) -> str:
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "")
    if isinstance(metric, str) and metric not in TOTALS:
        from difflib import get_close_matches

        near = get_close_matches(metric, TOTALS, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Use {', '.join(TOTALS)}, or a function."
        raise ConfigError(f"There is no metric {metric!r}.", hint, subject=metric)
    if not name or name == "<lambda>":
        raise ConfigError(f"{metric!r} has no name for its column.", "Give a function with a name.", subject=metric)
    return name


Place = tuple[int, int]
Result = dict[str, Any]


def _done(
    transcripts: Sequence[Transcript],
    trials: Sequence[Trial],
    metrics: tuple[Metric, ...],
    places: Sequence[Place],
    executor: Executor | None,
) -> Iterator[tuple[list[Place], list[Result]]]:
    """Runs what is still to do, a batch at a time, and yields batches as they finish."""
    batches = [
        mine[start : start + BATCH]
        for at in range(len(transcripts))
        for mine in [[place for place in places if place[0] == at]]
        for start in range(0, len(mine), BATCH)
    ]
    if executor is None:
        measures: dict[int, Measure] = {}
        for batch in batches:
            work = [trials[number] for _, number in batch]
            yield batch, run_batch(transcripts[batch[0][0]], work, metrics, measures)
        return
    waiting: dict[Future[list[Result]], list[Place]] = {}
    for batch in batches:
        work = [trials[number] for _, number in batch]
        waiting[executor.submit(run_batch, transcripts[batch[0][0]], work, metrics)] = batch
    for future in _as_completed(executor, waiting):
        yield waiting[future], future.result()


def _as_completed(executor: Executor, futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
    """Futures as they finish; those of dask are waited for in their order, which needs nothing of dask here."""
    pending = list(futures)
    yield from as_completed(pending) if all(isinstance(one, Future) for one in pending) else pending


def run_batch(
    transcript: Transcript,
    trials: Sequence[Trial],
    metrics: Sequence[Metric],
    measures: dict[int, Measure] | None = None,
) -> list[Result]:
    """Replays one transcript under some trials; its messages are counted once.

    Args:
        transcript: What was said.
        trials: What to try.
        metrics: What to take down.
        measures: Counts of earlier batches in this process, by transcript.
    """
    known = {} if measures is None else measures
    measure = known.setdefault(id(transcript), measure_for(transcript))
    return [_tried(transcript, trial, metrics, measure) for trial in trials]


def _tried(transcript: Transcript, trial: Trial, metrics: Sequence[Metric], measure: Measure) -> Result:
    try:
        preset = get(trial.policy, **trial.settings)
        run = replay(transcript, preset, window=trial.window, model=None, measure=measure)
        totals = run.totals.to_dict()
        values = {_named(one): totals[one] if isinstance(one, str) else one(run) for one in metrics}
    except HarnessError as error:
        return {"window": trial.window, "error": error.problem} | {_named(one): None for one in metrics}
    return {"window": run.window, "error": ""} | values


def _row(transcript: Transcript, at: int, trial: Trial, result: Result) -> dict[str, Any]:
    return {"transcript": transcript.name or str(at), "policy": trial.policy, **trial.settings, **result}


def _digest(transcript: Transcript) -> str:
    return hashlib.sha256(to_json([transcript.model, transcript.to_openai()]).encode()).hexdigest()


def _key(digest: str, trial: Trial, metrics: Sequence[str]) -> str:
    said = [
        VERSION,
        digest,
        trial.policy,
        sorted((k, repr(v)) for k, v in trial.settings.items()),
        trial.window,
        metrics,
    ]
    return hashlib.sha256(to_json(said).encode()).hexdigest()


class _Kept:
    """Results of earlier runs, a line each, by key."""

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / "sweep.jsonl" if folder is not None else None
        lines = (read_text(self._path) or "").splitlines() if self._path is not None else []
        records = [record for line in lines if (record := parse_line(line)) is not None]
        self.results: dict[str, Result] = {one["key"]: one["result"] for one in records if "key" in one}

    def write(self, results: Mapping[str, Result]) -> None:
        """Writes some down; nothing without a folder."""
        if self._path is not None:
            append_text(self._path, "".join(f"{to_json({'key': k, 'result': v})}\n" for k, v in results.items()))
