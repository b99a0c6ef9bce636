"""The last place where keys are masked before somebody sees them."""

from __future__ import annotations

import html
import os
import re

from harness_nb.core.redact import SHORTEST_KNOWN, mark

_HOLDS_A_KEY = re.compile(r"(?:_API_KEY|_ACCESS_KEY|_AUTH_TOKEN|_ACCESS_TOKEN|_API_TOKEN|_SECRET)$", re.IGNORECASE)


def without_known(shown: str) -> str:
    """A finished text or page without the keys that the environment holds, whatever their shape."""
    for name, value in os.environ.items():
        if len(value) >= SHORTEST_KNOWN and _HOLDS_A_KEY.search(name):
            for form in (value, html.escape(value)):
                shown = shown.replace(form, mark("known key"))
    return shown
