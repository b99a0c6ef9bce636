"""`df.harness`: a few verbs for the frames of this package. It comes with the first of them that is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from harness_nb.core.redact import redact
from harness_nb.errors import ConfigError, StoreError
from harness_nb.frames import columns, lab_columns
from harness_nb.frames.charts import PressureChart
from harness_nb.frames.excerpt import Excerpt

MAX_MARKDOWN_ROWS = 50
MAX_CELL_CHARS = 200


def _schemas() -> list[frozenset[str]]:
    found = (schema for part in (columns, lab_columns) for name, schema in vars(part).items() if name.isupper())
    return [
        frozenset(column.name for column in schema)
        for schema in found
        if isinstance(schema, tuple) and schema and isinstance(schema[0], columns.Column)
    ]


@pd.api.extensions.register_dataframe_accessor("harness")
class HarnessAccessor:
    """Verbs for frames of this package, and for selections of their rows and columns.

    Args:
        frame: The frame.

    Raises:
        AttributeError: No column of the frame is one of this package's.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        names = set(map(str, frame.columns))
        if not any(names & schema for schema in _schemas()):
            raise AttributeError("This frame has no column of a frame of harness_nb.")
        self._frame = frame

    def open(self, row: int = 0, *, folder: str | Path | Any, context: int = 3) -> Excerpt:
        """The place in its file that a row names, with the lines around it.

        Args:
            row: Number of the row, 0 for the first.
            folder: What the paths are relative to: a folder, or an agent, whose workspace is meant.
            context: Lines before and after.

        Raises:
            ConfigError: The frame has no `path` and `line`, or there is no such row.
            StoreError: The file can't be read, or its path leads out of the folder.
        """
        self._needs("path", "line")
        if not -len(self._frame) <= row < len(self._frame):
            raise ConfigError(f"There is no row {row!r} of {len(self._frame)}.", "Count from 0.", subject=row)
        found = self._frame.iloc[row]
        if pd.isna(found["path"]) or pd.isna(found["line"]):
            raise ConfigError(f"Row {row} names no place in a file.", "Choose another row.", subject=row)
        return _excerpt(_folder(folder), str(found["path"]), int(found["line"]), max(0, context))

    def plot_pressure(self) -> PressureChart:
        """The size of the model input over the rows, with the window and what happened.

        Raises:
            ConfigError: The frame has no column of sizes.
        """
        for size in ("tokens", "tokens_after", "input_tokens"):
            if size in self._frame.columns and ("window" in self._frame.columns or size != "tokens"):
                return PressureChart(self._frame, size)
        raise ConfigError(
            "This frame has no sizes of a model input.", "Use that of a replay, a course, plans or usage."
        )

    def to_markdown(self, *, only: Sequence[str] | None = None, rows: int = MAX_MARKDOWN_ROWS) -> str:
        """The first rows as a table in Markdown, in which no text is markup.

        Args:
            only: Names of the columns; all by default.
            rows: Most rows.
        """
        self._needs(*(only or ()))
        shown = self._frame.loc[:, list(only) if only is not None else list(self._frame.columns)].head(rows)
        head = [str(name) for name in shown.columns]
        lines = [head, ["---"] * len(head), *([_cell(value) for value in row] for row in shown.itertuples(index=False))]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def _needs(self, *names: str) -> None:
        missing = [name for name in names if name not in self._frame.columns]
        if missing:
            raise ConfigError(
                f"This frame has no column {missing[0]!r}.", f"It has {', '.join(map(str, self._frame.columns))}."
            )


def _folder(given: Any) -> Path:
    workspace = getattr(given, "workspace", given)
    return Path(getattr(workspace, "path", workspace))


def _excerpt(folder: Path, name: str, line: int, context: int) -> Excerpt:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise StoreError(f"{name!r} leads out of {str(folder)!r}.", "Name the folder that was searched.", subject=name)
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise StoreError(
            f"{name!r} can't be read: {error.strerror or error}.", "Name the folder that was searched.", subject=name
        ) from error
    first = max(1, line - context)
    return Excerpt(path=name, line=line, first=first, lines=tuple(map(redact, lines[first - 1 : line + context])))


def _cell(value: Any) -> str:
    """A value as the cell of a Markdown table: on one line, and without any markup."""
    if not isinstance(value, tuple | list) and pd.isna(value):
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    text = " ".join(redact(text).split())
    text = text if len(text) <= MAX_CELL_CHARS else f"{text[: MAX_CELL_CHARS - 1]}…"
    return "".join(f"\\{char}" if char in "\\|`*_<>[]#$" else char for char in text)
