"""The tools that a model gets: search and reading of the notes, and plain file tools for writing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from harness_nb.core.blocks import block
from harness_nb.core.tool import Tool
from harness_nb.errors import HarnessError, StoreError, ToolError
from harness_nb.memory.designs.openclaw.ranking import Row
from harness_nb.memory.designs.openclaw.search import KEPT_ASIDE
from harness_nb.memory.shown import whole_number
from harness_nb.store.files import append_text
from harness_nb.store.workspace import Workspace

COOL_DOWN = timedelta(seconds=60)
"""How long a search that failed is not tried again."""

_GET_LINES, _GET_CHARS = 120, 12_000
_CORPORA = ("memory", "sessions", "all")
_BOOTSTRAP = ("AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md")


@dataclass(slots=True)
class _Rest:
    """Until when a search that failed rests, and why."""

    until: datetime | None = None
    why: str = ""


Searching = Callable[[str, int | None, float | None, str], Sequence[Row]]
"""Searches: question, most hits, least score, corpus."""


def note_tools(workspace: Workspace, search: Searching) -> tuple[Tool, ...]:
    """`memory_search`, `memory_get`, `read`, `write` and `edit`.

    Args:
        workspace: Where they read and write.
        search: Searches the notes.
    """
    reading = (_search_tool(workspace, search), _get_tool(workspace), _read_tool(workspace))
    return (*reading, _write_tool(workspace), _edit_tool(workspace))


def _search_tool(workspace: Workspace, search: Searching) -> Tool:
    rest = _Rest()

    def memory_search(query: str, max_results: int = 6, min_score: float = 0.35, corpus: str = "memory") -> str:
        """Searches the notes by words and by meaning.

        Use it before you answer about earlier work, decisions, dates, people, preferences or to-dos, and name the source
        of what you use, as in memory/2026-04-12.md#L3-L5.

        Args:
            query: What to look for.
            max_results: Most hits, from 1.
            min_score: Least score of a hit, 0 to 1.
            corpus: memory, sessions or all.
        """
        asked, most = str(query or ""), whole_number("max_results", max_results, 1)
        if corpus not in _CORPORA:
            raise ToolError(f"corpus={corpus!r} is not there.", f"Use {', '.join(_CORPORA)}.", subject="corpus")
        now = workspace.clock.now()
        if rest.until is not None and now < rest.until:
            return _unavailable(rest.why)
        try:
            rows = search(asked, most, float(min_score), corpus)
        except Exception as error:  # noqa: BLE001 - whatever ails the index, the turn goes on without it
            rest.until, rest.why = now + COOL_DOWN, workspace.clean(f"{type(error).__name__}: {error}")
            return _unavailable(rest.why)
        rest.until = None
        return shown(asked, rows)

    return Tool.of(memory_search, effect="read", evicts=False)


def _unavailable(why: str) -> str:
    return (
        f"The search of the notes is unavailable: {why}. It is tried again in a minute. Until then read memory/ with "
        "memory_get, or say that you could not look it up."
    )


def shown(question: str, rows: Sequence[Row]) -> str:
    """Hits as a model reads them: each with where it stands and its scores."""
    if not rows:
        return f"No note was found for {question!r}."
    parts = [
        f"[{row.path}#L{row.start_line}-L{row.end_line}, score {row.score:.3f}: meaning {row.vector_score:.3f}, "
        f"words {row.text_score:.3f}, {row.source}]\n{row.snippet}"
        for row in rows
    ]
    return block("memory_hits", "\n\n".join(parts))


def _get_tool(workspace: Workspace) -> Tool:
    def memory_get(path: str, from_line: int = 1, lines: int = _GET_LINES) -> str:
        """Reads lines of a note, such as those around a hit.

        Args:
            path: MEMORY.md, DREAMS.md or a file below memory/.
            from_line: First line, from 1.
            lines: Most lines.
        """
        name, first = str(path), whole_number("from_line", from_line, 1)
        count = whole_number("lines", lines, 1)
        if not is_note(name) and name != "DREAMS.md":
            raise ToolError(f"{name!r} is no note.", "Read MEMORY.md, DREAMS.md or a file below memory/.", subject=path)
        text = _text(workspace, name)
        return _lines(name, text, first, count) if text else f"{name} has no text."

    return Tool.of(memory_get, effect="read", evicts=False)


def _lines(name: str, text: str, first: int, count: int) -> str:
    """Some lines of a note within 12,000 characters, and where to go on."""
    every = text.split("\n")
    chosen: list[str] = []
    size = 0
    for line in every[first - 1 : first - 1 + count]:
        if chosen and size + len(line) + 1 > _GET_CHARS:
            break
        chosen.append(line[:_GET_CHARS])
        size += len(line) + 1
    last = first - 1 + len(chosen)
    more = f"\n[{len(every) - last} more lines; go on with from_line={last + 1}]" if last < len(every) else ""
    return block("note", "\n".join(chosen) + more, title=f'path="{name}" lines="{first}-{last}"')


def _read_tool(workspace: Workspace) -> Tool:
    def read(path: str) -> str:
        """Reads a file of the workspace, up to 12,000 characters.

        Args:
            path: Path relative to the workspace.
        """
        text = _text(workspace, str(path))
        if not text:
            raise ToolError(f"There is no text in {path!r}.", "Name a file that is there.", subject=path)
        return _lines(str(path), text, 1, len(text))

    return Tool.of(read, effect="read", evicts=False)


def _write_tool(workspace: Workspace) -> Tool:
    def write(path: str, content: str, append: bool = False) -> str:
        """Writes a note: MEMORY.md for lasting facts, memory/YYYY-MM-DD.md for the notes of a day, or a topic below memory/.

        Args:
            path: Which note.
            content: Its whole text, or what is added.
            append: Add at the end and keep what is there.
        """
        name = _writable({"path": path})
        if not str(content or "").strip():
            raise ToolError("The content is blank.", "Write what is to be remembered.", subject="content")
        try:
            if append:
                append_text(workspace.resolve(name), workspace.clean(f"{content.rstrip()}\n"))
            else:
                workspace.write(name, f"{content.rstrip()}\n")
        except HarnessError as error:
            raise ToolError(error.problem, error.remedy, subject=path) from error
        return f"{'Added to' if append else 'Wrote'} {name}."

    return Tool.of(write, effect="write", evicts=False, check=_writable)


def _edit_tool(workspace: Workspace) -> Tool:
    def edit(path: str, old_text: str, new_text: str) -> str:
        """Replaces a passage of a note by another.

        Args:
            path: Which note.
            old_text: The passage, word for word; it must be there once.
            new_text: What takes its place.
        """
        name = _writable({"path": path})
        text = _text(workspace, name) or ""
        found = text.count(old_text) if old_text else 0
        if found != 1:
            told = "is not in" if not found else f"is {found} times in"
            raise ToolError(f"The passage {told} {name}.", "Give a longer passage, word for word.", subject="old_text")
        try:
            workspace.write(name, text.replace(old_text, new_text, 1))
        except HarnessError as error:
            raise ToolError(error.problem, error.remedy, subject=path) from error
        return f"Changed {name}."

    return Tool.of(edit, effect="write", evicts=False, check=_writable)


def is_note(name: str) -> bool:
    """Whether a path is MEMORY.md or a Markdown file below `memory/`, none of the earlier versions that are kept there."""
    parts = name.split("/")
    is_below = len(parts) > 1 and parts[0] == "memory" and parts[1] not in KEPT_ASIDE and name.endswith(".md")
    return name == "MEMORY.md" or (is_below and not any(part == "" or part.startswith(".") for part in parts))


def _writable(arguments: dict[str, Any]) -> str:
    """The note that a call names.

    Raises:
        ToolError: It is none that may be written.
    """
    name = str(arguments.get("path", ""))
    if not is_note(name):
        why = "is read only" if name in _BOOTSTRAP else "is no note"
        raise ToolError(f"{name!r} {why}.", "Write MEMORY.md or a Markdown file below memory/.", subject=name)
    return name


def _text(workspace: Workspace, name: str) -> str | None:
    try:
        return workspace.read(name)
    except StoreError as error:
        raise ToolError(error.problem, error.remedy, subject=name) from error
