"""The file tools with which a model writes OpenHarness' memory; they reach its own folder only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TypeVar

from harness_nb.core.tool import Tool
from harness_nb.errors import StoreError, ToolError
from harness_nb.store.workspace import Workspace

T = TypeVar("T")

_WRITE = "Creates or replaces a Markdown file in the memory folder."
_EDIT = "Replaces one piece of text in a file of the memory folder."


def file_tools(workspace: Workspace, folder: Callable[[], str]) -> tuple[Tool, ...]:
    """`write_file` and `edit_file` for the memory folder.

    Args:
        workspace: Holds it.
        folder: Gives its name in the workspace.
    """

    def name_of(path: str) -> str:
        return _inside(folder(), path)

    def write_file(path: str, content: str) -> str:
        return f"Wrote {_kept(lambda: workspace.write(name_of(path), content))}."

    def edit_file(path: str, old: str, new: str) -> str:
        name = name_of(path)
        text = _kept(lambda: workspace.read(name))
        if text is None:
            raise ToolError(f"There is no {name}.", "Write it with write_file.", subject=path)
        if not old or text.count(old) != 1:
            raise ToolError(
                f"The text to be replaced stands {text.count(old) if old else 0} times in {name}.",
                "Give a piece that stands there exactly once.",
                subject="old",
            )
        return f"Changed {_kept(lambda: workspace.write(name, text.replace(old, new, 1)))}."

    return (
        Tool.of(
            write_file, description=_WRITE, effect="write", evicts=False, check=lambda given: _path(folder(), given)
        ),
        Tool.of(edit_file, description=_EDIT, effect="write", evicts=False, check=lambda given: _path(folder(), given)),
    )


def _path(folder: str, given: object) -> str:
    """The file of a call, checked before anybody is asked whether it may be made."""
    path = given.get("path") if hasattr(given, "get") else None
    if not isinstance(path, str):
        raise ToolError(f"path={path!r} is no text.", "Name a file of the memory folder.", subject="path")
    return _inside(folder, path)


def _inside(folder: str, path: str) -> str:
    """The name in the workspace of a Markdown file of the memory folder, which a call names with its folder or without."""
    wanted = PurePosixPath(path.replace("\\", "/"))
    bare = wanted.relative_to(folder) if wanted.is_relative_to(folder) else wanted
    if (
        bare.is_absolute()
        or ".." in bare.parts
        or bare.suffix != ".md"
        or any(part.startswith(".") for part in bare.parts)
    ):
        raise ToolError(
            f"{path!r} is no Markdown file of the memory folder.", f"Name one below {folder}/.", subject="path"
        )
    return f"{folder}/{bare}"


def _kept(action: Callable[[], T]) -> T:
    """What came of reading or writing; a failure as a tool's."""
    try:
        return action()
    except StoreError as error:
        raise ToolError(error.problem, error.remedy, subject=error.subject) from error
