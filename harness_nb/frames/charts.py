"""Charts of frames by altair, with a static picture that stays where no script runs."""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

if TYPE_CHECKING:
    import altair

_WIDTH, _HEIGHT = 480, 160
_LINE, _DANGER, _GREY = "#3a86d8", "#d55e00", "#808a94"
MANY = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#5b6b7b",
    "#8c6d31",
    "#7b4173",
    "#b5a300",
    "#3b4cc0",
)
"""Okabe-Ito colours first, which readers with a colour-vision deficiency can tell apart."""


class PicturedChart(ABC):
    """A chart that stays as a picture where no script runs."""

    @property
    @abstractmethod
    def chart(self) -> Any:
        """The chart, to be changed as altair allows."""

    def png(self) -> bytes:
        """The chart as a picture."""
        import vl_convert

        return packed(vl_convert.vegalite_to_png(self.chart.to_json(), scale=1.0))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """The chart for front-ends that draw it, and a picture for all others."""
        import base64

        specification = self.chart.to_dict()
        kind = f"application/vnd.vegalite.v{str(specification['$schema']).rpartition('/v')[2].split('.')[0]}+json"
        return {
            "text/plain": repr(self),
            kind: specification,
            "image/png": base64.b64encode(self.png()).decode("ascii"),
        }


class PressureChart(PicturedChart):
    """The size of the model input over the rows of a frame.

    Args:
        frame: The frame.
        size: Its column of sizes, in tokens.

    Attributes:
        data: What is drawn: number, tokens, window and mark of each row.
    """

    def __init__(self, frame: pd.DataFrame, size: str) -> None:
        tokens = pd.to_numeric(frame[size], errors="coerce").astype("float64")
        data = {"number": range(1, len(frame) + 1), "tokens": tokens.to_numpy()}
        if "window" in frame.columns:
            data["window"] = pd.to_numeric(frame["window"], errors="coerce").astype("float64").to_numpy()
        data["mark"] = _marks(frame)
        self.data = pd.DataFrame(data).dropna(subset=["tokens"])

    def __repr__(self) -> str:
        return f"PressureChart({len(self.data)} points)"

    @property
    def chart(self) -> altair.LayerChart | altair.FacetChart:
        """The chart, to be changed as altair allows."""
        import altair

        base = altair.Chart(self.data).encode(x=altair.X("number:Q", title="point"))
        layers: list[Any] = [base.mark_line(color=_LINE).encode(y=altair.Y("tokens:Q", title="tokens"))]
        marked = base.transform_filter("datum.mark != ''")
        layers.append(
            marked.mark_point(color=_DANGER, filled=True).encode(y="tokens:Q", tooltip=["mark:N", "tokens:Q"])
        )
        if "window" in self.data.columns:
            layers.append(base.mark_line(color=_GREY, strokeDash=[4, 4]).encode(y="window:Q"))
        return altair.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


class ParetoChart(PicturedChart):
    """Points by two figures, the front among them drawn as a line.

    Args:
        frame: A row a point, with `is_on_front`.
        x: Column to the right.
        y: Column upwards.
        colour: Column that colours the points, or None.

    Attributes:
        data: What is drawn, as plain columns.
    """

    def __init__(self, frame: pd.DataFrame, x: str, y: str, colour: str | None = None) -> None:
        self.x, self.y, self.colour = x, y, colour
        self.data = pd.DataFrame({name: _plain(frame[name]) for name in frame.columns})

    def __repr__(self) -> str:
        return f"ParetoChart({self.x!r}, {self.y!r}, {len(self.data)} points)"

    @property
    def chart(self) -> altair.LayerChart | altair.FacetChart:
        """The chart, to be changed as altair allows."""
        import altair

        axes: dict[str, Any] = {
            "x": altair.X(field=self.x, type="quantitative", title=_words(self.x), scale=altair.Scale(zero=False)),
            "y": altair.Y(field=self.y, type="quantitative", title=_words(self.y), scale=altair.Scale(zero=False)),
        }
        tips = [altair.Tooltip(field=name, type=_kind(self.data[name])) for name in self.data.columns]
        base = altair.Chart(self.data).encode(**axes)
        line = base.transform_filter("datum.is_on_front").mark_line(color=_GREY, interpolate="linear")
        points = base.mark_point(filled=True, size=70).encode(
            tooltip=tips,
            opacity=altair.condition("datum.is_on_front", altair.value(1.0), altair.value(0.35)),
            color=altair.value(_LINE)
            if self.colour is None
            else altair.Color(field=self.colour, type="nominal", scale=altair.Scale(range=list(MANY))),
        )
        return altair.layer(line, points).properties(width=_WIDTH, height=2 * _HEIGHT)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _kind(column: pd.Series) -> Literal["quantitative", "nominal"]:
    return "quantitative" if pd.api.types.is_numeric_dtype(column) else "nominal"


def _plain(column: pd.Series) -> pd.Series:
    """A column in a dtype that JSON has: numbers as numbers, flags as flags, all else as text."""
    if pd.api.types.is_bool_dtype(column):
        return column.astype("bool")
    return column.astype("float64") if pd.api.types.is_numeric_dtype(column) else column.astype("object").map(str)


def _marks(frame: pd.DataFrame) -> list[str]:
    """What happened at each row, or empty."""
    for name in ("mark", "detail", "outcome"):
        if name in frame.columns:
            texts = frame[name].astype("object").where(frame[name].notna(), "")
            return ["" if text in ("unchanged", "quiet", "skipped") else str(text) for text in texts]
    return [""] * len(frame)


def packed(picture: bytes) -> bytes:
    """The same PNG with its pixels packed as closely as zlib can: vl-convert packs them for speed, five times as large."""
    found = list(_chunks(picture))
    pixels = zlib.compress(zlib.decompress(b"".join(body for kind, body in found if kind == b"IDAT")), 9)
    first = next(at for at, (kind, _) in enumerate(found) if kind == b"IDAT")
    others = [one for one in found if one[0] != b"IDAT"]
    made = [*others[:first], (b"IDAT", pixels), *others[first:]]
    return picture[:8] + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in made
    )


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and body of each chunk of a PNG, behind its signature of eight bytes."""
    at = 8
    while at < len(picture):
        (length,) = struct.unpack(">I", picture[at : at + 4])
        yield picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        at += length + 12
