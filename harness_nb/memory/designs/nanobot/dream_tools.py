"""The tools of a Dream run: it reads the workspace and writes the three memory files and skills, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from harness_nb.core.tool import Tool
from harness_nb.errors import HarnessError, ToolError
from harness_nb.memory.designs.nanobot.versions import FILES
from harness_nb.store.workspace import Workspace

T = TypeVar("T")

SKILLS = "skills/"
"""Folder in which a run may make and change files."""


class DreamFiles:
    """The files of a workspace as a Dream run may use them.

    Args:
        workspace: The workspace.
        writes_memory_whole: Whether the memory files may be written anew and not only edited.
    """

    def __init__(self, workspace: Workspace, *, writes_memory_whole: bool) -> None:
        self._workspace = workspace
        self._writes_memory_whole = writes_memory_whole

    def read(self, path: str) -> str:
        """The text of a file.

        Raises:
            ToolError: There is none, or it lies outside the workspace.
        """
        text = self._asked(lambda: self._workspace.read(self._name(path)))
        if text is None:
            raise ToolError(f"There is no file {path!r}.", "Use a path of the workspace.", subject=path)
        return text

    def write(self, path: str, content: str) -> str:
        """Writes a file anew.

        Raises:
            ToolError: It may not be written.
        """
        name = self._name(path)
        if not (name.startswith(SKILLS) or (self._writes_memory_whole and name in FILES)):
            raise self._refused(path)
        self._asked(lambda: self._workspace.write(name, content))
        return f"Wrote {name}."

    def edit(self, path: str, old_text: str, new_text: str, replace_all: bool = False) -> str:
        """Replaces a text in a file.

        Raises:
            ToolError: The file may not be written, or the text is not there exactly once.
        """
        name = self._name(path)
        if not (name.startswith(SKILLS) or name in FILES):
            raise self._refused(path)
        text = self._asked(lambda: self._workspace.read(name)) or ""
        count = text.count(old_text) if old_text else 0
        if not old_text and not text:
            return self._put(name, new_text)
        if not count:
            raise ToolError(f"old_text is not in {name}.", "Copy it from the file as it stands there.", subject=path)
        if count > 1 and not replace_all:
            raise ToolError(f"old_text is {count} times in {name}.", "Give more of the text around it.", subject=path)
        return self._put(name, text.replace(old_text, new_text))

    def patch(self, edits: list[Mapping[str, Any]]) -> str:
        """Carries several changes out, each `{path, action, old_text, new_text}` with the action `add` or `replace`."""
        said = []
        for one in edits:
            path, text = str(one.get("path", "")), str(one.get("new_text", ""))
            if one.get("action") == "add":
                said.append(self._added(path, text))
            else:
                said.append(self.edit(path, str(one.get("old_text", "")), text))
        return "\n".join(said) or "Nothing to do."

    def tools(self) -> tuple[Tool, ...]:
        """The four tools."""
        about: dict[str, tuple[Callable[..., str], str]] = {
            "apply_patch": (
                self.patch,
                "Carries out several edits: path, action (add or replace), old_text, new_text.",
            ),
            "edit_file": (self.edit, "Replaces old_text, which must be in the file exactly once, by new_text."),
            "read_file": (self.read, "The text of a file of the workspace."),
            "write_file": (self.write, "Writes a file anew."),
        }
        return tuple(
            Tool.of(
                function, name=name, description=said, effect="read" if name == "read_file" else "write", evicts=False
            )
            for name, (function, said) in about.items()
        )

    def _added(self, path: str, text: str) -> str:
        name = self._name(path)
        if self._asked(lambda: self._workspace.read(name)):
            raise ToolError(f"{name} is there already.", "Use the action replace.", subject=path)
        return self.edit(path, "", text)

    def _put(self, name: str, text: str) -> str:
        self._asked(lambda: self._workspace.write(name, text))
        return f"Changed {name}."

    def _name(self, path: str) -> str:
        """The path below the workspace, with `..` and links resolved."""
        return self._asked(lambda: self._workspace.relative(self._workspace.resolve(str(path))))

    @staticmethod
    def _asked(work: Callable[[], T]) -> T:
        try:
            return work()
        except HarnessError as error:
            raise ToolError(error.problem, error.remedy, subject=error.subject) from error

    @staticmethod
    def _refused(path: str) -> ToolError:
        allowed = f"Only {', '.join(FILES)} and files in {SKILLS} can be changed."
        return ToolError(f"{path!r} can't be written.", allowed, subject=path)
