"""Summaries and facts made of the conversation's own sentences, chosen by rank. Nothing is put in other words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from harness_nb.model.cues import artifacts, bare_fact, fact_weight, is_request, is_task
from harness_nb.model.reading import Said
from harness_nb.model.sentences import content_words, normal, sentences, shortened

HEADINGS = ("SESSION INTENT", "SUMMARY", "ARTIFACTS", "NEXT STEPS")
"""Sections of a summary, in order."""

_LONGEST_SENTENCE_CHARS = 320
_MOST_ARTIFACTS = 40
_MOST_TASKS = 8
_MOST_INTENTS = 3
_USER_FACT_WEIGHT = 2  # a user states facts plainly,
_ASSISTANT_FACT_WEIGHT = 5  # an assistant talks a lot about what it is doing
_SAME_SHARE = 0.8
_LABELS = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
_INTENT_SHARE, _OTHER_SHARE = 0.25, 0.2  # most of the room for one section; the middle one takes what is left
_BULLET_CHARS = 3  # mark and line feed
_SHORTEST_LINE_CHARS = 3
_NEGATIONS = frozenset(("not", "never", "no", "don't", "without", "isn't", "不", "没"))


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a conversation.

    Attributes:
        text: The sentence.
        who: Label of the speaker, or empty.
        place: Its place among all sentences.
        words: Its content words.
        weight: How much it looks like a fact worth keeping.
        number: Number of its message, where the label told it.
    """

    text: str
    who: str
    place: int
    words: tuple[str, ...] = field(repr=False)
    weight: int
    number: int | None = None

    @property
    def quoted(self) -> str:
        """The sentence with its speaker before it."""
        return f"{self.who}: {self.text}" if self.who else self.text

    @property
    def cited(self) -> str:
        """The sentence with its speaker before it and the number of its message behind it."""
        return self.quoted if self.number is None else f"{self.quoted} [#{self.number}]"


def sentences_of(said: Iterable[Said]) -> list[Sentence]:
    """All different sentences of a conversation in order; of repeated ones the first."""
    found: dict[str, Sentence] = {}
    for one in said:
        for text in sentences(one.text):
            bare = shortened(bare_fact(text), _LONGEST_SENTENCE_CHARS)
            key = normal(bare)
            if key not in found:
                weight = 0 if one.who == "tool" else fact_weight(shortened(text, _LONGEST_SENTENCE_CHARS))
                words = tuple(dict.fromkeys(content_words(bare)))
                found[key] = Sentence(bare, _LABELS[one.who], len(found), words, weight, one.number)
    return list(found.values())


class Seen:
    """Texts already there, to tell whether a further one says the same: mostly the same words, the same figures."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._words: list[frozenset[str]] = []
        self._by_word: dict[str, list[int]] = {}
        for text in texts:
            self.add(content_words(bare_fact(text)))

    def add(self, words: Iterable[str]) -> None:
        """Adds a text by its content words."""
        unique = frozenset(words)
        for word in unique:
            self._by_word.setdefault(word, []).append(len(self._words))
        self._words.append(unique)

    def has(self, words: Iterable[str]) -> bool:
        """Whether a text of these content words is there already.

        A text that shares the least part of all words shares one of the rarest few; so only texts with these are compared.
        """
        unique = frozenset(words)
        least = math.ceil(_SAME_SHARE * len(unique))
        rarest = sorted(unique, key=lambda word: len(self._by_word.get(word, ())))[: len(unique) - least + 1]
        near = {at for word in rarest for at in self._by_word.get(word, ())}
        return any(len(unique & self._words[at]) >= least and not _differs(unique, self._words[at]) for at in near)


def _differs(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether a figure or a negation is only in ours: then it is another statement, however alike."""
    return any(word in _NEGATIONS or any(map(str.isdigit, word)) for word in ours - theirs)


def ranked(candidates: Sequence[Sentence], bonus: Callable[[Sentence], float]) -> list[Sentence]:
    """Sentences, best first: frequent words of the conversation in few others, facts, and the bonus."""
    counts = Counter(word for one in candidates for word in one.words)

    def rank(one: Sentence) -> float:
        central = sum(math.log1p(counts[word] - 1) for word in one.words) / math.sqrt(len(one.words) + 3)
        return central + one.weight + bonus(one)

    return sorted(candidates, key=lambda one: (-rank(one), one.place))


def chosen(candidates: Iterable[Sentence], most_chars: int) -> list[Sentence]:
    """As many of the ranked sentences as fit, without near repeats, in the order they were said."""
    seen, left, kept = Seen(), most_chars, []
    for one in candidates:
        cost = len(one.quoted) + _BULLET_CHARS
        if cost > left or (len(one.words) < 2 and not one.weight) or seen.has(one.words):
            continue
        seen.add(one.words)
        left -= cost
        kept.append(one)
    return sorted(kept, key=lambda one: one.place)


