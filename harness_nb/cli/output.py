"""Results in a file, in the form that the file's ending names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from harness_nb.cli.folders import writable, write

if TYPE_CHECKING:
    from pandas import DataFrame


class Tabular(Protocol):
    """A result with a frame."""

    @property
    def df(self) -> DataFrame:
        """Its frame."""
        ...


def as_json(record: Any) -> str:
    """A record of plain values as JSON over many lines, ending in a line feed."""
    return json.dumps(record, indent=2, ensure_ascii=False, default=str) + "\n"


def as_csv(result: Tabular) -> str:
    """The frame as CSV."""
    return str(result.df.to_csv(index=False))


def as_markdown(result: Tabular) -> str:
    """The frame as a table in Markdown, every row of it."""
    frame = result.df
    return str(frame.harness.to_markdown(rows=len(frame))) + "\n"


def write_as(path: Path, forms: Mapping[str, Callable[[], str]]) -> None:
    """Writes a result in the form that the path's ending names; folders are made.

    Raises:
        StoreError: The file can't be written.
    """
    writable(path.parent)
    write(path, forms[path.suffix]())
