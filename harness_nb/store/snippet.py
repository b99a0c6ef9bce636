"""An excerpt of a text around what was found, with each find marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from harness_nb.store.query import UNSPACED
from harness_nb.store.stem import stem

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
    stems = {_stems(word) for word in words}
    patterns = [pattern for word in words if (pattern := _pattern(word, accent, whole))]
    if not patterns:
        return []
    matches = re.finditer("|".join(patterns), flat)
    return [match.span() for match in matches if match[0] and (not whole or _stems(match[0]) in stems)]


def _stems(text: str) -> tuple[str, ...]:
    """The words of a text as the index has them."""
    return tuple(stem(run) for run in _runs(text))


def _runs(text: str) -> list[str]:
    flat = unicodedata.normalize("NFKC", text).translate(_FLAT)
    return [run[0] for run in _RUN.finditer(re.sub(_ACCENT, "", flat))]


def _pattern(word: str, accent: str, whole: bool) -> str:
    runs = _runs(word)
    if not whole or not runs:
        flat = unicodedata.normalize("NFKC", word).translate(_FLAT)
        return "".join(re.escape(c) + accent for c in re.sub(_ACCENT, "", flat))
    return r"[\W_]*".join(_run_pattern(run, accent) for run in runs)


def _run_pattern(run: str, accent: str) -> str:
    """Pattern of a run of letters: in a script with spaces a whole word that may have the same stem."""
    if re.match(f"[{UNSPACED}]", run):
        return "".join(c + accent for c in run)
    root = stem(run)
    begin = "".join(c + accent for c in (root if root == run else root[:-1]))
    return f"(?<!{_LETTER}){begin}(?:{_LETTER}{accent})*(?!{_LETTER})"


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
