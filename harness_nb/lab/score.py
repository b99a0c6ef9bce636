"""Scores of replays, as a report that can be stored, compared and shown."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_nb.core.messages import to_json
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError, TranscriptError
from harness_nb.lab.cache import rules_for
from harness_nb.lab.cost import known_prices
from harness_nb.lab.metrics import METRICS, Compute, Metric, by_provider, chosen
from harness_nb.lab.run import Replay
from harness_nb.memory.results import Displayed
from harness_nb.model.prices import prices_of
from harness_nb.store.files import read_text, write_atomic

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = 1
"""Version of the stored form."""
REPORT = "report.json"
"""The scores in a folder that a leaderboard was written to."""

Values = Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The figures of one replay, and all that they depend on.

    Attributes:
        transcript: Its name.
        data: SHA-256 of model and messages of the transcript.
        policy: Name of the policy.
        settings: Its settings by name, as JSON values.
        window: Context window in tokens.
        counter: How tokens were counted.
        answered_by: Model that answered the policy, or `assumed`.
        guarded: Whether guards held the policy.
        seed: Seed of what is random in the figures.
        values: The figures by name; None where the replay has none.
    """

    transcript: str
    data: str
    policy: str
    settings: Mapping[str, Any]
    window: int
    counter: str
    answered_by: str
    guarded: bool
    seed: int
    values: Values

    @property
    def key(self) -> str:
        """Tells apart what was scored, whatever the figures: transcript, policy, settings, window and how it was done."""
        said = {name: value for name, value in asdict(self).items() if name != "values"}
        return hashlib.sha256(to_json(dict(sorted(said.items()))).encode()).hexdigest()[:16]

    @property
    def record(self) -> dict[str, Any]:
        """All of it as one flat mapping, the figures by their names."""
        said = asdict(self) | {"settings": to_json(dict(self.settings))}
        return {name: value for name, value in said.items() if name != "values"} | dict(self.values)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScoreReport(Displayed):
    """Scores of one or several replays.

    Attributes:
        scores: One for each replay, in order.
        metrics: Name, unit, direction and meaning of each figure.
        version: Version of this package that made it.
        terms: What the figures rest on beside the replays, such as prices and cache rules.
    """

    scores: tuple[Score, ...]
    metrics: tuple[Mapping[str, Any], ...]
    version: str
    terms: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"ScoreReport({len(self.scores)} replays, {len(self.metrics)} metrics)"

    def __str__(self) -> str:
        from harness_nb.render.card import card_text
        from harness_nb.render.lab_cards import score_card

        return card_text(score_card(self))

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A flat mapping for each replay."""
        return [score.record for score in self.scores]

    @property
    def df(self) -> DataFrame:
        """One row a replay; a column for each metric, with units and directions in `attrs`."""
        from harness_nb.frames import score_frame

        return score_frame(self.records, metrics=self.metrics)

    def to_json(self) -> str:
        """The report as JSON, equal for equal reports."""
        said = {
            "format": FORMAT,
            "version": self.version,
            "terms": dict(self.terms),
            "metrics": [dict(one) for one in self.metrics],
            "scores": [asdict(score) for score in self.scores],
        }
        return json.dumps(said, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> ScoreReport:
        """The report that `to_json` made.

        Raises:
            TranscriptError: It is none, or of a newer version.
        """
        try:
            said = json.loads(text)
            if said["format"] != FORMAT:
                raise TranscriptError(
                    f"The report is of format {said['format']!r}.", f"This version reads {FORMAT}.", subject="format"
                )
            return cls(
                scores=tuple(Score(**_known(Score, one)) for one in said["scores"]),
                metrics=tuple(said["metrics"]),
                version=said["version"],
                terms=said["terms"],
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise TranscriptError(
                f"This is no report of scores: {error!r}.", "Give what `ScoreReport.write` wrote."
            ) from error

    def write(self, path: str | Path) -> Path:
        """Writes the report as JSON, in whole or not at all; returns its path.

        Raises:
            ConfigError: The name ends as that of another form.
        """
        place = Path(path)
        if place.suffix not in ("", ".json"):
            raise ConfigError(
                f"{str(path)!r} is no name for a report of scores.",
                "End it in .json; for a table use .df, which has to_csv, to_html and to_latex.",
                subject=path,
            )
        write_atomic(place, self.to_json())
        return place

    @classmethod
    def read(cls, path: str | Path) -> ScoreReport:
        """The report in a file, or that in a folder which a leaderboard was written to.

        Raises:
            TranscriptError: There is none.
        """
        place = Path(path)
        text = read_text(place / REPORT if place.is_dir() else place)
        if text is None:
            raise TranscriptError(f"There is no report at {str(path)!r}.", "Check the path.", subject=path)
        return cls.from_json(text)


def _known(cls: type, record: Mapping[str, Any]) -> dict[str, Any]:
    return {one.name: record[one.name] for one in fields(cls)}


def score(
    runs: Replay | Iterable[Replay],
    *,
    metrics: Sequence[str | Metric | Compute] | None = None,
    model: str | None = None,
    seed: int = 0,
) -> ScoreReport:
    """Scores one replay or several, without a model.

    Args:
        runs: A replay, or several.
        metrics: Names of metrics, metrics, or functions of a replay; all of `METRICS` by default.
        model: Name of the model whose prices and cache rules hold; by default that of each recorded session.
        seed: Kept with the scores, for metrics in which something is random.

    Returns:
        The figures with all that they depend on.

    Raises:
        ConfigError: There is nothing to score, a metric is unknown, or the prices of the model are.
    """
    given = [runs] if isinstance(runs, Replay) else list(runs)
    if not given or not all(isinstance(run, Replay) for run in given):
        raise ConfigError(f"There is no replay to score in {runs!r}.", "Give what replay(...) returned.", subject=runs)
    if model is not None:
        known_prices(model)
    own = {one.name: one for one in by_provider(model)} if model is not None else {}
    wanted = tuple(own.get(one.name, one) for one in chosen(METRICS if metrics is None else metrics))
    return ScoreReport(
        scores=tuple(score_of(run, wanted, seed=seed) for run in given),
        metrics=tuple(one.to_record() for one in wanted),
        version=_version(),
        terms=_terms([model] if model is not None else sorted({run.transcript.model for run in given})),
    )


def _terms(models: Iterable[str]) -> dict[str, Any]:
    """Prices, as far as they are known, and cache rules of some models, as JSON values."""
    return {
        "prices": {name: asdict(prices) for name in models if (prices := prices_of(name)) is not None},
        "cache_rules": {name: asdict(rules_for(name)) for name in models},
    }


def score_of(run: Replay, metrics: Iterable[Metric], *, seed: int = 0) -> Score:
    """The score of one replay."""
    return Score(
        transcript=run.transcript.name,
        data=data_hash(run.transcript),
        policy=run.policy,
        settings=_plain(run.settings),
        window=run.window,
        counter=run.final.measure.name,
        answered_by=run.answered_by,
        guarded=run.guarded,
        seed=seed,
        values={one.name: _number(one(run)) for one in metrics},
    )


def data_hash(transcript: Transcript) -> str:
    """SHA-256 of model and messages of a transcript, in hexadecimal."""
    return hashlib.sha256(to_json([transcript.model, transcript.to_openai()]).encode()).hexdigest()


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON values; what is none becomes its text."""
    return json.loads(json.dumps(dict(settings), default=repr))  # type: ignore[no-any-return]  # a dict becomes a dict


def _number(value: float | None) -> float | None:
    """A figure as JSON has it: no infinity, no NaN."""
    return value if value is None or math.isfinite(value) else None


def _version() -> str:
    from importlib.metadata import version

    return version("harness-nb")
