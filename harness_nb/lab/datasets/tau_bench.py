"""τ-bench: recorded runs of an agent with tools that serves a simulated customer, with the calls that solve each task.

A file holds one run a line, or a list of runs: `task_id`, `trial`, `reward`, `traj` (messages in OpenAI chat format) and
`info.task.actions` (the gold calls). The messages are kept as they are; the conversation is named by task and trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness_nb.lab.assembly import assemble
from harness_nb.lab.datasets.findings import Findings
from harness_nb.lab.datasets.record import Action, Conversation, Terms
from harness_nb.lab.entries import Begins, Entry, Line, Place
from harness_nb.lab.readers import openai

NAME = "τ-bench"
TERMS = Terms(
    licence="MIT",
    duties="The copyright notice stays with copies.",
    source="https://github.com/sierra-research/tau-bench",
    paper="Yao et al., arXiv 2406.12045",
)


def claims(value: Any) -> bool:
    """True for a run, and for a list of runs."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("traj"), list) and "task_id" in first


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages of all runs, for `read_transcript`."""
    for place, run in _runs(lines):
        yield Begins(place, _name(run))
        yield from _said(place, run)


def conversations(lines: Iterable[Line], findings: Findings) -> Iterator[Conversation]:
    """The runs as conversations."""
    for place, run in _runs(lines):
        name = _name(run)
        transcript, report = assemble(list(_said(place, run)), format=NAME, name=f"τ-bench {name}")
        findings.add("messages left out or added to make rounds whole", name, report.dropped + report.repaired)
        actions = _actions(run)
        findings.add("tasks that ask for no call", name, not actions)
        reward = run.get("reward")
        findings.add("runs that were not rewarded", count=reward == 0)
        yield Conversation(
            name=name,
            transcript=transcript,
            actions=actions,
            reward=float(reward) if isinstance(reward, int | float) else None,
        )


def _runs(lines: Iterable[Line]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for line in lines:
        for run in filter(claims, line.value if isinstance(line.value, list) else [line.value]):
            yield line.place, run


def _name(run: Mapping[str, Any]) -> str:
    return f"task {run['task_id']} trial {run.get('trial', 0)}"


def _said(place: Place, run: Mapping[str, Any]) -> Iterator[Entry]:
    """The messages of a run, without the mark of a conversation's beginning."""
    said = openai.read([Line(place, run["traj"])])
    return (replace(entry) for entry in said if not isinstance(entry, Begins))


def _actions(run: Mapping[str, Any]) -> tuple[Action, ...]:
    info = run.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    actions = task.get("actions") if isinstance(task, dict) else None
    return tuple(
        Action(name=str(one.get("name", "")), arguments=one.get("kwargs") or {})
        for one in actions or ()
        if isinstance(one, dict)
    )
