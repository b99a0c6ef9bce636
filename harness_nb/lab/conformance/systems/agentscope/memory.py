"""AgentScope: its two layers of memory, without our safeguards."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.core.utf16 import utf16_len
from harness_nb.errors import StoreError
from harness_nb.lab.conformance.compare import Ranked, Tied
from harness_nb.lab.conformance.driving import Stub, named_results
from harness_nb.lab.conformance.folders import files_in, folder, write_exact
from harness_nb.lab.conformance.systems.agentscope.compaction import stub_reply
from harness_nb.memory.designs.agentscope_files import SENTINEL, AgentScopeFiles, AgentScopeThrottle
from harness_nb.memory.designs.agentscope_text import nanoseconds


def _flush(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Facts from a conversation, appended to today's log."""
    talk = list(enumerate(named_results([Message.from_openai(one) for one in given["messages"]])))
    stub = Stub(given["answers"])
    with folder({name: text.replace("<sentinel>", SENTINEL) for name, text in given["files"].items()}) as place:
        files = AgentScopeFiles(place.workspace.path)
        found = _flushed(files, stub, talk, given)
        left = {name: _with_mark(text) for name, text in files_in(place.workspace.path).items()}
    return {**found, "model_calls": stub.calls, "files": left}


def _flushed(
    files: AgentScopeFiles, stub: Stub, talk: Sequence[tuple[int, Message]], given: Mapping[str, Any]
) -> dict[str, Any]:
    request = files.flush_request(talk, given["local_date"])
    if request is None:
        return {"status": "noop", "messages": []}
    about = {
        "roles": [message.role for message in request.messages],
        "memory_md": request.has_memory,
        "daily": request.has_log,
        "conversation_chars": utf16_len(request.conversation.text),
    }
    found: dict[str, Any] = {"messages": list(request.conversation.indices), "request": about}
    reply = stub_reply(stub.next(request))
    if reply.failure is not None:
        return {**found, "status": "error"}
    added = files.store_facts(reply.text, given["local_date"], given["now"])
    if not added:
        return {**found, "status": "noop"}
    name = f"memory/{given['local_date']}.md"
    return {**found, "status": "written", "file": name, "appended": _with_mark(added)}


def _with_mark(text: str) -> str:
    return text.replace(SENTINEL, "<sentinel>")


def _watermark(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A consolidation with a watermark."""
    texts = {f"memory/{name}": one["content"] for name, one in given["daily"].items()}
    texts |= {"MEMORY.md": given["memory_md"]} if given["memory_md"] is not None else {}
    texts |= {"memory/.consolidation_state": given["state"]} if given["state"] is not None else {}
    stub = Stub(given["answers"])
    with folder(texts) as place:
        root = place.workspace.path
        for name, one in given["daily"].items():
            _set_time(root / "memory" / name, one["mtime"])
        files = AgentScopeFiles(root)
        fresh = files.fresh()
        found = {"status": "noop", "fresh": list(fresh.names), "first_run": fresh.is_first}
        if fresh.entries.strip():
            found |= {"entries_chars": utf16_len(fresh.entries), "status": _merged(files, stub, given)}
        return {
            **found,
            "model_calls": stub.calls,
            "memory_md": _text(root / "MEMORY.md"),
            "state": _text(root / "memory/.consolidation_state"),
        }


def _merged(files: AgentScopeFiles, stub: Stub, given: Mapping[str, Any]) -> str:
    reply = stub_reply(stub.next(files.consolidation_request(files.fresh())))
    if reply.failure is not None:
        return "error"
    now = nanoseconds(given["now"]) or 0
    return (
        files.store_memory(reply.text, now, _locked)
        if given.get("memory_md_locked")
        else files.store_memory(reply.text, now)
    )


def _locked(path: Path, text: str) -> None:
    raise StoreError(f"{str(path)!r} can't be written.", "The recording says so.", subject=path)


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _set_time(path: Path, instant: str) -> None:
    time = nanoseconds(instant)
    if time is not None:
        os.utime(path, ns=(time, time))


def _maintenance(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Old logs to the archive, old session files away."""
    with folder() as place:
        root = place.workspace.path
        for name in given["daily"]:
            write_exact(root / "memory" / name, "- a\n")
        for name in given.get("archive") or ():
            write_exact(root / "memory/archive" / Path(name).name, "- before\n")
        for name, time in given["sessions"].items():
            write_exact(root / name, "{}\n")
            _set_time(root / name, time)
        files = AgentScopeFiles(root)
        moved, kept = files.expire(date.fromisoformat(given["today"]))
        pruned = files.prune(nanoseconds(given["now"]) or 0)
    return {"status": "ok", "archived": moved, "kept_in_place": kept, "pruned": pruned}


def _throttle(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Which of some consolidations run."""
    throttle = AgentScopeThrottle(given["min_gap_seconds"])
    ran = []
    for event in given["events"]:
        runs = event["kind"] == "tick" or throttle.request(event["at"])
        if runs and event.get("ok", True):
            throttle.succeeded(event["at"] + event.get("takes", 0))
        ran.append(runs)
    return {"status": "ok", "ran": ran}


def _search(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Lines found, best first."""
    with folder(given["files"]) as place:
        files = AgentScopeFiles(place.workspace.path)
        limit = {"limit": given["limit"]} if given.get("limit") is not None else {}
        rows = files.search(given["query"], **limit)
    hits = [{"path": path, "line": line, "content": text, "rank": Ranked(rank)} for path, line, text, rank in rows]
    return {"status": "hits" if hits else "none", "hits": Tied(hits)}


KINDS: dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "memory-flush": _flush,
    "memory-watermark": _watermark,
    "memory-maintenance": _maintenance,
    "memory-throttle": _throttle,
    "memory-search": _search,
}
