"""A gate that holds a policy in somebody's tests: by figures that were written down before, or by limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness_nb.errors import ConfigError
from harness_nb.lab.diff import FAILING, Tolerance, diff
from harness_nb.lab.run import Replay
from harness_nb.lab.score import ScoreReport, score

WRITE_OPTION = "--write-policy-baselines"


class PolicyRegression(AssertionError):
    """A policy scores worse than it did, or is beyond a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyGate:
    """Checks scores of a policy; the fixture `policy_gate` of pytest is one.

    Attributes:
        folder: Where baselines lie whose path is relative.
        baseline: Name of the baseline where none is given.
        is_writing: True writes baselines instead of comparing with them.
    """

    folder: Path
    baseline: str
    is_writing: bool = False

    def __call__(
        self,
        scored: ScoreReport | Replay | Iterable[Replay],
        *,
        baseline: str | Path | None = None,
        metrics: Iterable[str] | None = None,
        tolerance: Tolerance = 0.0,
        at_least: Mapping[str, float] | None = None,
        at_most: Mapping[str, float] | None = None,
    ) -> ScoreReport:
        """Passes when no figure is worse than in the baseline, and none beyond its limit.

        Where limits are given and no baseline, only the limits hold.

        Args:
            scored: A report of scores; or replays, which are scored here.
            baseline: A report that was written before; a relative path begins in the folder of the test. By default
                `policy_baselines/` there, under the name of the test.
            metrics: Names of the figures that count; by default all of the baseline.
            tolerance: Share of the old figure that it may get worse by, for all figures or for each by name.
            at_least: For figures by name, the least that each replay may have.
            at_most: For figures by name, the most that each replay may have.

        Returns:
            The report that was checked.

        Raises:
            PolicyRegression: A figure is worse or beyond its limit, or there is no baseline yet.
            ConfigError: The reports can't be compared, or a name is unknown.
        """
        report = scored if isinstance(scored, ScoreReport) else score(scored)
        faults = [*_beyond(report, at_least or {}, at_most or {})]
        if faults:
            raise PolicyRegression("\n".join(["The policy is beyond a limit.", *faults]))
        if baseline is not None or not (at_least or at_most):
            self._compare(report, self.folder / (baseline or self.baseline), metrics=metrics, tolerance=tolerance)
        return report

    def _compare(self, report: ScoreReport, path: Path, *, metrics: Iterable[str] | None, tolerance: Tolerance) -> None:
        if self.is_writing:
            report.write(path)
            return
        if not path.is_file():
            raise PolicyRegression(f"There is no baseline {str(path)!r}.\nWrite it: pytest {WRITE_OPTION}.")
        found = diff(ScoreReport.read(path), report, tolerance=tolerance, metrics=metrics)
        if found.is_worse:
            lines = [_said(one.record) for one in found.moved if one.verdict in FAILING]
            said = [f"The policy scores worse than {str(path)!r} has it.", *lines]
            raise PolicyRegression("\n".join([*said, f"Where that is meant, write it anew: pytest {WRITE_OPTION}."]))


def _beyond(report: ScoreReport, least: Mapping[str, float], most: Mapping[str, float]) -> Iterator[str]:
    """A line for each figure that is beyond its limit, or that a replay does not have."""
    known = [one["name"] for one in report.metrics]
    for name in (*least, *most):
        if name not in known:
            raise ConfigError(f"The report has no metric {name!r}.", f"It has {', '.join(known)}.", subject=name)
    for one in report.scores:
        place = f"{one.transcript}, {one.policy}, window {one.window:,}"
        for limits, word, sign in ((least, "at least", 1), (most, "at most", -1)):
            for name, limit in limits.items():
                value = one.values.get(name)
                if value is None or (value - limit) * sign < 0:
                    yield f"{place}: {name} is {_figure(value)}, and {word} {_figure(limit)} is wanted"


def _said(change: Mapping[str, object]) -> str:
    place = f"{change['transcript']}, {change['policy']}, window {change['window']:,}"
    if not change["metric"]:
        return f"{place}: not scored any more"
    figures = f"{_figure(change['old'])} -> {_figure(change['new'])}"
    moved = f" ({change['share']:+.1%})" if change["share"] is not None else ""
    return f"{place}: {change['metric']} {figures}{moved}, {change['better'] or 'none'} is better"


def _figure(value: object) -> str:
    return f"{value:,.6g}" if isinstance(value, int | float) else "missing"
