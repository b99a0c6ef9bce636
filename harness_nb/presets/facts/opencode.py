"""Facts of OpenCode."""

from __future__ import annotations

from dataclasses import replace

from harness_nb.presets.facts.record import Facts

_JULY = Facts(
    trigger="the window less the largest reply, by reported usage, after each step; a provider's refusal",
    cut="before whole turns that fit, or inside the first that does not, between model steps",
    kept="at most two turns and 8,000 tokens",
    model_calls="one summary, which takes the earlier one over",
    holds="stored sessions; no memory of the user",
    injected="instruction files such as AGENTS.md",
    review="none: nothing is written",
    search="none",
    defaults=("tail_turns", "tail_cap", "reserved", "prune", "prune_protect", "result_chars"),
    known_faults=(
        "the reserve has no effect where a model states no input limit",
        "after a refusal the turn may be shown twice, or forgotten",
        "an empty summary counts as one and the beginning is gone",
        "the summariser does not see the end that is kept",
        "nothing checks that a compaction helped",
    ),
    source="released builds of anomalyco/opencode, parts of them run and recorded",
    version="1.18.3",
)

FACTS = {
    "1.18.3": _JULY,
    "1.18.33": replace(
        _JULY,
        kept="as many turns as fit into 15,000 tokens",
        model_calls="one summary of the conversation written out as a text, with the earlier summary apart",
        version="1.18.33",
    ),
}
