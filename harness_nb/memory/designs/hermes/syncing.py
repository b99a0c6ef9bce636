"""Session files taken into the rows that are searched: what was said since, and what a compaction took out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.core.records import message_from_record
from harness_nb.errors import MessageError
from harness_nb.memory.designs.hermes.rows import SessionRows
from harness_nb.store.names import short_hash
from harness_nb.store.sessions import SessionFiles
from harness_nb.store.workspace import Workspace


def take_in(workspace: Workspace, rows: SessionRows) -> None:
    """Brings the rows up to date with all session files of a workspace.

    Raises:
        StoreError: A file can't be read, or the rows can't be written.
    """
    for files in workspace.sessions():
        _take_session(files, rows)


def _take_session(files: SessionFiles, rows: SessionRows) -> None:
    try:
        size = files.log_path.stat().st_size
        seen = f"{size}:{files.view_path.stat().st_mtime_ns if files.view_path.exists() else 0}"
    except OSError:
        return
    taken, shape = rows.state(files.session_id)
    if shape.partition("|")[0] == seen:
        return
    records = [record for record in files.load().records if record.get("kind") == "message"]
    if not taken:
        moment = files.last_activity()
        rows.add_session(files.session_id, source=files.agent, started=moment.timestamp() if moment else 0.0)
    named: dict[str, str] = {}
    told = [one for record in records if (one := _told(record, named)) is not None]
    rows.add(files.session_id, [one for one in told if (one[0] or 0) >= taken])
    upto = max((one[0] + 1 for one in told if one[0] is not None), default=0)
    list_mark = _archive(files, rows, shape.partition("|")[2], upto)
    rows.set_state(files.session_id, max(taken, upto), f"{seen}|{list_mark}")


def _archive(files: SessionFiles, rows: SessionRows, before: str, length: int) -> str:
    """Archives what the session's list no longer shows; a mark of the list."""
    view = files.load_view()
    items = view["items"] if view is not None else []
    stand_ins = [_shown(item) for item in items if item.get("index") is None]
    mark = short_hash(json.dumps(stand_ins)) if stand_ins else ""
    if mark and mark != before:
        since = range(view.get("log_length", length), length) if view is not None else ()
        shown = [*(item["index"] for item in items if isinstance(item.get("index"), int)), *since]
        rows.archive(files.session_id, shown, stand_ins)
    return mark


def _shown(item: Mapping[str, Any]) -> tuple[str, str]:
    try:
        message = message_from_record(item["shown"])
    except (KeyError, MessageError):
        return "assistant", ""
    return message.role, message.text


def _told(record: Mapping[str, Any], named: dict[str, str]) -> tuple[int | None, str, str, str, str] | None:
    try:
        return stored(int(record["index"]), message_from_record(record), named)
    except (KeyError, ValueError, TypeError, MessageError):
        return None


def stored(index: int | None, message: Message, named: dict[str, str]) -> tuple[int | None, str, str, str, str]:
    """A message as a row has it: log index, role, text, name of the tool that it is a result of, calls as JSON.

    Args:
        index: Its log index.
        message: The message.
        named: Names of the tools of earlier calls, by id; those of this message are added.
    """
    named.update({call.id: call.name for call in message.calls})
    tool = named.get(message.call_id or "", message.name or "") if message.role == "tool" else ""
    calls = json.dumps(message.to_openai()["tool_calls"]) if message.calls else ""
    return index, message.role, message.text, tool, calls
