"""The tools that let a model search the memory, read files of the workspace, and note a fact in today's log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from harness_nb.core.tool import Tool
from harness_nb.errors import HarnessError, ToolError
from harness_nb.memory.pieces import PIECE_CHARS, numbered_lines, piece
from harness_nb.memory.session_tools import session_tools
from harness_nb.memory.shown import MAX_HITS, shown_hits, whole_number
from harness_nb.store.daily_log import Fact
from harness_nb.store.hits import NOTES
from harness_nb.store.settings import Mode
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.store.hits import SearchHit
    from harness_nb.store.index import MemoryIndex

_FETCHED_HITS = 4 * MAX_HITS  # as messages of sessions are taken out of them


def memory_tools(
    workspace: Workspace, index: MemoryIndex, noted: Callable[[], None] = lambda: None, *, mode: Mode = "keyword"
) -> tuple[Tool, ...]:
    """The tools of the memory, confined to a workspace.

    `memory_search`, `memory_get`, `memory_save`, `session_search`, `session_history` and `read_file`. Their results are
    bounded, stand in marked blocks that say they are data, and say how to get the rest. They run in any thread.

    Args:
        workspace: Where they read and write.
        index: What they search.
        noted: Called when a fact was saved.
        mode: How `memory_search` looks for notes: by words, or by words and meaning.
    """

    def memory_search(query: str, limit: int = 10) -> str:
        """Searches what was noted in earlier sessions and what was said in this one and others.

        Use it before you answer about earlier work, decisions, dates, people, preferences or tasks, and name the
        source of what you use, as in `memory/2026-04-12.md#3`.

        Args:
            query: Words to look for; "quotes" keep a phrase together.
            limit: Most hits, at most 30.
        """
        most = min(whole_number("limit", limit, 1), MAX_HITS)
        asked = str(query or "")
        try:
            hits = noted_first(index, asked, mode)
        except HarnessError as error:
            raise ToolError(error.problem, error.remedy, subject="memory_search") from error
        return shown_hits(asked, hits[:most])

    def memory_get(path: str, start_line: int = 1, end_line: int | None = None) -> str:
        """Reads lines of a file of the workspace, such as the surroundings of a search hit.

        Args:
            path: Path as in the search results.
            start_line: First line, from 1.
            end_line: Last line, included. Left out: as many as fit.
        """
        first = whole_number("start_line", start_line, 1)
        last = None if end_line is None else whole_number("end_line", end_line, 1)
        return numbered_lines(path, _text(workspace, path), first, last)

    def read_file(path: str, offset: int = 0, limit: int = PIECE_CHARS) -> str:
        """Reads a file of the workspace in pieces, such as a large tool result that was moved to a file.

        Args:
            path: Path relative to the workspace.
            offset: First character, from 0.
            limit: Most characters, at most 20,000.
        """
        return piece(path, _text(workspace, path), whole_number("offset", offset, 0), whole_number("limit", limit, 1))

    reading = (memory_search, memory_get, read_file)
    return (
        *(Tool.of(function, effect="read", evicts=False) for function in reading),
        _save_tool(workspace, noted),
        *session_tools(workspace, index),
    )


def _save_tool(workspace: Workspace, noted: Callable[[], None]) -> Tool:
    def memory_save(fact: str) -> str:
        """Notes one fact in today's log, for later sessions; use it when the person asks you to remember something.

        Args:
            fact: One sentence that can be understood alone, at most 2,000 characters.
        """
        said = _saved(workspace, str(fact or ""))
        noted()
        return said

    return Tool.of(memory_save, effect="write", evicts=False)


def _saved(workspace: Workspace, fact: str) -> str:
    """Notes a fact whole, or refuses it."""
    text = fact.strip()
    if not text:
        raise ToolError("There is nothing to save: the fact is empty.", "Write it as one sentence.", subject=fact)
    from harness_nb.memory.facts import MAX_FACT_CHARS  # only when it is used, as importing has to be quick

    if len(text) > MAX_FACT_CHARS:
        raise ToolError(
            f"The fact has {len(text):,} characters; at most {MAX_FACT_CHARS:,} are stored, and nothing was.",
            "Say it in fewer words, or save it as several facts.",
            subject="memory_save",
        )
    log, now = workspace.daily_log, workspace.clock.now()
    path = workspace.relative(log.path(now.date()))
    try:
        written = log.append([Fact(text)], source="save", now=now)
    except HarnessError as error:
        raise ToolError(error.problem, error.remedy, subject="memory_save") from error
    return f"Saved to {path}." if written else f"{path} has this already."


def noted_first(index: MemoryIndex, query: str, mode: Mode = "keyword") -> list[SearchHit]:
    """The hits among notes and, only where no note has any of the words, those among what was said.

    The question that the model searches for stands in the session log, too, and would always be the best hit. So messages
    come last, and those that ask something are left out.
    """
    notes = list(index.search(query, limit=MAX_HITS, kinds=NOTES, mode=mode))
    if notes:
        return notes
    said = index.search(query, limit=_FETCHED_HITS, kinds=("session",))
    return [hit for hit in said if not hit.content.rstrip().endswith(("?", "？"))]


def _text(workspace: Workspace, path: str) -> str:
    """The text of a file of the workspace."""
    try:
        text = workspace.read(str(path))
    except HarnessError as error:
        raise ToolError(error.problem, error.remedy, subject=path) from error
    if text is None:
        remedy = "Use a path from a search result or a placeholder, as it stands there."
        raise ToolError(f"There is no file {path!r} in the workspace.", remedy, subject=path)
    if "\0" in text:
        raise ToolError(f"{path!r} is no text file.", "Read another file.", subject=path)
    return text
