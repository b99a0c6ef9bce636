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
