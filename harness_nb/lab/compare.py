"""Policies side by side on one conversation: sizes along it, where they differ first and why, and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_nb import presets
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.carded import Carded
from harness_nb.lab.counting import measure_for
from harness_nb.lab.differences import Difference, first_difference
from harness_nb.lab.progress import Progress, following
from harness_nb.lab.replay import replay
from harness_nb.lab.run import Replay
from harness_nb.lab.score import ScoreReport, score
from harness_nb.lab.step import Step
from harness_nb.model.base import Model
from harness_nb.model.resolve import resolve
from harness_nb.presets import Preset

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

Given = str | Preset | CompactionPolicy


@dataclass(frozen=True, slots=True)
class Setup(Carded):
    """What a comparison rests on.

    Attributes:
        lines: Name and value, in words.
    """

    lines: tuple[tuple[str, str], ...]

    def __getitem__(self, name: str) -> str:
        return dict(self.lines)[name]

    @property
    def df(self) -> DataFrame:
        """One row a line."""
        from harness_nb.frames import status_frame

        return status_frame({"name": name, "value": value} for name, value in self.lines)

    def _card(self) -> Card:
        from harness_nb.render.comparison_cards import setup

        return setup(dict(self.lines))


@dataclass(frozen=True, repr=False)
class Comparison(Carded):
    """Policies compared over one conversation.

    Attributes:
        runs: A replay each; the first is what the others are compared with.
        title: Of what conversation.
        given: The policies as they were given, for code that makes them again; empty where that is not known.
        seed: Kept with the scores.
    """

    runs: tuple[Replay, ...]
    title: str = ""
    given: tuple[Given, ...] = field(default=())
    seed: int = 0

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the policies, each once: with its variant where its preset has several, numbered where two are alike."""
        plain = [f"{run.policy} {run.settings.get('variant', '')}".strip() for run in self.runs]
        return tuple(
            f"{name} ({plain[: at + 1].count(name)})" if plain.count(name) > 1 else name
            for at, name in enumerate(plain)
        )

    @cached_property
    def scores(self) -> ScoreReport:
        """Every figure of every policy; worked out once."""
        return score(self.runs, seed=self.seed)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each policy, figures by name."""
        return [record | {"policy": name} for record, name in zip(self.scores.records, self.names, strict=True)]

    @property
    def df(self) -> DataFrame:
        """One row a policy, a column for each metric."""
        from harness_nb.frames import score_frame

        return score_frame(self.records, metrics=self.scores.metrics)

    @cached_property
    def moments(self) -> tuple[tuple[str, Step], ...]:
        """Every point at which a policy replaced its list, with the policy's name, in the order of the conversation."""
        found = [(name, step) for name, run in zip(self.names, self.runs, strict=True) for step in run.compactions]
        return tuple(sorted(found, key=lambda one: one[1].index))

    def timeline(self) -> DataFrame:
        """One row for each point at which a policy replaced its list; columns `frames.trials.TIMELINE`."""
        from harness_nb.frames.trials import timeline_frame

        return timeline_frame(step.record | {"policy": name} for name, step in self.moments)

    @cached_property
    def difference(self) -> Difference | None:
        """The first point at which not all show the model the same, or None where they always do."""
        return first_difference(self.runs, self.names)

    @cached_property
    def differences(self) -> tuple[tuple[str, Difference | None], ...]:
        """For each policy but the first: its name, and the first point at which it differs from the first."""
        return tuple(
            (name, first_difference((self.runs[0], run), (self.names[0], name)))
            for name, run in zip(self.names[1:], self.runs[1:], strict=True)
        )

    def setup(self) -> Setup:
        """What the figures rest on: versions, data and its hash, counter, prices, cache rules, seed."""
        from harness_nb.lab.compare_report import provenance

        return Setup(tuple(provenance(self).items()))

    def unranked(self, at: int) -> str:
        """Why the scores of a policy, by its place, are shown but not ranked, or empty.

        It never acted, all of its plans failed, or it made requests that a provider would refuse.
        """
        run, values = self.runs[at], self.scores.scores[at].values
        if not run.compactions:
            return "every plan failed or was refused" if run.totals.failures else "it never acted"
        refused = int(values.get("invalid_prompts") or 0), run.totals.overflows
        said = ("requests that were not valid", "requests above the window")
        return ", ".join(f"{number:,} {what}" for number, what in zip(refused, said, strict=True) if number)

    def write(self, path: str | Path, *, source: str | Path | None = None) -> Path:
        """Writes a report that an appendix could use: `.html`, one page that needs nothing else, or `.ipynb`, a notebook.

        It says what was compared on what: versions, settings, seed, hash of the data, counter, prices and cache rules. The
        same comparison gives the same bytes.

        Args:
            path: The file to write; replaced as a whole.
            source: File of the transcript, for the code of the notebook.

        Returns:
            The path.

        Raises:
            ConfigError: The name ends in neither.
            StoreError: The file can't be written.
        """
        from harness_nb.lab.compare_report import write_report

        return write_report(self, Path(path), source=source)

    def _card(self) -> Card:
        from harness_nb.render.comparison_cards import comparison_card

        return comparison_card(self)


def transcript_of(source: Any) -> Transcript:
    """The whole conversation of a transcript, a replay or an agent.

    Raises:
        ConfigError: It is none of these.
    """
    if isinstance(source, Transcript):
        return source
    if isinstance(source, Replay):
        return source.transcript
    if not hasattr(source, "messages"):
        remedy = "Give an agent, a replay or a transcript."
        if isinstance(source, str | Path):
            remedy = f"Read it first: read_transcript({str(source)!r})."
        raise ConfigError(f"{source!r} is no conversation.", remedy, subject=source)
    return Transcript(source.messages, name=f"session {source.session}", model=source.view().model.name)


def compare(
    source: Any,
    policies: Sequence[Given] | None = None,
    *,
    window: int | None = None,
    model: str | Model | None = None,
    seed: int = 0,
    progress: Progress | bool = False,
) -> Comparison:
    """Lets several policies act on one conversation and puts what came of it side by side.

    Args:
        source: A transcript, a replay or an agent.
        policies: Names of presets, presets or policies; all presets by default. The first is what others are compared with.
        window: Context window in tokens; by default that of the recorded model.
        model: Answers the policies' own requests: a name, or a model. By default replies are assumed, which is quick and
            costs nothing; then no summary holds anything, and what is said of content is the floor of each policy.
        seed: Kept with the scores.
        progress: True for a bar, or what is called with the messages replayed and all of them.

    Returns:
        The comparison; shows itself, has `.df`, `.timeline()` and `.write(path)`.

    Raises:
        ConfigError: There is no policy, a preset is unknown, or the window is not valid.
        KeyboardInterrupt: It was stopped; nothing is left behind.
    """
    transcript = transcript_of(source)
    given = tuple(presets.names() if policies is None else [policies] if isinstance(policies, str) else policies)
    if not given:
        raise ConfigError("There is no policy to compare.", "Name at least one preset.")
    answering = resolve(model) if model is not None else None
    measure = measure_for(transcript)
    runs: list[Replay] = []
    with following(progress, len(given) * len(transcript), "messages") as told:
        for policy in given:
            runs.append(
                replay(
                    transcript,
                    policy,
                    window=window,
                    model=answering,
                    measure=measure,
                    progress=lambda done, of: told(1),
                )
            )
    return Comparison(tuple(runs), transcript.name, given, seed)
