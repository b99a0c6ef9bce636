"""Two reports of scores beside each other: which figure moved, by how much, and whether that is worse."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from harness_nb.core.messages import to_json
from harness_nb.errors import ConfigError
from harness_nb.lab.score import Score, ScoreReport

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

Verdict = Literal["worse", "missing", "changed", "new", "better", "same"]
Tolerance = float | Mapping[str, float]

VERDICTS: tuple[Verdict, ...] = ("worse", "missing", "changed", "new", "better", "same")
"""All of them, the gravest first."""

FAILING: frozenset[Verdict] = frozenset({"worse", "missing"})

_NOISE = 1e-9
"""Share of a figure below which two are equal: sums of the same parts in another order differ by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure in both reports.

    Attributes:
        transcript: Name of what was replayed.
        policy: Name of the policy.
        window: Context window in tokens.
        metric: Name of the figure; empty where a whole replay is in one report only.
        unit: Of the figure.
        better: Which direction is better, None where neither is.
        old: The figure in the old report, or None.
        new: The figure in the new report, or None.
        verdict: `same` within the tolerance; `better`, `worse`, or `changed` where no direction is better; `missing` from
            the new report; `new` in it.
    """

    transcript: str
    policy: str
    window: int
    metric: str = ""
    unit: str = ""
    better: str | None = None
    old: float | None = None
    new: float | None = None
    verdict: Verdict

    @property
    def change(self) -> float | None:
        """New less old."""
        return None if self.old is None or self.new is None else self.new - self.old

    @property
    def share(self) -> float | None:
        """The change as a share of the old figure; None where that is 0."""
        return self.change / abs(self.old) if self.change is not None and self.old else None

    @property
    def record(self) -> dict[str, Any]:
        """A mapping of plain values."""
        fields = (
            "transcript",
            "policy",
            "window",
            "metric",
            "unit",
            "better",
            "old",
            "new",
            "change",
            "share",
            "verdict",
        )
        return {name: getattr(self, name) for name in fields}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScoreDiff:
    """What differs between two reports.

    Attributes:
        changes: One for each figure of each replay, in the order of the old report.
        versions: Versions of this package that made the old and the new report.
    """

    changes: tuple[Change, ...]
    versions: tuple[str, str]

    def __repr__(self) -> str:
        return f"ScoreDiff({', '.join(f'{number} {verdict}' for verdict, number in self.counts.items())})"

    def __str__(self) -> str:
        from harness_nb.render.card import card_text

        return card_text(self._card())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from harness_nb.render.results import card_bundle

        return card_bundle(self._card())

    @property
    def counts(self) -> dict[str, int]:
        """How many figures have each verdict, the gravest first; those that none has are left out."""
        found = Counter(one.verdict for one in self.changes)
        return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}

    @property
    def is_worse(self) -> bool:
        """True when a figure is worse or is missing from the new report."""
        return any(one.verdict in FAILING for one in self.changes)

    @property
    def moved(self) -> tuple[Change, ...]:
        """Those that are not the same, the gravest first."""
        moved = [one for one in self.changes if one.verdict != "same"]
        return tuple(sorted(moved, key=lambda one: VERDICTS.index(one.verdict)))

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each figure."""
        return [one.record for one in self.changes]

    @property
    def df(self) -> DataFrame:
        """One row a figure of a replay."""
        from harness_nb.frames.lab_frames import diff_frame

        return diff_frame(self.records)

    def _card(self) -> Card:
        from harness_nb.render.diff_card import diff_card

        return diff_card(self.moved, self.counts, self.versions)


