"""Reading what a model answers to a request for facts, in whatever form it comes; and refusing what has none."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass

MAX_FACT_CHARS = 2_000
"""Longest fact in characters. A longer one is dropped whole and named; nothing is stored in part."""

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t]*(?:```+|~~~+).*$", re.MULTILINE)
_SENTINEL = re.compile(r"[\W_]*no_reply(?![\w@])", re.IGNORECASE)
_NOTHING = re.compile(r"[\W_]*no[ _-]*reply(?:[\W_]*(?:\n|$)|\s*[^\w\s@])", re.IGNORECASE)
_BULLET = re.compile(r"^([ \t]*)(?:(?:[-*+–—]|\d{1,3}[.)])[ \t]+|[•‣◦▪·・][ \t]*|\d{1,3}、[ \t]*)(\S.*)$")
_ENDS_BULLET = re.compile(r"^\s*(?:#{1,6}\s|</?\w+>\s*$|[-*_]{3,}\s*$|([*_]{2})[^*_]+\1:?\s*$)")
_CITED = re.compile(r"\s*\[#\d{1,9}(?:\s*(?:[-–,;]|to|and)\s*#?\d{1,9})*\]")
_PLACEHOLDER = re.compile(
    r"(?:<[^<>]*>|[\[{(]?\s*(?:self-contained |first |second |third |another |next |your |insert )*"
    r"(?:facts?|bullets?|items?|entry|notes?|memory)\s*#?\d*\s*(?:here)?[\]})]?"
    r"|n/?a|none|nothing(?: new| to (?:add|note|store|report|keep))?|no new (?:facts?|information))[.:…]*",
    re.IGNORECASE,
)
_DATA_REPR = re.compile(r"[\[{]\s*(?:['\"{\[(]|\w+\(\w+=)|\w+\(\w+=.*\)$")
_LIST_KEYS = frozenset({"facts", "fact", "memories", "memory", "items", "entries", "bullets", "notes", "new_facts"})
_TEXT_KEYS = ("fact", "text", "content", "memory", "note", "statement", "value")
_WORD = re.compile(r"\w+")
_ECHO_WORDS = 4  # so many words of the prompt in its order are no coincidence


@dataclass(frozen=True, slots=True)
class Facts:
    """What a reply holds.

    Attributes:
        lines: The facts, one line each, in order.
        refused: Why nothing could be read from the reply, or None; a reply that says "nothing" is not refused.
        dropped: Lines that are no facts, each with the reason in front.
    """

    lines: tuple[str, ...] = ()
    refused: str | None = None
    dropped: tuple[str, ...] = ()


def read_facts(reply: str, *, prompt: str = "", is_cut: bool = False) -> Facts:
    """Reads bullets, numbered lists, fenced text, JSON lists and simple JSON objects; prose is refused.

    Args:
        reply: The model's text.
        prompt: What the model was told; lines that repeat it are dropped.
        is_cut: Whether the reply ended at its length limit: the last bullet is unfinished then, and dropped.
    """
    text = without_thoughts(reply).strip().lstrip("\ufeff")
    bare = _FENCE_LINE.sub("", text).strip()
    if not bare:
        return Facts(refused="The reply was blank.")
    if _SENTINEL.match(bare):
        return Facts()
    lines = _from_json(text)
    if lines is not None:
        return _sifted(lines, prompt)
    lines = bullets(bare)
    if lines:
        return _sifted(lines[:-1] if is_cut else lines, prompt)
    if says_nothing(bare) or says_nothing(bare.splitlines()[-1]):
        return Facts()
    return Facts(refused=f"The reply holds no list of facts: {bare[:80]!r}")


def without_thoughts(reply: str) -> str:
    """A reply without what the model thought aloud; a thought that is not closed goes to the end."""
    return _THOUGHT.sub("", reply)


def says_nothing(text: str) -> bool:
    """True when a text begins with NO_REPLY in any dress and case; spelt loosely, it must not go on as a sentence."""
    return _SENTINEL.match(text) is not None or _NOTHING.match(text) is not None


def bullets(text: str) -> list[str]:
    """The items of all lists in a text, one line each; what belongs to an item, nested items included, is joined to it."""
    found: list[str] = []
    depth, is_open = 0, False
    for line in text.splitlines():
        start = _BULLET.match(line)
        if start:
            indent = len(start[1].expandtabs(4))
            if found and indent >= depth + 2:
                found[-1] += (" " if found[-1].endswith((":", "：")) else "; ") + start[2].strip()
            else:
                found.append(start[2].strip())
                depth = indent
            is_open = True
        elif found and _continues(line, is_open):
            found[-1] += f" {line.strip()}"
        else:
            is_open = False
    return found


def _continues(line: str, is_open: bool) -> bool:
    belongs = bool(line.strip()) and (is_open or line[0] in " \t")
    return belongs and not _ENDS_BULLET.match(line) and not _SENTINEL.match(line)


def cited(line: str, known: Container[int]) -> tuple[str, tuple[int, ...]]:
    """A fact without its references to messages, such as `[#12]` or `[#12-14]`, and the messages they name.

    Args:
        line: The fact.
        known: Numbers of the messages that were shown; brackets that name others are text and stay.
    """
    named: list[int] = []

    def take(found: re.Match[str]) -> str:
        numbers = [int(digits) for digits in re.findall(r"\d+", found.group())]
        if not all(number in known for number in numbers):
            return found.group()
        named.extend(numbers)
        return ""

    text = _CITED.sub(take, line).strip()
    return text, tuple(sorted(set(named)))


def _from_json(text: str) -> list[str] | None:
    """Facts in the JSON value that a reply, or a fenced block in it, consists of; None without one."""
    for candidate in (text, *(found[2] for found in _FENCED.finditer(text))):
        if candidate.lstrip()[:1] not in ("[", "{", '"'):
            continue
        try:
            return list(_flat(json.loads(candidate)))
        except (ValueError, RecursionError):
            continue
    return None


def _flat(value: object) -> Iterable[str]:
    """The lines in a JSON value."""
    if isinstance(value, str):
        return bullets(value) or [value]
    if isinstance(value, list):
        return [line for one in value for line in _flat(one)]
    if isinstance(value, dict):
        return _from_object(value)
    return [] if value is None else [json.dumps(value)]


def _from_object(value: dict[str, object]) -> list[str]:
    for key in _TEXT_KEYS:
        text = value.get(key)
        if isinstance(text, str):
            rest = [f"{name}: {line}" for name, one in value.items() if name != key for line in _flat(one)]
            return [f"{text} ({', '.join(rest)})"] if rest else list(_flat(text))
    lines: list[str] = []
    for key, one in value.items():
        lines += _flat(one) if key.casefold() in _LIST_KEYS else [f"{key}: {line}" for line in _flat(one)]
    return lines


def _sifted(lines: Iterable[str], prompt: str) -> Facts:
    """The lines that are facts, each once, and the others with the reason."""
    kept: dict[str, None] = {}
    dropped = []
    told = _words(prompt)
    for line in (" ".join(line.split()) for line in lines):
        reason = _fault(line, told)
        if reason:
            dropped.append(f"{reason}: {line[:80]}")
        elif line:
            kept[line] = None
    return Facts(tuple(kept), dropped=tuple(dropped))


def _fault(line: str, told: str) -> str:
    """Why a line is no fact; empty when it is one."""
    bare = _CITED.sub("", line).strip()
    words = _words(bare)
    if not words.strip() or _PLACEHOLDER.fullmatch(bare):
        return "placeholder"
    if says_nothing(bare.rpartition(": ")[2]) and len(words.split()) <= 3:
        return "says that there is nothing"
    if len(words.split()) >= _ECHO_WORDS and words in told:
        return "repeats the prompt"
    if _DATA_REPR.match(bare):
        return "is data, not a sentence"
    if len(line) > MAX_FACT_CHARS:
        return f"has {len(line):,} characters, more than {MAX_FACT_CHARS:,}"
    return ""


def _words(text: str) -> str:
    """The words of a text, folded, each between spaces."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
