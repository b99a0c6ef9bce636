"""A case: one agent in a workspace of its own, and what a task may look at."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_nb.agent.agent import HarnessAgent
from harness_nb.agent.results import AgentReply
from harness_nb.core.clock import Clock
from harness_nb.errors import CheckError, ConfigError
from harness_nb.lab.evaluation.fixtures import Fixtures
from harness_nb.model.base import Model
from harness_nb.presets import Preset
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.lab.evaluation.checks import Check

AGENT = "agent"
"""Name of the agent; sessions of fixtures are its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of one check.

    Attributes:
        check: The check in words.
        passed: Whether it holds.
        detail: Why not, or empty.
    """

    check: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Case:
    """One agent in a fresh workspace.

    Attributes:
        agent: The agent.
        replies: Its answers so far, in order.
        before: SHA-256 of each file of the workspace when the case began, by name.
    """

    agent: HarnessAgent
    replies: list[AgentReply] = field(default_factory=list)
    before: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Case({self.agent!r}, {len(self.replies)} replies)"

    @property
    def workspace(self) -> Workspace:
        """The workspace; it is deleted with the case."""
        return self.agent.workspace

    @property
    def answer(self) -> str:
        """The last answer, or empty."""
        return self.replies[-1].text if self.replies else ""

    @property
    def memory(self) -> str:
        """MEMORY.md as it is now."""
        return self.read("MEMORY.md")

    @property
    def logs(self) -> str:
        """All daily logs as they are now, oldest first."""
        log = self.workspace.daily_log
        return "\n".join(log.path(day).read_text(encoding="utf-8") for day in log.days())

    def ask(self, text: str) -> AgentReply:
        """Runs a turn, and waits until its facts are noted."""
        self.replies.append(self.agent.ask(text))
        self.agent.memory  # noqa: B018 - to look at it waits for a flush under way
        return self.replies[-1]

    def read(self, name: str) -> str:
        """The text of a file of the workspace, empty where there is none."""
        return self.workspace.read(name) or ""

    def files(self) -> dict[str, str]:
        """SHA-256 of each file of the workspace as it is now, by name."""
        return _hashes(self.workspace.path)

    def find(self, *checks: Check | Callable[[Case], object]) -> tuple[Finding, ...]:
        """What comes of each check; none of them ends the case."""
        from harness_nb.lab.evaluation.checks import as_check

        return tuple(as_check(one)(self) for one in checks)

    def check(self, *checks: Check | Callable[[Case], object]) -> None:
        """Holds checks against the case.

        Args:
            *checks: Checks of the vocabulary, or functions of the case that assert, or give False or a reason when it fails.

        Raises:
            CheckError: Some fail; says which and why.
        """
        failed = [one for one in self.find(*checks) if not one.passed]
        if failed:
            said = "; ".join(f"{one.check}: {one.detail}" for one in failed)
            raise CheckError(
                f"{len(failed)} of {len(checks)} checks failed: {said}.", "Look at case.replies.", subject=failed
            )


@contextmanager
def evaluation(
    fixtures: Fixtures | None = None,
    *,
    preset: str | Preset = "harness",
    model: str | Model = "offline",
    clock: Clock | None = None,
    **settings: Any,
) -> Iterator[Case]:
    """An agent in a fresh temporary workspace with the given fixtures; all of it is removed at the end, whatever happens.

    Cases in other threads and processes never meet: each has a folder of its own, its search index in it.

    Args:
        fixtures: What the workspace holds at first.
        preset: Name of a preset, or one made by `presets.get`.
        model: Answers.
        clock: The time and its zone.
        **settings: Further settings of `HarnessAgent`, such as `session`, `tools`, `window` and `permissions`. Unless it is
            given, `maintenance` is None: nothing happens to the memory but what the case does.

    Yields:
        The case.

    Raises:
        ConfigError: A setting or a fixture is wrong.
    """
    if "workspace" in settings:
        raise ConfigError("A case has a workspace of its own.", "Leave workspace out.", subject="workspace")
    name, settings = settings.pop("name", AGENT), {"maintenance": None, **settings}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="harness_nb-case-"))
        workspace = Workspace(Path(folder) / "workspace", clock=clock or Clock())
        workspace.ensure()
        (fixtures or Fixtures()).seed(workspace, name)
        before = _hashes(workspace.path)
        agent = HarnessAgent(name, model=model, preset=preset, workspace=workspace, **settings)
        yield Case(agent=stack.enter_context(agent), before=before)


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder, by name; locks and other hidden files are passed over."""
    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(".lock"):
                path = Path(place, name)
                found[path.relative_to(folder).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
