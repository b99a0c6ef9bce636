"""Folders that hold one conversation in many small files, as OpenCode keeps its sessions.

`storage/message/<session>/` has a file for each message, and `storage/part/<message>/` beside it one for each part of it.
Both are named so that their order is the order in which they were made. Source: the layout that public readers of these
folders describe (docs.rs/lore-cli, `capture::watchers::opencode`; github.com/ericmjl/opencode-session-viewer). Later versions
of OpenCode keep a database instead: export the session there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness_nb.lab.archives import NOT_JSON, parse
from harness_nb.lab.entries import Line, Place, Skipped


def is_session_folder(path: Path) -> bool:
    """Whether a folder holds the messages of a session."""
    return path.is_dir() and any(path.glob("msg_*.json"))


def read_folder(path: Path) -> Iterator[Line | Skipped]:
    """The messages of a session, each with its parts as an export has them."""
    for file in sorted(path.glob("msg_*.json")):
        place = Place(member=file.name)
        info = _value(file)
        parts = [_value(one) for one in sorted((path.parent.parent / "part" / file.stem).glob("prt_*.json"))]
        if info is NOT_JSON:
            yield Skipped(place, "a damaged file")
            continue
        if NOT_JSON in parts:
            yield Skipped(place, "a damaged part of it; the rest was read")
        yield Line(place, {"info": info, "parts": [one for one in parts if one is not NOT_JSON]})


def _value(file: Path) -> Any:
    return parse(file.read_bytes().decode("utf-8", "replace"))
