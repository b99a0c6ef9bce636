"""What tasks brought: which passed under which preset, and why the others did not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.lab.carded import Carded
from harness_nb.lab.evaluation.case import Finding

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One task under one preset.

    Attributes:
        task: Name of the task.
        preset: Name of the preset, with its variant where one was chosen.
        model: Name of the model.
        findings: What came of each check.
        error: Why the task could not be run to its end, or empty.
        answer: The last answer.
        requests: Model requests of its turns.
        input_tokens: Prompts of all of these, as the provider reported them.
        output_tokens: The same of the answers.
    """

    task: str
    preset: str
    model: str
    findings: tuple[Finding, ...] = ()
    error: str = ""
    answer: str = ""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def passed(self) -> bool:
        """Whether the task was run to its end and every check holds."""
        return not self.error and all(one.passed for one in self.findings)

    @property
    def why(self) -> str:
        """The error, or the checks that fail with their reasons; empty when all is well."""
        return self.error or "; ".join(f"{one.check}: {one.detail}" for one in self.findings if not one.passed)

    @property
    def record(self) -> dict[str, Any]:
        """A mapping of plain values."""
        names = ("task", "preset", "model", "passed", "why", "answer", "requests", "input_tokens", "output_tokens")
        failed = sum(not one.passed for one in self.findings)
        return {name: getattr(self, name) for name in names} | {"checks": len(self.findings), "failed": failed}


@dataclass(frozen=True, slots=True, repr=False)
class EvaluationReport(Carded):
    """Tasks under presets.

    Attributes:
        results: One for each task and preset, in the order given.
    """

    results: tuple[Result, ...]

    def __repr__(self) -> str:
        return f"EvaluationReport({sum(one.passed for one in self.results)} of {len(self.results)} passed)"

    def __len__(self) -> int:
        return len(self.results)

    @property
    def passed(self) -> bool:
        """Whether all passed."""
        return all(one.passed for one in self.results)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each task and preset."""
        return [one.record for one in self.results]

    @property
    def df(self) -> DataFrame:
        """One row for each task and preset; columns `frames.trials.EVALUATION`."""
        from harness_nb.frames.trials import evaluation_frame

        return evaluation_frame(self.records)

    def checks(self) -> DataFrame:
        """One row for each check of each of them; columns `frames.trials.CHECKS`."""
        from harness_nb.frames.trials import checks_frame

        return checks_frame(
            {"task": one.task, "preset": one.preset, "check": each.check, "passed": each.passed, "detail": each.detail}
            for one in self.results
            for each in one.findings
        )

    def _card(self) -> Card:
        from harness_nb.render.task_cards import evaluation_card

        return evaluation_card(self)
