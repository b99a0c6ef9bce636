"""Eney's durable memory: an index and topic files for each working directory, written by tools only.

The index stands in the prompt as it was when the session began; topic files never do, and nothing is searched, merged or
written by itself.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_nb.core.blocks import block
from harness_nb.core.config import plain_repr, whole
from harness_nb.core.tokens import TokenCounter
from harness_nb.core.tool import Tool
from harness_nb.errors import ConfigError
from harness_nb.memory.designs.base import DesignParts, NoMemory
from harness_nb.memory.designs.eney_tools import topic_tools
from harness_nb.memory.designs.indexes import ShownIndex, first_lines
from harness_nb.memory.designs.namespaces import namespace
from harness_nb.memory.injection import Injection
from harness_nb.memory.tools import memory_tools
from harness_nb.store.files import write_atomic
from harness_nb.store.topics import INDEX_NAME, Topics

_GUIDANCE = (
    "Notes of earlier sessions in this folder. Save lasting facts with MemorySave, then list the file in the index with "
    "MemoryUpdateMemoryMd; read a topic file with read_file before you rely on it. New notes are listed here from the next "
    "session on. Types: user, feedback, project, reference."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class EneyMemoryConfig:
    """Settings of Eney's memory.

    Attributes:
        memory_root: Folder of all memory folders, below the workspace (default `projects`).
        hash_name: Hash in the name of a memory folder, as `hashlib` calls it (default `sha1`).
        hash_len: Hexadecimal digits of it (default 12).
        index_max_lines: Most lines of the index in the prompt (default 200).
    """

    memory_root: str = "projects"
    hash_name: str = "sha1"
    hash_len: int = 12
    index_max_lines: int = 200

    def __post_init__(self) -> None:
        whole(self, "hash_len", "index_max_lines", least=1)
        if self.hash_name not in hashlib.algorithms_guaranteed or self.hash_name.startswith("shake"):
            raise ConfigError(
                f"hash_name={self.hash_name!r} is no hash.", "Use 'sha1' or 'sha256'.", subject="hash_name"
            )
        if not isinstance(self.memory_root, str) or not self.memory_root.strip():
            raise ConfigError(
                f"memory_root={self.memory_root!r} is not valid.",
                "Give the name of a folder below the workspace.",
                subject="memory_root",
            )

    __repr__ = plain_repr


class EneyMemory(NoMemory):
    """An index and topic files below the workspace, in a folder named after the working directory.

    Args:
        parts: What it is made from; the model is not asked, and has no search.
        settings: Its own settings.
    """

    def __init__(self, parts: DesignParts, settings: EneyMemoryConfig | None = None) -> None:
        super().__init__(parts)
        self.settings = settings or EneyMemoryConfig()
        self._shown = ShownIndex(state="missing")
        self.begin("")

    def begin(self, session: str) -> None:
        """Resolves the working directory and reads the index, once for the session."""
        chosen = self.settings
        name = namespace(os.getcwd(), hash_name=chosen.hash_name, hash_length=chosen.hash_len)
        self.topics = Topics(self.workspace.resolve(f"{chosen.memory_root}/{name}"), clean=self.workspace.clean)
        self._shown = first_lines(self.topics.index_text, chosen.index_max_lines)

    def injection(self, counter: TokenCounter) -> Injection:
        """Folder, instructions and the index as they were when the session began."""
        if not self.config.inject:
            return Injection()
        text = block("memory", index_text(self._shown), note=_GUIDANCE, title=f'folder="{self._folder}"')
        lines = len(self._shown.lines)
        return Injection(text=text, tokens=counter.count_text(text), lines=lines)

    def tools(self) -> tuple[Tool, ...]:
        """`MemorySave`, `MemoryUpdateMemoryMd`, `MemoryDelete` and, to read topic files, `read_file`."""
        if not self.config.tools:
            return ()
        reading = (tool for tool in memory_tools(self.workspace, self.index) if tool.name == "read_file")
        return (*topic_tools(lambda: self.topics), *reading)

    @property
    def shown(self) -> ShownIndex:
        """What of the index stands in the prompt of this session."""
        return self._shown

    @property
    def _folder(self) -> str:
        return self.workspace.relative(self.topics.folder)


def index_text(shown: ShownIndex) -> str:
    """What stands in the block: the index in its fence, a word where there is none, nothing for a blank one."""
    if state := {"missing": "(not created yet)", "blank": ""}.get(shown.state):
        return f"## {INDEX_NAME}\n{state}"
    return f"## {INDEX_NAME}\n{shown.fenced}" if shown.state == "shown" else ""


@contextmanager
def evaluation_memory(fixtures: Mapping[str, str]) -> Iterator[Topics]:
    """A memory folder for one task of an evaluation, with files given beforehand; it is gone afterwards.

    It shows how an agent reasons over a supplied memory, not what it finds or keeps.

    Args:
        fixtures: Texts by file name.
    """
    with tempfile.TemporaryDirectory(prefix="harness-nb-") as folder:
        for name, text in fixtures.items():
            write_atomic(Path(folder) / os.path.basename(name), text)
        yield Topics(Path(folder))
