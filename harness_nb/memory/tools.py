"""The tools that let a model search the memory and read files of the workspace. None of them changes anything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_nb.core.preview import head_and_tail
from harness_nb.core.tool import Tool
from harness_nb.errors import HarnessError, ToolError
from harness_nb.memory.blocks import block
from harness_nb.memory.pieces import PIECE_CHARS, numbered_lines, piece
from harness_nb.store.query import parse_query
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.store.hits import SearchHit
    from harness_nb.store.index import MemoryIndex

MAX_HITS = 30
"""Most hits that one search gives to a model."""

_COMMENT = re.compile(r"\s*<!--.*?-->")
_HIT_CHARS = 500
_FETCHED_HITS = 4 * MAX_HITS  # as messages of sessions are taken out of them


def memory_tools(workspace: Workspace, index: MemoryIndex) -> tuple[Tool, ...]:
    """`memory_search`, `memory_get` and `read_file`, confined to a workspace.

    Their results are bounded, stand in marked blocks that say they are data, and say how to get the rest. They run in
    any thread.
    """

    def memory_search(query: str, limit: int = 10) -> str:
        """Searches what was noted in earlier sessions and what was said in this one and others.

        Use it before you answer about earlier work, decisions, dates, people, preferences or tasks, and name the
        source of what you use, as in `memory/2026-04-12.md#3`.

        Args:
            query: Words to look for; "quotes" keep a phrase together.
            limit: Most hits, at most 30.
        """
        most = min(_whole("limit", limit, 1), MAX_HITS)
        asked = str(query or "")
        try:
            hits = noted_first(index, asked)
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
        first = _whole("start_line", start_line, 1)
        last = None if end_line is None else _whole("end_line", end_line, 1)
        return numbered_lines(path, _text(workspace, path), first, last)

    def read_file(path: str, offset: int = 0, limit: int = PIECE_CHARS) -> str:
        """Reads a file of the workspace in pieces, such as a large tool result that was moved to a file.

        Args:
            path: Path relative to the workspace.
            offset: First character, from 0.
            limit: Most characters, at most 20,000.
        """
        return piece(path, _text(workspace, path), _whole("offset", offset, 0), _whole("limit", limit, 1))

    return tuple(Tool.of(function, effect="read", evicts=False) for function in (memory_search, memory_get, read_file))


def noted_first(index: MemoryIndex, query: str) -> list[SearchHit]:
    """The hits among notes and, only where no note has any of the words, those among what was said.

    The question that the model searches for stands in the session log, too, and would always be the best hit. So messages
    come last, and those that ask something are left out.
    """
    hits = index.search(query, limit=_FETCHED_HITS)
    notes = [hit for hit in hits if hit.kind != "session"]
    if notes or not hits:
        return notes
    any_word = parse_query(query).any_word
    more = index.search_fts(any_word, limit=_FETCHED_HITS) if any_word else hits
    notes = [hit for hit in more if hit.kind != "session"]
    return notes or [hit for hit in hits if not hit.content.rstrip().endswith(("?", "？"))]


def shown_hits(query: str, hits: Sequence[SearchHit]) -> str:
    """Search hits for a model to read: one line each, source first, long ones cut down to the snippet."""
    if not hits:
        return f"Nothing was found for {query!r}. Try other words, or fewer."
    return block("search_results", "\n".join(map(_hit_line, hits)), title=f'hits="{len(hits)}"')


def _hit_line(hit: SearchHit) -> str:
    text = _COMMENT.sub("", hit.content)
    text = text if len(text) <= _HIT_CHARS else hit.snippet
    text = head_and_tail(" ".join(text.split()), _HIT_CHARS, 0).with_marker(" ...")
    return f"Source: {hit.path}#{hit.line}: {text}"


def _whole(name: str, value: object, least: int) -> int:
    """A whole number from what a model wrote: a number, or its digits."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ToolError(f"{name}={value!r} is not valid.", f"Give a whole number of {least} or more.", subject=name)
    return value


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
