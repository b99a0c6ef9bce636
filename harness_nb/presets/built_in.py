"""The presets that are there by themselves."""

from __future__ import annotations

NAMES = (
    "agentscope",
    "eney",
    "gemini-cli",
    "harness",
    "hermes",
    "nanobot",
    "openclaw",
    "opencode",
    "openharness",
    "personal",
    "picoclaw",
)
"""Each is made by `make` in the module of its name, with `_` for `-`, which is loaded on first use."""
