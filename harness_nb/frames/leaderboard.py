"""The frame of a leaderboard, and its chart: what is kept for how many tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from harness_nb.frames.assembly import Record, assemble
from harness_nb.frames.charts import MANY, PicturedChart
from harness_nb.frames.columns import Column

STATUS = ("ranked", "over the window", "invalid", "never acted", "refused", "not scored")

LEADERBOARD = (
    Column("source", "text", "name of the data set, or folder of the sessions"),
    Column("window", "count", "context window, missing for that of each recorded model", "tokens"),
    Column("rank", "count", "1 for who is beaten by nobody, one more for each who beats it; missing where not ranked"),
    Column("preset", "text", "name of the preset"),
    Column("variant", "text", "which version of it, or empty"),
    Column("status", "category", "ranked, or why not", values=STATUS),
    Column("note", "text", "the status in figures, or why the window was refused"),
    Column("measure", "text", "what survival is: a metric of scores"),
    Column("survival", "number", "its mean, questions count alike", "0 to 1"),
    Column("low", "number", "lower end of its 95 % interval, conversations resampled", "0 to 1"),
    Column("high", "number", "upper end", "0 to 1"),
    Column("tokens", "count", "all requests and the policy's own model calls", "tokens"),
    Column("own_tokens", "count", "the policy's own model calls", "tokens"),
    Column("peak_tokens", "count", "the largest request", "tokens"),
    Column("compactions", "count", "points at which the list was replaced"),
    Column("model_calls", "count", "model calls that the policies made"),
    Column("cache_reuse", "number", "part of the prompt tokens that is read from the provider's cache", "0 to 1"),
    Column("cost", "number", "at the recorded models' prices, missing where they are not known", "US dollars"),
    Column("verbatim", "number", "evidence word for word in the context", "0 to 1"),
    Column("reachable", "number", "the same with what a search finds in ten hits", "0 to 1"),
    Column("failures", "count", "points at which a plan failed or was refused"),
    Column("overflows", "count", "requests above the window"),
    Column("invalid_prompts", "count", "requests that a provider refuses"),
    Column("conversations", "count", "how many were replayed"),
    Column("acted", "count", "in how many of them the policy replaced the list"),
    Column("answered_by", "text", "model that answered the policy, or assumed"),
    Column("is_on_front", "flag", "whether nobody beats it"),
)

_PANEL_WIDTH, _PANEL_HEIGHT = 240, 150


def leaderboard_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Rows of a leaderboard: columns `LEADERBOARD`."""
    return assemble(records, LEADERBOARD)


class LeaderboardChart(PicturedChart):
    """Tokens against survival, a panel for each source and window; those that nobody beats are joined by a line.

    Args:
        frame: Of a leaderboard, or some rows of one. Only those that are ranked are drawn.

    Attributes:
        data: What is drawn.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        rows = frame[frame["status"] == "ranked"]
        self.data = pd.DataFrame(
            {
                "source": rows["source"].astype("object").map(str),
                "window": [_window(value) for value in rows["window"]],
                "order": rows["window"].astype("float64"),
                "preset": rows["preset"].astype("object").map(str),
                "variant": rows["variant"].astype("object").map(str),
                "rank": rows["rank"].astype("float64"),
                "survival": rows["survival"].astype("float64").round(4),
                "tokens": rows["tokens"].astype("float64"),
            }
        ).reset_index(drop=True)
        self.data["label"] = _labels(self.data)

    def __repr__(self) -> str:
        return f"LeaderboardChart({len(self.data)} points)"

    @property
    def chart(self) -> Any:
        """The chart, to be changed as altair allows."""
        import altair

        if self.data.empty:
            return altair.Chart(self.data).mark_point()
        panels = [altair.hconcat(*map(self._panel, self._windows(source))) for source in self._sources]
        return altair.vconcat(*panels).resolve_scale(color="shared")

    @property
    def _sources(self) -> list[str]:
        return list(dict.fromkeys(self.data["source"]))

    def _windows(self, source: str) -> list[pd.DataFrame]:
        """The rows of each panel of a source."""
        rows = self.data[self.data["source"] == source]
        return [part for _, part in rows.groupby("order", dropna=False)]

    def _panel(self, rows: pd.DataFrame) -> Any:
        import altair

        presets = sorted(set(self.data["preset"]))
        colours = [MANY[at % len(MANY)] for at in range(len(presets))]
        x_scale, y_scale = altair.Scale(zero=False, padding=36), altair.Scale(zero=False, padding=12)
        base = altair.Chart(rows).encode(
            x=altair.X("tokens:Q", title="tokens", scale=x_scale, axis=altair.Axis(format="~s", tickCount=6)),
            y=altair.Y("survival:Q", title="survival", scale=y_scale),
        )
        front = base.transform_filter("datum.rank == 1")
        points = base.mark_point(filled=True, size=60).encode(
            color=altair.Color("preset:N", scale=altair.Scale(domain=presets, range=colours)),
            opacity=altair.condition("datum.rank == 1", altair.value(1.0), altair.value(0.45)),
            tooltip=["preset:N", "variant:N", "rank:Q", "survival:Q", "tokens:Q"],
        )
        names = front.mark_text(align="center", dy=-10, fontSize=9).encode(text="label:N")
        title = f"{rows['source'].iloc[0]}, window {rows['window'].iloc[0]}"
        return altair.layer(front.mark_line(color="#808a94"), points, names).properties(
            width=_PANEL_WIDTH, height=_PANEL_HEIGHT, title=title
        )


def _window(value: Any) -> str:
    return "as recorded" if pd.isna(value) else f"{int(value):,}"


def _labels(rows: pd.DataFrame) -> list[str]:
    """What is written at each point: of those at the same place, the first has the presets of all."""
    places = list(zip(rows["source"], rows["window"], rows["tokens"], rows["survival"], strict=True))
    whole = [f"{one} {version}".rstrip() for one, version in zip(rows["preset"], rows["variant"], strict=True)]
    found: dict[tuple[Any, ...], list[int]] = {}
    for at, place in enumerate(places):
        found.setdefault(place, []).append(at)
    said = {same[0]: ", ".join(dict.fromkeys(rows["preset"].iloc[same])) for same in found.values() if len(same) > 1}
    alone = {same[0]: whole[same[0]] for same in found.values() if len(same) == 1}
    return [(said | alone).get(at, "") for at in range(len(places))]
