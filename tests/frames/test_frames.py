"""Every frame has its documented columns and dtypes, with rows and without, under both string dtypes of pandas."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone

import pandas as pd
import pytest

from harness_nb import frames
from harness_nb.frames import columns
from harness_nb.frames.assembly import assemble
from harness_nb.frames.columns import Column

SCHEMAS = {
    frames.hits_frame: columns.HITS,
    frames.messages_frame: columns.MESSAGES,
    frames.events_frame: columns.EVENTS,
    frames.daily_logs_frame: columns.DAILY_LOGS,
    frames.plans_frame: columns.PLANS,
    frames.usage_frame: columns.USAGE,
    frames.replay_frame: columns.REPLAY,
    frames.thresholds_frame: columns.THRESHOLDS,
    frames.course_frame: columns.COURSE,
    frames.presets_frame: columns.PRESETS,
    frames.memory_frame: columns.MEMORY,
    frames.status_frame: columns.STATUS,
    frames.fates_frame: columns.FATES,
    frames.parts_frame: columns.PARTS,
    frames.tools_frame: columns.TOOLS,
    frames.sessions_frame: columns.SESSIONS,
    frames.pins_frame: columns.PINS,
    frames.changes_frame: columns.CHANGES,
    frames.pending_frame: columns.PENDING,
    frames.versions_frame: columns.VERSIONS,
    frames.maintenance_frame: columns.MAINTENANCE,
}
EXAMPLES = {
    "text": "a",
    "count": 3,
    "number": 0.5,
    "flag": True,
    "time": datetime(2026, 4, 12, 9, 30, tzinfo=UTC),
    "date": date(2026, 4, 12),
    "list": ("a", "b"),
}


def example(column: Column) -> object:
    return column.values[0] if column.kind == "category" else EXAMPLES[column.kind]


@pytest.fixture(params=[True, False], ids=["str", "object"])
def _string_dtype(request: pytest.FixtureRequest):
    with pd.option_context("future.infer_string", request.param):
        yield


@pytest.mark.filterwarnings("ignore:The 'future.infer_string'")  # the only way to see what pandas 2 would do
@pytest.mark.usefixtures("_string_dtype")
@pytest.mark.parametrize("make", SCHEMAS, ids=lambda make: make.__name__)
def test_a_frame_has_the_same_columns_and_dtypes_with_rows_and_without(make) -> None:
    schema = SCHEMAS[make]
    empty = make([])
    full = make([{column.name: example(column) for column in schema}, {}])
    assert list(empty.columns) == list(full.columns) == [column.name for column in schema]
    assert empty.dtypes.to_dict() == full.dtypes.to_dict()
    assert (len(empty), len(full)) == (0, 2)


@pytest.mark.parametrize("make", SCHEMAS, ids=lambda make: make.__name__)
def test_every_column_is_explained_and_named_once(make) -> None:
    schema = SCHEMAS[make]
    assert len({column.name for column in schema}) == len(schema)
    assert all(column.meaning and (column.kind != "category" or column.values) for column in schema)


def test_dtypes_are_those_of_the_kinds() -> None:
    kinds = ("count", "number", "flag", "time", "date", "list")
    frame = assemble([], [Column(kind, kind, "x") for kind in kinds])
    assert [str(dtype) for dtype in frame.dtypes] == [
        "Int64", "float64", "boolean", "datetime64[us, UTC]", "datetime64[us]", "object",
    ]  # fmt: skip


def test_times_of_any_offset_become_utc() -> None:
    moment = datetime(2026, 4, 12, 0, 30, tzinfo=timezone(timedelta(hours=9)))
    frame = frames.messages_frame([{"time": moment}, {"time": moment.isoformat()}, {"time": None}])
    assert list(frame["time"])[:2] == [pd.Timestamp("2026-04-11 15:30", tz="UTC")] * 2
    assert frame["time"].isna().tolist() == [False, False, True]


def test_an_unknown_count_stays_unknown_and_no_id_becomes_a_number() -> None:
    frame = frames.usage_frame([{"input_tokens": None, "session": "007"}])
    assert frame["input_tokens"].isna().all() and str(frame["input_tokens"].dtype) == "Int64"
    assert frame.loc[0, "session"] == "007"


def test_a_value_outside_a_category_is_missing_rather_than_an_error() -> None:
    assert frames.messages_frame([{"role": "narrator"}])["role"].isna().all()


def test_hits_are_numbered_in_order_and_keep_their_query() -> None:
    frame = frames.hits_frame([{"path": "b", "rank": -2.0}, {"path": "a", "rank": -1.0}], query="x")
    assert frame["position"].tolist() == [1, 2]
    assert frame["path"].tolist() == ["b", "a"]
    assert frame.attrs == {"query": "x"}


def test_a_range_of_messages_is_taken_apart() -> None:
    frame = frames.daily_logs_frame([{"text": "x", "messages": (3, 5)}, {"text": "y", "messages": None}])
    assert frame["first_message"].tolist()[0] == 3 and frame["last_message"].tolist()[0] == 5
    assert frame["first_message"].isna().tolist() == [False, True]


def test_a_local_time_of_day_becomes_utc_and_the_local_day_stays() -> None:
    frame = frames.daily_logs_frame(
        [
            {"date": date(2026, 4, 12), "time": time(0, 30), "zone": "+09:00"},
            {"date": date(2026, 4, 12), "time": time(0, 30), "zone": ""},
        ]
    )
    assert frame["time"].tolist()[0] == pd.Timestamp("2026-04-11 15:30", tz="UTC")
    assert frame["time"].isna().tolist() == [False, True]
    assert frame["date"].tolist() == [pd.Timestamp("2026-04-12")] * 2


def test_usage_given_as_a_mapping_is_spread_out() -> None:
    frame = frames.usage_frame([{"estimate": 90, "usage": {"input_tokens": 100, "output_tokens": 5, "cost": 0.5}}])
    assert frame[["estimate", "input_tokens", "output_tokens", "cost"]].iloc[0].tolist() == [90, 100, 5, 0.5]


@pytest.mark.filterwarnings("ignore:The 'future.infer_string'")  # the only way to see what pandas 2 would do
@pytest.mark.usefixtures("_string_dtype")
def test_r096_text_is_kept_whole_and_exactly() -> None:
    text = "costs $5 and then $7 per run <b>&amp;\n" + "x" * 10_000
    assert frames.messages_frame([{"text": text}]).loc[0, "text"] == text
