"""The schema of the frames of the lab's reports, as `columns.py` has those of all others."""

from __future__ import annotations

from harness_nb.frames.columns import Column

VERDICT = ("worse", "missing", "changed", "new", "better", "same")
BETTER = ("lower", "higher")

DIFF = (
    Column("transcript", "text", "name of what was replayed"),
    Column("policy", "text", "name of the policy"),
    Column("window", "count", "context window", "tokens"),
    Column("metric", "text", "name of the figure; empty where a whole replay is in one report only"),
    Column("unit", "text", "unit of the figure"),
    Column("better", "category", "which direction is better, missing where neither is", values=BETTER),
    Column("old", "number", "the figure in the old report"),
    Column("new", "number", "the figure in the new report"),
    Column("change", "number", "new less old"),
    Column("share", "number", "the change as a share of the old figure", "0 to 1"),
    Column("verdict", "category", "whether that is worse", values=VERDICT),
)

SPLIT = ("tuning", "report")
REACH = ("verbatim", "truncated", "memory", "search", "gone")

_CONVERSATION = Column("conversation", "text", "name of the conversation in its data set")
_CATEGORY = Column("category", "text", "what the question asks for, in the data set's words")

CONVERSATIONS = (
    _CONVERSATION,
    Column("sessions", "count", "sessions"),
    Column("messages", "count", "messages of all sessions"),
    Column("characters", "count", "characters of their text"),
    Column("questions", "count", "questions about it"),
    Column("with_evidence", "count", "questions that name messages which hold the answer"),
    Column("actions", "count", "calls that solve its task"),
    Column("reward", "number", "what the recorded run was given for its task", "0 to 1"),
    Column("split", "category", "whether constants may be chosen on it", values=SPLIT),
)

RETRIEVAL = (
    Column("category", "text", "category of the questions, or all"),
    Column("k", "count", "hits looked at"),
    Column("questions", "count", "questions with evidence"),
    Column("recall", "number", "mean share of a question's evidence among the hits", "0 to 1"),
    Column("hit", "number", "share of questions with at least one evidence message among them", "0 to 1"),
    Column("all", "number", "share of questions with all their evidence among them", "0 to 1"),
    Column("ndcg", "number", "mean normalised discounted gain", "0 to 1"),
    Column("mrr", "number", "mean reciprocal rank of the first evidence, over all hits asked for", "0 to 1"),
    Column("tokens", "number", "mean size of the hits, four characters a token", "tokens"),
)

EVIDENCE = (
    _CONVERSATION,
    Column("question", "text", "id of the question"),
    _CATEGORY,
    Column("text", "text", "the question"),
    Column("index", "count", "place in the transcript of a message that holds the answer"),
    Column("reach", "category", "how it can still be reached, the best way", values=REACH),
    Column("is_found", "flag", "whether a search brings it among its first hits"),
    Column("graded", "number", "share of its rare words, by weight, in the context", "0 to 1"),
)

ANSWERS = (
    _CONVERSATION,
    Column("question", "text", "id of the question"),
    _CATEGORY,
    Column("text", "text", "the question"),
    Column("gold", "text", "the right answer, or empty"),
    Column("answer", "text", "what the model answered"),
    Column("f1", "number", "F1 by the rules of LoCoMo; missing where the question has a rubric", "0 to 1"),
    Column("declines", "flag", "whether the answer says that the conversation does not say"),
    Column("is_answerable", "flag", "whether the conversation holds the answer"),
    Column("model", "text", "model that answered"),
    Column("policy", "text", "policy that left the context"),
)

VERDICTS = (
    _CONVERSATION,
    Column("question", "text", "id of the question"),
    _CATEGORY,
    Column("judge", "text", "model that judged"),
    Column("statement", "text", "what the answer was held against"),
    Column("answer", "text", "the answer"),
    Column("is_met", "flag", "the verdict; missing where the reply holds none"),
    Column("reason", "text", "the judge's whole reply"),
)

ORDER = ("recorded", "shuffled")

SPREAD = (
    Column("metric", "text", "name of the figure"),
    Column("unit", "text", "unit of the figure"),
    Column("order", "category", "order of the sessions", values=ORDER),
    Column("seeds", "count", "replays that have the figure"),
    Column("mean", "number", "mean over them"),
    Column("deviation", "number", "standard deviation of the sample; missing for fewer than two"),
    Column("least", "number", "least of them"),
    Column("most", "number", "most of them"),
)

SWEEP = (
    Column("transcript", "text", "name of the transcript, or its place where it has none"),
    Column("policy", "text", "name of the preset or policy"),
    Column("window", "count", "context window", "tokens"),
    Column("error", "text", "why the trial was refused, or empty"),
)
"""Beside these, a sweep has a column for each setting and for each metric."""

RUNGS = (
    Column("rung", "count", "last round in which the trial was compared, 1 for the first"),
    Column("share", "number", "part of the data that was replayed in it", "0 to 1"),
)

PARETO = (Column("is_on_front", "flag", "whether no other point is better in one figure and no worse in the other"),)
"""Beside these, a front has a column for all that tells its points apart, and for both figures."""

SCORE = (
    Column("transcript", "text", "name of the transcript"),
    Column("policy", "text", "name of the policy"),
    Column("window", "count", "context window", "tokens"),
    Column("settings", "text", "its settings, as JSON"),
    Column("data", "text", "SHA-256 of the transcript"),
    Column("counter", "text", "how tokens were counted"),
    Column("answered_by", "text", "model that answered the policy, or assumed"),
    Column("guarded", "flag", "whether guards held the policy"),
    Column("seed", "count", "seed of what is random"),
)
"""Behind the window, a score has a number column (`float64`) for each metric; `attrs` hold their units and directions."""

_RECORDED_REQUEST = (
    Column("message", "count", "place in the log of the recorded reply"),
    Column("time", "time", "when the request was made"),
    Column("tokens", "count", "size of the request", "tokens"),
)

CACHE = (
    Column("request", "count", "number of the recorded request, 1 for the first"),
    *_RECORDED_REQUEST,
    Column("read", "count", "part of it that is read from the cache", "tokens"),
    Column("share", "number", "the same as a part", "0 to 1"),
    Column("reason", "text", "why it does not read all that the request before sent, or empty"),
)

CACHE_CHECK = (
    *_RECORDED_REQUEST,
    Column("predicted", "count", "what the rules say it reads from the cache", "tokens"),
    Column("billed", "count", "what the bill says it read", "tokens"),
    Column("difference", "count", "prediction above the bill", "tokens"),
    Column("points", "number", "the same, of all prompt tokens of the session", "percentage points"),
    Column("reason", "text", "why they differ, as far as it is known"),
)

COST = (
    Column("message", "count", "messages said before the compaction"),
    Column("tokens_before", "count", "size of the model input before", "tokens"),
    Column("tokens_after", "count", "the same after", "tokens"),
    Column("own_cost", "number", "the policy's own model calls", "US dollars"),
    Column("calls", "number", "further calls after which it has paid off; missing where it never does"),
)

FUTURE_USE = (
    Column("message", "count", "place in the log of the recorded reply"),
    Column("needed", "count", "identifiers that its calls need and that were seen before"),
    Column("missing", "list", "those of them that the context no longer held"),
    Column("edits", "count", "edits whose old text was seen before"),
    Column("edits_lost", "count", "those of them whose old text the context no longer held word for word"),
    Column("sources", "list", "places in the log of the tool results that first held what is missing"),
)

VALIDITY = (
    Column("check", "text", "check that is broken"),
    Column("message", "count", "messages said by then"),
    Column("detail", "text", "what is wrong"),
)
