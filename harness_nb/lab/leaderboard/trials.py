"""The replays of a leaderboard: each is scored, and written down at once, so that a run that was stopped goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness_nb import presets
from harness_nb.core.messages import to_json
from harness_nb.core.records import parse_line
from harness_nb.errors import ConfigError, HarnessError
from harness_nb.lab.counting import measure_for
from harness_nb.lab.datasets import Conversation
from harness_nb.lab.evidence import evidence_metrics
from harness_nb.lab.executing import as_finished
from harness_nb.lab.leaderboard.sources import Source, labels_hash
from harness_nb.lab.metrics import METRICS, Metric
from harness_nb.lab.replay import replay
from harness_nb.lab.run import Replay
from harness_nb.lab.score import Score, score_of
from harness_nb.lab.sweeping.workers import Workers, processes
from harness_nb.presets.built_in import NAMES
from harness_nb.store.files import append_text, read_text

_AS_IT_IS: Mapping[str, Any] = {"below_minimum": "refuse"}
"""Settings by which a preset is as strict as its system, where by default it is not, so that small windows can be studied."""

FORMAT = 1
"""Part of every key: results of another form are made anew."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A preset in one of its versions.

    Attributes:
        preset: Its name.
        variant: Which version, or empty where there is one.
    """

    preset: str
    variant: str = ""

    @property
    def label(self) -> str:
        """Name and version."""
        return f"{self.preset} {self.variant}".rstrip()

    def made(self) -> presets.Preset:
        """The preset, which refuses the windows that its system refuses."""
        chosen: dict[str, Any] = {"variant": self.variant} if self.variant else {}
        plain = presets.get(self.preset, **chosen)
        strict = {name: value for name, value in _AS_IT_IS.items() if name in plain.settings}
        return presets.get(self.preset, **chosen, **strict) if strict else plain


def entrants(names: Iterable[str]) -> tuple[Entrant, ...]:
    """Presets by name, each in all its versions.

    Raises:
        ConfigError: A name is unknown.
    """
    found = [presets.get(name) for name in dict.fromkeys(names)]
    return tuple(Entrant(one.name, variant) for one in found for variant in one.variants or ("",))


@dataclass(frozen=True, slots=True)
class Trial:
    """One entrant on one conversation at one window, as it came out.

    Attributes:
        source: Name of the source.
        conversation: Name of the conversation.
        weight: Questions with evidence, 1 where there are none: how much its shares count in a mean.
        entrant: Who was tried.
        window: Context window in tokens, or None for that of the recorded model.
        score: The figures, or None where the window was refused.
        refusal: Why it was refused, or empty.
    """

    source: str
    conversation: str
    weight: int
    entrant: Entrant
    window: int | None
    score: Score | None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """One conversation at one window, to be replayed under every entrant; what one process does at a time.

    Attributes:
        source: Name of the source.
        conversation: What is replayed.
        window: Context window in tokens, or None for that of the recorded model.
        entrants: Who is tried.
        model: Answers the policies, None to assume replies.
        folder: Where results are kept, or None.
    """

    source: str
    conversation: Conversation
    window: int | None
    entrants: tuple[Entrant, ...]
    model: str | None
    folder: Path | None

    @property
    def weight(self) -> int:
        """Questions with evidence, 1 where there are none."""
        return sum(bool(one.evidence) for one in self.conversation.questions) or 1

    @property
    def size(self) -> int:
        """Characters of the conversation: how long the job may take."""
        return sum(len(message.text) for message in self.conversation.transcript)

    @property
    def path(self) -> Path | None:
        """The file of its results, named by all that they depend on."""
        if self.folder is None:
            return None
        said = [
            FORMAT,
            _AS_IT_IS,
            version("harness-nb"),
            labels_hash(self.conversation),
            self.window,
            self.model,
            sorted(METRICS),
        ]
        return self.folder / f"{hashlib.sha256(to_json(said).encode()).hexdigest()[:24]}.jsonl"


def jobs(
    sources: Iterable[Source],
    entrants: tuple[Entrant, ...],
    windows: Sequence[int | None],
    *,
    models: Mapping[str, str | None],
    folder: Path | None,
) -> list[Job]:
    """All jobs of a leaderboard, in the order of its rows.

    Args:
        sources: What is replayed.
        entrants: Who is tried.
        windows: Context windows in tokens; None for that of each recorded model.
        models: For each source by name, who answers the policies.
        folder: Where results are kept, or None.
    """
    return [
        Job(source.name, conversation, window, entrants, models[source.name], folder)
        for source in sources
        for window in windows
        for conversation in source.conversations
    ]


def metrics_of(conversation: Conversation) -> tuple[Metric, ...]:
    """What is taken down of each replay of a conversation."""
    return (*METRICS.values(), *evidence_metrics(conversation))


def measured(sources: Iterable[Source]) -> tuple[dict[str, Any], ...]:
    """Name, unit, direction and meaning of all metrics of some sources."""
    found = {one.name: one.to_record() for source in sources for one in metrics_of(_labelled(source))}
    return tuple(found.values())


def _labelled(source: Source) -> Conversation:
    """A conversation that has what its source has."""
    return next((one for one in source.conversations if one.questions or one.actions), source.conversations[0])


def run(job: Job) -> list[Trial]:
    """Replays a conversation under every entrant; what was kept by an earlier run is not done again."""
    kept = dict(_kept(job.path))
    metrics: tuple[Metric, ...] = ()
    found: list[Trial] = []
    for entrant in job.entrants:
        if entrant not in kept:
            metrics = metrics or metrics_of(job.conversation)
            kept[entrant] = _tried(job, entrant, metrics)
            _keep(job.path, entrant, kept[entrant])
        score, refusal = kept[entrant]
        found.append(Trial(job.source, job.conversation.name, job.weight, entrant, job.window, score, refusal))
    return found


def run_all(work: Sequence[Job], workers: Workers) -> Iterator[tuple[int, list[Trial]]]:
    """Runs jobs, the longest first, and yields the place of each with its trials as it finishes.

    Args:
        work: The jobs.
        workers: A number of processes, an executor, or None for this process.
    """
    order = sorted(range(len(work)), key=lambda at: -work[at].size)
    if workers is None:
        yield from ((at, run(work[at])) for at in order)
        return
    given = {at: (work[at],) for at in order}
    if isinstance(workers, int):
        with processes(workers) as pool:
            yield from as_finished(pool, run, given)
    else:
        yield from as_finished(workers, run, given)


Result = tuple[Score | None, str]


def _tried(job: Job, entrant: Entrant, metrics: Sequence[Metric]) -> Result:
    try:
        transcript = job.conversation.transcript
        done = replay(transcript, entrant.made(), window=job.window, model=job.model, measure=measure_for(transcript))
    except HarnessError as error:
        return None, error.problem
    refusal = _refusal(done)
    return (None, refusal) if refusal else (score_of(done, metrics), "")


def _refusal(done: Replay) -> str:
    """Why a policy refused the window, or empty."""
    errors = (one.plan.error for one in done.plans)
    return next((error.problem for error in errors if isinstance(error, ConfigError)), "")


def _kept(path: Path | None) -> Iterator[tuple[Entrant, Result]]:
    """Results of an earlier run; a line that a killed process left half written is none."""
    for line in (read_text(path) or "").splitlines() if path is not None else ():
        record = parse_line(line)
        if record is not None:
            score = Score(**record["score"]) if record["score"] is not None else None
            yield Entrant(*record["entrant"]), (score, record["refusal"])


def _keep(path: Path | None, entrant: Entrant, result: Result) -> None:
    """Writes a result down; that of a user's own policy is not kept, as its code may change."""
    if path is not None and entrant.preset in NAMES:
        score, refusal = result
        record = {
            "entrant": [entrant.preset, entrant.variant],
            "score": None if score is None else asdict(score),
            "refusal": refusal,
        }
        append_text(path, to_json(record) + "\n")
