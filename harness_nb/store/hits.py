"""What a search finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date as Date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    from pandas import DataFrame

Kind = Literal["memory", "daily", "topic", "session", "archive"]
Stage = Literal["all words", "any word", "substring", "expression", "meaning", "neighbour", ""]
KINDS: tuple[Kind, ...] = ("archive", "session", "topic", "daily", "memory")
"""All kinds; the later ones come first where not all that matches is ranked."""

NOTES: tuple[Kind, ...] = ("archive", "topic", "daily", "memory")
"""What was noted, not said."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One line of a file, or one message of a session, that was found.

    Attributes:
        path: Name of the file relative to the folder searched, with forward slashes.
        line: Number of the line in the file, from 1; only LF and CRLF end a line.
        content: The whole line, or the whole text of the message.
        rank: Lower is better: the bm25 value with a share of that of the lines beside; minus the number of parts found where
            parts of words were looked for; minus the fused value in a hybrid search. A neighbour has the rank of its hit.
        snippet: An excerpt in one line with the finds in `[` and `]`.
        kind: `memory` (MEMORY.md), `daily`, `topic`, `session` or `archive`.
        date: Day of the log or of the message, where there is one.
        stage: What it has: `all words` of the query, `any word`, a `substring`; or a near `meaning` only, or it is the
            `neighbour` of the hit before it.
        keyword_rank: In a hybrid search its place by words, 1 for the best.
        vector_rank: In a hybrid search its place by meaning, 1 for the best.
    """

    path: str
    line: int
    content: str
    rank: float
    snippet: str
    kind: Kind
    date: Date | None
    stage: Stage = ""
    keyword_rank: int | None = None
    vector_rank: int | None = None


class SearchHits(Sequence[SearchHit]):
    """The hits of a search, best first; of equals the newest first.

    Args:
        hits: The hits, or what makes them when they are looked at: excerpts cost as much as the search.
        query: What was searched for.
        stage: What the best hit has.
        ranked: How many lines were ranked, where not all were.
        places: File and line of each hit, where the hits are still to be made.

    Attributes:
        query: What was searched for.
        stage: What the best hit has: `all words` of the query, `any word`, or a `substring`; empty without hits.
        ranked: None when all lines that match were ranked. Where too many did, how many were: curated memory first, then
            logs, other files and sessions, of each the newest.
    """

    def __init__(
        self,
        hits: Sequence[SearchHit] | Callable[[], Sequence[SearchHit]] = (),
        *,
        query: str = "",
        stage: Stage = "",
        ranked: int | None = None,
        places: Sequence[tuple[str, int]] | None = None,
    ) -> None:
        self._given = hits
        self._places = places
        self.query = query
        self.stage: Stage = stage
        self.ranked = ranked

    @cached_property
    def _hits(self) -> tuple[SearchHit, ...]:
        return tuple(self._given() if callable(self._given) else self._given)

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """File and line of each hit, best first, without making the excerpts."""
        return tuple((hit.path, hit.line) for hit in self._hits) if self._places is None else tuple(self._places)

    @overload
    def __getitem__(self, index: int) -> SearchHit: ...

    @overload
    def __getitem__(self, index: slice) -> SearchHits: ...

    def __getitem__(self, index: int | slice) -> SearchHit | SearchHits:
        if isinstance(index, slice):
            return SearchHits(self._hits[index], query=self.query, stage=self.stage, ranked=self.ranked)
        return self._hits[index]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self._hits)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SearchHits):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        count = f"{len(self)} hit{'' if len(self) == 1 else 's'}"
        bound = "" if self.ranked is None else f", the newest {self.ranked:,} ranked"
        return f"SearchHits({self.query!r}: {count}{f', {self.stage}' if self.stage else ''}{bound})"

    @property
    def _key(self) -> tuple[object, ...]:
        return self._hits, self.query, self.stage, self.ranked

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from harness_nb.render.results import bundle

        return bundle(self)

    @property
    def records(self) -> list[dict[str, object]]:
        """The hits as plain records."""
        return [asdict(hit) for hit in self._hits]

    @property
    def df(self) -> DataFrame:
        """The hits as a DataFrame, one row each."""
        from harness_nb.frames import hits_frame

        return hits_frame(self.records)
