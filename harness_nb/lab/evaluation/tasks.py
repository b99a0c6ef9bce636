"""Many tasks under some presets, a fresh workspace for each, as a table of what passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from harness_nb.core.clock import Clock
from harness_nb.core.messages import Usage
from harness_nb.errors import ConfigError
from harness_nb.lab.evaluation.case import Case, Finding, evaluation
from harness_nb.lab.evaluation.checks import Check
from harness_nb.lab.evaluation.fixtures import Fixtures
from harness_nb.lab.evaluation.report import EvaluationReport, Result
from harness_nb.lab.executing import as_finished
from harness_nb.lab.progress import Progress, following
from harness_nb.model.base import Model
from harness_nb.presets import Preset

WORKERS = 8
"""Cases that run at once, unless an executor says otherwise."""

Answering = str | Callable[[], Model]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an agent is asked, and what must hold then.

    Attributes:
        name: Its name; a row's key.
        fixtures: What the workspace holds at first.
        ask: What is said, a turn each; or a function of the case that does whatever is to be done.
        checks: What must hold then: checks of the vocabulary, or functions of the case.
        settings: Further settings of the agent, by name.
    """

    name: str
    fixtures: Fixtures = field(default_factory=Fixtures)
    ask: str | Sequence[str] | Callable[[Case], object] = ()
    checks: Sequence[Check | Callable[[Case], object]] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def run(self, case: Case) -> tuple[Finding, ...]:
        """Does what is to be done, and looks at what came of it."""
        if callable(self.ask):
            self.ask(case)
        else:
            for text in [self.ask] if isinstance(self.ask, str) else self.ask:
                case.ask(text)
        return case.find(*self.checks)


def evaluate(
    tasks: Task | Iterable[Task],
    presets: str | Preset | Sequence[str | Preset] = "harness",
    *,
    model: Answering = "offline",
    clock: Clock | None = None,
    executor: Executor | None = None,
    progress: Progress | bool = False,
) -> EvaluationReport:
    """Runs tasks under some presets, each in a fresh workspace that is removed afterwards.

    Args:
        tasks: One task, or several with names of their own.
        presets: Names of presets, or presets.
        model: Name of a model, or a function that makes one for each case.
        clock: The time and its zone.
        executor: Where cases run: any `concurrent.futures.Executor`; None runs eight at once in threads. What is sent to
            other processes must be picklable: checks of the vocabulary are, and functions of modules.
        progress: True for a bar, or what is called with the cases done and all of them.

    Returns:
        What passed, in the order of tasks and presets whatever ran first; shows itself and has `.df`.

    Raises:
        ConfigError: There is no task, or two have one name.
    """
    given = [tasks] if isinstance(tasks, Task) else list(tasks)
    kinds = [presets] if isinstance(presets, str | Preset) else list(presets)
    names = [task.name for task in given]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None or not given or not kinds:
        problem = f"Two tasks are named {twice!r}." if twice is not None else "There is nothing to evaluate."
        raise ConfigError(problem, "Give tasks with names of their own, and at least one preset.", subject=twice)
    work = [(task, kind, model, clock) for task in given for kind in kinds]
    results: dict[int, Result] = {}
    with following(progress, len(work), "cases") as told:
        for at, result in _ran(work, executor):
            results[at] = result
            told(1)
    return EvaluationReport(tuple(results[at] for at in sorted(results)))


Work = tuple[Task, str | Preset, Answering, Clock | None]


def _ran(work: Sequence[Work], executor: Executor | None) -> Iterator[tuple[int, Result]]:
    """Results as they come; when it is stopped, what has not begun never does."""
    if executor is not None:
        yield from as_finished(executor, run_case, dict(enumerate(work)))
        return
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="harness_nb-case") as own:
        yield from as_finished(own, run_case, dict(enumerate(work)))


def run_case(task: Task, preset: str | Preset, model: Answering, clock: Clock | None) -> Result:
    """One task under one preset; an error of the agent or of the task is part of the result."""
    answering = model if isinstance(model, str) else model()
    name = preset if isinstance(preset, str) else f"{preset.name} {preset.variant}".strip()
    counted = _Counted()
    findings: tuple[Finding, ...] = ()
    error, case = "", None
    try:
        with evaluation(task.fixtures, preset=preset, model=answering, clock=clock, **task.settings) as case:
            findings = task.run(case)
            counted = _Counted.of(case)
    except Exception as problem:  # noqa: BLE001 - a task may do anything
        error = f"{type(problem).__name__}: {problem}"
    return Result(
        task=task.name,
        preset=name,
        model=answering if isinstance(answering, str) else answering.limits.name,
        findings=findings,
        error=error,
        answer=case.answer if case is not None else "",
        requests=counted.requests,
        input_tokens=counted.input_tokens,
        output_tokens=counted.output_tokens,
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """Model requests of a case, and what the provider reported for them."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @classmethod
    def of(cls, case: Case) -> _Counted:
        used: list[Usage] = [step.usage for reply in case.replies for step in reply.steps if step.usage is not None]
        return cls(
            sum(len(reply.steps) for reply in case.replies),
            sum(one.input_tokens for one in used),
            sum(one.output_tokens for one in used),
        )
