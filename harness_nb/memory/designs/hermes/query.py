"""How Hermes reads what is searched for: a cleaned query, and which of three ways of searching it goes.

Punctuation that it does not know goes through to SQLite, which then refuses the query.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

QUERY_CHARS = 2_048
"""Characters of a query that are read."""

_LEAST_TRIGRAM = 3

Way = Literal["none", "fts", "trigram", "like"]

_QUOTED = re.compile(r'"[^"]*"')
_REPLACED = re.compile(r'[+{}():"^]')
_STARS = re.compile(r"\*+")
_LEADING_STAR = re.compile(r"(^|\s)\*")
_DANGLING_START = re.compile(r"^(?:AND|OR|NOT)\b\s*", re.IGNORECASE)
_DANGLING_END = re.compile(r"\s+(?:AND|OR|NOT)\s*$", re.IGNORECASE)
_COMPOUND = re.compile(r"\b\w+(?:[._-]\w+)+\b|\b[^\W_]+(?:_[^\W_]+)+\b")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002ffff]")
_OPERATORS = frozenset({"AND", "OR", "NOT"})


class Reading(NamedTuple):
    """A query as it is searched.

    Attributes:
        text: The cleaned query.
        way: How it is searched.
        match: Expression for SQLite's MATCH; empty with `like`.
        words: Texts to look for, with `like`.
    """

    text: str
    way: Way
    match: str = ""
    words: tuple[str, ...] = ()


def read_query(query: str) -> Reading:
    """Cleans a query and decides how it is searched."""
    text = cleaned(query)
    if not text:
        return Reading(text, "none")
    if not _CJK.search(text):
        return Reading(text, "fts", text)
    words = tuple(word.strip('"') for word in text.split() if word.upper() not in _OPERATORS)
    counts = [len(_CJK.findall(word)) for word in words]
    if sum(counts) >= _LEAST_TRIGRAM and all(count >= _LEAST_TRIGRAM for count in counts if count):
        return Reading(text, "trigram", _quoted(text))
    return Reading(text, "like", words=tuple(filter(None, words)))


def cleaned(query: str) -> str:
    """The query without what is known to break it; balanced quotes stay, compound words are quoted."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    text = _QUOTED.sub(keep, query[:QUERY_CHARS].replace("\0", " "))
    text = _REPLACED.sub(" ", text)
    text = _LEADING_STAR.sub(r"\1", _STARS.sub("*", text))
    text = _DANGLING_END.sub("", _DANGLING_START.sub("", text.strip()))
    text = _COMPOUND.sub(r'"\g<0>"', text.strip())
    return re.sub(r"\0(\d+)\0", lambda match: kept[int(match[1])], text).strip()


def every_word(query: str) -> str:
    """A query that SQLite never refuses: each word in quotes, all of them wanted."""
    words = re.findall(r"\w+", query[:QUERY_CHARS])
    return " ".join(f'"{word}"' for word in words)


def _quoted(text: str) -> str:
    """Every word in quotes but the operators and what is quoted already."""
    parts = re.findall(r'"[^"]*"|\S+', text)
    return " ".join(
        part if part in _OPERATORS or part.startswith('"') else f'"{part.replace(chr(34), "")}"' for part in parts
    )
