"""Where to cut a list: the wanted place, the place between rounds, and why they differ."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cutoff:
    """A cut.

    Attributes:
        index: Position of the first item that stays.
        wanted: Position that the keep setting asked for.
        reason: Why it lies there, in words.
    """

    index: int
    wanted: int
    reason: str

    @property
    def moved(self) -> bool:
        """True when the wanted place would have split a round."""
        return self.index != self.wanted


def find_cutoff(
    boundaries: Sequence[int], sums: Sequence[int], *, keep_messages: int = 0, keep_tokens: int = 0
) -> Cutoff:
    """Finds the cut that keeps the end of a list.

    A wanted place inside a round moves back to its start, so the round is kept whole, even when it is longer than the
    keep setting.

    Args:
        boundaries: Positions at which a cut may fall, ascending, 0 and the length among them.
        sums: Running sums of tokens, one more than there are items.
        keep_messages: Items to keep, at least.
        keep_tokens: Tokens to keep, at most, but for the rest of the first round kept; above 0 it goes before
            `keep_messages`, and the last round always stays.
    """
    length = len(sums) - 1
    if keep_tokens > 0:
        wanted = bisect_left(sums, sums[-1] - keep_tokens)
        why = f"the last {keep_tokens:,} tokens"
    else:
        wanted = max(0, length - keep_messages)
        why = f"the last {keep_messages} message{'' if keep_messages == 1 else 's'}"
    last_unit = boundaries[-2] if len(boundaries) > 1 else 0
    index = boundaries[max(0, bisect_right(boundaries, min(wanted, length)) - 1)]
    if index == length > 0 and keep_tokens > 0:
        return Cutoff(last_unit, wanted, f"keeps the last round, which alone is more than {keep_tokens:,} tokens")
    if index != wanted:
        return Cutoff(index, wanted, f"keeps {why}; wanted at {wanted}, moved so that a round stays whole")
    return Cutoff(index, wanted, f"keeps {why}")
