"""The tools that read and write context files; what they touch brings the context files that hold for it along."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from harness_nb.core.tool import Tool
from harness_nb.errors import StoreError, ToolError
from harness_nb.memory.designs.gemini_cli.config import DEFAULT_NAME
from harness_nb.memory.designs.gemini_cli.places import Places
from harness_nb.store.files import read_text
from harness_nb.store.locks import locked

HEADING = "## Remembered"
"""Stands above what `save_memory` appends."""

T = TypeVar("T")
Touched = Callable[[Path], str]
"""Gives what is to be said with a file that was touched."""


def prompt_tools(places: Places, touched: Touched) -> tuple[Tool, ...]:
    """`write_file`, `replace` and `list_directory`, for files of the memory.

    Args:
        places: Which files these are.
        touched: Gives the context files that hold for a file.
    """

    def write_file(path: str, content: str) -> str:
        """Writes a whole file of the memory.

        Args:
            path: Path relative to the workspace.
            content: The whole text, in Markdown.
        """
        target = _kept(lambda: places.writable(path))
        name = _kept(lambda: _written(places, target, content))
        return _with(f"Wrote {name}.", touched(target))

    def replace(path: str, old_string: str, new_string: str) -> str:
        """Replaces one passage of a file of the memory.

        Args:
            path: Path relative to the workspace.
            old_string: The passage, which must stand there once, word for word.
            new_string: What takes its place.
        """
        target = _kept(lambda: places.writable(path))
        name = _kept(lambda: _edited(places, target, old_string, new_string))
        return _with(f"Changed {name}.", touched(target))

    def list_directory(path: str = ".") -> str:
        """Lists a folder of the workspace.

        Args:
            path: Path relative to the workspace; `.` for the workspace itself.
        """
        root = places.workspace.path
        folder = root if path.strip() in ("", ".") else _kept(lambda: places.workspace.resolve(path))
        if not folder.is_dir():
            raise ToolError(f"There is no folder {path!r} in the workspace.", "List '.' to see what there is.")
        names = sorted(f"{one.name}/" if one.is_dir() else one.name for one in folder.iterdir())
        return _with("\n".join(one for one in names if not one.startswith(".")) or "(empty)", touched(folder))

    def check(arguments: Mapping[str, Any]) -> object:
        return _kept(lambda: places.writable(str(arguments.get("path", ""))))

    return (
        Tool.of(write_file, effect="write", evicts=False, check=check),
        Tool.of(replace, effect="write", evicts=False, check=check),
        Tool.of(list_directory, effect="read", evicts=False),
    )


def save_tool(places: Places) -> Tool:
    """`save_memory`, which appends one line to a context file.

    Args:
        places: Where these lie.
    """

    def save_memory(fact: str, scope: Literal["global", "project"] = "global") -> str:
        """Saves one fact that the user wants remembered.

        Args:
            fact: One sentence that can be understood alone.
            scope: `global` for all projects, `project` for this one.
        """
        line = re.sub(r"^[\s-]+", "", " ".join(str(fact).split()))
        if not line:
            raise ToolError("There is nothing to save: the fact is empty.", "Write it as one sentence.")
        if scope not in ("global", "project"):
            raise ToolError(f"scope={scope!r} is not valid.", "Use 'global' or 'project'.", subject="scope")
        target = places.global_file if scope == "global" else places.roots[0] / DEFAULT_NAME
        if not places.kind(target):
            raise ToolError("The project lies outside the workspace.", "Save it with scope='global'.", subject=scope)
        return f"Saved to {_kept(lambda: _appended(places, target, line))}."

    return Tool.of(save_memory, effect="write", evicts=False)


def reading_tool(places: Places, read_file: Tool, touched: Touched) -> Tool:
    """`read_file` that brings along what holds for the file.

    Args:
        places: Where files lie.
        read_file: The tool that reads.
        touched: Gives the context files that hold for a file.
    """
    from dataclasses import replace

    def read(path: str, offset: int = 0, limit: int = 20_000) -> str:
        text = str(read_file.function(path, offset, limit))
        return _with(text, touched(places.workspace.resolve(path)))

    return replace(read_file, function=read)


def _written(places: Places, path: Path, text: str) -> str:
    return places.workspace.write(places.workspace.relative(path), text)


def _edited(places: Places, path: Path, old: str, new: str) -> str:
    text = read_text(path)
    if text is None:
        raise ToolError(f"There is no file {places.name(path)!r}.", "Write it with write_file.", subject=path)
    count = text.count(old) if old else 0
    if count != 1:
        said = "is not there" if not count else f"stands there {count} times"
        raise ToolError(f"The passage {said}.", "Copy a passage that stands there once.", subject=old)
    return _written(places, path, text.replace(old, new))


def _appended(places: Places, path: Path, line: str) -> str:
    """Puts a line at the end of its section, which is made where there is none."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(path):
        before, heading, after = (read_text(path) or "").partition(HEADING)
        if not heading:
            start = before.rstrip("\n")
            return _written(places, path, f"{start}\n\n{HEADING}\n- {line}\n".lstrip("\n"))
        section, mark, rest = after.partition("\n## ")
        return _written(places, path, f"{before}{HEADING}{section.rstrip()}\n- {line}\n{mark}{rest}")


def _with(said: str, more: str) -> str:
    return f"{said}\n\n{more}" if more else said


def _kept(work: Callable[[], T]) -> T:
    """What came of work on files; a failure as a tool's."""
    try:
        return work()
    except StoreError as error:
        raise ToolError(error.problem, error.remedy, subject=error.subject) from error
