"""Words that answer for each other: a question says "choose" where the note says "decided"."""

from __future__ import annotations

from functools import cache

_SUFFIXES = ("ings", "ing", "ies", "ed", "es", "s", "e", "y")
_SHORTEST_STEM = 4
_GROUPS = (
    # what was settled
    "choose chose chosen choice decide decided decision pick picked select selected settle settled agree agreed opt opted use"
    " used using adopt adopted switch switched",
    # what somebody likes
    "like likes prefer prefers preferred preference love loves enjoy enjoys favourite favorite",
    # when it must be done
    "deadline due",
    # where somebody or something is
    "live lives home moved address resident based",
    "stored located kept stands lies",
    # what somebody does, and for whom
    "work works job employer company employed profession",
    "responsible owner owns leads maintains charge",
)
_KINDS = {
    "database": "postgresql postgres mysql mariadb sqlite mongodb duckdb redis oracle",
    "language": "python rust java javascript typescript kotlin ruby julia golang fortran german english french spanish chinese",
    "editor": "vim emacs vscode pycharm jupyterlab",
    "colour": "red blue green yellow black white grey orange purple brown",
    "color": "red blue green yellow black white grey orange purple brown",
    "pet": "dog cat parrot hamster rabbit horse",
}
"""Of a kind that a question names, some that a note may name instead; never the other way round."""


def stem(word: str) -> str:
    """A word without its ending, so that forms of one word are equal; rough, for comparing alone."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word.removesuffix(suffix)
    return word


def kin(word: str) -> tuple[str, ...]:
    """The words that a note may have where a question has this one, in no other form than listed; mostly none."""
    return _table().get(stem(word), ())


@cache
def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for group in _GROUPS:
        for word in group.split():
            table.setdefault(stem(word), {}).update(dict.fromkeys(other for other in group.split() if other != word))
    for kind, members in _KINDS.items():
        table.setdefault(stem(kind), {}).update(dict.fromkeys(members.split()))
    return {word: tuple(others) for word, others in table.items()}
