"""The topic files of one folder beside their index: adding, removing, listing."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness_nb.errors import StoreError
from harness_nb.memory.designs.openharness.schema import (
    Note,
    first_line,
    parsed,
    rendered,
    scope_of,
    signature,
    type_of,
)
from harness_nb.store.files import make_folder, read_text, unusable, write_atomic
from harness_nb.store.locks import locked
from harness_nb.store.topics import INDEX_NAME

_TITLE = "# Memory Index"
_LOCK = ".memory.lock"


@dataclass(frozen=True, slots=True)
class Listed:
    """A topic file and when it was last changed.

    Attributes:
        note: The file, read.
        changed: Time of its last change in seconds since 1970.
    """

    note: Note
    changed: float


class Notes:
    """The topic files of one folder. Nothing is made before the first write.

    Args:
        folder: Where they lie.
        clock: Gives the time.
        clean: Makes a text such as may be written.
        schema: Whether files have the fields of schema 1 and are removed by a mark; without it they are plain and deleted.
    """

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], datetime],
        *,
        clean: Callable[[str], str] = str,
        schema: bool = True,
    ) -> None:
        self.folder = folder
        self._clock = clock
        self._clean = clean
        self._schema = schema

    def __repr__(self) -> str:
        return f"Notes({str(self.folder)!r})"

    @property
    def index_text(self) -> str | None:
        """The index, None where there is none."""
        return read_text(self.folder / INDEX_NAME)

    def all(self) -> list[Listed]:
        """All topic files, removed ones among them, the last changed first; what can't be read is passed over."""
        found = []
        for path in sorted(self.folder.glob("*.md")):
            if path.name == INDEX_NAME or not path.is_file():
                continue
            try:
                text = read_text(path)
            except StoreError:
                continue
            if text is not None:
                found.append(Listed(parsed(path.name, text), path.stat().st_mtime))
        return sorted(found, key=lambda one: -one.changed)

    def live(self, now: datetime | None = None) -> list[Listed]:
        """The topic files that count: neither removed nor expired, as far as their fields are heeded."""
        moment = now or self._clock()
        if not self._schema:
            return self.all()
        return [one for one in self.all() if not one.note.is_disabled and not one.note.is_expired(moment)]

    def listed(self) -> list[str]:
        """Names of the files as a person sees them; without the schema the index is among them."""
        if not self._schema:
            return sorted(path.name for path in self.folder.glob("*.md"))
        return sorted(one.note.file for one in self.live())

    def add(self, title: str, text: str, *, type: str = "project", scope: str = "project") -> str:
        """Writes a note down and lists it in the index; the same words again refresh the note that has them.

        Returns:
            Name of its file.

        Raises:
            StoreError: It can't be written.
        """
        with self._writing():
            file = self._refreshed(title, text, type, scope) if self._schema else self._plain(title, text)
            self._point_to(file, title)
        return file

    def remove(self, name: str) -> bool:
        """Removes a note by its file's name, with or without ending, its title or its id; False when there is none.

        Raises:
            StoreError: It can't be written.
        """
        with self._writing():
            return self._removed(name)

    def _removed(self, name: str) -> bool:
        wanted = name.strip()
        found = next(
            (one.note for one in self.all() if not self._is_gone(one.note) and wanted in _names(one.note)), None
        )
        if found is None:
            return False
        if self._schema:
            self._write(
                found.file, rendered({**found.fields, "disabled": True, "updated_at": self._time()}, found.body)
            )
        else:
            (self.folder / found.file).unlink(missing_ok=True)
        lines = (self.index_text or _TITLE).splitlines()
        self._write(INDEX_NAME, "\n".join(line for line in lines if found.file not in line) + "\n")
        return True

    def _is_gone(self, note: Note) -> bool:
        return self._schema and note.is_disabled

    def _plain(self, title: str, text: str) -> str:
        file = f"{slug(title)}.md"
        self._write(file, f"{text.strip()}\n")
        return file

    def _refreshed(self, title: str, text: str, kind: str, scope: str) -> str:
        body, word = text.strip(), type_of(kind)
        mark = signature(body, word, "knowledge")
        same = next((one.note for one in self.all() if one.note.fields.get("signature") == mark), None)
        before: Mapping[str, Any] = same.fields if same is not None else {}
        file = same.file if same is not None else self._free(slug(title))
        fresh = {"name": title.strip(), "description": first_line(body), "type": word, "scope": scope_of(scope)}
        fields = {
            "schema_version": 1,
            "id": before.get("id") or self._id(),
            **fresh,
            "category": "knowledge",
            "importance": max(1, int(before.get("importance") or 0)),
            "source": before.get("source") or "manual",
            "signature": mark,
            "created_at": before.get("created_at") or self._time(),
            "updated_at": self._time(),
            "ttl_days": before.get("ttl_days"),
            "disabled": False,
            "supersedes": before.get("supersedes") or [],
            "tags": before.get("tags") or [],
        }
        more = {key: value for key, value in before.items() if key not in fields}
        self._write(file, rendered({**fields, **more}, body))
        return file

    def _free(self, stem: str) -> str:
        """A file name that is not taken: with a number behind it where others are."""
        number = 1
        while (self.folder / (name := f"{stem}.md" if number == 1 else f"{stem}_{number}.md")).exists():
            number += 1
        return name

    def _point_to(self, file: str, title: str) -> None:
        """Lists a file in the index, unless its name stands there already, be it inside another name."""
        index = self.index_text or f"{_TITLE}\n"
        if file not in index:
            self._write(INDEX_NAME, f"{index.rstrip()}\n- [{title.strip()}]({file})\n")

    def _time(self) -> str:
        return self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _id(self) -> str:
        return f"mem-{self._clock().astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"

    def _write(self, file: str, text: str) -> None:
        path = self.folder / file
        if path.is_symlink():
            raise StoreError(f"{str(path)!r} is a link.", "Delete it yourself if it is not wanted there.", subject=path)
        write_atomic(path, self._clean(text))

    def _writing(self) -> Any:
        """The folder, made and locked."""
        try:
            make_folder(self.folder)
        except OSError as error:
            raise unusable(self.folder, "write", error) from error
        return locked(self.folder / _LOCK)


def slug(title: str) -> str:
    """A title as a file name: lower case, anything but letters and digits an underscore."""
    return re.sub(r"[\W_]+", "_", title.lower()).strip("_") or "memory"


def _names(note: Note) -> set[str]:
    return {note.file, note.file.removesuffix(".md"), *filter(None, (str(note.fields.get("name") or ""), note.id))}
