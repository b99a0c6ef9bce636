"""Records -> frame: every column with its dtype, whether there are rows or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import pandas as pd

from harness_nb.core.redact import redact
from harness_nb.frames.columns import Column, Kind

Record = Mapping[str, Any]

TIME = "datetime64[us, UTC]"
DAY = "datetime64[us]"


def assemble(records: Iterable[Record], columns: Sequence[Column]) -> pd.DataFrame:
    """A frame of exactly these columns; a key that a record lacks is a missing value, other keys are left out."""
    rows = list(records)
    return pd.DataFrame({column.name: _series(column, [row.get(column.name) for row in rows]) for column in columns})


def _series(column: Column, values: list[Any]) -> pd.Series:
    if column.kind == "category":
        kept = [value if value in column.values else None for value in values]
        return pd.Series(pd.Categorical(kept, categories=list(column.values)))
    return _MAKERS[column.kind](values)


def _text(values: list[Any]) -> pd.Series:
    """Texts, keys masked, in the dtype that this pandas gives them: `str` from 3 on, `object` before."""
    dtype = pd.Series(
        dtype="str"
    ).dtype  # asked of an empty one: made with "str" itself, pandas 2 turns None into "None"
    return pd.Series([None if value is None else redact(str(value)) for value in values], dtype=dtype)


def _times(values: list[Any]) -> pd.Series:
    """Aware times and ISO texts, in UTC."""
    stamps = [None if value is None or value == "" else pd.Timestamp(value) for value in values]
    in_utc = [None if stamp is None else _in_utc(stamp) for stamp in stamps]
    return pd.Series(pd.DatetimeIndex(in_utc, dtype=TIME))


def _in_utc(stamp: pd.Timestamp) -> pd.Timestamp:
    return stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp.tz_convert("UTC")


def _days(values: list[Any]) -> pd.Series:
    """Local days, at midnight and without a zone."""
    return pd.Series(pd.DatetimeIndex([_day(value) for value in values], dtype=DAY))


def _day(value: Any) -> pd.Timestamp | None:
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        value = value.date()
    return pd.Timestamp(value.isoformat() if isinstance(value, date) else str(value))


def _lists(values: list[Any]) -> pd.Series:
    return pd.Series([() if value is None else tuple(map(_clean, value)) for value in values], dtype="object")


def _clean(value: Any) -> Any:
    return redact(value) if isinstance(value, str) else value


_MAKERS: dict[Kind, Callable[[list[Any]], pd.Series]] = {
    "text": _text,
    "count": lambda values: pd.Series(values, dtype="Int64"),
    "number": lambda values: pd.Series(values, dtype="float64"),
    "flag": lambda values: pd.Series(values, dtype="boolean"),
    "time": _times,
    "date": _days,
    "list": _lists,
}
