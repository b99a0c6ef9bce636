"""OpenClaw's durable memory: Markdown notes, hybrid search over chunks of them, and promotion of what recurs."""
