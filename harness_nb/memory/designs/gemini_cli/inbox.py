"""The inbox: changes of context files that wait for a person, one patch for each kind, applied file by file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness_nb.errors import StoreError
from harness_nb.memory.designs.gemini_cli.patches import FilePatch, made_patch, read_patches
from harness_nb.memory.designs.gemini_cli.places import Places
from harness_nb.store.files import make_folder, read_text, unusable, write_atomic
from harness_nb.store.locks import locked

KINDS = ("private", "global")
"""Kinds of changes, in the order in which they are numbered, from 1."""

_FILE = "extraction.patch"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The changes of one kind.

    Attributes:
        number: Names it: 1 for private notes, 2 for the user's own context file.
        kind: `private` or `global`.
        patches: The changes, one for each file.
    """

    number: int
    kind: str
    patches: tuple[FilePatch, ...]


class Inbox:
    """Changes that wait below the private folder. Nothing is made by itself.

    Args:
        places: Where they lie and what they may change.
    """

    def __init__(self, places: Places) -> None:
        self.places = places

    def path(self, kind: str) -> Path:
        """The patch of a kind."""
        return self.places.inbox_folder / kind / _FILE

    def waiting(self) -> tuple[list[Waiting], list[str]]:
        """What waits, and what is wrong with files that can't be used."""
        found: list[Waiting] = []
        warnings: list[str] = []
        for number, kind in enumerate(KINDS, 1):
            try:
                patches = self._read(kind)
            except StoreError as error:
                warnings.append(f"{kind}: {error.problem}")
                continue
            if patches:
                found.append(Waiting(number, kind, patches))
        return found, warnings

    def propose(self, kind: str, texts: Mapping[Path, str]) -> None:
        """Lets changes wait, in the place of what waited of that kind.

        Args:
            kind: `private` or `global`.
            texts: New texts of files.

        Raises:
            StoreError: A file may not be changed so, or the patch can't be written.
        """
        made = [self._made(path, text) for path, text in texts.items()]
        patch = "".join(one for one in made if one)
        self._checked(kind, read_patches(patch) if patch else ())
        with self._deciding():
            self._keep(kind, patch)

    def planned(self, path: Path) -> str:
        """The text that a file would have once what waits is applied.

        Raises:
            StoreError: A file can't be read.
        """
        text = read_text(path)
        for one in self.waiting()[0]:
            for patch in one.patches:
                if self._path(patch) == path:
                    text = patch.applied(text)
        return text or ""

    def accept(self, kind: str, numbers: Sequence[int] | None = None) -> tuple[FilePatch, ...]:
        """Makes changes, all of them or none; the patch keeps what is left.

        Args:
            kind: `private` or `global`.
            numbers: Which, from 1; None for all.

        Raises:
            StoreError: There is no such change, or one can't be made; then none is.
        """
        with self._deciding():
            patches = self._read(kind)
            chosen = _chosen(patches, numbers)
            texts = self._texts(chosen)
            _replace_all(self._with_pointers(texts) if kind == "private" else texts)
            self._leave(kind, patches, chosen)
        return chosen

    def reject(self, kind: str, numbers: Sequence[int] | None = None) -> tuple[FilePatch, ...]:
        """Forgets changes; the patch keeps what is left.

        Raises:
            StoreError: There is no such change, or the patch can't be written.
        """
        with self._deciding():
            patches = self._read(kind)
            chosen = _chosen(patches, numbers)
            self._leave(kind, patches, chosen)
        return chosen

    # What changes may do

    def _read(self, kind: str) -> tuple[FilePatch, ...]:
        text = read_text(self.path(kind))
        return self._checked(kind, read_patches(text)) if text and text.strip() else ()

    def _checked(self, kind: str, patches: tuple[FilePatch, ...]) -> tuple[FilePatch, ...]:
        """The changes, each of a file that its kind may change."""
        for patch in patches:
            if self.places.kind(self._path(patch)) != kind:
                raise StoreError(
                    f"A {kind} change may not be made to {patch.path!r}.", "Reject it.", subject=patch.path
                )
        return patches

    def _path(self, patch: FilePatch) -> Path:
        return self.places.workspace.resolve(patch.path)

    def _made(self, path: Path, text: str) -> str:
        before = read_text(path)
        clean = self.places.workspace.clean(text)
        return "" if clean == before else made_patch(self.places.workspace.relative(path), before, clean)

    # Making changes

    def _texts(self, patches: Sequence[FilePatch]) -> dict[Path, str]:
        """The texts of the files afterwards; changes of one file follow one another."""
        texts: dict[Path, str] = {}
        for patch in patches:
            path = self._path(patch)
            texts[path] = patch.applied(texts[path] if path in texts else read_text(path))
        return texts

    def _with_pointers(self, texts: dict[Path, str]) -> dict[Path, str]:
        """The texts with a line in the index for each new file that it does not name."""
        index = self.places.index_file
        text = texts.get(index) or read_text(index) or ""
        new = [path.name for path in texts if path != index and not path.exists() and path.name not in text]
        if not new:
            return texts
        lines = "".join(f"- {name}: see {name}\n" for name in sorted(new))
        ended = text if not text or text.endswith("\n") else f"{text}\n"
        return {**texts, index: f"{ended}{lines}"}

    def _leave(self, kind: str, patches: Sequence[FilePatch], gone: Sequence[FilePatch]) -> None:
        """Keeps the changes that were not decided on, as they are."""
        self._keep(kind, "".join(patch.source for patch in patches if patch not in gone))

    def _keep(self, kind: str, patch: str) -> None:
        path = self.path(kind)
        if patch:
            write_atomic(path, patch)
            return
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise unusable(path, "write", error) from error

    @contextmanager
    def _deciding(self) -> Iterator[None]:
        """Holds the right to change the inbox, which one thread of one process has at a time."""
        folder = self.places.inbox_folder
        try:
            make_folder(folder)
            with locked(folder / "review"):
                yield
        except OSError as error:
            raise unusable(folder, "write", error) from error


def _chosen(patches: Sequence[FilePatch], numbers: Sequence[int] | None) -> tuple[FilePatch, ...]:
    if not patches:
        raise StoreError("Nothing of that kind waits.", "See pending().")
    wanted = range(1, len(patches) + 1) if numbers is None else numbers
    for number in wanted:
        if not 1 <= number <= len(patches):
            there = ", ".join(map(str, range(1, len(patches) + 1)))
            raise StoreError(f"There is no change {number!r}.", f"Waiting: {there}.", subject=number)
    return tuple(patches[number - 1] for number in dict.fromkeys(wanted))


def _replace_all(texts: Mapping[Path, str]) -> None:
    """Replaces files, all or none: each text is written beside its file first, and what was replaced is put back on failure."""
    before = {path: read_text(path) for path in texts}
    staged: dict[Path, Path] = {}
    done: list[Path] = []
    try:
        for path, text in texts.items():
            staged[path] = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
            write_atomic(staged[path], text)
            if before[path] is not None:
                os.chmod(staged[path], path.stat().st_mode & 0o777)
        for path, new in staged.items():
            os.replace(new, path)
            done.append(path)
    except (OSError, StoreError) as error:
        for path in done:
            _put_back(path, before[path])
        raise error if isinstance(error, StoreError) else unusable(path, "write", error) from error
    finally:
        for new in staged.values():
            with suppress(OSError):
                new.unlink(missing_ok=True)


def _put_back(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
    else:
        write_atomic(path, text)
