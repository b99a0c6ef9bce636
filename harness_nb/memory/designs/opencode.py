"""OpenCode's durable memory: instruction files, which people write; nothing is learnt, searched or merged.

They are read anew for each request and have no size limit. All lie below the workspace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness_nb.core.blocks import block
from harness_nb.core.config import plain_repr
from harness_nb.core.tokens import TokenCounter
from harness_nb.core.tool import Tool
from harness_nb.errors import ConfigError, StoreError
from harness_nb.memory.designs.base import DesignParts, NoMemory
from harness_nb.memory.injection import Injection
from harness_nb.memory.tools import memory_tools

_NOTE = "Instruction files of this workspace, written by its people. Heed them where they fit the task."


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenCodeMemoryConfig:
    """Settings of OpenCode's instruction files.

    Attributes:
        instruction_names: Names that are looked for; the first that exists is the one that is read (default `AGENTS.md`,
            `CLAUDE.md`, `CONTEXT.md`).
        instructions: Further files, as patterns below the workspace such as `docs/*.md` (default none).
    """

    instruction_names: tuple[str, ...] = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
    instructions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("instruction_names", "instructions"):
            value = getattr(self, name)
            if not isinstance(value, list | tuple) or not all(map(_stays_below, value)):
                remedy = "Give a list of names or patterns below the workspace."
                raise ConfigError(f"{name}={value!r} is not valid.", remedy, subject=name)
            object.__setattr__(self, name, tuple(value))

    __repr__ = plain_repr


def _stays_below(name: object) -> bool:
    return (
        isinstance(name, str) and bool(name.strip()) and not Path(name).is_absolute() and ".." not in Path(name).parts
    )


class OpenCodeMemory(NoMemory):
    """Instruction files in the model input, as they are at each request.

    Args:
        parts: What it is made from; no model is asked.
        settings: Its own settings.
    """

    def __init__(self, parts: DesignParts, settings: OpenCodeMemoryConfig | None = None) -> None:
        super().__init__(parts)
        self.settings = settings or OpenCodeMemoryConfig()

    def injection(self, counter: TokenCounter) -> Injection:
        """The files, each under its name; nothing where there is none, or when the injection is switched off."""
        if not self.config.inject:
            return Injection()
        try:
            texts = [f"## {self.workspace.relative(path)}\n\n{_text(path)}" for path in self.files()]
        except StoreError as error:
            return Injection(problem=error.problem)
        if not texts:
            return Injection()
        text = block("instructions", "\n\n".join(texts), note=_NOTE)
        lines = sum(bool(line.strip()) for one in texts for line in one.split("\n"))
        return Injection(text=text, tokens=counter.count_text(text), lines=lines)

    def files(self) -> list[Path]:
        """The files that are read: the first name that exists, then what the patterns find."""
        root = self.workspace.path.resolve()
        named = next((path for name in self.settings.instruction_names if _is_inside(path := root / name, root)), None)
        found = [] if named is None else [named]
        for pattern in self.settings.instructions:
            found += [path for path in sorted(root.glob(pattern)) if path not in found and _is_inside(path, root)]
        return found

    def tools(self) -> tuple[Tool, ...]:
        """`read_file`, for results that were moved to files."""
        return tuple(self._reading()) if self.config.tools else ()

    def _reading(self) -> Iterator[Tool]:
        return (tool for tool in memory_tools(self.workspace, self.index) if tool.name == "read_file")


def _is_inside(path: Path, root: Path) -> bool:
    """Whether it is a file that lies below the workspace, wherever links lead."""
    return path.is_file() and path.resolve().is_relative_to(root)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace").strip()
    except OSError as error:
        raise StoreError(
            f"{str(path)!r} can't be read: {error.strerror}.", "Check its permissions.", subject=path
        ) from error
