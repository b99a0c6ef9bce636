"""OpenClaw's audit of a summary: headings, identifiers of the last messages, and the latest request."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness_nb.core.item import Item
from harness_nb.core.keywords import is_stop_word, keywords
from harness_nb.core.utf16 import utf16_len
from harness_nb.policies.openclaw.excerpts import said
from harness_nb.policies.openclaw.wording import HEADINGS

_IDENTIFIERS = 12
_MESSAGES = 10
_ASK_WORDS = 12
_WORDS_FOR_TWO = 3
_NAMED = 3
_IDENTIFIER = re.compile(
    r"[A-Fa-f0-9]{8,}|https?://\S+|/[A-Za-z0-9_.-]{2,}(?:/[A-Za-z0-9_.-]+)+|[A-Za-z]:\\[A-Za-z0-9_\\.-]+"
    r"|[A-Za-z0-9._-]+\.[A-Za-z0-9._/-]+:[0-9]{1,5}|\b[0-9]{6,}\b",
    re.ASCII,
)
_OPENING = re.compile(r"^[(\"'`\[{<]+")
_CLOSING = re.compile(r"[)\]\"'`,;:.!?<>]+$")
_HEX = re.compile(r"[A-Fa-f0-9]{8,}")


@dataclass(frozen=True, slots=True)
class Audit:
    """What a summary is held to.

    Attributes:
        identifiers: Texts that it must have, literally.
        request: The latest request that it must reflect; None for none.
    """

    identifiers: tuple[str, ...]
    request: str | None

    @classmethod
    def of(cls, items: Sequence[Item], *, strict: bool) -> Audit:
        """The audit of a summary of some messages; unless it is strict it looks for no identifiers."""
        requests = (told for one in reversed(items) if one.message.role == "user" and (told := said(one.message)))
        last = "\n".join(filter(None, (said(one.message) for one in items[-_MESSAGES:])))
        return cls(identifiers_in(last) if strict else (), next(requests, None))

    def faults(self, summary: str) -> tuple[str, ...]:
        """What is wrong with a summary, in words; empty when it passes."""
        lines = {line.strip() for line in summary.split("\n")}
        found = [f"the heading {heading} is missing" for heading in HEADINGS if heading not in lines]
        missing = [one for one in self.identifiers if not _has(summary, one)]
        if missing:
            found.append(f"not given literally: {', '.join(missing[:_NAMED])}")
        if self.request is not None and not _reflects(summary, self.request):
            found.append("the latest request is not in it")
        return tuple(found)


def identifiers_in(text: str) -> tuple[str, ...]:
    """Hashes, addresses, paths, hosts with ports and long numbers in a text, each once, twelve at most."""
    found = (_CLOSING.sub("", _OPENING.sub("", one.strip())) for one in _IDENTIFIER.findall(text))
    upper = (one.upper() if _HEX.fullmatch(one) else one for one in found)
    return tuple(dict.fromkeys(one for one in upper if utf16_len(one) >= 4))[:_IDENTIFIERS]


def _has(summary: str, identifier: str) -> bool:
    return identifier.upper() in summary.upper() if _HEX.fullmatch(identifier) else identifier in summary


def _reflects(summary: str, request: str) -> bool:
    """Whether enough words of a request are in a summary."""
    asked = list(dict.fromkeys(_words(request)))[:_ASK_WORDS]
    told = [word for word in asked if utf16_len(word) > 1 and not is_stop_word(word)] or asked
    if not told:
        return True
    known = set(_words(summary))
    return sum(word in known for word in told) >= (2 if len(told) >= _WORDS_FOR_TWO else 1)


def _words(text: str) -> list[str]:
    """Keywords of a text, or all its words where it has none."""
    normal = unicodedata.normalize("NFKC", text).lower().strip()
    return keywords(normal) or _plain_words(normal)


def _plain_words(text: str) -> list[str]:
    return "".join(char if _is_word(char) else " " for char in text).split()


def _is_word(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN"


def joined(parts: Iterable[str]) -> str:
    """Faults as one text."""
    return "; ".join(parts)
