"""Folders of the user's: where the notebooks come from, where they are copied to, and where results are written."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from harness_nb.errors import StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What copying the notebooks did, by name.

    Attributes:
        new: Those that were not there.
        same: Those that were there already.
        kept: Those that the user has changed; they stay as they are.
    """

    new: tuple[str, ...]
    same: tuple[str, ...]
    kept: tuple[str, ...]


def notebooks_folder() -> Path:
    """The notebooks of an installed package, or of the checkout.

    Raises:
        StoreError: There are none.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "_notebooks", package.parent / "notebooks"):
        if folder.is_dir():
            return folder
    raise StoreError("The notebooks are not installed.", "Install harness_nb again.", subject=package)


def copy_notebooks(folder: Path) -> Copied:
    """Copies all notebooks and their pictures; a file that is there already is left alone.

    Raises:
        StoreError: The folder can't be written.
    """
    source = notebooks_folder()
    writable(folder)
    found: dict[str, list[str]] = {"new": [], "same": [], "kept": []}
    for file in sorted(source.rglob("*")):
        name = file.relative_to(source)
        if file.is_file() and not any(part.startswith(".") for part in name.parts):
            found[_copied(file, folder / name)].append(name.as_posix())
    return Copied(**{state: tuple(names) for state, names in found.items()})


def _copied(file: Path, target: Path) -> str:
    if target.exists():
        return "same" if target.read_bytes() == file.read_bytes() else "kept"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    return "new"


def writable(folder: Path) -> None:
    """Makes a folder where there is none.

    Raises:
        StoreError: That is not possible.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(folder, error) from error


def write(path: Path, text: str) -> None:
    """Writes a file.

    Raises:
        StoreError: That is not possible.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{str(path)!r} can't be written: {error.strerror}.", "Give another folder.", subject=path)
