"""What a replay brought: a record for each point at which the policy was called, and sums over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from harness_nb.agent.driver import Pass
from harness_nb.core.item import ModelInput
from harness_nb.core.messages import Usage
from harness_nb.core.plan import Pressure
from harness_nb.core.requests import Ask
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import Hook, View

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

_TEXT_ROWS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One point at which the policy was called.

    Attributes:
        step: Number of the point, 1 for the first.
        turn: Number of the turn, 1 for the first.
        index: Messages of the transcript said by then.
        hook: Why the policy was called.
        outcome: The plan's word for what it did.
        reason: Why, in words.
        tokens_before: Size of the model input before, by the session's measure.
        tokens_after: The same after.
        fixed_tokens: System prompt and schemas, part of both sizes.
        messages_before: Items before.
        messages_after: Items after.
        pressure: How full the context was, as the policy measured it.
        passes: The plans that were carried out, refused or failed; none at a quiet point.
        sent: The items as sent with the recorded request made here, after what an overflow changed; None at other points.
        sent_tokens: Their size with all that is sent beside them; 0 at other points.
        usage: What the provider reported for that request, where the transcript has it.
    """

    step: int
    turn: int
    index: int
    hook: Hook
    outcome: str
    reason: str
    tokens_before: int
    tokens_after: int
    fixed_tokens: int
    messages_before: int
    messages_after: int
    pressure: Pressure
    passes: tuple[Pass, ...] = ()
    sent: ModelInput | None = None
    sent_tokens: int = 0
    usage: Usage | None = None

    @property
    def model_calls(self) -> int:
        """Model calls that the policy made."""
        return sum(isinstance(request, Ask) for one in self.passes for request, _ in one.asked)

    @property
    def changed(self) -> bool:
        """True when a plan replaced the list."""
        return any(one.plan.changes and one.outcome != "noted" for one in self.passes)

    @property
    def record(self) -> dict[str, Any]:
        """A mapping of plain values."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        window = self.pressure.window
        return plain | {
            "window": window,
            "pressure": self.tokens_after / window,
            "tier": self.pressure.tier,
            "model_calls": self.model_calls,
        }


_PLAIN = (
    "step",
    "turn",
    "index",
    "hook",
    "outcome",
    "reason",
    "tokens_before",
    "tokens_after",
    "fixed_tokens",
    "messages_before",
    "messages_after",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over a replay.

    Attributes:
        messages: Messages replayed.
        turns: Turns.
        requests: Recorded model requests.
        compactions: Points at which the list was replaced.
        failures: Points at which a plan failed or was refused.
        overflows: Requests that were above the window after the policy had acted.
        model_calls: Model calls that the policy made.
        tokens_sent: Sum of the sizes of all recorded requests, by the session's measure.
        peak_tokens: Largest of them.
        own_tokens: Tokens that the policy's own model calls sent and brought, estimated.
        final_tokens: Size of the model input at the end.
    """

    messages: int
    turns: int
    requests: int
    compactions: int
    failures: int
    overflows: int
    model_calls: int
    tokens_sent: int
    peak_tokens: int
    own_tokens: int
    final_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Replay:
    """A transcript under a policy.

    Attributes:
        transcript: What was replayed.
        policy: Name of the policy.
        steps: The points at which it was called, in order.
        final: The conversation at the end, as the policy saw it.
        settings: The policy's settings by name, its variant among them where it has several.
        answered_by: Name of the model that answered the policy, or `assumed`.
        guarded: Whether guards held the policy.
    """

    transcript: Transcript
    policy: str
    steps: tuple[Step, ...]
    final: View
    settings: Mapping[str, Any] = field(default_factory=dict)
    answered_by: str = "assumed"
    guarded: bool = True

    def __repr__(self) -> str:
        name = f"{self.transcript.name!r}, " if self.transcript.name else ""
        return f"Replay({name}{self.policy!r}, {len(self.transcript)} messages, {len(self.compactions)} compactions)"

    def __str__(self) -> str:
        from harness_nb.render.card import card_text

        return card_text(self._card())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from harness_nb.render.results import card_bundle

        return card_bundle(self._card())

    @property
    def window(self) -> int:
        """Context window in tokens."""
        return self.final.model.window

    @property
    def compactions(self) -> tuple[Step, ...]:
        """The points at which the list was replaced."""
        return tuple(step for step in self.steps if step.changed)

    def contexts(self) -> Iterator[tuple[Step, ModelInput]]:
        """Every recorded request: its point, and the items as they were sent with it.

        Lists that only grew share their items with the one before (`ModelInput.begins`), so that to look at all of them
        costs no more than to look at what changed.
        """
        return ((step, step.sent) for step in self.steps if step.sent is not None)

    @property
    def plans(self) -> tuple[Pass, ...]:
        """Every plan that was carried out, refused or failed, in order."""
        return tuple(one for step in self.steps for one in step.passes)

    @property
    def totals(self) -> Totals:
        """Sums over all points."""
        sent = [step.sent_tokens for step, _ in self.contexts()]
        return Totals(
            messages=len(self.transcript),
            turns=max((step.turn for step in self.steps), default=0),
            requests=len(sent),
            compactions=len(self.compactions),
            failures=sum(one.outcome == "failed" for one in self.plans),
            overflows=sum(tokens > self.window for tokens in sent),
            model_calls=sum(step.model_calls for step in self.steps),
            tokens_sent=sum(sent),
            peak_tokens=max(sent, default=0),
            own_tokens=_own_tokens(self.plans),
            final_tokens=self.final.tokens,
        )

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each point."""
        return [step.record for step in self.steps]

    def frame(self) -> DataFrame:
        """One row for each point at which the policy was called."""
        from harness_nb.frames import replay_frame

        return replay_frame(self.records)

    @property
    def df(self) -> DataFrame:
        """The same as `frame()`."""
        return self.frame()

    def view(self) -> View:
        """The conversation at the end, as `HarnessAgent.view` gives it."""
        return self.final

    def pressure(self) -> Pressure:
        """How full the context is at the end, as the policy measures it."""
        return self.steps[-1].pressure if self.steps else self.final.pressure()

    def course(self) -> tuple[tuple[int, int, int, int, str | None], ...]:
        """Sizes over the session: (turn, step, tokens, window, mark or None), as `HarnessAgent.course` gives them."""
        points: list[tuple[int, int, int, int, str | None]] = []
        turn = request = 0
        for step in self.steps:
            request = (request if step.turn == turn else 0) + (step.hook == "request")
            turn = step.turn
            if step.changed:
                points.append((turn, request, step.tokens_before, self.window, None))
            points.append((turn, request, step.tokens_after, self.window, step.outcome if step.changed else None))
        return tuple(points)

    def _card(self) -> Card:
        from harness_nb.render.card import Card, Table
        from harness_nb.render.text import count, short

        totals = self.totals
        title = f"Replay of {self.transcript.name or 'a transcript'} under {self.policy}"
        line = (
            f"{count(totals.messages, 'message')} in {count(totals.turns, 'turn')} · window {short(self.window)} · "
            f"{count(totals.compactions, 'compaction')} · peak {short(totals.peak_tokens)} tokens"
        )
        rows = [
            (one.turn, one.index, one.hook, one.tokens_before, one.tokens_after, one.reason) for one in self.compactions
        ]
        head = ("turn", "message", "hook", "tokens before", "tokens after", "why")
        sums = [(name.replace("_", " "), value) for name, value in asdict(totals).items()]
        blocks = (
            Table.of(head, rows, most=_TEXT_ROWS, noun="compaction"),
            Table.of(("", "total"), sums, caption="Totals", is_open=False),
        )
        remarks = len(self.transcript.report)
        notes = [f"{count(remarks, 'remark')} on reading the file: transcript.report"] if remarks else []
        return Card(title, line, blocks, (*self._failure_notes(), *notes))

    def _failure_notes(self) -> tuple[str, ...]:
        """Says how many plans failed, and why the first one did: without it a faulty policy only seems idle."""
        failed = [(step, one) for step in self.steps for one in step.passes if one.outcome == "failed"]
        if not failed:
            return ()
        step, one = failed[0]
        first = f"the first at message {step.index}: " if len(failed) > 1 else f"at message {step.index}: "
        return (f"{len(failed):,} of {len(self.plans):,} plans failed, {first}{one.reason}",)


def _own_tokens(passes: Iterable[Pass]) -> int:
    """Estimated tokens of the model calls that a policy made, what they sent and what they brought."""
    total = 0
    replies: dict[str, int] = {}  # assumed ones are all the same
    for one in passes:
        for request, reply in one.asked:
            if isinstance(request, Ask):
                if reply.text not in replies:
                    replies[reply.text] = one.view.measure.text(reply.text)
                total += one.view.measure.total(request.messages) + replies[reply.text]
    return total
