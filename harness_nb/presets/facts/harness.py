"""Facts of the default preset."""

from __future__ import annotations

from harness_nb.presets.facts.record import Facts

FACTS = {
    "": Facts(
        trigger="50 messages or 80,000 tokens, lowered where the window leaves less, before a model call",
        cut="between rounds before what is kept; earlier where the kept end alone would fill half the trigger",
        kept="the newest 20 messages, the latest request, pins and standing instructions",
        model_calls="a summary in four sections; facts for the daily log before it and after a turn",
        holds="facts in daily logs, and MEMORY.md merged from them",
        injected="MEMORY.md, up to 4,000 tokens, taken in turns from its sections",
        review="a merge that would lose much waits for a person, any other is applied and can be restored",
        search="by words over notes and sessions, by meaning with an extra",
        defaults=("trigger_messages", "trigger_tokens", "keep_messages", "keep_tokens", "fallback", "warn_at"),
        known_faults=("a summary is as good as the model that writes it",),
        source="AgentScope's documentation, with the faults of the original mended",
        version="0.1.0",
    )
}
