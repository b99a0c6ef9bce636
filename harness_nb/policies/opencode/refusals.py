"""Which errors of a provider OpenCode takes for an overflow."""

from __future__ import annotations

import re

_CODE = "context_length_exceeded"
_TOO_LARGE = 413

_MARKS = re.compile(
    r"prompt is too long|prompt too long; exceeded (?:max )?context length|input is too long for requested model"
    r"|exceeds the context window|exceeds the available context size|exceeds the limit of \d+"
    r"|exceeded model token limit|context window exceeds limit|context[_ ]length[_ ]exceeded"
    r"|model_context_window_exceeded|greater than the context length|input token count.*exceeds the maximum"
    r"|input length.*exceeds.*context length|tokens in request more than max tokens allowed"
    r"|maximum prompt length is \d+|maximum context length is \d+ tokens|context length is only \d+ tokens"
    r"|too large for model with \d+ maximum context length|reduce the length of the messages|request entity too large",
    re.IGNORECASE,
)
_NO_BODY = re.compile(r"4(?:00|13)\s*(?:status code)?\s*\(no body\)", re.IGNORECASE)


def is_overflow(text: str, *, status: int | None = None, code: str | None = None) -> bool:
    """Whether an error says that the request was too long.

    Args:
        text: What the provider said.
        status: HTTP status, where known.
        code: The provider's code, where given.
    """
    return status == _TOO_LARGE or code == _CODE or bool(_MARKS.search(text) or _NO_BODY.match(text))
