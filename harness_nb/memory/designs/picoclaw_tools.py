"""The file tools with which a model writes PicoClaw's memory: only the files that stand in the prompt, and daily notes.

A call is checked before anybody is asked whether it may be made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness_nb.core.tool import Tool
from harness_nb.errors import StoreError, ToolError
from harness_nb.store.files import read_text, write_atomic
from harness_nb.store.workspace import Workspace

_NOTE = re.compile(r"memory/(\d{6})/(\d{8})\.md")
_NAMES = ("AGENT.md", "SOUL.md", "USER.md", "memory/MEMORY.md")


def memory_path(path: object) -> str:
    """The name of a file that the tools may write.

    Raises:
        ToolError: It is another file.
    """
    name = path.strip().removeprefix("./") if isinstance(path, str) else ""
    note = _NOTE.fullmatch(name)
    if name in _NAMES or (note is not None and note[2].startswith(note[1])):
        return name
    remedy = f"Use {', '.join(_NAMES)}, or memory/YYYYMM/YYYYMMDD.md for a day's notes."
    raise ToolError(f"{path!r} is no file of the memory.", remedy, subject=path)


def file_tools(workspace: Workspace) -> tuple[Tool, ...]:
    """`write_file`, `append_file` and `edit_file`, confined to the files of the memory."""

    def write_file(path: str, content: str) -> str:
        """Replaces a file of the memory.

        Args:
            path: memory/MEMORY.md, USER.md, SOUL.md, AGENT.md, or memory/YYYYMM/YYYYMMDD.md.
            content: The whole new text.
        """
        name = memory_path(path)
        _write(workspace, name, content)
        return f"Wrote {name}."

    def append_file(path: str, content: str) -> str:
        """Adds to the end of a file of the memory; a new file of notes begins with its date.

        Args:
            path: As for write_file.
            content: What is added, on a line of its own.
        """
        name = memory_path(path)
        _write(workspace, name, _appended(name, _text(workspace, name), content))
        return f"Added to {name}."

    def edit_file(path: str, old_text: str, new_text: str) -> str:
        """Replaces a text that occurs once in a file of the memory.

        Args:
            path: As for write_file.
            old_text: The text as it stands there.
            new_text: What takes its place.
        """
        name = memory_path(path)
        before = _text(workspace, name) or ""
        if not old_text or before.count(old_text) != 1:
            found = before.count(old_text) if old_text else 0
            raise ToolError(f"old_text occurs {found} times in {name}.", "Give a text that occurs once.", subject=name)
        _write(workspace, name, before.replace(old_text, new_text))
        return f"Changed {name}."

    functions = (write_file, append_file, edit_file)
    return tuple(Tool.of(function, effect="write", evicts=False, check=_checked) for function in functions)


def _checked(arguments: Mapping[str, Any]) -> str:
    return memory_path(arguments.get("path"))


def _appended(name: str, before: str | None, content: str) -> str:
    if before is None and _NOTE.fullmatch(name):
        before = f"# {Path(name).stem}\n\n"
    start = before or ""
    return f"{start}{'' if not start or start.endswith(chr(10)) else chr(10)}{content.rstrip()}\n"


def _text(workspace: Workspace, name: str) -> str | None:
    try:
        return read_text(workspace.resolve(name))
    except StoreError as error:
        raise ToolError(error.problem, error.remedy, subject=name) from error


def _write(workspace: Workspace, name: str, text: str) -> None:
    if not isinstance(text, str):
        raise ToolError(f"content={text!r} is no text.", "Give a text.", subject=name)
    try:
        write_atomic(workspace.resolve(name), workspace.clean(text))
    except StoreError as error:
        raise ToolError(error.problem, error.remedy, subject=name) from error
