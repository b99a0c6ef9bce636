"""A workspace: the folder with one namespace's memory, sessions and evicted results.

It is the boundary for all that is written: keys are masked here, and names stay inside.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from harness_nb.core.clock import Clock
from harness_nb.core.redact import clean_unicode, redact
from harness_nb.errors import StoreError
from harness_nb.store.curated import Curated
from harness_nb.store.daily_log import ARCHIVE, DailyLog
from harness_nb.store.files import make_folder, read_text, unusable, write_atomic
from harness_nb.store.names import confined, evicted_name, safe_name
from harness_nb.store.sessions import LOG_SUFFIX, VIEW_SUFFIX, SessionFiles

DEFAULT_PATH = ".harness_nb/workspace"


class Workspace:
    """One workspace on disk. Nothing is made before the first write, or before `ensure`.

    Args:
        path: Its folder; relative to the working directory at this moment.
        clock: The time for entries.
        known_keys: Gives the values of keys in use, which are masked wherever they occur in what is written.

    Raises:
        StoreError: The path is blank.
    """

    def __init__(
        self,
        path: str | Path = DEFAULT_PATH,
        *,
        clock: Clock | None = None,
        known_keys: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        if not str(path).strip():
            raise StoreError(f"{str(path)!r} is no path of a workspace.", "Name a folder.", subject=path)
        self.name = str(path)
        self.path = Path(os.path.realpath(Path(path).expanduser()))
        self.clock = clock or Clock()
        self._known_keys = known_keys

    def __repr__(self) -> str:
        return f"Workspace({self.name!r})"

    @cached_property
    def curated(self) -> Curated:
        """MEMORY.md."""
        return Curated(self.path, clock=self.clock, clean=self.clean)

    @cached_property
    def daily_log(self) -> DailyLog:
        """The daily logs in `memory/`."""
        return DailyLog(self.memory_folder, clock=self.clock, clean=self.clean)

    @property
    def memory_folder(self) -> Path:
        """`memory/`, with the daily logs."""
        return self.path / "memory"

    @property
    def archive_folder(self) -> Path:
        """`memory/archive/`, where expired daily logs go."""
        return self.memory_folder / ARCHIVE

    @property
    def versions_folder(self) -> Path:
        """`memory/versions/`, with MEMORY.md before each replacement."""
        return self.memory_folder / "versions"

    @property
    def candidates_folder(self) -> Path:
        """`memory/candidates/`, with the changes that await review."""
        return self.memory_folder / "candidates"

    @property
    def watermark_path(self) -> Path:
        """`memory/.consolidation_state`, up to where logs were consolidated."""
        return self.memory_folder / ".consolidation_state"

    @property
    def agents_folder(self) -> Path:
        """`agents/`, with the sessions of each agent."""
        return self.path / "agents"

    @property
    def index_path(self) -> Path:
        """The search index, beside the workspace; in it where the folder above can't be written."""
        beside = self.path.parent / "memory_index.db"
        is_usable = os.access(beside if beside.exists() else self.path.parent, os.W_OK) or not self.path.parent.exists()
        return beside if is_usable else self.path / beside.name

    def ensure(self) -> None:
        """Makes the folder, and checks that it can be read and written.

        Raises:
            StoreError: It can't; says which path and what to do.
        """
        try:
            make_folder(self.path)
            if not os.access(self.path, os.R_OK | os.W_OK | os.X_OK):
                raise PermissionError(0, "Permission denied")
            os.listdir(self.path)
        except OSError as error:
            raise unusable(self.path, "write", error) from error

    def clean(self, text: str) -> str:
        """The text as it may be written: valid Unicode, keys masked."""
        return redact(clean_unicode(text), self._known_keys())

    def resolve(self, name: str) -> Path:
        """The path of a name inside the workspace, for reading as for writing.

        Raises:
            StoreError: The name leads out of the workspace (`..`, absolute, drive, backslash, a link), or is empty.
        """
        return confined(self.path, name)

    def relative(self, path: Path) -> str:
        """The name of a path inside the workspace, with forward slashes."""
        return path.relative_to(self.path).as_posix()

    def read(self, name: str) -> str | None:
        """The text of a file of the workspace, None when there is no such file.

        Raises:
            StoreError: The name leads out of the workspace, or the file can't be read.
        """
        return read_text(self.resolve(name))

    def write(self, name: str, text: str) -> str:
        """Replaces a file of the workspace and returns its name as found; keys in the text are masked.

        Raises:
            StoreError: The name leads out of the workspace, or the file can't be written.
        """
        path = self.resolve(name)
        write_atomic(path, self.clean(text))
        return self.relative(path)

    def evict(self, agent: str, call_id: str, text: str, *, folder: str = "large_tool_results") -> str:
        """Moves a large result to a file; the same text of the same call goes to the same file.

        Args:
            agent: Name of the agent.
            call_id: Id of the tool call.
            text: The whole result.
            folder: Folder of evicted results inside the workspace.

        Returns:
            Name of the file, relative to the workspace.

        Raises:
            StoreError: The file can't be written.
        """
        clean = self.clean(text)
        path = self.resolve(evicted_name(agent, call_id, clean, folder))
        if read_text(path) != clean:
            write_atomic(path, clean)
        return self.relative(path)

    def session(self, agent: str, session_id: str) -> SessionFiles:
        """The files of one session, which need not exist yet."""
        return SessionFiles(self.agents_folder, agent, session_id, known_keys=self._known_keys)

    def sessions(self, agent: str | None = None) -> list[SessionFiles]:
        """The sessions that have files, of one agent or of all, by name."""
        pattern = f"{safe_name(agent)}/sessions/*{VIEW_SUFFIX}" if agent is not None else f"*/sessions/*{VIEW_SUFFIX}"
        found = {
            (path.parent.parent.name, path.name.removesuffix(LOG_SUFFIX).removesuffix(VIEW_SUFFIX))
            for path in self.agents_folder.glob(pattern)
            if not path.name.startswith(".")
        }
        return [self.session(agent_name, session_id) for agent_name, session_id in sorted(found)]
