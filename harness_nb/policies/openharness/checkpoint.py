"""The session's checkpoint: what OpenHarness writes down at the end of each turn, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness_nb.policies.openharness.digest import line_of
from harness_nb.policies.openharness.peers import Peer

MOST_CHARS = 12_000
MOST_MESSAGES = 80
LINE_CHARS = 220
MOST_ENTRIES = 10
_MOST_NAMES = 6
_LONGEST_CHARS = 16_000  # 4,000 tokens of its estimate
_CUT = "[More lines would follow here; the file has its limit]"
"""As long as OpenHarness' own words, so that figures are exact."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint.

    Attributes:
        text: The file's text.
        shown: The messages whose lines are in it, the last of them as far as it goes.
        is_cut: Whether the newest lines did not fit.
    """

    text: str
    shown: tuple[Peer, ...]
    is_cut: bool

    @property
    def inserted(self) -> str:
        """What of it takes the place of older messages."""
        return inserted(self.text)


def inserted(text: str) -> str:
    """What of a checkpoint file takes the place of older messages; one that was edited to be much longer is cut."""
    bare = text.strip()
    return bare if len(bare) <= _LONGEST_CHARS else bare[:MOST_CHARS]


def checkpoint(peers: Sequence[Peer], state: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint of a conversation.

    Args:
        peers: The list as it stands.
        state: Focus of the work: `goal`, `next_step`, `verified_state` and `active_artifacts`.
    """
    recent = tuple(peers[-MOST_MESSAGES:])
    lines = [f"- {line_of(peer, LINE_CHARS, _MOST_NAMES).text}" for peer in recent]
    front = "".join(f"## {name}\n{text}\n\n" for name, text in _sections(state) if text)
    head = f"# Session Memory\n\n{front}## Recent Conversation\n"
    whole = head + "".join(f"{line}\n" for line in lines)
    if len(whole) <= MOST_CHARS:
        return Checkpoint(whole, recent, False)
    kept = whole[:MOST_CHARS].rpartition("\n")[0]
    count = max(0, kept.count("\n") + 1 - head.count("\n"))
    return Checkpoint(f"{kept}\n{_CUT}\n", recent[:count], True)


def _sections(state: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (
        ("Current State", str(state.get("goal") or "").strip()),
        ("Next Step", str(state.get("next_step") or "").strip()),
        ("Verified Work", _bullets(state.get("verified_state"))),
        ("Active Artifacts", _bullets(state.get("active_artifacts"))),
    )


def _bullets(entries: object) -> str:
    found = [text for one in entries if (text := str(one).strip())] if isinstance(entries, list | tuple) else []
    return "\n".join(f"- {one}" for one in found[-MOST_ENTRIES:])
