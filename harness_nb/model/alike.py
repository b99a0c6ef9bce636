"""Finding sets that are alike among many, without comparing each with each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Generic, TypeVar

Key = TypeVar("Key")

_ROUNDING = 1e-9


class Alike(Generic[Key]):
    """Sets by key; `find` gives the keys whose sets have at least a share of all members in common with another set.

    Two such sets share one of their rarest members, however these are chosen, as long as both follow the same order: of
    n members the first n + 1 less the share of n. Only sets that do are compared, so the time grows with the number of
    sets that have a rare member in common, and not with the number of sets.

    Args:
        share: Least share of all members, above 0 and at most 1.
        every: All sets that will be asked for or added; how often a member is in them orders the members.
    """

    def __init__(self, share: float, every: Iterable[Collection[str]]) -> None:
        self._share = share
        self._counts = Counter(member for one in every for member in frozenset(one))
        self._sets: dict[Key, frozenset[str]] = {}
        self._by_member: dict[str, dict[Key, None]] = {}

    def add(self, key: Key, members: Collection[str]) -> None:
        """Adds a set; an empty one is never found."""
        self._sets[key] = frozenset(members)
        for member in self._rarest(self._sets[key]):
            self._by_member.setdefault(member, {})[key] = None

    def remove(self, key: Key) -> None:
        """Takes a set out."""
        for member in self._rarest(self._sets.pop(key)):
            del self._by_member[member][key]

    def find(self, members: Collection[str]) -> list[Key]:
        """The keys of all sets alike to this one."""
        ours = frozenset(members)
        near = dict.fromkeys(key for member in self._rarest(ours) for key in self._by_member.get(member, ()))
        return [key for key in near if self._is_alike(ours, self._sets[key])]

    def _is_alike(self, ours: frozenset[str], theirs: frozenset[str]) -> bool:
        sizes = len(ours) + len(theirs)
        if min(len(ours), len(theirs)) < self._share * max(len(ours), len(theirs)):
            return False
        shared = len(ours & theirs)
        return shared >= self._share * (sizes - shared)

    def _rarest(self, members: frozenset[str]) -> list[str]:
        shared = math.ceil(self._share * len(members) - _ROUNDING)
        ordered = sorted(members, key=lambda member: (self._counts[member], member))
        return ordered[: len(members) - shared + 1] if members else []
