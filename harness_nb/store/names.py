"""Names of files: made from any text, compared, and confined to a folder."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from pathlib import Path

from harness_nb.errors import StoreError

LONGEST = 80
"""Characters of a name made from a text, at most."""

_RESERVED = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)")
_DRIVE = re.compile(r"[A-Za-z]:")


def safe_name(text: str) -> str:
    """A name for a file or folder that differs for different texts; a text that is such a name already stays.

    Letters and digits of all scripts, `-`, `_` and inner single dots stay. Where anything had to go, a hash of the text
    is added.
    """
    kept = re.sub(r"[^\w.-]|\.(?=\.)", "_", unicodedata.normalize("NFC", text)).strip(".")
    is_usable = kept and len(kept.encode()) <= LONGEST and not _RESERVED.fullmatch(kept.split(".")[0])
    if kept == text and is_usable and not kept.lower().endswith(".log"):
        return kept
    cut = kept.encode()[: LONGEST - 9].decode("utf-8", "ignore").replace(".", "_") or "_"
    return f"{cut}-{short_hash(text)}"


def short_hash(text: str) -> str:
    """Eight hexadecimal digits that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def evicted_name(agent: str, call_id: str, text: str, folder: str = "large_tool_results") -> str:
    """Name of the file to which the large result of a call goes, relative to the workspace."""
    return f"{folder}/{safe_name(agent)}/{safe_name(call_id)}-{short_hash(text)}.txt"


def name_key(name: str) -> str:
    """What two names have in common that differ in case or in the form of their accents only."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def confined(folder: Path, name: str) -> Path:
    """The path of a name inside a folder.

    A part that is not there as written, but in other case or with its accents in another form, is that one.

    Args:
        folder: The folder, absolute and without links in it.
        name: A relative name with forward slashes.

    Raises:
        StoreError: The name leads out of the folder, or is none.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")] if _is_plain(name) else []
    if not parts or ".." in parts:
        raise _refused(folder, name)
    path = folder
    for part in parts:
        path = _existing(path, part)
    resolved = Path(os.path.realpath(path))
    if not resolved.is_relative_to(folder):
        raise _refused(folder, name)
    return resolved


def _is_plain(name: str) -> bool:
    return not (name.startswith(("/", "~")) or "\\" in name or "\0" in name or _DRIVE.match(name))


def _existing(folder: Path, part: str) -> Path:
    path = folder / part
    if os.path.lexists(path):
        return path
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return path
    key = name_key(part)
    return folder / next((name for name in names if name_key(name) == key), part)


def _refused(folder: Path, name: str) -> StoreError:
    return StoreError(
        f"{name!r} is no name inside {str(folder)!r}.",
        "Use a relative name with forward slashes, such as 'memory/2026-04-12.md'.",
        subject=name,
    )
