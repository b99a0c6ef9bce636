"""The state of the work that OpenHarness puts behind the kept messages: tracked from what was said and done, and as notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Text
from harness_nb.policies.openharness.peers import Peer
from harness_nb.policies.openharness.summary import source_path

Carryover = Mapping[str, Any]
"""State of the work: `permission_mode`, `plan_summary`, `task_focus_state`, `recent_verified_work`, `read_file_state`,
`invoked_skills`, `async_agent_state` and `recent_work_log`, each where there is something."""

_TITLES = {
    "task_focus": "What the work is about",
    "recent_verified_work": "Work that was checked",
    "recent_attachments": "Attached files",
    "recent_files": "Files read lately",
    "plan": "Plan mode",
    "invoked_skills": "Skills of this session",
    "async_agents": "Work in the background",
    "recent_work_log": "What was done lately",
    "hook_results": "What hooks said",
}
"""All texts of this module are as long as OpenHarness' own, so that figures are exact."""

_PATH = re.compile(r"path:\s*([^)\\n]+)")
"""Meant to end at a line's end; by a slip it ends at the first letter n."""

_ATTACHMENT = re.compile(r"\[attachment:\s*([^\]]+)\]")
_NOT_LOADED = "download failed"


def notes(older: Sequence[Peer], state: Carryover, most_paths: int) -> tuple[Item, ...]:
    """The state of the work as notes, each only where there is something to say.

    Args:
        older: The messages that are being replaced, in which attached files are looked for.
        state: The state of the work.
        most_paths: Paths of attached files, at most.
    """
    made = (
        ("task_focus", _focus(_mapping(state, "task_focus_state"))),
        ("recent_verified_work", _listed(_verified, _texts(state, "recent_verified_work")[-8:])),
        ("recent_attachments", _listed(_attached, attachment_paths(older, most_paths))),
        ("recent_files", _files(state)),
        ("plan", _plan(state)),
        ("invoked_skills", _skills(_texts(state, "invoked_skills")[-8:])),
        ("async_agents", _listed(_agents, _texts(state, "async_agent_state")[-6:])),
        ("recent_work_log", _listed(_log, _texts(state, "recent_work_log")[-8:])),
    )
    return tuple(_note(what, lines) for what, lines in made if lines)


def hook_note(text: str) -> tuple[Item, ...]:
    """What a hook said after a compaction, as a note."""
    return (_note("hook_results", [text.strip()]),) if text.strip() else ()


def _note(what: str, lines: Sequence[str]) -> Item:
    body = "\n".join(line.rstrip() for line in lines)
    return edits.note(f"[Kept after compaction: {what}] {_TITLES[what]}\n{body}", meta={"openharness": what})


def attachment_paths(peers: Iterable[Peer], most: int) -> list[str]:
    """Paths of attached files that some messages name, in order, each once."""
    found: dict[str, None] = {}
    for part in (part for peer in peers if not peer.has_results for part in peer.items[0].message.parts):
        if isinstance(part, Image) and (path := source_path(part)):
            found.setdefault(path)
        elif isinstance(part, Text):
            paths = [one.strip() for one in _PATH.findall(part.text)]
            paths += [one.strip() for one in _ATTACHMENT.findall(part.text) if _NOT_LOADED not in one]
            found.update(dict.fromkeys(path for path in paths if path))
        if len(found) >= most:
            break
    return list(found)


_verified = "These steps or findings were checked before the conversation was cut"
_attached = "Paths of local files that the user attached, for later use:"
_agents = "The latest news from agents and tasks in the background:"
_log = "The latest steps of work and of checking in this session here:"


def _listed(lead: str, entries: Sequence[str]) -> list[str]:
    return [lead, *(f"- {one}" for one in entries)] if entries else []


def _focus(state: Mapping[str, Any]) -> list[str]:
    goal, step = str(state.get("goal") or "").strip(), str(state.get("next_step") or "").strip()
    lines = [f"- Goal: {goal}"] if goal else []
    lines += _inner("- What the user wanted lately as well:", _texts(state, "recent_goals")[-3:])
    lines += _inner("- Files and pages involved:", _texts(state, "active_artifacts")[-5:])
    lines += _inner("- What has been checked already here:", _texts(state, "verified_state")[-4:])
    lines += [f"- Suggested next step: {step}"] if step else []
    return ["What is being worked on now, to be kept in mind:", *lines] if lines else []


def _inner(title: str, entries: Sequence[str]) -> list[str]:
    return [title, *(f"  - {one}" for one in entries)] if entries else []


def _files(state: Carryover) -> list[str]:
    read = [one for one in _list(state, "read_file_state") if isinstance(one, Mapping) and _field(one, "path")]
    read.sort(key=lambda one: float(one.get("timestamp") or 0.0), reverse=True)
    lines = []
    for one in read[:4]:
        span, preview = _field(one, "span"), _field(one, "preview")
        lines.append(f"- {_field(one, 'path')}" + (f" ({span})" if span else ""))
        lines += [f"  Preview: {preview}"] if preview else []
    return ["Files that were read and may still count:", *lines] if lines else []


def _plan(state: Carryover) -> list[str]:
    if _field(state, "permission_mode").lower() != "plan":
        return []
    summary = _field(state, "plan_summary")
    lines = [
        "The session is still in plan mode.",
        "Run no tool that changes something before the user has left plan mode by a clear word.",
    ]
    return [*lines, f"The plan that stands: {summary}"] if summary else lines


def _skills(names: Sequence[str]) -> list[str]:
    lead = "These skills were used earlier and may still matter for what comes next, too:"
    return [lead, f"- {', '.join(names)}"] if names else []


def _list(state: Carryover, name: str) -> Sequence[Any]:
    found = state.get(name)
    return found if isinstance(found, list | tuple) else ()


def _texts(state: Carryover, name: str) -> list[str]:
    return [text for one in _list(state, name) if (text := str(one).strip())]


def _mapping(state: Carryover, name: str) -> Mapping[str, Any]:
    found = state.get(name)
    return found if isinstance(found, Mapping) else {}


def _field(entry: Mapping[str, Any], name: str) -> str:
    return str(entry.get(name) or "").strip()
