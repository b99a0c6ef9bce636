"""Charts of frames by altair, with a static picture that stays where no script runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    import altair

_WIDTH, _HEIGHT = 480, 160
_LINE, _DANGER, _GREY = "#3a86d8", "#d55e00", "#808a94"


class PressureChart:
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

    def png(self) -> bytes:
        """The chart as a picture."""
        import vl_convert

        picture: bytes = vl_convert.vegalite_to_png(self.chart.to_json(), scale=1.0)
        return picture

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


def _marks(frame: pd.DataFrame) -> list[str]:
    """What happened at each row, or empty."""
    for name in ("mark", "detail", "outcome"):
        if name in frame.columns:
            texts = frame[name].astype("object").where(frame[name].notna(), "")
            return ["" if text in ("unchanged", "quiet", "skipped") else str(text) for text in texts]
    return [""] * len(frame)
