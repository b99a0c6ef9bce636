"""An excerpt of a text around what was found, with each find marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from harness_nb.store.query import UNSPACED

SNIPPET_CHARS = 200
"""Characters of an excerpt, without marks."""

_LETTER = rf"[^\W_{UNSPACED}]"
_RUN = re.compile(rf"{_LETTER}+|[{UNSPACED}]+")
_ACCENT = "[\u0300-\u036f]"


class _Flat(dict[int, str]):
    """Each character as one character without accent and case, made when first needed."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        flat = unicodedata.normalize("NFKD", character)[0].lower()
        self[code] = flat if len(flat) == 1 else character
        return self[code]


_FLAT = _Flat()


def snippet(content: str, words: Sequence[str]) -> str:
    """An excerpt in one line, with `[` and `]` around each find and `…` where something was left out.

    Args:
        content: The whole text.
        words: Words and phrases as a user typed them.
    """
    flat = content.translate(_FLAT)
    finds = _finds(flat, words, whole=True) or _finds(flat, words, whole=False)
    start, end = _window(content, finds[0] if finds else (0, 0))
    inside = [(max(a, start), min(b, end)) for a, b in finds if a < end and b > start]
    text = " ".join(_marked(content, start, end, inside).split())
    return f"{'… ' if start > 0 else ''}{text}{' …' if end < len(content) else ''}"


def _finds(flat: str, words: Sequence[str], *, whole: bool) -> list[tuple[int, int]]:
    accent = "" if flat.isascii() else f"{_ACCENT}*"
    patterns = [pattern for word in words if (pattern := _pattern(word, accent, whole))]
    if not patterns:
        return []
    return [match.span() for match in re.finditer("|".join(patterns), flat) if match.end() > match.start()]


def _pattern(word: str, accent: str, whole: bool) -> str:
    flat = unicodedata.normalize("NFKC", word).translate(_FLAT)
    flat = re.sub(_ACCENT, "", flat)
    runs = [run[0] for run in _RUN.finditer(flat)]
    if not whole or not runs:
        return "".join(re.escape(c) + accent for c in flat)
    return r"[\W_]*".join(_run_pattern(run, accent) for run in runs)


def _run_pattern(run: str, accent: str) -> str:
    pattern = "".join(c + accent for c in run)
    return pattern if re.match(f"[{UNSPACED}]", run) else f"(?<!{_LETTER}){pattern}(?!{_LETTER})"


def _window(content: str, find: tuple[int, int]) -> tuple[int, int]:
    """Where an excerpt begins and ends: around the find, at spaces where there are some near."""
    if len(content) <= SNIPPET_CHARS:
        return 0, len(content)
    start = max(0, min(find[0] - SNIPPET_CHARS // 3, len(content) - SNIPPET_CHARS))
    end = start + SNIPPET_CHARS
    if start > 0 and 0 <= (space := content.find(" ", start, find[0])) < start + 20:
        start = space + 1
    if end < len(content) and (space := content.rfind(" ", max(end - 20, find[1]), end)) >= 0:
        end = space
    return start, end


def _marked(content: str, start: int, end: int, finds: Sequence[tuple[int, int]]) -> str:
    pieces, at = [], start
    for a, b in finds:
        pieces += [content[at:a], "[", content[a:b], "]"]
        at = b
    return "".join([*pieces, content[at:end]])
