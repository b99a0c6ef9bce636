"""Candidates: proposed changes of curated memory, one JSON file each, until somebody decides on them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness_nb.core.messages import to_json
from harness_nb.errors import StoreError
from harness_nb.store.files import make_folder, read_bytes, unusable, write_atomic
from harness_nb.store.locks import locked

_NAME = re.compile(r"([1-9][0-9]*)\.json")


class CandidateFiles:
    """The candidates of one workspace, by number.

    Args:
        folder: Where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, number: int) -> Path:
        """The file of a candidate."""
        return self.folder / f"{number}.json"

    def numbers(self) -> list[int]:
        """The candidates that there are, oldest first.

        Raises:
            StoreError: The folder can't be read.
        """
        try:
            found = [_NAME.fullmatch(path.name) for path in self.folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise unusable(self.folder, "read", error) from error
        return sorted(int(name[1]) for name in found if name)

    def load(self, number: int) -> dict[str, Any]:
        """What is stored of a candidate.

        Raises:
            StoreError: There is no such candidate, or its file can't be read.
        """
        data = read_bytes(self.path(number))
        if data is None:
            there = ", ".join(map(str, self.numbers())) or "none"
            raise StoreError(
                f"There is no candidate {number!r}.",
                f"Waiting for review: {there}. See %memory pending, or agent.memory.pending().",
                subject=number,
            )
        with suppress(ValueError, RecursionError):
            record = json.loads(data)
            if isinstance(record, dict):
                return record
        raise StoreError(
            f"{str(self.path(number))!r} is no candidate.",
            "Delete the file; its log entries are pending still.",
            subject=number,
        )

    def save(self, number: int, record: Mapping[str, Any]) -> None:
        """Writes a candidate, whole.

        Raises:
            StoreError: It can't be written.
        """
        write_atomic(self.path(number), f"{to_json(dict(record))}\n")

    def remove(self, number: int) -> None:
        """Deletes a candidate; one that is gone already is no error.

        Raises:
            StoreError: It can't be deleted.
        """
        try:
            self.path(number).unlink(missing_ok=True)
        except OSError as error:
            raise unusable(self.path(number), "write", error) from error

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """Holds the right to decide on candidates, which one thread of one process has at a time.

        Raises:
            StoreError: Somebody else kept it for long.
        """
        try:
            make_folder(self.folder)
            with locked(self.folder / "review"):
                yield
        except OSError as error:
            raise unusable(self.folder, "write", error) from error
