"""A list as Gemini CLI's turns, and where it splits them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.policies.gemini_cli.sizes import QUARTERS, Part, Sized, text_part

_FRAME_CHARS = len('{"role":"user","parts":[]}')
_MODEL_FRAME_CHARS = len('{"role":"model","parts":[]}')
_ENVIRONMENT = -1


@dataclass(frozen=True, slots=True)
class Piece:
    """One message in a turn.

    Attributes:
        at: Its position in the list; -1 for the environment.
        role: `user` for prompts and results, `model` for answers.
        sized: Its parts.
        is_result: Whether it is the result of a call.
        has_calls: Whether it calls tools.
    """

    at: int
    role: str
    sized: Sized
    is_result: bool = False
    has_calls: bool = False


Turn = tuple[Piece, ...]
"""Neighbours of one role."""


def turns(
    items: Sequence[Item], sizes: Callable[[Message], Sized], *, environment: str = "", merge: bool = True
) -> tuple[Turn, ...]:
    """The turns of a list; runs of answers with a blank one among them vanish.

    Args:
        items: The list.
        sizes: Gives a message's parts.
        environment: Text of the turn that comes first, or empty.
        merge: Whether neighbours of one role are one turn.
    """
    pieces = [_piece(at, item.message, sizes) for at, item in enumerate(items)]
    if environment:
        pieces.insert(0, Piece(_ENVIRONMENT, "user", Sized((text_part(environment),))))
    found: list[list[Piece]] = []
    for piece in _valid(pieces):
        if merge and found and found[-1][0].role == piece.role or piece.is_result and found and found[-1][-1].is_result:
            found[-1].append(piece)
        else:
            found.append([piece])
    return tuple(map(tuple, found))


def _piece(at: int, message: Message, sizes: Callable[[Message], Sized]) -> Piece:
    role = "model" if message.role == "assistant" else "user"
    return Piece(at, role, sizes(message), is_result=message.role == "tool", has_calls=bool(message.calls))


def _valid(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces without runs of answers in which one is blank."""
    kept: list[Piece] = []
    run: list[Piece] = []
    for piece in (*pieces, None):
        if piece is not None and piece.role == "model":
            run.append(piece)
            continue
        if not any(one.sized.is_invalid for one in run):
            kept += run
        run = []
        kept += [piece] if piece is not None else []
    return kept


def turn_chars(turn: Turn) -> int:
    """Length of a turn as compact JSON."""
    parts = sum(len(piece.sized.parts) for piece in turn)
    frame = _FRAME_CHARS if turn[0].role == "user" else _MODEL_FRAME_CHARS
    return frame + sum(piece.sized.chars for piece in turn) + max(0, parts - 1)


@dataclass(frozen=True, slots=True)
class Split:
    """Where turns are split.

    Attributes:
        at: How many turns come first.
        wanted: How many have the share that was asked for.
    """

    at: int
    wanted: int


def split(found: Sequence[Turn], fraction: float) -> Split:
    """Splits turns before the first prompt behind a share of all characters.

    Only a turn of the user without results can be the first that stays. Behind the last of them, everything goes when the
    model has answered, and else that last one stays.

    Args:
        found: The turns.
        fraction: The share, above 0 and below 1.
    """
    sums = [0, *accumulate(map(turn_chars, found))]
    target = sums[-1] * fraction
    wanted = next((at for at, before in enumerate(sums) if before >= target), len(found))
    prompts = [at for at, turn in enumerate(found) if _is_prompt(turn)]
    behind = next((at for at in prompts if at >= wanted), None)
    if behind is not None:
        return Split(behind, wanted)
    is_answered = bool(found) and found[-1][0].role == "model" and not any(piece.has_calls for piece in found[-1])
    return Split(len(found) if is_answered else prompts[-1] if prompts else 0, wanted)


def _is_prompt(turn: Turn) -> bool:
    return turn[0].role == "user" and not any(piece.is_result for piece in turn)


def quarters(found: Iterable[Turn]) -> int:
    """Token estimate of some turns, in quarters."""
    return sum(piece.sized.quarters for turn in found for piece in turn)


def tokens(found: Iterable[Turn], *more: Part) -> int:
    """Token estimate of some turns and of further parts."""
    return (quarters(found) + sum(part.quarters for part in more)) // QUARTERS


def has_media(found: Iterable[Turn]) -> bool:
    """Whether media stand in a turn itself."""
    return any(piece.sized.has_media for turn in found for piece in turn)


def positions(found: Iterable[Turn]) -> tuple[int, ...]:
    """Positions of the messages in some turns, the environment left out."""
    return tuple(piece.at for turn in found for piece in turn if piece.at != _ENVIRONMENT)
