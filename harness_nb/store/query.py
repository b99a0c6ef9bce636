"""Any text of a user as queries of the index: first all of its words, then any of them, then parts of words.

The index holds text in a searchable form: compatibility characters unified, and a space around each character of the
scripts that are written without spaces, so that a run of them is found by any part of it. SQLite's `unicode61` does the
rest: it folds case and accents, and takes all that is neither letter nor digit for a space.
"""

from __future__ import annotations

import re
import unicodedata
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

_MOST_PARTS = 16
_LONGEST_PART = 1_000

_FREQUENT_WORDS = (
    "a about an and are as at be been but by can could did do does for from had has have how i if in into is it its me my"
    " no not of on or our s so t that the their them then there these they this to was we were what when where which who"
    " why will with would you your"
)
_FREQUENT = frozenset(_FREQUENT_WORDS.split())


@dataclass(frozen=True, slots=True)
class Query:
    """A user's text, taken apart.

    Attributes:
        text: The text as typed.
        words: Its different words and quoted phrases, without those that are punctuation only.
    """

    text: str
    words: tuple[str, ...]

    @property
    def all_words(self) -> str:
        """FTS5 expression for lines with all words, empty when no word has a letter or digit."""
        return " AND ".join(_phrases(self.words))

    @property
    def any_word(self) -> str:
        """FTS5 expression for lines with any word; frequent English words count only where there are no others."""
        telling = [word for word in self.words if word.casefold() not in _FREQUENT]
        return " OR ".join(_phrases(telling or self.words))

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
    return Query(text, tuple(words)[:MOST_WORDS])


def searchable(text: str) -> str:
    """A text in the form that is indexed; the same object when it has that form already."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSPACED.sub(r" \g<0> ", unicodedata.normalize("NFKC", text).replace("\0", " "))


def like_pattern(part: str) -> str:
    r"""Pattern of LIKE for texts that contain a part, with `\` as the escape."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", part) + "%"


def _phrases(words: tuple[str, ...] | list[str]) -> list[str]:
    return [f'"{_without_quotes(word)}"' for word in words if any(c.isalnum() for c in word)]


def _without_quotes(word: str) -> str:
    return searchable(word).replace('"', " ")


def _means_something(word: str) -> bool:
    return any(not unicodedata.category(c).startswith(_PUNCTUATION) for c in word)
