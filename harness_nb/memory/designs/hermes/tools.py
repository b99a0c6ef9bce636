"""The tools that a model gets: `memory`, which changes the two stores, and `session_search`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness_nb.core.blocks import block
from harness_nb.core.tool import Tool
from harness_nb.errors import StoreError, ToolError
from harness_nb.memory.designs.hermes.bounded import Outcome
from harness_nb.memory.designs.hermes.rows import Row
from harness_nb.memory.designs.hermes.session_search import DEFAULT_ROLES, Found, Searched, SessionSearch
from harness_nb.memory.shown import whole_number

_ROW_CHARS = 600

_FAILED = {
    "invalid_target": "There is no such store: target is 'memory' or 'user'.",
    "unknown_action": "There is no such action: use 'add', 'replace' or 'remove'.",
    "missing_content": "The content is blank. Write what is to be remembered.",
    "missing_old_text": "old_text is blank. Give a part of the entry that is meant.",
    "no_match": "No entry holds old_text. Copy a part of one of the entries below.",
    "ambiguous": "old_text is in several entries. Give a longer part of the one that is meant.",
    "retry_cap": "This is the last answer on that in this turn: the store can't take it. Stop, and go on with the task.",
    "overflow": "That would exceed the limit. Put entries together, or remove what is out of date, with replace, remove "
    "or operations, and then try again in this turn.",
}


def memory_tool(change: Callable[[Mapping[str, Any]], Outcome]) -> Tool:
    """`memory`.

    Args:
        change: Carries a call out.
    """

    def memory(
        target: str = "memory",
        action: str = "",
        content: str = "",
        old_text: str = "",
        operations: list[dict[str, Any]] | None = None,
    ) -> str:
        call = {"target": target, "action": action, "content": content, "old_text": old_text, "operations": operations}
        try:
            outcome = change(call)
        except StoreError as error:
            raise ToolError(error.problem, error.remedy, subject="memory") from error
        if not outcome.is_success:
            raise ToolError(_failed(outcome), subject=outcome.kind)
        return _succeeded(outcome)

    made = Tool.of(memory, description=_ABOUT, effect="write", evicts=False)
    return replace(made, parameters=_PARAMETERS)


_ABOUT = (
    "Changes what you remember over sessions: target 'memory' for your notes on environment, projects and lessons, 'user' "
    "for who the user is and how they like to work. Save preferences, corrections and lasting facts without being asked, "
    "as statements and not as orders. Leave out progress of tasks, numbers of issues and whatever is out of date in a "
    "week. There is no reading: the stores stand in your prompt, and changes show there from the next session on."
)
_OPERATION = {
    "action": {"enum": ["add", "replace", "remove"]},
    "content": {"type": "string", "description": "Text of the entry, for add and replace."},
    "old_text": {"type": "string", "description": "A part of the one entry that is meant, for replace and remove."},
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "target": {"enum": ["memory", "user"]},
        **_OPERATION,
        "operations": {
            "type": "array",
            "description": "Several changes at once: all of them are made, or none.",
            "items": {"type": "object", "properties": _OPERATION, "required": ["action"]},
        },
    },
    "required": ["target"],
}


def _succeeded(outcome: Outcome) -> str:
    if outcome.kind == "staged":
        return "Noted as a proposal. A person decides on it; do not send it again."
    said = "It was there already" if outcome.kind == "duplicate" else "Done"
    return f"{said}: {len(outcome.entries)} entries, {outcome.used:,} of {outcome.limit:,} characters. Do not send it again."


def _failed(outcome: Outcome) -> str:
    if outcome.kind == "blocked":
        return f"Not saved: the text reads like an attempt to steer a model ({outcome.pattern})."
    if outcome.kind == "drift":
        return (
            f"Nothing was changed: the file was edited by hand in a way that a change would lose. A copy is in "
            f"{outcome.backup}; tell the user."
        )
    parts = [_FAILED[outcome.kind]]
    if outcome.shows_usage:
        parts.append(f"In use: {outcome.used:,} of {outcome.limit:,} characters.")
    shown = outcome.previews or (outcome.entries if outcome.shows_entries else ())
    if shown:
        parts.append(block("entries", "\n".join(f"- {entry}" for entry in shown)))
    return "\n".join(parts)


def search_tool(search: Callable[[], SessionSearch]) -> Tool:
    """`session_search`.

    Args:
        search: Gives the search of the session in progress, with all that was said so far.
    """

    def session_search(
        query: str = "",
        session_id: str = "",
        around_message_id: int | None = None,
        limit: int = 3,
        sort: str = "",
        role_filter: str = "",
        window: int = 5,
    ) -> str:
        """Finds what was said in earlier sessions.

        With a query: the best place of each session. With session_id: its beginning and end; with around_message_id, too:
        the messages around that one. With nothing: the latest sessions.

        Args:
            query: Words, all of which are wanted; quotes keep a phrase together, OR and NOT work.
            session_id: A session, as in the results.
            around_message_id: A message of it, as in the results.
            limit: Most sessions, 1 to 10.
            sort: newest or oldest; else by relevance.
            role_filter: Whose messages are searched, such as user,assistant,tool.
            window: Messages to each side of around_message_id, 1 to 20.
        """
        try:
            found = _found(search(), query, session_id, around_message_id, limit, sort, role_filter, window)
        except StoreError as error:
            raise ToolError(error.problem, error.remedy, subject="session_search") from error
        if found.error:
            raise ToolError(_ERRORS[found.error], subject=session_id)
        return _told(found)

    return Tool.of(session_search, effect="read", evicts=False)


_ERRORS = {
    "current_session": "That is this session: what was said in it is in front of you.",
    "not_found": "There is no such session or message. Take the ids from a search.",
}


def _found(
    search: SessionSearch,
    query: str,
    session: str,
    anchor: int | None,
    limit: int,
    sort: str,
    role_filter: str,
    window: int,
) -> Searched:
    most = whole_number("limit", limit, 1)
    if query.strip():
        roles = tuple(role.strip() for role in role_filter.split(",") if role.strip()) or DEFAULT_ROLES
        return search.discover(query, limit=most, sort=sort, roles=roles)
    if not session:
        return search.browse(most)
    if anchor is None:
        return search.read(session)
    return search.scroll(session, whole_number("around_message_id", anchor, 0), whole_number("window", window, 1))


def _told(found: Searched) -> str:
    lines = [found.note] if found.note else []
    lines += [line for one in found.found for line in _place(one)]
    lines += [f"session {one.id} ({one.source}): {one.messages} messages" for one in found.sessions]
    lines += [_row(row) for row in found.rows]
    if found.total > len(found.rows):
        lines.append(f"({found.total} messages in all; read around one with around_message_id.)")
    return block("sessions", "\n".join(lines)) if lines else "Nothing was found. Try other words, or fewer."


def _place(one: Found) -> Sequence[str]:
    title = f" {one.session.title!r}" if one.session.title else ""
    rows = {row.id: row for row in (*one.opening, *one.window, *one.closing)}
    return [f"== session {one.session.id}{title}, found in message {one.match.id}", *map(_row, rows.values())]


def _row(row: Row) -> str:
    text = " ".join(row.content.split())
    return f"[{row.id}] {row.role}: {text if len(text) <= _ROW_CHARS else text[:_ROW_CHARS] + ' ...'}"
