"""Topic files: one Markdown file a subject, with a few fields in front, all in one folder beside an index `MEMORY.md`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness_nb.errors import StoreError
from harness_nb.store.files import make_folder, read_text, unusable, write_atomic
from harness_nb.store.locks import locked

INDEX_NAME = "MEMORY.md"
_MARK = "---"
_FIELD = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic file, read.

    Attributes:
        file: Its name in the folder.
        fields: What stands in front, by name.
        body: The text below.
    """

    file: str
    fields: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


class Topics:
    """The topic files of one folder. Nothing is made before the first write.

    Args:
        folder: Where they lie.
        clean: Makes a text such as may be written.
    """

    def __init__(self, folder: Path, *, clean: Callable[[str], str] = str) -> None:
        self.folder = folder
        self._clean = clean

    def __repr__(self) -> str:
        return f"Topics({str(self.folder)!r})"

    @property
    def index_text(self) -> str | None:
        """The index, None where there is none.

        Raises:
            StoreError: It can't be read.
        """
        return read_text(self.folder / INDEX_NAME)

    def write_index(self, text: str) -> None:
        """Replaces the index, also by nothing.

        Raises:
            StoreError: It can't be written.
        """
        self._write(INDEX_NAME, text)

    def names(self) -> list[str]:
        """Names of the topic files, in order."""
        return sorted(path.name for path in self.folder.glob("*.md") if path.name != INDEX_NAME and path.is_file())

    def read(self, file: str) -> Topic | None:
        """A topic file, None where there is none.

        Raises:
            StoreError: The name is none of this folder, or the file can't be read.
        """
        text = read_text(self._path(file))
        if text is None:
            return None
        fields, body = read_front_matter(text)
        return Topic(file, fields, body)

    def write(self, topic: Topic) -> None:
        """Makes or replaces a topic file.

        Raises:
            StoreError: The name is none of this folder, is a link, or the file can't be written.
        """
        self._write(topic.file, with_front_matter(topic.fields, topic.body))

    def delete(self, file: str) -> bool:
        """Deletes a topic file; False where there was none.

        Raises:
            StoreError: The name is none of this folder, is a link, or the file can't be deleted.
        """
        path = self._path(file)
        if not path.exists():
            return False
        try:
            with locked(path):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise unusable(path, "write", error) from error
        return True

    def _write(self, file: str, text: str) -> None:
        path = self._path(file)
        try:
            make_folder(self.folder)
            with locked(path):
                write_atomic(path, self._clean(text))
        except OSError as error:
            raise unusable(path, "write", error) from error

    def _path(self, file: str) -> Path:
        """The path of a file directly in the folder that is no link to somewhere else."""
        path = self.folder / file
        if os.path.basename(file) != file or path.name != file or file in ("", ".", ".."):
            raise StoreError(f"{file!r} is no file name.", "Name a file without a folder.", subject=file)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise StoreError(
                f"{str(path)!r} is no plain file.", "Delete it yourself if it is not wanted there.", subject=path
            )
        return path


def with_front_matter(fields: Mapping[str, str], body: str) -> str:
    """A text with fields in front, quoted so that no value can end them; the body without outer blank lines."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join([_MARK, *lines, _MARK, "", f"{without_outer_blank_lines(body)}\n"])


def read_front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields in front of a text and the text below them; a text without such a block has none.

    Read are plain `name: value` lines, the value bare or in quotes; anything else in the block is passed over.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != _MARK:
        return {}, text
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _MARK), None)
    if end is None:
        return {}, text
    found = (_FIELD.fullmatch(line.rstrip()) for line in lines[1:end])
    fields = {one[1]: _value(one[2]) for one in found if one is not None}
    return fields, "\n".join(lines[end + 1 :]).lstrip("\n")


def _value(written: str) -> str:
    if written[:1] == written[-1:] == '"' and len(written) > 1:
        try:
            return str(json.loads(written))
        except ValueError:
            return written[1:-1]
    if written[:1] == written[-1:] == "'" and len(written) > 1:
        return written[1:-1].replace("''", "'")
    return written


def without_outer_blank_lines(text: str) -> str:
    """A text without blank lines at its beginning and its end."""
    lines = text.split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)
