"""The words of a text that say what it is about: stop words left out, East Asian scripts taken apart."""

from __future__ import annotations

import re
import unicodedata

from harness_nb.core.stop_words import KOREAN_PARTICLES, KOREAN_STOP_WORDS, STOP_WORDS

_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u4e00-\u9fff]")
_HANGUL = re.compile("[\uac00-\ud7af\u3131-\u3163]")
_SYLLABLE = re.compile("[\uac00-\ud7af]")
_JAPANESE_RUNS = re.compile("[a-z0-9_]+|[\u30a0-\u30ff\u30fc]+|[\u4e00-\u9fff]+|[\u3040-\u309f]{2,}")
_ASCII_LETTERS = re.compile("[a-zA-Z]+")
_ASCII_WORD = re.compile("[a-z0-9_]+", re.IGNORECASE)
_DIGITS = re.compile("[0-9]+")


def keywords(text: str, *, whole_runs: bool = False) -> list[str]:
    """Keywords of a text in lower case, each once, in order.

    Words end at white space and punctuation, underscores included. ASCII words below three letters, pure digits and
    pure signs are no keywords. Of Han characters come the single ones and then their pairs.

    Args:
        text: A question, say.
        whole_runs: Keep runs of Han characters whole, for an index of trigrams.
    """
    found: dict[str, None] = {}
    for word in words(text, whole_runs=whole_runs):
        if word not in STOP_WORDS and _is_keyword(word):
            found.setdefault(word)
    return list(found)


def is_stop_word(word: str) -> bool:
    """Whether a word in lower case is left out."""
    return word in STOP_WORDS


def words(text: str, *, whole_runs: bool = False) -> list[str]:
    """All words of a text in lower case, stop words included, as `keywords` takes them apart."""
    return [word for piece in _pieces(text.strip().lower()) for word in _taken_apart(piece, whole_runs)]


def _pieces(text: str) -> list[str]:
    divided = "".join(" " if unicodedata.category(char)[0] == "P" else char for char in text)
    return divided.split()


def _taken_apart(piece: str, whole_runs: bool) -> list[str]:
    if _KANA.search(piece):
        return [word for run in _JAPANESE_RUNS.findall(piece) for word in _japanese(run, whole_runs)]
    if _HAN.search(piece):
        return _chinese("".join(_HAN.findall(piece)), whole_runs)
    return _korean(piece) if _HANGUL.search(piece) else [piece]


def _japanese(run: str, whole_runs: bool) -> list[str]:
    is_han = all(map(_HAN.match, run))
    return [run, *(_pairs(run) if is_han and not whole_runs else [])]


def _chinese(run: str, whole_runs: bool) -> list[str]:
    return [run] if whole_runs else [*run, *_pairs(run)]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _korean(piece: str) -> list[str]:
    """The word and, where it has a particle, its stem."""
    ending = next((one for one in KOREAN_PARTICLES if len(piece) > len(one) and piece.endswith(one)), None)
    stem = piece[: -len(ending)] if ending else None
    found = [] if piece in KOREAN_STOP_WORDS or stem in KOREAN_STOP_WORDS else [piece]
    if stem and stem not in KOREAN_STOP_WORDS and _is_stem(stem):
        found.append(stem)
    return found


def _is_stem(stem: str) -> bool:
    return len(stem) >= 2 if _SYLLABLE.search(stem) else _ASCII_WORD.fullmatch(stem) is not None


def _is_keyword(word: str) -> bool:
    if _ASCII_LETTERS.fullmatch(word) and len(word) < 3:
        return False
    return _DIGITS.fullmatch(word) is None and any(unicodedata.category(char)[0] not in "PS" for char in word)
