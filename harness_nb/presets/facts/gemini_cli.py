"""Facts of Gemini CLI."""

from __future__ import annotations

from harness_nb.presets.facts.record import Facts

FACTS = {
    "": Facts(
        trigger="half of the window by the last reported prompt, before each model call",
        cut="at a request of the user behind 70 % of the characters",
        kept="at most the newest 30 % in characters, sometimes nothing; tool outputs behind the newest 50,000 tokens are masked",
        model_calls="a state snapshot, then a second call that checks it against the conversation",
        holds="context files in tiers: global, private to a project, extensions, project, folder",
        injected="global and private files in the system prompt, the others with the first message, a folder's when it is touched",
        review="mined changes wait in an inbox and are never applied by themselves; off by default",
        search="none",
        defaults=(
            "compression_threshold",
            "preserve_fraction",
            "tool_response_budget",
            "auto_memory",
        ),
        known_faults=(
            "one long turn has no place to cut and may keep nothing word for word",
            "sizes before and after are measured in different units",
            "a provider that answers with blanks stops the user's message",
            "nothing checks the snapshot but the model that wrote it",
            "an unknown model counts as one of a million tokens",
        ),
        source="source, tracker and recordings of google-gemini/gemini-cli",
        version="August 21, 2026; recordings of 0.61.0",
    )
}
