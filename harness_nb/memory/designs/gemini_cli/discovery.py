"""Which context files hold for a project, and which more for a file in it that was touched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

FileId = tuple[int, int]
"""Device and inode: two names of one file have the same."""


def boundary(root: Path, markers: Iterable[str]) -> Path:
    """The folder up to which context files are looked for: the nearest one, from the root upward, that holds a marker.

    Without a marker anywhere it is the root itself. Markers that are absolute or lead upward do not count.

    Args:
        root: Folder of the project, without links in it.
        markers: Names of files or folders.
    """
    usable = [one for one in markers if not PurePath(one).is_absolute() and ".." not in PurePath(one).parts]
    above = (root, *root.parents) if usable else ()
    return next((folder for folder in above if any((folder / marker).exists() for marker in usable)), root)


def project_files(root: Path, names: Sequence[str], markers: Iterable[str]) -> list[Path]:
    """The context files of a project, from its boundary down to its root."""
    return _found(_down(boundary(root, markers), root), names)


def touched_files(path: Path, roots: Iterable[Path], names: Sequence[str], markers: Sequence[str]) -> list[Path]:
    """The context files that hold for a file, from the boundary of the deepest root around it down to its folder.

    Args:
        path: A file, which need not exist, or a folder; without links in it.
        roots: Trusted folders, without links in them.
        names: Names of context files.
        markers: Names that mark a boundary.
    """
    around = [root for root in roots if path.is_relative_to(root)]
    if not around:
        return []
    root = max(around, key=lambda one: len(one.parts))
    start = path if path.is_dir() or path == root else path.parent
    return _found(_down(boundary(root, markers), start), names)


def _down(top: Path, bottom: Path) -> Iterator[Path]:
    """The folders from one down to another."""
    folders = [bottom, *bottom.parents]
    at = folders.index(top) if top in folders else 0
    yield from reversed(folders[: at + 1])


def _found(folders: Iterable[Path], names: Sequence[str]) -> list[Path]:
    """The context files of some folders, each file once whatever its names; a folder of that name is none."""
    seen: dict[FileId, Path] = {}
    for folder in folders:
        for name in names:
            path = folder / name
            if path.is_file() and os.access(path, os.R_OK):
                seen.setdefault(file_id(path), path)
    return list(seen.values())


def file_id(path: Path) -> FileId:
    """What tells a file from every other."""
    found = path.stat()
    return found.st_dev, found.st_ino
