"""The schema of every frame: name, dtype, meaning and unit of each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness_nb.core.events import Event
from harness_nb.core.messages import ROLES
from harness_nb.core.pins import SOURCES
from harness_nb.core.view import HOOKS

Kind = Literal["text", "category", "count", "number", "flag", "time", "date", "list"]

ROLE = ROLES
ORIGIN = ("user", "model", "tool", "harness")
HOW = ("kept", "truncated", "cleared", "evicted", "merged", "summary", "note")
FATE = ("kept", "changed", "stood for", "gone", "back")
HIT_KIND = ("memory", "daily", "topic", "session", "archive")
HIT_STAGE = ("all words", "any word", "substring", "expression", "meaning", "neighbour")
RESULT_STATUS = ("ok", "error", "denied", "interrupted")
OUTCOME = ("completed", "skipped", "failed")
UNIT = ("tokens", "messages")
MERGE_STATE = ("pending", "merged")
CHANGE_KIND = ("added", "changed", "moved", "removed")
STEP = ("expire", "consolidate", "prune", "reindex")
STEP_OUTCOME = ("done", "nothing", "waiting", "busy", "failed")


def _event_kinds() -> tuple[str, ...]:
    return tuple(kind.kind for kind in Event.__subclasses__() if kind.is_stored)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a frame.

    Attributes:
        name: Its name; also the key in a record.
        kind: `text`; `category` of fixed values; `count`, a whole number that may be unknown (`Int64`); `number` (`float64`);
            `flag`, true or false or unknown (`boolean`); `time`, UTC to the microsecond; `date`, a local day without a zone;
            `list`, a tuple a row (`object`).
        meaning: What it says.
        unit: Of its figures, or empty.
        values: The values of a category, in order.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    values: tuple[str, ...] = ()


_SESSION = Column("session", "text", "id of the session")
_TURN = Column("turn", "count", "number of the turn, 1 for the first, 0 outside of one")

HITS = (
    Column("position", "count", "place in the result, 1 for the best"),
    Column("path", "text", "file, relative to the folder that was searched"),
    Column("line", "count", "line in the file, 1 for the first"),
    Column("content", "text", "the whole line or message"),
    Column("snippet", "text", "excerpt with the matches marked"),
    Column("rank", "number", "bm25 value: lower is better"),
    Column("kind", "category", "what the file is", values=HIT_KIND),
    Column("date", "date", "day that the file or message belongs to"),
    Column("stage", "category", "what of the query it has", values=HIT_STAGE),
    Column("keyword_rank", "count", "of a hybrid search: place by words, 1 for the best"),
    Column("vector_rank", "count", "of a hybrid search: place by meaning, 1 for the best"),
    Column("session", "text", "of a session: its id"),
)

MESSAGES = (
    Column("index", "count", "place in the log; names the message for ever"),
    Column("role", "category", "role", values=ROLE),
    Column("origin", "category", "who made it", values=ORIGIN),
    Column("text", "text", "its whole text"),
    Column("name", "text", "name of the tool or author"),
    Column("call_id", "text", "of a tool result: id of its call"),
    Column("calls", "list", "of an assistant: ids of the calls it makes"),
    Column("tools", "list", "names of the tools it calls"),
    Column("status", "category", "of a tool result: how the call ended", values=RESULT_STATUS),
    Column("time", "time", "when it was said"),
    Column("tokens", "count", "estimate by the session's measure", "tokens"),
    Column("fate", "category", "what became of it in the model input", values=FATE),
    Column("how", "category", "edit that changed it or stands for it", values=HOW),
    Column(
        "plan_number", "count", "plan with which the model stopped seeing it word for word, as in the frame of plans"
    ),
    _SESSION,
)

EVENTS = (
    Column("number", "count", "place in the session, 1 for the first"),
    Column("time", "time", "when"),
    _TURN,
    Column("kind", "category", "what happened", values=_event_kinds()),
    Column("summary", "text", "in words"),
    Column("tokens_before", "count", "of a compaction: model input before, by the session's measure", "tokens"),
    Column("tokens_after", "count", "of a compaction: the same measure after", "tokens"),
    Column("fixed_tokens", "count", "system prompt, memory and schemas, part of both sizes", "tokens"),
    Column("outcome", "category", "of a compaction: what came of it", values=OUTCOME),
    Column("plan_number", "count", "of a compaction: number of its plan, as in the frame of plans"),
    Column("call_id", "text", "of a tool call: its id"),
    Column("first_message", "count", "of facts: first message they were taken from"),
    Column("last_message", "count", "of facts: last message they were taken from"),
    Column("path", "text", "file that was written"),
    Column("seconds", "number", "how long it took", "seconds"),
    _SESSION,
)

DAILY_LOGS = (
    Column("date", "date", "day of the log, local"),
    Column("time", "time", "when it was written"),
    Column("zone", "text", "offset from UTC that the log was written with"),
    Column("text", "text", "the fact"),
    Column("tokens", "count", "estimate, four characters each", "tokens"),
    Column("state", "category", "whether a consolidation took it in", values=MERGE_STATE),
    Column("in_memory", "flag", "whether MEMORY.md says it now"),
    Column("path", "text", "file, relative to the workspace"),
    Column("line", "count", "line in the file, 1 for the first"),
    Column("source", "text", "what wrote it"),
    Column("role", "category", "who said it", values=ROLE),
    Column("first_message", "count", "first message it was taken from"),
    Column("last_message", "count", "last message it was taken from"),
    _SESSION,
)

PLANS = (
    Column("plan_number", "count", "number of the plan in the session"),
    Column("time", "time", "when"),
    _TURN,
    Column("policy", "text", "name of the policy"),
    Column("hook", "category", "why it was called", values=HOOKS),
    Column("outcome", "category", "what came of it", values=OUTCOME),
    Column("detail", "text", "the plan's own word for what it did"),
    Column("reason", "text", "why, in words"),
    Column("tokens_before", "count", "model input before, by the session's measure", "tokens"),
    Column("tokens_after", "count", "the same measure after", "tokens"),
    Column("fixed_tokens", "count", "system prompt, memory and schemas, part of both sizes", "tokens"),
    Column("messages_before", "count", "items before", "messages"),
    Column("messages_after", "count", "items after", "messages"),
    Column("summarised", "count", "messages that a summary now stands for", "messages"),
    Column("gone", "count", "messages neither shown nor stood for", "messages"),
    Column("model_calls", "count", "requests made for it"),
    Column("repairs", "list", "what guards changed about it"),
    Column("left", "list", "messages that the list showed word for word and no longer does, by index"),
    Column("seconds", "number", "how long it took", "seconds"),
    _SESSION,
)

USAGE = (
    Column("time", "time", "when the model answered"),
    _TURN,
    Column("step", "count", "number of the request in the turn"),
    Column("purpose", "text", "why the model was asked"),
    Column("estimate", "count", "input as figured before it was sent", "tokens"),
    Column("input_tokens", "count", "whole prompt, as reported", "tokens"),
    Column("output_tokens", "count", "reply, as reported", "tokens"),
    Column("cached_tokens", "count", "read from the provider's cache, as reported", "tokens"),
    Column("cost", "number", "as reported or by the provider's price list", "US dollars"),
    Column("seconds", "number", "how long it took", "seconds"),
    _SESSION,
)

REPLAY = (
    Column("step", "count", "number of the point at which the policy was called"),
    _TURN,
    Column("index", "count", "messages of the transcript said by then"),
    Column("hook", "category", "why the policy was called", values=HOOKS),
    Column("outcome", "text", "the plan's word for what it did"),
    Column("reason", "text", "why, in words"),
    Column("tokens_before", "count", "model input before, by the session's measure", "tokens"),
    Column("tokens_after", "count", "the same measure after", "tokens"),
    Column("fixed_tokens", "count", "system prompt, memory and schemas, part of both sizes", "tokens"),
    Column("messages_before", "count", "items before", "messages"),
    Column("messages_after", "count", "items after", "messages"),
    Column("window", "count", "context window", "tokens"),
    Column("pressure", "number", "model input after, as a part of the window", "0 to 1"),
    Column("tier", "count", "tier in force"),
    Column("model_calls", "count", "requests made for it"),
    Column("edits", "text", "items that plans made, by how, as '1 summary, 3 cleared'"),
    Column("summarised", "count", "messages for which another item stands from then on"),
    Column("gone", "count", "messages that left without anything in their place"),
    Column("user_tokens", "count", "what is sent, or stands, of the user's messages, estimated", "tokens"),
    Column("assistant_tokens", "count", "of the model's messages and calls", "tokens"),
    Column("tool_tokens", "count", "of tool results", "tokens"),
    Column("harness_tokens", "count", "of what the harness wrote: summaries and notes", "tokens"),
    Column(
        "estimate", "count", "all of that and what is fixed, by the counter alone, no bill taken into account", "tokens"
    ),
    Column(
        "input_tokens",
        "count",
        "as the provider reported for the recorded request, what it read from its cache in it",
        "tokens",
    ),
    Column("output_tokens", "count", "as reported", "tokens"),
    Column("cached_tokens", "count", "as reported: the part of the input read from a cache", "tokens"),
    Column("cost", "number", "as reported", "US dollars"),
)

THRESHOLDS = (
    Column("name", "text", "the tier, or the setting's name"),
    Column("at", "count", "where the policy acts"),
    Column("unit", "category", "of both figures", values=UNIT),
    Column("value", "count", "where the conversation stands"),
    Column("is_reached", "flag", "whether the policy acts"),
    Column("action", "text", "what it does there"),
)

COURSE = (
    _TURN,
    Column("step", "count", "number of the request in the turn"),
    Column("tokens", "count", "size of the model input", "tokens"),
    Column("window", "count", "context window", "tokens"),
    Column("mark", "text", "what happened there, such as a compaction"),
)

PRESETS = (
    Column("name", "text", "name of the preset"),
    Column("about", "text", "what it does"),
    Column("variants", "list", "its versions, the default first"),
    Column("is_in_use", "flag", "whether the agent in use has it"),
)

SYSTEMS = (
    Column("system", "text", "name of the preset"),
    Column("variant", "text", "version of the system, empty where there is one"),
    Column("about", "text", "what it does, in a sentence"),
    Column("trigger", "text", "when it compacts"),
    Column("cut", "text", "where it cuts"),
    Column("kept", "text", "what stays word for word"),
    Column("model_calls", "text", "what it asks a model for"),
    Column("holds", "text", "what its durable memory holds"),
    Column("injected", "text", "what of that stands in the prompt"),
    Column("review", "text", "who looks at a change of the memory first"),
    Column("search", "text", "how the memory is searched"),
    Column("defaults", "list", "settings that say most, with their values"),
    Column("known_faults", "list", "what is known to go wrong in the system as it is"),
    Column("source", "text", "where the facts are from"),
    Column("version", "text", "of the system"),
)

CONFORMANCE = (
    Column("id", "text", "the case"),
    Column("system", "text", "system that was recorded"),
    Column("kind", "text", "group of the case"),
    Column("note", "text", "what the case is about"),
    Column("passed", "flag", "whether everything came as recorded"),
    Column("why", "text", "first difference, or why it could not be run"),
    Column("differences", "list", "places that differ"),
    Column("expected", "text", "what was recorded, as JSON"),
    Column("actual", "text", "what came, as JSON"),
)

MEMORY = (
    Column("path", "text", "file, relative to the workspace"),
    Column("line", "count", "line in the file, 1 for the first"),
    Column("heading", "text", "last heading above it"),
    Column("text", "text", "the line"),
)

CHANGES = (
    Column("candidate", "count", "number of the candidate that waits for review"),
    Column("number", "count", "number of the change in its candidate"),
    Column("kind", "category", "what becomes of the entry", values=CHANGE_KIND),
    Column("heading", "text", "heading that it stands below afterwards, or stood below"),
    Column("before", "text", "the entry as it was"),
    Column("after", "text", "the entry as it becomes"),
    Column("is_lost", "flag", "whether what a removed entry said is said nowhere else"),
    Column("sources", "list", "log entries that it comes from, as path#line"),
)

PENDING = (
    Column("what", "category", "a log entry to merge, or a change to review", values=("entry", "change")),
    Column("time", "time", "when it was noted or proposed"),
    *CHANGES,
    Column("reason", "text", "of a change: why its candidate waits"),
    Column("path", "text", "of an entry: file, relative to the workspace"),
    Column("line", "count", "of an entry: line in the file, 1 for the first"),
    Column("source", "text", "of an entry: what wrote it"),
    _SESSION,
)

VERSIONS = (
    Column("number", "count", "names the version, for restore"),
    Column("time", "time", "when it was replaced"),
    Column("path", "text", "file, relative to the workspace"),
    Column("entries", "count", "entries that it has"),
    Column("tokens", "count", "estimate, four characters each", "tokens"),
)

MAINTENANCE = (
    Column("run", "count", "number of the run, 1 for the first of this kernel"),
    Column("time", "time", "when"),
    Column("due", "category", "what was due", values=("cycle", "consolidation")),
    Column("step", "category", "step of the run", values=STEP),
    Column("outcome", "category", "what came of it", values=STEP_OUTCOME),
    Column("detail", "text", "in words; of a failure, why"),
    Column("files", "list", "files that were moved or deleted"),
    Column("stayed", "list", "files that are old enough and stayed, each with the reason"),
)

STATUS = (
    Column("name", "text", "what it is about"),
    Column("value", "text", "how it stands"),
)

FATES = (
    Column("index", "count", "place in the log"),
    Column("role", "category", "role", values=ROLE),
    Column("origin", "category", "who made it", values=ORIGIN),
    Column("text", "text", "its whole text"),
    Column("tokens", "count", "estimate by the session's measure", "tokens"),
    Column("fate", "category", "what would become of it", values=FATE),
    Column("how", "category", "edit that would change it or stand for it", values=HOW),
)

PARTS = (
    Column("part", "text", "what fills the window"),
    Column("tokens", "count", "estimate, scaled to the total", "tokens"),
    Column("share", "number", "part of the window", "0 to 1"),
    Column("messages", "count", "messages of this kind"),
)

TOOLS = (
    Column("name", "text", "name that the model uses"),
    Column("effect", "category", "what it may do", values=("read", "write", "run")),
    Column("permission", "text", "what happens when the model calls it"),
    Column("description", "text", "what the model is told of it"),
)

PINS = (
    Column("text", "text", "what stays word for word"),
    Column("source", "category", "who pinned it", values=SOURCES),
    Column("index", "count", "place in the log of the message that it was taken from"),
    Column("tokens", "count", "estimate by the session's measure", "tokens"),
)

SESSIONS = (
    _SESSION,
    Column("agent", "text", "name of the agent"),
    Column("last_activity", "time", "when it was last written to"),
    Column("is_current", "flag", "whether it is the session in use"),
)