def diff(
    old: ScoreReport, new: ScoreReport, *, tolerance: Tolerance = 0.0, metrics: Iterable[str] | None = None
) -> ScoreDiff:
    """Compares two reports figure by figure.

    A replay of one report is that of the other when transcript, policy, settings, window and the way it was done are the
    same; where only the settings differ, when no other replay has the rest in common.

    Args:
        old: What is to be held.
        new: What is there now.
        tolerance: Share of the old figure that it may get worse by, for all figures or for each by name.
        metrics: Names of the figures that count; by default all of the old report.

    Raises:
        ConfigError: The reports have no replay in common or count tokens differently, a metric is unknown, or a tolerance
            is below 0.
    """
    known = {one["name"]: one for one in old.metrics}
    wanted = list(known if metrics is None else metrics)
    shares = _shares(tolerance, known)
    _check_known((*wanted, *shares), known)
    pairs = _paired(old.scores, new.scores)
    if not any(before and after for before, after in pairs):
        raise ConfigError(
            "The reports have no replay in common.", "Score the same transcripts, policies and windows in both."
        )
    found = [change for pair in pairs for change in _changes(*pair, [known[name] for name in wanted], shares)]
    return ScoreDiff(changes=tuple(found), versions=(old.version, new.version))


def _shares(tolerance: Tolerance, names: Iterable[str]) -> dict[str, float]:
    """The tolerance of each figure that has one.

    Raises:
        ConfigError: One is no share.
    """
    shares = dict(tolerance) if isinstance(tolerance, Mapping) else dict.fromkeys(names, tolerance)
    for name, value in shares.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise ConfigError(f"tolerance={value!r} is no share.", "Give one such as 0.02 for 2 %.", subject=name)
    return shares


def _check_known(names: Iterable[str], known: Mapping[str, Any]) -> None:
    for name in names:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(known)}."
            raise ConfigError(f"The old report has no metric {name!r}.", hint, subject=name)


Pair = tuple[Score | None, Score | None]


def _paired(old: Sequence[Score], new: Sequence[Score]) -> list[Pair]:
    """Replays of both reports beside each other, those of the old one first; what has no partner stands alone."""
    partner: dict[int, Score] = {}
    free = list(new)
    for same in (_exact, _loose):
        mine = Counter(same(one) for at, one in enumerate(old) if at not in partner)
        theirs = Counter(map(same, free))
        known = {same(one): one for one in free}
        for at, one in enumerate(old):
            key = same(one)
            if at not in partner and mine[key] == 1 and theirs[key] == 1:
                partner[at] = known[key]
        taken = {id(one) for one in partner.values()}
        free = [one for one in free if id(one) not in taken]
    return [*((one, partner.get(at)) for at, one in enumerate(old)), *((None, one) for one in free)]


def _exact(score: Score) -> object:
    """What tells a replay apart, with its settings."""
    return _loose(score), to_json(dict(sorted(score.settings.items())))


def _loose(score: Score) -> object:
    """What tells a replay apart whose settings may have changed."""
    return score.data, score.policy, score.window, score.answered_by, score.guarded, score.seed


def _changes(
    old: Score | None, new: Score | None, metrics: Sequence[Mapping[str, Any]], shares: Mapping[str, float]
) -> Iterator[Change]:
    one = old or new
    assert one is not None  # noqa: S101 - a pair is never empty
    place: dict[str, Any] = {"transcript": one.transcript, "policy": one.policy, "window": one.window}
    if old is None or new is None:
        yield Change(**place, verdict="missing" if new is None else "new")
        return
    _check_counters(old, new)
    for metric in metrics:
        name, better = metric["name"], metric["better"]
        before, after = old.values.get(name), new.values.get(name)
        if before is not None or after is not None:
            verdict = _verdict(before, after, better, shares.get(name, 0.0))
            yield Change(
                **place, metric=name, unit=metric["unit"], better=better, old=before, new=after, verdict=verdict
            )


def _check_counters(old: Score, new: Score) -> None:
    if old.counter != new.counter:
        raise ConfigError(
            f"{old.transcript!r} was counted by {old.counter!r} in the old report and by {new.counter!r} in the new one.",
            "Score both with the same tokenizer.",
            subject=old.transcript,
        )


def _verdict(old: float | None, new: float | None, better: str | None, share: float) -> Verdict:
    if old is None or new is None:
        return "new" if old is None else "missing"
    if math.isclose(old, new, rel_tol=_NOISE) or abs(new - old) <= share * abs(old):
        return "same"
    if better is None:
        return "changed"
    return "better" if (new < old) == (better == "lower") else "worse"
