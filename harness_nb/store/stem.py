"""Stems of English words, by Porter's rules as SQLite's `porter` tokenizer applies them.

The index stems inside SQLite. This is the same in Python, for what has to know which words of a found line were meant.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

_SHORTEST, _LONGEST = 3, 64  # other words are left as they are
_SECOND = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("logi", "log"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"),
    ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_THIRD = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_FOURTH = tuple(
    (ending, "")
    for ending in [
        "al",
        "ance",
        "ence",
        "er",
        "ic",
        "able",
        "ible",
        "ant",
        "ement",
        "ment",
        "ent",
        "ion",
        "ou",
        "ism",
        "ate",
        "iti",
        "ous",
        "ive",
        "ize",
    ]
)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a word in lower case; other words of the same stem are found with it."""
    if not _SHORTEST <= len(word) <= _LONGEST or not word.isascii():
        return word
    for step in _STEPS:
        word = step(word)
    return word


def _sounds(stump: str) -> str:
    """`v` for each vowel and `c` for each consonant; y is a vowel behind a consonant."""
    sounds = ""
    for letter in stump:
        sounds += "v" if letter in "aeiou" or (letter == "y" and sounds.endswith("c")) else "c"
    return sounds


def _measure(stump: str) -> int:
    """How many times a vowel is followed by a consonant."""
    return _sounds(stump).count("vc")


def _is_closed(stump: str) -> bool:
    """Whether it ends as `hop` does: a vowel between consonants, the last of which is none of w, x and y."""
    return _sounds(stump).endswith("cvc") and stump[-1] not in "wxy"


def _plural(word: str) -> str:
    if (word.endswith("sses") and len(word) > 4) or (word.endswith("ies") and len(word) > 3):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        stump = word.removesuffix(ending)
        if stump != word:
            return _mended(stump) if "v" in _sounds(stump) else word
    return word


def _mended(stump: str) -> str:
    """A stump that lost its ending, as the word it is the stump of."""
    if stump.endswith(("at", "bl", "iz")):
        return stump + "e"
    if len(stump) > 1 and stump[-1] == stump[-2] and stump[-1] not in "aeioulsz":
        return stump[:-1]
    return stump + "e" if _measure(stump) == 1 and _is_closed(stump) else stump


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _sounds(word[:-1]) else word


def _replacing(endings: tuple[tuple[str, str], ...], above: int) -> Callable[[str], str]:
    """A step that replaces the longest of its endings behind a stump of a measure above a figure."""
    by_length = sorted(endings, key=lambda pair: -len(pair[0]))

    def step(word: str) -> str:
        for ending, other in by_length:
            if word.endswith(ending) and word != ending:
                stump = word[: -len(ending)]
                is_kept = _measure(stump) <= above or (ending == "ion" and not stump.endswith(("s", "t")))
                return word if is_kept else stump + other
        return word

    return step


def _final_e(word: str) -> str:
    stump = word.removesuffix("e")
    if stump != word and ((m := _measure(stump)) > 1 or (m == 1 and not _is_closed(stump))):
        word = stump
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


_STEPS = (_plural, _past, _final_y, _replacing(_SECOND, 0), _replacing(_THIRD, 0), _replacing(_FOURTH, 1), _final_e)
