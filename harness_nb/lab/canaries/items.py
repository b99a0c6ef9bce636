"""Canaries: made-up statements whose words nobody can guess, so that where one is found it was kept and not invented.

Each kind is a kind of thing that a compaction may lose in its own way. The words are drawn by a seed from about 3 · 10⁹
code words of three syllables and four digits; numbers and names that a model could know are avoided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

Kind = Literal[
    "safety rule", "hard constraint", "fact", "task state", "preference", "updated value", "near-duplicate pair"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
SAID_BY_USERS: frozenset[Kind] = frozenset({"safety rule", "hard constraint", "preference"})
"""Kinds that only a person may set; the others stand in tool results as well."""

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """One planted item.

    Attributes:
        number: Its place among all, from 1.
        kind: What kind of thing it is.
        said: The statements that say it, in the order in which they are planted; two for an updated value and a pair.
        required: Code words that must all be there for it to have survived.
        stale: Code word of a value that a later statement replaced, or empty.
        twins: Of a near-duplicate pair, the code words of each of the two.
    """

    number: int
    kind: Kind
    said: tuple[str, ...]
    required: tuple[str, ...]
    stale: str = ""
    twins: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What is left of one canary in a context.

    Attributes:
        survived: Whether every code word is there.
        shows_stale: Whether a replaced value is there.
        is_misled: Whether a replaced value is there and its replacement is not.
        is_merged: Of a pair: whether only one of the two is there.
    """

    survived: bool
    shows_stale: bool = False
    is_misled: bool = False
    is_merged: bool = False


def made(seed: int, per_kind: int, *, taken: str = "", kinds: Iterable[Kind] = KINDS) -> tuple[Canary, ...]:
    """Canaries of each kind.

    Args:
        seed: Equal seeds give equal canaries.
        per_kind: How many of each.
        taken: A text in which none of their code words may stand.
        kinds: Which kinds.
    """
    words = _CodeWords(Random(f"canaries {seed}"), taken)  # noqa: S311 - reproducible, and no secret
    drawn = [(kind, at) for at in range(per_kind) for kind in kinds]
    return tuple(_MAKERS[kind](number, at, words) for number, (kind, at) in enumerate(drawn, start=1))


def seen(canary: Canary, words: frozenset[str]) -> Sighting:
    """What is left of a canary.

    Args:
        canary: The canary.
        words: All code words of the context, as `code_words` finds them.
    """
    survived = words.issuperset(canary.required)
    has_stale = canary.stale in words
    return Sighting(
        survived=survived,
        shows_stale=has_stale,
        is_misled=has_stale and not survived,
        is_merged=sum(words.issuperset(twin) for twin in canary.twins) == 1,
    )


_CODE_WORD = re.compile(rf"\b(?:[{_CONSONANTS}][{_VOWELS}]){{3}}-\d{{4}}\b", re.IGNORECASE)


def code_words(text: str) -> frozenset[str]:
    """All code words in a text, in small letters."""
    return frozenset(word.lower() for word in _CODE_WORD.findall(text))


class _CodeWords:
    """Draws code words, none of them twice."""

    def __init__(self, random: Random, taken: str) -> None:
        self._random = random
        self._taken = set(code_words(taken))

    def __call__(self) -> str:
        while True:
            pick = self._random.choice
            word = (
                "".join(pick(_CONSONANTS) + pick(_VOWELS) for _ in range(3)) + f"-{self._random.randrange(10_000):04}"
            )
            if word not in self._taken:
                self._taken.add(word)
                return word


_SINGLE: dict[Kind, tuple[str, ...]] = {
    "safety rule": (
        "Safety rule: never run {0} against {1}; it can't be undone.",
        "Safety rule: nobody may send records of {0} to {1}, whatever is asked later.",
        "Safety rule: stop and ask me before you touch {0}, and never delete {1}.",
    ),
    "hard constraint": (
        "Hard constraint: all output goes through {0} and must pass the check {1}.",
        "Hard constraint: {0} has to stay compatible with {1}; no other version is allowed.",
        "Hard constraint: do not add a dependency on {0}; only {1} is approved.",
    ),
    "fact": (
        "For the record: the owner of {0} is the group {1}.",
        "For the record: the sample {0} was measured on the device {1}.",
        "For the record: the archive {0} is kept at the site {1}.",
    ),
    "task state": (
        "Where we stand: {0} is done, and {1} is the next step.",
        "Where we stand: {0} still fails, and {1} is half finished.",
        "Where we stand: {0} waits for an answer about {1}.",
    ),
    "preference": (
        "I prefer {0} to {1} in everything that you write for me.",
        "Please name new branches after {0} and sign them with {1}; I like it that way.",
        "I like reports in the style {0}, with the summary called {1}.",
    ),
}
_UPDATED = (
    (
        "The deadline code of {0} is {1}.",
        "Correction: the deadline code of {0} is now {1}, no longer what I said before.",
    ),
    ("The host of {0} is {1}.", "{0} has moved: its host is {1} from now on."),
    ("We use the profile {1} for {0}.", "Change of plan: we use the profile {1} for {0} instead."),
)
_PAIRS = (
    "The read token of the job {0} is called {1}.",
    "The night shift of the station {0} reports to {1}.",
    "The calibration file of the unit {0} is {1}.",
)


def _single(kind: Kind) -> Callable[[int, int, _CodeWords], Canary]:
    def make(number: int, at: int, word: _CodeWords) -> Canary:
        required = (word(), word())
        wordings = _SINGLE[kind]
        said = wordings[at % len(wordings)].format(*required)
        return Canary(number=number, kind=kind, said=(said,), required=required)

    return make


def _updated(number: int, at: int, word: _CodeWords) -> Canary:
    """A value that is said, and later replaced; the name of its subject is the same in both."""
    subject, old, new = word(), word(), word()
    first, second = _UPDATED[at % len(_UPDATED)]
    said = (first.format(subject, old), second.format(subject, new))
    return Canary(number=number, kind="updated value", said=said, required=(subject, new), stale=old)


def _pair(number: int, at: int, word: _CodeWords) -> Canary:
    """Two statements that differ in their code words alone and are both true."""
    twins = ((word(), word()), (word(), word()))
    wording = _PAIRS[at % len(_PAIRS)]
    return Canary(
        number=number,
        kind="near-duplicate pair",
        said=tuple(wording.format(*twin) for twin in twins),
        required=(*twins[0], *twins[1]),
        twins=twins,
    )


_MAKERS: dict[Kind, Callable[[int, int, _CodeWords], Canary]] = {
    **{kind: _single(kind) for kind in _SINGLE},
    "updated value": _updated,
    "near-duplicate pair": _pair,
}
