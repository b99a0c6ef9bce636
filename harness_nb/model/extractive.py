"""Summaries and facts made of the conversation's own sentences, chosen by rank. Nothing is put in other words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from harness_nb.model.coverage import BULLET_CHARS, covering, word_worth
from harness_nb.model.cues import artifacts, is_constraint, is_request, is_standing, is_task
from harness_nb.model.reading import Said
from harness_nb.model.sentences import sentences, shortened
from harness_nb.model.statements import Seen, Sentence, different, quotation, sentences_of

HEADINGS = INTENT, MIDDLE, ARTIFACTS, TASKS = ("SESSION INTENT", "SUMMARY", "ARTIFACTS", "NEXT STEPS")
"""Sections of a summary, in order."""

_MOST_ARTIFACTS = 40
_MOST_TASKS = 8
_USER_FACT_WEIGHT = 2  # a user states facts plainly,
_ASSISTANT_FACT_WEIGHT = 5  # an assistant talks a lot about what it is doing
_INTENT_SHARE, _OTHER_SHARE = 0.25, 0.2  # most of the room for one section; the middle one takes what is left
_SHORTEST_LINE_CHARS = 3


def summary(said: Sequence[Said], earlier: str, most_chars: int) -> str:
    """A summary in four sections, each filled or `None`.

    Args:
        said: The conversation to summarise.
        earlier: The summary that stood before it, or empty. What it says is carried on.
        most_chars: Largest length in characters; at least the headings are written.
    """
    before = _sections(earlier)
    room = max(most_chars - sum(len(heading) + 10 for heading in HEADINGS), 0)
    every = [one for one in sentences_of(said) if one.who != "Tool"]
    worth = word_worth([*before[INTENT], *before[MIDDLE], *every])
    spoken = different(every)
    intent = _intent(spoken, before[INTENT], worth, int(room * _INTENT_SHARE))
    tasks = [one for one in spoken if is_task(one.text) and one not in intent][-_MOST_TASKS:] or before[TASKS]
    tasks = _fitting(tasks, int(room * _OTHER_SHARE))
    named = _fitting(_artifacts(said, before[ARTIFACTS]), int(room * _OTHER_SHARE))
    left = room - sum(len(one.quoted) + BULLET_CHARS for one in (*intent, *tasks, *named))
    told = {one.place for one in intent}
    rest = [one for one in (*before[MIDDLE], *spoken) if one.place not in told]
    middle = covering(rest, worth, left, told=intent)
    return "\n\n".join(map(_written, HEADINGS, (intent, middle, named, tasks)))


def _written(heading: str, lines: Sequence[Sentence]) -> str:
    return "\n".join((f"## {heading}", *(f"- {one.quoted}" for one in lines))) if lines else f"## {heading}\nNone"


def _fitting(lines: Iterable[Sentence], most_chars: int) -> list[Sentence]:
    """The first lines that fit; the very first is shortened rather than left out."""
    kept: list[Sentence] = []
    for one in lines:
        if not kept and len(one.quoted) + BULLET_CHARS > most_chars:
            one = replace(one, text=shortened(one.text, most_chars - BULLET_CHARS - len(one.quoted) + len(one.text)))
        most_chars -= len(one.quoted) + BULLET_CHARS
        if most_chars < 0 or len(one.text) < _SHORTEST_LINE_CHARS:
            break
        kept.append(one)
    return kept


def _intent(
    spoken: Sequence[Sentence], before: Sequence[Sentence], worth: Mapping[str, float], most_chars: int
) -> list[Sentence]:
    """What the user wants: as first said, with the constraints they gave, and as last said; requests before statements."""
    asked = [one for one in spoken if one.who == "User" and len(one.words) > 1]
    wanted = [one for one in asked if is_request(one.text)] or asked
    kept = _fitting(dict.fromkeys((*before[:1], *wanted[: 1 if before else 2], *wanted[-1:])), most_chars)
    bounds = [one for one in (*before[1:], *asked) if is_constraint(one.text) or is_standing(one.text)]
    standing = [one for one in bounds if is_standing(one.text)]
    for candidates in (standing, bounds):
        left = most_chars - sum(len(one.quoted) + BULLET_CHARS for one in kept)
        kept += covering(candidates, worth, left, told=kept)
    return sorted(kept, key=lambda one: one.place)


def _artifacts(said: Iterable[Said], before: Iterable[Sentence]) -> list[Sentence]:
    """Names of files and the like, in backticks, the latest first mentioned last."""
    named = dict.fromkeys(one.text.strip("`") for one in before)
    named |= dict.fromkeys(artifacts("\n".join(one.text for one in said)))
    return [quotation(f"`{name}`", place) for place, name in enumerate(list(named)[-_MOST_ARTIFACTS:])]


def _sections(earlier: str) -> dict[str, list[Sentence]]:
    """The lines of an earlier summary below their headings, without marks; without headings all of it is the middle."""
    texts: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
    heading = ""
    for line in earlier.splitlines():
        bare = line.strip().strip("#*: ").upper()
        if bare in HEADINGS:
            heading = bare
        elif heading and line.strip() and line.strip() != "None":
            texts[heading].append(line.strip().removeprefix("- "))
    if not any(texts.values()):
        texts[MIDDLE] = sentences(earlier)
    places = iter(range(-sum(map(len, texts.values())), 0))
    return {heading: [quotation(line, next(places)) for line in lines] for heading, lines in texts.items()}


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
    return [one.noted for one in sorted(best, key=lambda one: one.place)]
