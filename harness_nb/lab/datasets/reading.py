"""Reading one record of a data set, whatever is in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from harness_nb.lab.entries import UNREADABLE, Entry, Place, Said, Skipped


def as_far_as_it_goes(entries: Iterable[Entry], place: Place, name: str) -> Iterator[Entry]:
    """The entries of a record up to where it is not as its format says, and there a note of it.

    Args:
        entries: What a reader finds in the record.
        place: Where the record stands.
        name: Name of the data set.
    """
    try:
        yield from entries
    except UNREADABLE:
        yield Skipped(place, f"what follows in a record that is not as {name} writes it")


def places_of(entries: Iterable[Entry]) -> list[int]:
    """For each entry the number of messages before it: the place in the transcript of one that is a message."""
    return [*accumulate((isinstance(entry, Said) for entry in entries), initial=0)][:-1]
