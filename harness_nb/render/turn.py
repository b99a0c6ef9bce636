"""A turn as it is shown: while it runs, and in the compact form that stays when it has ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness_nb.core import events as happened
from harness_nb.core.events import Event
from harness_nb.core.messages import Usage
from harness_nb.render.card import Block, Card, Drawing, Pre, card_html, card_text
from harness_nb.render.event_words import usage_words, words
from harness_nb.render.html import tag
from harness_nb.render.text import clip, count, percent, seconds, short

MAX_STREAMED_CHARS = 6_000
"""Most characters of an answer that are sent with one update of a running display; the last ones."""

MAX_SHOWN_CHARS = 1_200
MAX_ROWS = 30

STYLES = """
.hnb .hnb-answer{white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0}
.hnb .hnb-row{margin-top:2px}
.hnb .hnb-warned{color:var(--hnb-text)}
"""

_ENDS = (happened.TurnFinished, happened.TurnFailed, happened.Interrupted)
_ROWS = (
    happened.CompactionFinished,
    happened.FactsWritten,
    happened.FlushFailed,
    happened.ResultEvicted,
    happened.Warned,
)


@dataclass(slots=True)
class CallRow:
    """A tool call: running, done, or over without a result as the turn ended before."""

    started: happened.CallStarted
    finished: happened.CallFinished | None = None
    is_over: bool = False

    @property
    def line(self) -> str:
        """In words."""
        if self.finished is None:
            return f"{self.started.name}: {'stopped, it has no result' if self.is_over else 'running'}"
        return words(self.finished)


@dataclass(slots=True)
class Turn:
    """What is known of a turn so far; events are added as they come.

    Attributes:
        text: The answer so far.
        thinks: Whether reasoning is coming in.
        rows: Tool calls and what else happened, in order.
        steps: Model requests answered.
        usage: Sum of what the provider reported for them, or None.
        end: The event with which it ended, or None.
        seconds: Time that the model and the tools took.
    """

    text: str = ""
    thinks: bool = False
    rows: list[CallRow | Event] = field(default_factory=list)
    steps: int = 0
    usage: Usage | None = None
    end: Event | None = None
    seconds: float = 0.0

    def add(self, event: Event) -> None:
        """Takes one event in."""
        if isinstance(event, happened.TextPiece):
            self.text, self.thinks = self.text + event.text, False
        elif isinstance(event, happened.ThinkingPiece):
            self.thinks = True
        elif isinstance(event, happened.StepFinished) and event.purpose == "chat":
            self.steps, self.seconds = event.step, self.seconds + event.seconds
            self.usage = _sum(self.usage, event.usage)
        elif isinstance(event, happened.CallStarted):
            if self.text.strip():
                self.rows.append(happened.TextPiece(time=event.time, turn=event.turn, text=self.text))
            self.text = ""
            self.rows.append(CallRow(event))
        elif isinstance(event, happened.CallFinished):
            self.seconds += event.seconds
            self._finish(event)
        elif isinstance(event, _ROWS):
            self.rows.append(event)
        elif isinstance(event, _ENDS):
            self.finish(event)

    def finish(self, end: Event) -> None:
        """Ends the turn; what runs still has no result."""
        self.end = end
        for row in self.rows:
            if isinstance(row, CallRow):
                row.is_over = True

    def _finish(self, event: happened.CallFinished) -> None:
        for row in reversed(self.rows):
            if isinstance(row, CallRow) and row.finished is None and row.started.call_id == event.call_id:
                row.finished = event
                return

    @property
    def calls(self) -> int:
        """Tool calls made."""
        return sum(isinstance(row, CallRow) for row in self.rows)

    @property
    def line(self) -> str:
        """The state in words: what was done, what it cost, how full the window is."""
        said = [count(self.steps, "step")] if self.steps else []
        said += [count(self.calls, "tool call")] if self.calls else []
        said += [usage_words(self.usage)] if self.usage else []
        if isinstance(self.end, happened.TurnFinished) and self.end.window:
            said.append(f"{percent(self.end.tokens / self.end.window)} of {short(self.end.window)} tokens in use")
        said += [seconds(self.seconds)] if self.seconds else []
        return " · ".join(said)

    @property
    def title(self) -> str:
        """In one or two words."""
        if self.end is None:
            return "Thinking" if self.thinks else "Answering" if self.text else "Working"
        ends = {happened.TurnFailed: "Failed", happened.Interrupted: "Stopped"}
        return ends.get(type(self.end), "Answered")


def _sum(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    costs = [each.cost for each in (one, other) if each.cost is not None]
    return Usage(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        one.cached_tokens + other.cached_tokens,
        sum(costs) if costs else None,
    )


def running_bundle(turn: Turn) -> dict[str, str]:
    """The display of a turn that has not ended: what happened, and the end of the answer so far as plain text."""
    text = turn.text[-MAX_STREAMED_CHARS:]
    cut = "(earlier text is shown when the answer is complete)\n" if len(text) < len(turn.text) else ""
    shown = f"{cut}{text}▍"
    answer = Drawing(tag("div", shown, class_="hnb-answer"), shown)
    card = Card(f"{turn.title} …", turn.line, (*_rows(turn), answer), styles=(STYLES,))
    return {"text/plain": card_text(card), "text/html": card_html(card)}


def ended_card(turn: Turn) -> Card:
    """What stays of a turn above its answer; of an answer that did not come to its end, the text."""
    blocks = _rows(turn)
    if isinstance(turn.end, happened.TurnFailed | happened.Interrupted) and turn.text.strip():
        blocks.append(Pre(turn.text, caption="The answer so far; it stays in the session, marked as not finished"))
    title = "" if isinstance(turn.end, happened.TurnFinished) else turn.title
    return Card(title, turn.line, tuple(blocks), styles=(STYLES,))


def turn_of(events: Iterable[Event]) -> Turn:
    """A turn made of its events."""
    turn = Turn()
    for event in events:
        turn.add(event)
    return turn


def _rows(turn: Turn) -> list[Block]:
    rows = [_call(row) if isinstance(row, CallRow) else _event(row) for row in turn.rows[-MAX_ROWS:]]
    hidden = len(turn.rows) - len(rows)
    first = [Drawing(tag("div", f"{hidden} earlier rows", class_="hnb-row hnb-muted"), f"{hidden} earlier rows")]
    return [*(first if hidden else []), *rows]


def _call(row: CallRow) -> Block:
    """A call folded: its arguments, and the beginning of its result."""
    result = row.finished.text if row.finished is not None else ""
    shown = tag(
        "details",
        tag("summary", f"tool {row.line}"),
        tag("pre", clip(row.started.arguments, MAX_SHOWN_CHARS)),
        tag("pre", clip(result, MAX_SHOWN_CHARS)) if result else None,
    )
    return Drawing(shown, f"- tool {row.line}")


def plan_command(number: int) -> str:
    """What to type to see a past plan."""
    return f"%context plan {number}"


def _event(event: Event) -> Block:
    said = words(event)
    if isinstance(event, happened.CompactionFinished) and event.plan_number:
        command = plan_command(event.plan_number)
        shown = tag("div", f"{said} · ", tag("code", command), class_="hnb-row hnb-muted")
        return Drawing(shown, f"- {said} · {command}")
    if isinstance(event, happened.FactsWritten):
        facts = tag("ul", *(tag("li", clip(fact, 300)) for fact in event.facts[:20]))
        return Drawing(tag("details", tag("summary", said), facts), f"- {said}")
    name = "hnb-row hnb-warned" if isinstance(event, happened.Warned | happened.FlushFailed) else "hnb-row hnb-muted"
    return Drawing(tag("div", said, class_=name), f"- {said}")
