"""The tools that let a model look into what was said in earlier sessions. None of them changes anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness_nb.core.blocks import block
from harness_nb.core.messages import Message
from harness_nb.core.preview import head_and_tail
from harness_nb.core.records import message_from_record
from harness_nb.core.tool import Tool
from harness_nb.errors import HarnessError, MessageError, ToolError
from harness_nb.memory.shown import MAX_HITS, shown_hits, whole_number
from harness_nb.store.sessions import SessionFiles
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.store.index import MemoryIndex

MAX_MESSAGES = 100
"""Most messages that one look into a session gives to a model."""

_MESSAGE_CHARS = 500
_MOST_CHARS = 20_000


def session_tools(workspace: Workspace, index: MemoryIndex) -> tuple[Tool, ...]:
    """`session_search` and `session_history`, confined to a workspace; their results are bounded, marked data."""

    def session_search(query: str, limit: int = 10) -> str:
        """Searches what was said in this and earlier sessions, word for word; memory_search finds what was noted of it.

        Args:
            query: Words to look for; "quotes" keep a phrase together.
            limit: Most hits, at most 30.
        """
        most = min(whole_number("limit", limit, 1), MAX_HITS)
        asked = str(query or "")
        try:
            hits = index.search(asked, limit=most, kinds=("session",))
        except HarnessError as error:
            raise ToolError(error.problem, error.remedy, subject="session_search") from error
        return shown_hits(asked, hits)

    def session_history(session: str, last: int = 20, before: int | None = None, agent: str = "") -> str:
        """Reads the last messages of a session.

        Args:
            session: Id of the session, as in memory entries and in the name of its file.
            last: How many messages, at most 100.
            before: Number of the message to stop before, to read further back. Left out: up to the end.
            agent: Name of the agent whose session it is, where several have one of that id.
        """
        most = min(whole_number("last", last, 1), MAX_MESSAGES)
        stop = None if before is None else whole_number("before", before, 0)
        files = _session(workspace, str(session), str(agent or ""))
        try:
            messages = _messages(files.load().records)
        except HarnessError as error:
            raise ToolError(error.problem, error.remedy, subject=session) from error
        return _history(str(session), messages[:stop], len(messages), most)

    return tuple(Tool.of(function, effect="read", evicts=False) for function in (session_search, session_history))


def _session(workspace: Workspace, session: str, agent: str) -> SessionFiles:
    """The one session of that id."""
    every = workspace.sessions()
    found = [files for files in every if files.session_id == session and agent in ("", files.agent)]
    if len(found) == 1:
        return found[0]
    if found:
        agents = ", ".join(repr(files.agent) for files in found)
        raise ToolError(f"Several agents have a session {session!r}.", f"Name one as agent: {agents}.", subject=session)
    newest = sorted(every, key=lambda files: str(files.last_activity() or ""), reverse=True)[:10]
    there = ", ".join(repr(files.session_id) for files in newest) or "none"
    raise ToolError(f"There is no session {session!r}.", f"The latest: {there}.", subject=session)


def _messages(records: Sequence[Mapping[str, Any]]) -> list[Message]:
    found = []
    for record in records:
        if record.get("kind") == "message":
            try:
                found.append(message_from_record(record))
            except (MessageError, KeyError, TypeError, ValueError):
                found.append(Message.user("[this message can't be read]", origin="harness"))
    return found


def _history(session: str, messages: Sequence[Message], total: int, most: int) -> str:
    """The last of some messages, newest kept when the room is not enough, and how to read on."""
    if not messages:
        return f"Session {session!r} has no messages there; it has {total}."
    shown: list[str] = []
    left = _MOST_CHARS
    for number in range(len(messages) - 1, max(len(messages) - most, 0) - 1, -1):
        line = _line(number, messages[number])
        left -= len(line) + 1
        if left < 0:
            break
        shown.append(line)
    first = len(messages) - len(shown)
    title = f'session="{session}" messages="{first}-{len(messages) - 1} of {total}"'
    more = f"\nThere are {first} earlier messages. Continue with session_history, before={first}." if first else ""
    return block("session", "\n".join(reversed(shown)), title=title) + more


def _line(number: int, message: Message) -> str:
    calls = [f"[calls {call.name}]" for call in message.calls]
    text = " ".join([*message.text.split(), *calls])
    return f"[#{number} {message.role}] {head_and_tail(text, _MESSAGE_CHARS, 0).with_marker(' ...')}"
