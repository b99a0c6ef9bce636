"""Settings of Gemini CLI's compaction, and the models that it asks for snapshots."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness_nb.core.config import plain_repr, share, switch, whole
from harness_nb.errors import ConfigError

DEFAULT_THRESHOLD = 0.5
"""Share of the window at which the compression acts when neither the setting nor the flag says otherwise."""

_VERSION = re.compile(r"gemini-(\d+(?:\.\d+)?)-(pro|flash-lite|flash)")
_COMPRESSORS = {
    ("3", "pro"): "gemini-3-pro-preview",
    ("3.1", "pro"): "gemini-3-pro-preview",
    ("3", "flash"): "gemini-3-flash-preview",
    ("3.5", "flash"): "gemini-3-flash-preview",
    ("3.8", "flash"): "gemini-3-flash-preview",
    ("3.1", "flash-lite"): "gemini-3.1-flash-lite",
    ("3.5", "flash-lite"): "gemini-3.1-flash-lite",
    ("2.5", "pro"): "gemini-2.5-pro",
    ("2.5", "flash"): "gemini-2.5-flash",
    ("2.5", "flash-lite"): "gemini-2.5-flash-lite",
}
_OTHER_COMPRESSOR = "gemini-3-pro-preview"


@dataclass(frozen=True, kw_only=True, repr=False)
class GeminiCliConfig:
    """Settings of the compaction.

    Attributes:
        compression: Whether old turns become a snapshot (default True; Gemini CLI has no switch).
        masking: Whether old tool outputs are masked before each request (default True; Gemini CLI has no switch).
        compression_threshold: Share of the window at which the compression acts (default 0.5). 0 or None does not switch
            it off: the flag holds then, or else 0.5.
        threshold_flag: The share that the vendor sets from afar; 0 or None (the default) for none.
        preserve_fraction: Share of the characters that stays at most (default 0.3, above 0 and below 1).
        tool_response_budget: Tokens of tool outputs, newest first, that the compression leaves alone (default 50,000).
        truncate_tool_output_threshold: Longest output that stays whole once it runs over that budget, and longest output of
            the shell when it arrives, in UTF-16 units (default 40,000). A window nearly full lowers it. 0 and less switch
            it off for arriving outputs only; in the budget pass they have the effects that Gemini CLI shows.
        shell_tools: Tools whose outputs are shortened on arrival and previewed by lines (default `run_shell_command`).
        mcp_tools: Tools of MCP servers, whose outputs are shortened on arrival when they are a single text; a name that
            ends in `*` stands for all that begin so (default `mcp_*`).
        protection_threshold_tokens: Newest tokens of tool outputs that are never masked (default 50,000).
        min_prunable_threshold_tokens: Tokens that masking must find behind them before it acts (default 30,000).
        protect_latest_turn: Whether the last turn is left out of masking (default True).
        exempt_tools: Tools whose outputs are never masked (default: skill activation, questions and plan mode).
        blank_attempts: How often a blank snapshot is asked for before the compression fails (default 5); 0 takes a blank
            answer as it is.
        summary_model: Model that writes snapshots; None (the default) for the one that Gemini CLI maps a Gemini model to,
            and for the agent's own otherwise.
        max_session_turns: Most model requests of a session (default -1: no limit).
        recovers_overflow: Whether a refusal by the provider is answered by a compression (default True; Gemini CLI ends
            the turn).
        environment_in_history: Whether the memory block counts as the beginning of the first turn (default True).
        merge_turns: Whether neighbours of one role are one turn (default True).
    """

    compression: bool = True
    masking: bool = True
    compression_threshold: float | None = DEFAULT_THRESHOLD
    threshold_flag: float | None = None
    preserve_fraction: float = 0.3
    tool_response_budget: int = 50_000
    truncate_tool_output_threshold: int = 40_000
    shell_tools: tuple[str, ...] = ("run_shell_command",)
    mcp_tools: tuple[str, ...] = ("mcp_*",)
    protection_threshold_tokens: int = 50_000
    min_prunable_threshold_tokens: int = 30_000
    protect_latest_turn: bool = True
    exempt_tools: tuple[str, ...] = ("activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode")
    blank_attempts: int = 5
    summary_model: str | None = None
    max_session_turns: int = -1
    recovers_overflow: bool = True
    environment_in_history: bool = True
    merge_turns: bool = True

    def __post_init__(self) -> None:
        switch(self, "compression", "masking", "protect_latest_turn", "recovers_overflow")
        switch(self, "environment_in_history", "merge_turns")
        whole(self, "tool_response_budget", "protection_threshold_tokens", "min_prunable_threshold_tokens")
        whole(self, "blank_attempts")
        whole(self, "max_session_turns", least=-1)
        whole(self, "truncate_tool_output_threshold", least=-(2**53))
        for name in ("compression_threshold", "threshold_flag"):
            if getattr(self, name) is not None:
                share(self, name)
        share(self, "preserve_fraction")
        if not 0 < self.preserve_fraction < 1:
            raise ConfigError(
                f"preserve_fraction={self.preserve_fraction!r} is not valid.",
                "Give a number above 0 and below 1.",
                subject="preserve_fraction",
            )
        for name in ("shell_tools", "mcp_tools", "exempt_tools"):
            _names(self, name)

    __repr__ = plain_repr

    @property
    def threshold(self) -> float:
        """The share of the window in force."""
        return self.compression_threshold or self.threshold_flag or DEFAULT_THRESHOLD

    def is_shell(self, name: str | None) -> bool:
        """Whether a tool is a shell."""
        return name in self.shell_tools

    def is_mcp(self, name: str | None) -> bool:
        """Whether a tool is one of an MCP server."""
        return name is not None and any(
            name.startswith(one[:-1]) if one.endswith("*") else name == one for one in self.mcp_tools
        )


def _names(settings: GeminiCliConfig, name: str) -> None:
    value = getattr(settings, name)
    if not isinstance(value, tuple) or not all(isinstance(one, str) and one for one in value):
        raise ConfigError(f"{name}={value!r} is not valid.", "Give a tuple of names.", subject=name)


def compressor(model: str) -> str:
    """The model that Gemini CLI asks for the snapshots of a conversation with a model."""
    found = _VERSION.search(model)
    return _COMPRESSORS.get((found[1], found[2]), _OTHER_COMPRESSOR) if found else _OTHER_COMPRESSOR


def asked_model(config: GeminiCliConfig, model: str) -> str | None:
    """The model that we ask instead of the agent's own; None for its own.

    A Gemini model is mapped as Gemini CLI does, under the same provider; for any other there may be no key.
    """
    if config.summary_model is not None:
        return config.summary_model
    provider, slash, name = model.rpartition("/")
    mapped = compressor(name)
    return None if not name.startswith("gemini-") or mapped == name else f"{provider}{slash}{mapped}"


def nests_media(model: str) -> bool:
    """Whether media of a result stand inside it, and not beside it."""
    return model.rpartition("/")[2].startswith("gemini-3-")
