"""Prose cut into sentences, and sentences into the words that carry them. Code is left out, CJK text is read, too."""

from __future__ import annotations

import re
import unicodedata

_FENCE = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_TAG = re.compile(
    r"\[calls \S+ with .*\]|\[(?:result of|tool[ _](?:call|result))\b[^\]\n]*\]|\[image\]|</?[a-z_]+>", re.IGNORECASE
)
"""Marks of calls, results, pictures and sections, as conversations are rendered with."""
_LEAD = re.compile(r"^\s*(?:[-*+•>]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|\|)+")
_END = re.compile(r"(?<=[。！？｡])[」』”）]*|(?:[.!?…]+[\"'”’)\]*_]*)(?=\s+[\"'“‘(\[*_]*[^\W_a-z])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|st|mr|mrs|ms|dr|prof|inc|ltd|fig|eq|jan|feb|mar|apr|jun|jul|aug|sept?|oct"
    r"|nov|dec)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:[._'’/@:+-]+[^\W_{_CJK}]+)*")
_PLAIN_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
_CJK_FILLER = re.compile(r"[我你您他她它的吗呢么什了吧谁哪在是有请]|^[\u3040-\u309f]+$")
_WRAPPED_CHARS = 60  # a line this long that goes on in lower case was wrapped by an editor
_LONGEST_WORD_CHARS = 120  # longer ones are encoded data, except where no spaces are written
_UNIMPORTANT = (
    "a about after again all also am an and any are aren't as at be because been before being both but by can can't could"
    " couldn't did didn't do does doesn't doing don't each few for from further had has have having he her here hers him his"
    " how i i'd i'll i'm i've if in into is isn't it it's its itself just let let's me more most my myself no nor not now of"
    " off ok okay on once one only or other our ours out over own please same shall she should so some such than thanks that"
    " that's the their theirs them then there these they this those through to too under until up us very was wasn't we we're"
    " we've were what what's when where which while who whom whose why will with won't would yes you you're your yours user"
    " assistant tell remember recall said say says know find search memory question ask asked call called"
    # the same in German, French and Spanish, the short ones
    " der die das und ist ein eine ich du wir sie nicht mit von zu für auf den dem im was wer wie le la les un une et est je"
    " tu il elle nous vous que qui de du des en el los las y es yo qué cómo"
)
_STOPWORDS = frozenset(_UNIMPORTANT.split())


def without_code(text: str) -> str:
    """The text without fenced code blocks; an unclosed one goes to the end."""
    return _FENCE.sub("", text) if "```" in text or "~~~" in text else text


def sentences(text: str) -> list[str]:
    """All sentences of a text in order, without code blocks, list marks and encoded data."""
    return [
        sentence
        for line in _lines(_TAG.sub(" ", without_code(text)))
        for sentence in _split(line)
        if is_prose(sentence)
    ]


def _lines(text: str) -> list[str]:
    """Lines without their list marks; lines that an editor wrapped are joined again."""
    joined: list[str] = []
    last = ""
    for line in text.splitlines():
        bare = line.strip()
        is_rest = len(last) >= _WRAPPED_CHARS and bare[:1].islower()
        if is_rest:
            joined[-1] += f" {bare}"
        elif bare:
            joined.append(_LEAD.sub("", bare))
        last = bare
    return joined


def _split(line: str) -> list[str]:
    found, start = [], 0
    for end in _END.finditer(line):
        piece = line[start : end.end()].strip()
        if _ABBREVIATION.search(piece[-12:]) or re.fullmatch(r"\d+\.", piece):
            continue
        found.append(piece)
        start = end.end()
    found.append(line[start:].strip())
    return [piece for piece in found if piece]


def is_prose(sentence: str) -> bool:
    """False for separators, markup, and data that nobody reads."""
    letters = sum(map(str.isalpha, sentence[:400]))
    longest = max(map(len, sentence.split()), default=0)
    encoded = longest > _LONGEST_WORD_CHARS and sentence.isascii()
    return letters >= 2 and letters * 2 >= min(len(sentence), 400) * 0.8 and not encoded


def normal(text: str) -> str:
    """Text as compared: compatibility forms, case and white space do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def tokens(text: str) -> list[str]:
    """Words in order, folded; runs of CJK characters as overlapping pairs."""
    found: list[str] = []
    for match in _TOKEN.finditer(normal(text)):
        word = match.group()
        if word[0] >= "\u3040" and len(word) > 2 and re.match(f"[{_CJK}]", word):
            found += (word[at : at + 2] for at in range(len(word) - 1))
        else:
            found.append(word.removesuffix("'s").removesuffix("’s"))
    return found


def trigrams(text: str) -> list[str]:
    """All runs of three words in order, folded; of a shorter text the whole. A CJK character counts as a word."""
    words = _PLAIN_WORD.findall(normal(text))
    return [" ".join(words[at : at + 3]) for at in range(max(len(words) - 2, 1))]


def content_words(text: str) -> list[str]:
    """Words in order without those that carry no meaning by themselves; of CJK pairs, those without a particle."""
    words = tokens(text)
    found = [word for word in words if word not in _STOPWORDS and _carries(word)]
    return found or [word for word in words if word > "\u3000"]


def _carries(word: str) -> bool:
    if word > "\u3000":
        return not _CJK_FILLER.search(word)
    return len(word) > 1 or word.isdigit()


def shortened(text: str, most_chars: int) -> str:
    """The text, cut at a word and marked where it is longer."""
    if len(text) <= most_chars:
        return text
    head = text[: max(most_chars - 1, 0)]
    at = head.rfind(" ")
    return f"{head[:at] if at > most_chars // 2 else head}…"
