"""Any text of a user as queries of the index: for all of its words, for any of them, for parts of words.

The index holds text in a searchable form: compatibility characters unified, and a space around each character of the
scripts that are written without spaces, so that a run of them is found by any part of it. SQLite's `unicode61` does the
rest: it folds case and accents, and takes all that is neither letter nor digit for a space. `porter` stems.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core.redact import clean_unicode

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff"  # kana, bopomofo, iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\uac00-\ud7ff"  # Hangul: spaced, but particles are written to the word
)
"""Scripts whose words stand without spaces between them, as the inside of a character class."""

_UNSPACED = re.compile(f"[{UNSPACED}]")
_PIECE = re.compile(r'(?<!\S)["“”]([^"“”]+)["“”](?!\S)|(\S+)')
_PUNCTUATION = ("P", "Z", "C", "Sm", "Sc", "Sk")

LONGEST_QUERY = 10_000
"""Characters of a query that are looked at."""

MOST_WORDS = 64
"""Different words of a query that are looked for."""

_SIGNS = ".,;:!?'()[]"
_MOST_PARTS = 16
_LONGEST_PART = 1_000

_FREQUENT_WORDS = (
    "a about above after again all am an and any are aren't as at be because been before being below between both but by"
    " can can't could couldn't did didn't do does doesn't doing don't down during each ever few for from further had has"
    " have having he her here hers herself him himself his how i i'd i'll i'm i've if in into is isn't it it'd it'll its"
    " itself just let me more most my myself no nor not of off on once only or other our ours ourselves out over own s same"
    " shall she should so some such t than that the their theirs them themselves then there these they they're they've this"
    " those through to too under until up upon us very was wasn't we we're were weren't what when where which while who"
    " whom whose why will with won't would wouldn't you you'd you're you've your yours yourself yourselves"
)
_FREQUENT = frozenset(_FREQUENT_WORDS.split())
_POSSESSIVE = re.compile(r"(?<=\w)(?:['’]s|(?<=s)['’])(?=[^\w]*\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """A user's text, taken apart.

    Attributes:
        text: The text as typed.
        words: Its different words and quoted phrases, without those that are punctuation only.
        telling: The words that say what is looked for: those that are not frequent in English, or all where there are no
            others; without those that have no letter or digit, and without a possessive ending.
    """

    text: str
    words: tuple[str, ...]
    telling: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """What a line may contain inside its words."""
        return tuple(word[:_LONGEST_PART] for word in self.words[:_MOST_PARTS])


def parse_query(text: str | None) -> Query:
    """Takes a text apart at white space. A phrase in a pair of double quotes stays whole; all else is text, not syntax."""
    text = clean_unicode(text or "").replace("\0", " ")
    looked_at = text[:LONGEST_QUERY]
    if len(text) > LONGEST_QUERY and len(pieces := looked_at.rsplit(None, 1)) > 1:
        looked_at = pieces[0]  # the last word was cut
    found = (phrase or word for phrase, word in _PIECE.findall(looked_at))
    words = dict.fromkeys(word.strip() for word in found if _means_something(word))
    chosen = tuple(words)[:MOST_WORDS]
    return Query(text, chosen, _telling(chosen))


def _telling(words: Sequence[str]) -> tuple[str, ...]:
    bare = tuple(dict.fromkeys(_POSSESSIVE.sub("", word) for word in words if _has_letter(word)))
    return tuple(word for word in bare if not _is_frequent(word)) or bare


def searchable(text: str) -> str:
    """A text in the form that is indexed; the same object when it has that form already."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSPACED.sub(r" \g<0> ", unicodedata.normalize("NFKC", text).replace("\0", " "))


def like_pattern(part: str) -> str:
    r"""Pattern of LIKE for texts that contain a part, with `\` as the escape."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", part) + "%"


def phrase(word: str) -> str:
    """FTS5 expression for a word or phrase that has a letter or digit."""
    return f'"{searchable(word).replace(chr(34), " ")}"'


def all_of(words: Sequence[str]) -> str:
    """FTS5 expression for lines with all of the words."""
    return " AND ".join(map(phrase, words))


def any_of(words: Sequence[str]) -> str:
    """FTS5 expression for lines with any of the words."""
    return " OR ".join(map(phrase, words))


def _has_letter(word: str) -> bool:
    return any(c.isalnum() for c in word)


def _is_frequent(word: str) -> bool:
    return word.casefold().replace("’", "'").strip(_SIGNS) in _FREQUENT


def _means_something(word: str) -> bool:
    return any(not unicodedata.category(c).startswith(_PUNCTUATION) for c in word)
