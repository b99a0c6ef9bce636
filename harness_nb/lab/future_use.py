"""Future use: how much of what the recorded session needed later was still in the context when it needed it.

It needs no labels, so it runs on any recording with tool calls. The recorded agent behaved under its own context and would
have read again what it lacked: the figures rank policies, they do not predict success.

What messages say and calls need is worked out once for a transcript; for each replay only what comes into the context and
leaves it is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.transcript import Transcript
from harness_nb.lab.identifiers import call_texts, identifiers, old_texts, texts
from harness_nb.lab.sent import Sent, sent_requests
from harness_nb.memory.results import Displayed

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.lab.run import Replay

_MOST_KNOWN = 20_000  # messages made by policies whose identifiers are remembered; a sweep makes the same ones again


class Edit(NamedTuple):
    """An edit that quotes what it replaces.

    Attributes:
        old: The text to replace.
        holders: Log indices of the earlier messages that hold it, word for word.
    """

    old: str
    holders: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Uses:
    """What the messages of a transcript hold and its calls need; identifiers are numbers.

    Attributes:
        names: The identifiers that some call needs after they were seen.
        held: For each message those of them that it holds.
        needed: By log index of a reply, the identifiers in the arguments of its calls that were seen before.
        sources: For each identifier, log index of the tool result that first held it, or None.
        edits: By log index of a reply, its edits whose old text was seen before.
    """

    names: tuple[str, ...]
    held: tuple[tuple[int, ...], ...]
    needed: Mapping[int, tuple[int, ...]]
    sources: tuple[int | None, ...]
    edits: Mapping[int, tuple[Edit, ...]]


class _ById:
    """A transcript as a key: the very object, as equal ones are costly to tell."""

    __slots__ = ("transcript",)

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript

    def __hash__(self) -> int:
        return id(self.transcript)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.transcript is self.transcript


def uses_of(transcript: Transcript) -> Uses:
    """What a transcript's messages hold and its calls need; worked out once for the last few transcripts."""
    return _known_uses(_ById(transcript))


@lru_cache(maxsize=4)
def _known_uses(key: _ById) -> Uses:
    transcript = key.transcript
    said = [_identifiers(message) for message in transcript]
    asked = {at: _asked(message) for at, message in enumerate(transcript) if message.calls}
    seen: set[str] = set()
    needed: dict[int, list[str]] = {}
    for at, held in enumerate(said):
        if at in asked:
            needed[at] = sorted(asked[at] & seen)
        seen |= held
    names = sorted({name for found in needed.values() for name in found})
    number = {name: at for at, name in enumerate(names)}
    held_numbers = tuple(tuple(sorted(number[one] for one in held if one in number)) for held in said)
    return Uses(
        names=tuple(names),
        held=held_numbers,
        needed={at: tuple(number[one] for one in found) for at, found in needed.items() if found},
        sources=_sources(transcript, held_numbers, len(names)),
        edits=_edits(transcript),
    )


def _identifiers(message: Message) -> set[str]:
    return {one for text in texts(message) for one in identifiers(text)}


def _asked(message: Message) -> set[str]:
    return {one for call in message.calls for text in call_texts(call) for one in identifiers(text)}


def _sources(transcript: Transcript, held: Iterable[tuple[int, ...]], length: int) -> tuple[int | None, ...]:
    """For each identifier the first tool result that holds it."""
    found: list[int | None] = [None] * length
    for at, numbers in enumerate(held):
        if transcript[at].role == "tool":
            for one in numbers:
                if found[one] is None:
                    found[one] = at
    return tuple(found)


def _edits(transcript: Transcript) -> dict[int, tuple[Edit, ...]]:
    found: dict[int, tuple[Edit, ...]] = {}
    said = ["\0".join(texts(message)) for message in transcript]
    for at, message in enumerate(transcript):
        old = [one for call in message.calls for one in old_texts(call)]
        made = [Edit(one, tuple(back for back in range(at) if one in said[back])) for one in old]
        if seen := tuple(one for one in made if one.holders):
            found[at] = seen
    return found


