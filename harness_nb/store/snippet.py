"""An excerpt of a text around what was found, with each find marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from harness_nb.store.query import UNSPACED
from harness_nb.store.stem import stem

SNIPPET_CHARS = 200
"""Characters of an excerpt, without marks."""

_LETTER = rf"[^\W_{UNSPACED}]"
_RUN = re.compile(rf"{_LETTER}+|[{UNSPACED}]+")
_GAP = re.compile(r"[\W_]*")
_ACCENT = re.compile("[\u0300-\u036f]")
_UNSPACED = re.compile(f"[{UNSPACED}]")


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
    finds = _finds(content, words)
    start, end = _window(content, finds[0] if finds else (0, 0))
    inside = [(max(a, start), min(b, end)) for a, b in finds if a < end and b > start]
    text = " ".join(_marked(content, start, end, inside).split())
    return f"{'… ' if start > 0 else ''}{text}{' …' if end < len(content) else ''}"


def _finds(content: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words stand in any form, or where none does, where they are parts of words; in order, none in another."""
    if content.isascii():
        return list(_apart(_spans(content.lower(), words)))
    flat = content.translate(_FLAT)
    places = [at for at, character in enumerate(flat) if not _ACCENT.match(character)]
    spans = _apart(_spans("".join(flat[at] for at in places), words))
    return [(places[a], places[b] if b < len(places) else len(content)) for a, b in spans]


def _spans(flat: str, words: Sequence[str]) -> list[tuple[int, int]]:
    spans = [span for word in words for span in _words(flat, _runs(word))]
    return spans or [span for word in words for span in _parts(flat, _flattened(word))]


def _words(flat: str, runs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where some words stand one after the other, each in any form that has the same stem."""
    if runs:
        root = runs[0] if _UNSPACED.match(runs[0]) else stem(runs[0])
        beginning = root if runs[0].startswith(root) else root[:-1]  # a final y is an i in the stem, an e may be added
        for at, _ in _parts(flat, beginning):
            end = _end_of(flat, at, runs)
            if end is not None:
                yield at, end


def _end_of(flat: str, at: int, runs: Sequence[str]) -> int | None:
    """Where some words end that begin at a place, None when others stand there."""
    if at > 0 and _is_letter(runs[0][0]) and _is_letter(flat[at - 1]):
        return None
    for run in runs:
        if run is not runs[0] and (gap := _GAP.match(flat, at)):
            at = gap.end()
        if _UNSPACED.match(run):
            found = run if flat.startswith(run, at) else None
        else:
            match = _RUN.match(flat, at)
            found = match[0] if match and stem(match[0]) == stem(run) else None
        if found is None:
            return None
        at += len(found)
    return at


def _is_letter(character: str) -> bool:
    """Whether it is part of a word that ends where others stand."""
    return character.isalnum() and not _UNSPACED.match(character)


def _parts(flat: str, part: str) -> Iterator[tuple[int, int]]:
    at = flat.find(part) if part else -1
    while at >= 0:
        yield at, at + len(part)
        at = flat.find(part, at + len(part))


def _apart(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans in order, without those that begin in another."""
    last = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= last:
            yield start, end
            last = end


@lru_cache(maxsize=1024)
def _runs(word: str) -> Sequence[str]:
    return tuple(run[0] for run in _RUN.finditer(_flattened(word)))


def _flattened(word: str) -> str:
    return _ACCENT.sub("", unicodedata.normalize("NFKC", word).translate(_FLAT))


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