def summary(said: Sequence[Said], earlier: str, most_chars: int) -> str:
    """A summary in four sections, each filled or `None`.

    Args:
        said: The conversation to summarise.
        earlier: The summary that stood before it, or empty. What it says is carried on.
        most_chars: Largest length in characters; at least the headings are written.
    """
    before = {heading: _lines_below(earlier, heading) for heading in HEADINGS}
    if not any(before.values()):
        before["SUMMARY"] = sentences(earlier)
    room = max(most_chars - sum(len(heading) + 10 for heading in HEADINGS), 0)
    spoken = [one for one in sentences_of(said) if one.who != "Tool"]
    intent = _fitting(_intent(spoken, before["SESSION INTENT"]), int(room * _INTENT_SHARE))
    spoken = [one for one in spoken if one.quoted not in intent]
    tasks = [one.quoted for one in spoken if is_task(one.text)][-_MOST_TASKS:] or before["NEXT STEPS"]
    tasks = _fitting(tasks, int(room * _OTHER_SHARE))
    named = _fitting(_artifacts(said, before["ARTIFACTS"]), int(room * _OTHER_SHARE))
    left = room - sum(len(line) + _BULLET_CHARS for line in (*intent, *tasks, *named))
    middle = [one.quoted for one in chosen(_carried(before["SUMMARY"], spoken), left)]
    return "\n\n".join(map(_section, HEADINGS, (intent, middle, named, tasks)))


def _section(heading: str, lines: Sequence[str]) -> str:
    return "\n".join((f"## {heading}", *(f"- {line}" for line in lines))) if lines else f"## {heading}\nNone"


def _fitting(lines: Iterable[str], most_chars: int) -> list[str]:
    """The first lines that fit; the very first is shortened rather than left out."""
    kept: list[str] = []
    for line in lines:
        line = line if kept else shortened(line, most_chars - _BULLET_CHARS)
        most_chars -= len(line) + _BULLET_CHARS
        if most_chars < 0 or len(line) < _SHORTEST_LINE_CHARS:
            break
        kept.append(line)
    return kept


def _artifacts(said: Iterable[Said], before: Iterable[str]) -> list[str]:
    """Names of files and the like, in backticks, the latest first mentioned last."""
    named = dict.fromkeys(line.strip("`") for line in before)
    named |= dict.fromkeys(artifacts("\n".join(one.text for one in said)))
    return [f"`{name}`" for name in list(named)[-_MOST_ARTIFACTS:]]


def _intent(said: Sequence[Sentence], before: Sequence[str]) -> list[str]:
    """What the user wants: as first said, and as last said; requests before statements."""
    asked = [one for one in said if one.who == "User" and len(one.words) > 1]
    wanted = [one.quoted for one in asked if is_request(one.text)] or [one.quoted for one in asked]
    return list(dict.fromkeys([*before[:1], *wanted[: 1 if before else 2], *wanted[-1:]]))[:_MOST_INTENTS]


def _carried(before: Sequence[str], said: Sequence[Sentence]) -> list[Sentence]:
    """Sentences for the middle section, best first, those of the earlier summary among them."""
    old = [Sentence(text, "", at - len(before), tuple(content_words(text)), 3) for at, text in enumerate(before)]
    last = max(len(said), 1)
    return ranked([*old, *said], lambda one: (one.who == "User") + max(one.place, 0) / last)


def _lines_below(text: str, heading: str) -> list[str]:
    """Lines below a heading of an earlier summary, without their marks."""
    found, inside = [], False
    for line in text.splitlines():
        bare = line.strip().strip("#*: ").upper()
        if bare in HEADINGS:
            inside = bare == heading
        elif inside and line.strip() and line.strip() != "None":
            found.append(line.strip().removeprefix("- "))
    return found


def facts(said: Sequence[Said], known: str, most: int) -> list[str]:
    """Sentences that state something worth keeping and that is not known yet, in the order they were said.

    Args:
        said: The conversation.
        known: All that was noted before.
        most: Largest number of facts; the weightiest are taken.
    """
    seen = Seen(line for line in known.splitlines() if line.strip())
    kept: list[Sentence] = []
    for one in sentences_of(said):
        least = _USER_FACT_WEIGHT if one.who == "User" else _ASSISTANT_FACT_WEIGHT
        if one.weight >= least and len(one.words) >= 2 and not seen.has(one.words):
            seen.add(one.words)
            kept.append(one)
    best = sorted(kept, key=lambda one: (-one.weight, one.place))[:most]
    return [one.cited for one in sorted(best, key=lambda one: one.place)]