class _Context:
    """What the context holds as it changes from request to request."""

    def __init__(self, transcript: Transcript, uses: Uses, known: dict[Message, tuple[int, ...]]) -> None:
        self._transcript = transcript
        self._uses = uses
        self._known = known
        self._number = {name: at for at, name in enumerate(uses.names)}
        self._items: tuple[Item, ...] = ()
        self._shown: dict[int, Item] = {}
        self._times = Counter[int]()
        self._counts = [0] * len(uses.names)

    def take(self, one: Sent) -> None:
        """Makes a request's list the context; only what differs from the one before is looked at."""
        before, now = self._items[one.kept :], one.items[one.kept :]
        self._items = (*self._items[: one.kept], *now)
        self._times.update(id(item.message) for item in now)
        self._times.subtract(id(item.message) for item in before)
        for item in now:
            if id(item.message) not in self._shown:
                self._shown[id(item.message)] = item
                self._count(item, 1)
        for item in before:
            if not self._times[id(item.message)] and id(item.message) in self._shown:
                self._count(self._shown.pop(id(item.message)), -1)

    def _count(self, item: Item, by: int) -> None:
        for number in self._held(item):
            self._counts[number] += by

    def _held(self, item: Item) -> tuple[int, ...]:
        if self._is_kept(item):
            return self._uses.held[item.index or 0]
        found = self._known.get(item.message)
        if found is None:
            names = _identifiers(item.message)
            found = tuple(sorted(self._number[name] for name in names if name in self._number))
            if len(self._known) < _MOST_KNOWN:
                self._known[item.message] = found
        return found

    def _is_kept(self, item: Item) -> bool:
        return item.index is not None and item.message is self._transcript[item.index]

    def holds(self, number: int) -> bool:
        """Whether some item holds an identifier."""
        return self._counts[number] > 0

    def shows(self, edit: Edit) -> bool:
        """Whether some item holds the old text of an edit, word for word."""
        if any(id(self._transcript[at]) in self._shown for at in edit.holders):
            return True
        made = (item.message for item in self._shown.values() if not self._is_kept(item))
        return any(edit.old in text for message in made for text in texts(message))


class Use(NamedTuple):
    """What one recorded request needed.

    Attributes:
        message: Log index of its reply.
        needed: Identifiers that its calls need and that were seen before.
        missing: Those of them that the context no longer held.
        edits: Edits whose old text was seen before.
        edits_lost: Those of them whose old text the context no longer held word for word.
        sources: Log indices of the tool results that first held what is missing.
    """

    message: int
    needed: int
    missing: tuple[str, ...]
    edits: int
    edits_lost: int
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FutureUse(Displayed):
    """How much of what a recorded session needed later was still in the context.

    Attributes:
        uses: The requests whose calls needed something, in order.
        reacquired_tokens: Size of the distinct tool results that first held what was missing: a lower bound of what would
            have had to be read again.
    """

    uses: tuple[Use, ...]
    reacquired_tokens: int

    def __repr__(self) -> str:
        return f"FutureUse({len(self.uses)} requests)"

    def __str__(self) -> str:
        shares = [f"{one:.1%}" if one is not None else "none" for one in (self.share, self.exact_edits)]
        return (
            f"identifiers needed later and still in the context: {shares[0]}; old texts of edits: {shares[1]}; "
            f"to read again: {self.reacquired_tokens:,} tokens"
        )

    @property
    def share(self) -> float | None:
        """`sum |id(a_i) & seen & C_i| / sum |id(a_i) & seen|`, 0 to 1; None where nothing was needed."""
        needed = sum(one.needed for one in self.uses)
        return 1 - sum(len(one.missing) for one in self.uses) / needed if needed else None

    @property
    def exact_edits(self) -> float | None:
        """Share of edits whose old text was seen and stood in the context word for word; None without an edit."""
        edits = sum(one.edits for one in self.uses)
        return 1 - sum(one.edits_lost for one in self.uses) / edits if edits else None

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each request whose calls needed something."""
        return [one._asdict() for one in self.uses]

    @property
    def df(self) -> DataFrame:
        """One row a request whose calls needed something."""
        from harness_nb.frames import future_use_frame

        return future_use_frame(self.records)


def future_use(run: Replay) -> FutureUse:
    """How much of what the recorded session needed later was still in the replayed context."""
    uses = uses_of(run.transcript)
    found = tuple(_found(run, uses))
    measure = run.final.measure
    sources = {at for one in found for at in one.sources}
    return FutureUse(uses=found, reacquired_tokens=sum(measure(run.transcript[at]) for at in sources))


def _found(run: Replay, uses: Uses) -> Iterator[Use]:
    context = _Context(run.transcript, uses, _made_before(_ById(run.transcript)))
    for one in sent_requests(run):
        context.take(one)
        needed, edits = uses.needed.get(one.reply, ()), uses.edits.get(one.reply, ())
        if needed or edits:
            missing = [number for number in needed if not context.holds(number)]
            yield Use(
                message=one.reply,
                needed=len(needed),
                missing=tuple(uses.names[number] for number in missing),
                edits=len(edits),
                edits_lost=sum(not context.shows(edit) for edit in edits),
                sources=tuple(sorted({at for number in missing if (at := uses.sources[number]) is not None})),
            )


@lru_cache(maxsize=4)
def _made_before(key: _ById) -> dict[Message, tuple[int, ...]]:
    """Identifiers of messages that policies made over a transcript, from earlier replays of it."""
    return {}


def future_use_share(run: Replay) -> float | None:
    """Share of the identifiers that later calls needed and that were still in the context."""
    return run.future_use.share


def exact_edits(run: Replay) -> float | None:
    """Share of later edits whose old text was still in the context word for word."""
    return run.future_use.exact_edits


def reacquired_tokens(run: Replay) -> float:
    """Size of the distinct tool results that first held what later calls needed and missed."""
    return run.future_use.reacquired_tokens
