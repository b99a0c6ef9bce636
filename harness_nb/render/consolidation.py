"""View model and card of what waits for curated memory: log entries by day, proposed changes, versions, the next run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness_nb.render.card import TO_LEFT, Block, Card, Drawing, Table
from harness_nb.render.html import Markup, join, tag
from harness_nb.render.text import clip, count, short

MAX_CHANGES = 40
"""Most changes of a card; each is a row."""

MAX_CHANGE_CHARS = 600

STYLES = """
.hnb .hnb-change{display:flex;gap:8px;align-items:baseline;padding:3px 0;border-top:1px solid var(--hnb-line)}
.hnb .hnb-change code{white-space:pre-wrap;overflow-wrap:anywhere}
.hnb .hnb-number{flex:0 0 3.2em;white-space:nowrap}
.hnb .hnb-texts{flex:1 1 60%;min-width:0}
.hnb .hnb-from{flex:1 1 30%;min-width:0;color:var(--hnb-muted);overflow-wrap:anywhere}
.hnb .hnb-texts del,.hnb .hnb-texts ins{display:block;padding:1px 8px;text-decoration:none}
.hnb .hnb-texts del{background:var(--hnb-minus);text-decoration:line-through}
.hnb .hnb-texts ins{background:var(--hnb-plus)}
.hnb .hnb-texts del+ins{margin-top:1px}
@container (max-width:520px){.hnb .hnb-change{flex-wrap:wrap}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDay:
    """A day of the daily logs.

    Attributes:
        day: The local day, as `2026-04-12`.
        entries: Its entries.
        pending: Those that are not merged yet.
        tokens: Estimated size of the pending ones.
    """

    day: str
    entries: int
    pending: int
    tokens: int

    @property
    def state(self) -> str:
        """In words."""
        if not self.pending:
            return "merged"
        return "pending" if self.pending == self.entries else f"pending: {self.pending:,} new since the last merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """What a candidate would make of one entry.

    Attributes:
        number: Names it within its candidate.
        kind: `added`, `removed`, `changed` or `moved`.
        before: The entry as it is.
        after: The entry as it would be, edits of the user included.
        heading: Heading that it stands below.
        sources: Log entries that it comes from.
        is_lost: Whether what is removed is said nowhere else.
        is_chosen: Whether it would be taken in.
        is_edited: Whether the user changed its text.
    """

    number: int
    kind: str
    before: str = ""
    after: str = ""
    heading: str = ""
    sources: tuple[str, ...] = ()
    is_lost: bool = False
    is_chosen: bool = True
    is_edited: bool = False

    @property
    def about(self) -> str:
        """What it is, where it stands and where it comes from, in words."""
        told = [self.kind + (" (edited by you)" if self.is_edited else "")]
        told += [f"below {self.heading}"] if self.heading else []
        told += ["said nowhere else"] if self.is_lost else []
        told += [f"from {', '.join(self.sources[:3])}"] if self.sources else []
        return " · ".join(told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A candidate that waits.

    Attributes:
        number: Names it.
        reason: Why it waits.
        changes: What it would change.
        missing: Facts of the log that it does not hold.
    """

    number: int
    reason: str
    changes: tuple[ChangeRow, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def chosen(self) -> tuple[int, ...]:
        """Numbers of the changes that would be taken in."""
        return tuple(change.number for change in self.changes if change.is_chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationModel:
    """All that a consolidation display shows.

    Attributes:
        days: Days of the daily logs, oldest first.
        proposals: Candidates that wait, oldest first.
        memory_tokens: Estimated size of MEMORY.md.
        most_tokens: Its cap, or None where it is not known.
        schedule: When it is put in order next and how it went last, in words.
        versions: Number of versions that can be restored.
        warnings: What the user should know.
    """

    days: tuple[LogDay, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    memory_tokens: int = 0
    most_tokens: int | None = None
    schedule: str = ""
    versions: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def pending(self) -> int:
        """Log entries that are not merged yet."""
        return sum(day.pending for day in self.days)

    @property
    def changes(self) -> int:
        """Changes that wait for a decision."""
        return sum(len(proposal.changes) for proposal in self.proposals)

    @property
    def line(self) -> str:
        """The state in words."""
        entries = sum(day.entries for day in self.days)
        cap = f" of {short(self.most_tokens)}" if self.most_tokens else ""
        said = [f"{self.pending:,} of {count(entries, 'entry', 'entries')} not yet in MEMORY.md"]
        said += [f"{count(self.changes, 'change')} to review"] if self.proposals else []
        said += [self.schedule, f"MEMORY.md {short(self.memory_tokens)}{cap} tokens"]
        return " · ".join(filter(None, said))


def consolidation_card(model: ConsolidationModel) -> Card:
    """The display as a card."""
    return Card("Pending consolidation", model.line, tuple(card_blocks(model)), tuple(_notes(model)), styles=(STYLES,))


def card_blocks(model: ConsolidationModel) -> list[Block]:
    """Days and changes."""
    blocks: list[Block] = [days_table(model)] if model.days else []
    for proposal in model.proposals:
        blocks.append(proposal_drawing(proposal))
    return blocks


def days_table(model: ConsolidationModel) -> Table:
    """The days of the daily logs with their state; the latest where there are many."""
    rows = [(day.day, day.entries, day.pending, day.tokens, day.state) for day in model.days[-14:]]
    return Table(
        ("day", "entries", "pending", "tokens pending", "state"), tuple(rows), total=len(model.days), noun="earlier day"
    )


def proposal_drawing(proposal: Proposal) -> Drawing:
    """A candidate with its changes, those taken in marked."""
    shown = proposal.changes[:MAX_CHANGES]
    rows = [tag("div", _number(one), change_markup(one), class_="hnb-change") for one in shown]
    more = len(proposal.changes) - len(shown)
    left_out = tag("div", f"and {count(more, 'more change')}", class_="hnb-note") if more else None
    text = [f"{_mark(one)} {change_text(one)}" for one in shown]
    return Drawing(
        join(tag("div", proposal_words(proposal), class_="hnb-caption"), *rows, left_out),
        "\n".join([proposal_words(proposal), *text, *([f"and {more} more"] if more else [])]),
    )


def proposal_words(proposal: Proposal) -> str:
    """A candidate in one line."""
    return f"Proposed change {proposal.number}: {clip(proposal.reason, 200)}"


def _mark(change: ChangeRow) -> str:
    return "[x]" if change.is_chosen else "[ ]"


def _number(change: ChangeRow) -> Markup:
    """Whether a change would be taken in, and the number by which a decision names it."""
    return tag("span", f"{_mark(change)} {change.number}", class_="hnb-number")


def change_markup(change: ChangeRow) -> Markup:
    """A change: the text taken out with a minus, the text put in with a plus, and what it is about."""
    texts = [tag("del", tag("code", f"− {_shown(change.before)}"))] if change.before and change.kind != "moved" else []
    texts += [tag("ins", tag("code", f"+ {_shown(change.after)}"))] if change.after else []
    return join(tag("div", *texts, class_="hnb-texts"), tag("div", change.about, class_="hnb-from", style=TO_LEFT))


def change_text(change: ChangeRow) -> str:
    """A change as text."""
    before = f"− {_shown(change.before)}" if change.before and change.kind != "moved" else ""
    after = f"+ {_shown(change.after)}" if change.after else ""
    return f"{change.number:>3} {'  '.join(filter(None, (before, after)))}  ({change.about})"


def changes_card(title: str, changes: Sequence[ChangeRow]) -> Card:
    """Changes to look at, without a decision."""
    rows = [tag("div", change_markup(one), class_="hnb-change") for one in changes[:MAX_CHANGES]]
    text = "\n".join(map(change_text, changes[:MAX_CHANGES]))
    blocks = (Drawing(join(*rows), text),) if changes else ()
    return Card("", f"{title}: {count(len(changes), 'change')}", blocks, styles=(STYLES,))


def _shown(text: str) -> str:
    return clip(text.removeprefix("- ").strip(), MAX_CHANGE_CHARS)


def _notes(model: ConsolidationModel) -> Iterable[str]:
    for proposal in model.proposals:
        if proposal.missing:
            facts = "; ".join(clip(fact, 120) for fact in proposal.missing[:3])
            more = f" and {len(proposal.missing) - 3} more" if len(proposal.missing) > 3 else ""
            yield f"Not in the proposal {proposal.number}: {facts}{more}."
        yield f"In Python: agent.memory.accept({proposal.number}, [1, 2]), reject({proposal.number}), edit({proposal.number}, 1, ...)."
    if model.versions:
        yield f"{count(model.versions, 'version')} to restore: agent.memory.versions(), agent.memory.restore(number)."
    yield from model.warnings
