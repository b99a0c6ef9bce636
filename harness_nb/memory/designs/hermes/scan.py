"""The scan of texts that are to be remembered: phrases and signs of an attempt to steer whoever reads them later.

Plain patterns: they miss other wordings and languages, and stop some harmless notes.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, NamedTuple

Scope = Literal["all", "context", "strict"]
"""How strict: each takes in the patterns of those before it. What is remembered is scanned strictly."""

SCANNED_CHARS = 65_536
"""Characters of a text that are looked at."""

_SCOPES: tuple[Scope, ...] = ("all", "context", "strict")
_UNSEEN = frozenset(
    "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad"
)
_FILL = r"(?:\S+\s+){0,8}?"  # words that may stand in between
_KEY = r"\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|API)\w*"


class _Pattern(NamedTuple):
    name: str
    scope: Scope
    pattern: re.Pattern[str]


def _pattern(name: str, scope: Scope, pattern: str) -> _Pattern:
    return _Pattern(name, scope, re.compile(pattern, re.IGNORECASE))


_PATTERNS = (
    _pattern("prompt_injection", "all", rf"\bignore\s+{_FILL}(?:previous|prior|above|earlier|all)\s+{_FILL}instructions\b"),
    _pattern("disregard_rules", "all", rf"\bdisregard\s+{_FILL}(?:your|all|any|the)\s+{_FILL}(?:instructions|rules|guidelines)\b"),
    _pattern("sys_prompt_override", "all", rf"\bsystem\s+prompt\s+{_FILL}override\b|\boverride\s+{_FILL}system\s+prompt\b"),
    _pattern("deception_hide", "all", rf"\b(?:do\s+not|don't|never)\s+{_FILL}(?:tell|inform|show)\s+{_FILL}(?:the\s+)?user\b"),
    _pattern("html_comment_injection", "all", r"<!--[^>]*(?:ignore|override|system|secret|hidden)[^>]*-->"),
    _pattern("hidden_div", "all", r"<\s*\w+[^>]*style\s*=\s*[\"'][^\"'>]*display\s*:\s*none"),
    _pattern("exfil_curl", "all", rf"\bcurl\b[^\n]*{_KEY}"),
    _pattern("exfil_wget", "all", rf"\bwget\b[^\n]*{_KEY}"),
    _pattern("read_secrets", "all", r"\bcat\b[^\n]*(?:\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)\b"),
    _pattern("role_pretend", "context", rf"\bpretend\s+{_FILL}(?:you\s+are|to\s+be)\b"),
    _pattern("role_hijack", "context", rf"\byou\s+are\s+now\s+{_FILL}(?:unrestricted|jailbroken|dan\b|without\s+(?:rules|limits))"),
    _pattern("bypass_restrictions", "context", rf"\bact\s+as\s+(?:if|though)\s+{_FILL}(?:no|without)\s+{_FILL}(?:restrictions|limits|rules)\b"),
    _pattern("c2_register", "context", rf"\bregister\s+{_FILL}(?:as|with)\s+{_FILL}(?:node|agent|beacon|implant)\b"),
    _pattern("c2_server", "context", r"\b(?:command[\s-]and[\s-]control|c2\s+(?:server|channel|beacon))\b"),
    _pattern("c2_known_name", "context", r"\b(?:cobalt\s*strike|metasploit|sliver\s+c2|mythic\s+c2)\b"),
    _pattern("context_exfil", "context", rf"\b(?:send|post|upload|leak|exfiltrate)\s+{_FILL}(?:conversation|context|chat\s+history|system\s+prompt)\b"),
    _pattern("ssh_backdoor", "strict", r"\bauthorized_keys\b"),
    _pattern("ssh_access", "strict", r"(?:\$HOME|~)/\.ssh\b"),
    _pattern("hermes_env", "strict", r"(?:\$HOME|~)/\.hermes/\.env\b"),
    _pattern("agent_config_mod", "strict", rf"\b(?:edit|modify|change|write|update|append)\w*\s+{_FILL}(?:AGENTS\.md|CLAUDE\.md|SOUL\.md|\.cursorrules)"),
    _pattern("send_to_url", "strict", rf"\b(?:send|post|upload|transmit)\s+{_FILL}(?:to|at)\s+https?://"),
    _pattern("hardcoded_secret", "strict", r"\b(?:api[_-]?key|token|secret|password)\s*[=:]\s*[\"']?[A-Za-z0-9_\-]{20,}"),
)  # fmt: skip


def threat_in(text: str, scope: Scope = "strict") -> str:
    """Name of the first pattern that a text matches; empty for none.

    Args:
        text: The text.
        scope: Which patterns count.
    """
    part = text[:SCANNED_CHARS]
    unseen = next((char for char in part if char in _UNSEEN), None)
    if unseen is not None:
        return f"invisible_unicode_U+{ord(unseen):04X}"
    plain = unicodedata.normalize("NFKC", part)
    level = _SCOPES.index(scope)
    return next((one.name for one in _PATTERNS if _SCOPES.index(one.scope) <= level and one.pattern.search(plain)), "")
