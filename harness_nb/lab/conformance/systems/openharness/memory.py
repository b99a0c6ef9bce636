"""OpenHarness' memory: folders, index, selection of topic files, writing, checkpoints; and what counts as an overflow."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness_nb.core.item import Item
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import policy_of
from harness_nb.lab.conformance.systems.openharness.output import Told
from harness_nb.memory.designs.openharness.design import Folders
from harness_nb.memory.designs.openharness.index import shown_index
from harness_nb.memory.designs.openharness.notes import Notes
from harness_nb.memory.designs.openharness.schema import instant, parsed
from harness_nb.memory.designs.openharness.selection import selected, tokens
from harness_nb.presets import get as get_preset
from harness_nb.store.files import make_folder
from harness_nb.store.topics import INDEX_NAME

_PLAIN = "0.1.9"
"""The release whose topic files have no schema."""


def _has_schema(given: Given) -> bool:
    return given.version != _PLAIN


def _moment(given: Given) -> datetime:
    return instant(given.config.get("now")) or datetime(2026, 1, 1, tzinfo=UTC)


def _directory(given: Given) -> Mapping[str, Any]:
    folders = Folders.of(given.config["cwd"])
    with tempfile.TemporaryDirectory(prefix="harness-nb-") as data:
        try:
            make_folder(Path(data) / folders.memory)
        except OSError:
            return {"error": "OSError"}
    return {"memory": folders.memory, "index": folders.index, "sessions": folders.sessions}


def _symlink(given: Given) -> Mapping[str, Any]:
    """A folder, a link to it, and a folder inside it."""
    with tempfile.TemporaryDirectory(prefix="harness-nb-") as place:
        target, link = Path(place) / "target", Path(place) / "link"
        (target / "sub").mkdir(parents=True)
        link.symlink_to(target)
        own, linked, below = (Folders.of(str(one)).name for one in (target, link, target / "sub"))
    return {"symlink_same": own == linked, "subfolder_same": own == below, "name_from": linked.rpartition("-")[0]}


def _index(given: Given) -> Mapping[str, Any]:
    config = given.config
    shown = shown_index(
        config["index"],
        max_lines=config["max_lines"],
        max_bytes=config["max_bytes"],
        shows_blank=config["max_bytes"] is None,
    )
    state = {"missing": "missing_note", "blank": "omitted"}.get(shown.state, shown.state)
    found: dict[str, Any] = {"folder_named": True, "state": state}
    if shown.state != "shown":
        return found
    data = shown.text.encode("utf-8", "surrogatepass")
    why = shown.truncated
    if why is not None:
        found["warning_chars"] = len(why.warning)
    return {
        **found,
        "lines": shown.text.count("\n") + 1,
        "bytes": len(data),
        "chars": len(shown.text),
        "sha256": hashlib.sha256(data).hexdigest(),
        "truncated": None if why is None else {"unit": why.unit, "found": why.found, "limit": why.limit},
    }


def _select(given: Given) -> Mapping[str, Any]:
    config, now, has_schema = given.config, _moment(given), _has_schema(given)
    with tempfile.TemporaryDirectory(prefix="harness-nb-") as place:
        for one in config["files"]:
            path = Path(place) / one["name"]
            path.write_text(one["content"], encoding="utf-8")
            changed = instant(one["mtime"]) or now
            os.utime(path, (changed.timestamp(), changed.timestamp()))
        notes = Notes(Path(place), lambda: now, schema=has_schema).live(now)
    usage = config.get("usage") or {}
    picked = selected(notes, config["query"], most=config["k"], now=now, usage=usage, bonus=has_schema)
    return {"tokens": sorted(tokens(config["query"])), "selected": [note.file for note in picked]}


def _write(given: Given) -> Mapping[str, Any]:
    now, has_schema = _moment(given), _has_schema(given)
    with tempfile.TemporaryDirectory(prefix="harness-nb-") as place:
        notes = Notes(Path(place), lambda: now, schema=has_schema)
        steps = [{"returned": _operated(notes, one), **_left(notes, has_schema)} for one in given.config["ops"]]
    return {"steps": steps}


def _operated(notes: Notes, op: Sequence[Any]) -> Any:
    match op:
        case ["add", title, text]:
            return notes.add(title, text)
        case ["add", title, text, dict() as more]:
            return notes.add(title, text, **more)
        case ["add", title, text, kind]:
            return notes.add(title, text, type=kind)
        case ["add", title, text, kind, scope]:
            return notes.add(title, text, type=kind, scope=scope)
        case ["remove", name]:
            return notes.remove(name)
    raise ValueError(op)


def _left(notes: Notes, has_schema: bool) -> dict[str, Any]:
    """Index, files and what is listed."""
    index = notes.index_text
    paths = [path for path in sorted(notes.folder.glob("*.md")) if path.name != INDEX_NAME]
    files = {path.name: _file(path, has_schema) for path in paths}
    return {"index": None if index is None else index.splitlines(), "files": files, "listed": notes.listed()}


def _file(path: Path, has_schema: bool) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    if not has_schema:
        return {"body": text}
    note = parsed(path.name, text)
    fields = {key: "mem-" if key == "id" else value for key, value in note.fields.items()}
    return {"fields": fields, "body": note.body}


def _checkpoint(given: Given) -> Mapping[str, Any]:
    messages = given.messages()
    items = [Item(index, message) for index, message in enumerate(messages) if message.role != "system"]
    policy = policy_of(get_preset("openharness"))
    made = policy.checkpoint_of(policy.messages_of(items), given.config["state"])
    told = Told(messages)
    lines = made.text.split("\n")
    names = [line[3:] for line in lines if line.startswith("## ")]
    said = lines[lines.index("## Recent Conversation") + 1 :]
    indices = [
        {"index": told.indices(peer.items), "chars": len(line) - 2}
        for peer, line in zip(made.shown, said, strict=False)
    ]
    listed = {name: _bullets(lines, name) for name in ("Verified Work", "Active Artifacts") if name in names}
    return {
        "chars": len(made.text),
        "sections": names,
        "lines": indices,
        "cut": made.is_cut,
        "note_added": made.is_cut,
        "bullets": listed,
        "inserted_chars": len(made.inserted),
    }


def _bullets(lines: Sequence[str], name: str) -> list[str]:
    start = lines.index(f"## {name}") + 1
    end = next((at for at in range(start, len(lines)) if not lines[at].startswith("- ")), len(lines))
    return [line[2:] for line in lines[start:end]]


def _overflow(given: Given) -> Mapping[str, Any]:
    return {"recognised": policy_of(get_preset("openharness")).counts_as_overflow(given.config["error"])}


OPERATIONS: dict[str, Callable[[Given], Mapping[str, Any]]] = {
    "dir": _directory,
    "dir_symlink": _symlink,
    "index": _index,
    "select": _select,
    "write": _write,
    "checkpoint": _checkpoint,
    "overflow_text": _overflow,
}
