"""Facts of OpenHarness."""

from __future__ import annotations

from dataclasses import replace

from harness_nb.presets.facts.record import Facts

_SHIPPED = Facts(
    trigger="the window less 33,000 tokens by a padded estimate, before a model call; a provider's refusal",
    cut="before the messages kept, moved so that no call is parted from its results",
    kept="12 messages behind a digest, six behind a summary; the newest five tool results",
    model_calls="hardly any by itself: from 17 messages on a digest without a model stands in for the summary",
    holds="topic files and their index, a folder for each working directory; a checkpoint of the session",
    injected="the index, 200 lines and 25,000 bytes, and up to five topic files that the request points to",
    review="none; the model writes with file tools",
    search="the topic files whose words the request has",
    defaults=(
        "context_window_tokens",
        "keep_messages",
        "session_memory_keep",
        "micro_keep",
        "max_files",
        "failure_limit",
    ),
    known_faults=(
        "nothing checks that the result is below the threshold",
        "a checkpoint of the turn before stands in for a turn in progress, whose steps are lost",
        "the digest keeps the oldest lines and drops the newest",
        "a window of 33,000 tokens or less compacts on every request",
        "summaries that failed count as success",
        "refusals of some providers are not recognised",
    ),
    source="source and tests of HKUDS/OpenHarness, run and recorded",
    version="main of May 17, 2026",
)

FACTS = {
    "as_shipped": _SHIPPED,
    "as_described": replace(
        _SHIPPED,
        kept="six messages; the newest five tool results",
        model_calls="a summary of all that is older, tried three times",
        known_faults=(_SHIPPED.known_faults[0], *_SHIPPED.known_faults[3:]),
        source="a report on OpenHarness, and its code of April 4 to 10, 2026",
    ),
    "v0_1_0": replace(
        _SHIPPED,
        trigger="only when the user asks",
        cut="before the last six messages, even between a call and its results",
        kept="six messages",
        model_calls="none: excerpts of the last eight older messages stand for the rest",
        holds="topic files and their index, a folder for each working directory",
        injected="200 lines of the index, and up to five topic files that the request points to",
        known_faults=("a call can be parted from its results", "only texts are counted"),
        version="0.1.0 of April 1, 2026",
    ),
}
