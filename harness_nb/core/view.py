"""A view: all that a policy may know of a conversation, frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from harness_nb.core.cutoff import Cutoff, find_cutoff
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Usage
from harness_nb.core.pins import Pin
from harness_nb.core.plan import Lasts, Plan, Pressure, Tier, Trigger
from harness_nb.core.requests import Reply, Request, Unknown, assume
from harness_nb.core.tokens import CharsCounter, Measure, TokenFigure
from harness_nb.core.tool import Tool
from harness_nb.core.transcript import Size, Transcript

Hook = Literal["turn", "request", "reply", "result", "end", "overflow", "manual", "idle", "new"]
HOOKS: tuple[Hook, ...] = ("turn", "request", "reply", "result", "end", "overflow", "manual", "idle", "new")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The provider's refusal of a request as too long.

    Attributes:
        text: What the provider said.
        input_tokens: Size of the refused input, if it gave one.
        window: Largest input, if it gave one.
    """

    text: str
    input_tokens: int | None = None
    window: int | None = None


class Cut(NamedTuple):
    """A model input in two: what may go and what stays."""

    old: tuple[Item, ...]
    recent: tuple[Item, ...]


_DEFAULT_MEASURE = Measure(CharsCounter())
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class View:
    """All that a policy may know.

    Attributes:
        log: All that was said, append-only; an index names a message for ever.
        input: The items that the model sees now; system prompt, schemas and injected memory stay outside.
        turn: Log index where the turn in progress begins (the length of the log between turns).
        hook: Why the policy is called now.
        words: What the user typed with a manual call.
        error: The provider's refusal, with the hook `overflow`.
        model: Limits and abilities of the model.
        usage: Last count that the provider reported, or None.
        billed: Number of leading items that `usage` covers, its reply included; 0 without a bill.
        carried: Estimated tokens by which those items differ from what was billed, after an edit of the list.
        fixed_tokens: Estimated tokens of what is sent outside the list: system prompt, injected memory, schemas.
        measure: The session's own measure of a message.
        scale: Factor on the estimate, learnt from a refusal by the provider; 1 at first.
        system: The system prompt as sent.
        tools: The tools as sent.
        host: What only the loop knows: to-do list, files read, approved plan.
        pins: Texts that stay word for word through every compaction.
        now: The time.
        done: Plans carried out in this call, first to last.
        state: The policy's own frozen record, None at first.
        replies: What is known of requests.
        strict: Whether an unknown reply ends the attempt (the driver) or is assumed (a preview).
    """

    log: Transcript
    input: ModelInput
    turn: int = 0
    hook: Hook = "request"
    words: str = ""
    error: Refusal | None = None
    model: ModelLimits = field(default_factory=lambda: ModelLimits(name="unknown"))
    usage: Usage | None = None
    billed: int = 0
    carried: int = 0
    fixed_tokens: int = 0
    measure: Measure = _DEFAULT_MEASURE
    scale: float = 1.0
    system: str = ""
    tools: tuple[Tool, ...] = ()
    host: Mapping[str, object] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    now: datetime = _EPOCH
    done: tuple[Plan, ...] = ()
    state: object = None
    replies: Mapping[Request, Reply] = field(default_factory=dict)
    strict: bool = False
    _figure: TokenFigure | None = field(default=None, init=False, compare=False)

    def __repr__(self) -> str:
        """How much was said and is seen; no text."""
        return f"View({len(self.log)} messages, {len(self.input)} items, {self.tokens:,} tokens, {self.hook!r})"

    @classmethod
    def of(cls, transcript: Transcript, **fields: object) -> View:
        """A view of a whole conversation, as at its first request: nothing compacted yet.

        System messages become the system prompt. Other fields of the view may be given; unless they are, the turn in
        progress begins with the last message of the user, and prompt and schemas are estimated.
        """
        items = ModelInput(Item(index, message) for index, message in enumerate(transcript) if message.role != "system")
        system = "\n".join(message.text for message in transcript if message.role == "system")
        users = [index for index, message in enumerate(transcript) if message.origin == "user"]
        given = {"turn": users[-1] if users else len(transcript), "system": system} | fields
        view = cls(log=transcript, input=items, **given)  # type: ignore[arg-type]  # checked by the dataclass's users
        if "fixed_tokens" in fields:
            return view
        return replace(view, fixed_tokens=view.measure.text(view.system) + view.measure.tools(view.tools))

    # Sizes

    @property
    def figure(self) -> TokenFigure:
        """The token figure: the last bill plus an estimate of what came after, or a bare estimate; worked out once."""
        figure = self._figure
        if figure is None:
            figure = self._worked_out()
            object.__setattr__(self, "_figure", figure)
        return figure

    def _worked_out(self) -> TokenFigure:
        messages, counter = self.input.messages, self.measure.name
        if self.usage is None or not self.billed:
            estimate = self._estimate(messages.tokens(self.measure))
            return TokenFigure(tokens=estimate, billed=0, estimated=estimate, counter=counter)
        bill = self.usage.input_tokens + self.usage.output_tokens
        since = round(messages.tokens(self.measure, self.billed) * self.scale) + self.carried
        return TokenFigure(tokens=max(0, bill + since), billed=bill, estimated=since, counter=counter)

    def _estimate(self, tokens: int) -> int:
        """The whole model input by estimate alone, for a list of that size."""
        return round((tokens + self.fixed_tokens) * self.scale)

    @property
    def tokens(self) -> int:
        """Tokens of the whole model input, system prompt and schemas included: the figure that triggers."""
        return self.figure.tokens

    def tokens_of(self, items: Sequence[Item]) -> int:
        """The same figure for another list: it differs by the estimated difference, so before and after compare."""
        if items is self.input:
            return self.tokens
        size = self.measure.total(item.message for item in items)
        more = self._estimate(size) - self._estimate(self.input.messages.tokens(self.measure))
        return max(0, self.tokens + more)

    def sums(self, size: Size) -> tuple[int, ...]:
        """Running sums over `input`: entry i is the size of the first i items. A message is measured once."""
        return self.input.sums(size)

    # Requests

    def reply(self, request: Request) -> Reply:
        """What came of a request.

        An unknown reply is assumed in a preview. In the driver it ends this attempt: the driver gets it and plans again.
        """
        known = self.replies.get(request)
        if known is not None:
            return known
        if self.strict:
            raise Unknown(request)
        return assume(request)

    def learn(self, request: Request, reply: Reply) -> View:
        """The view with one reply more."""
        return replace(self, replies={**self.replies, request: reply})

    # Cutting

    def cutoff(self, *, keep_messages: int = 0, keep_tokens: int = 0) -> Cutoff:
        """Where to cut so that the last messages stay, always between rounds; says where it was wanted and why it moved.

        Args:
            keep_messages: Messages to keep at the end, at least.
            keep_tokens: Tokens to keep at the end, at most; above 0 it goes before `keep_messages`.
        """
        return find_cutoff(
            self.input.messages.boundaries(),
            self.sums(self.measure),
            keep_messages=keep_messages,
            keep_tokens=keep_tokens,
        )

    def cut(self, *, keep_messages: int = 0, keep_tokens: int = 0) -> Cut:
        """The list in two at `cutoff`."""
        at = self.cutoff(keep_messages=keep_messages, keep_tokens=keep_tokens).index
        return Cut(self.input[:at], self.input[at:])

    @property
    def last_user(self) -> Item | None:
        """The latest item that a person said, wherever it stands in the list."""
        return next((item for item in reversed(self.input) if item.is_real_user), None)

    @property
    def kept_indices(self) -> frozenset[int]:
        """Log indices that stay word for word whatever a policy wants: that of the last user message."""
        last = self.last_user
        return frozenset(() if last is None or last.index is None else (last.index,))

    @property
    def pinned_indices(self) -> frozenset[int]:
        """Log indices of messages from which something is pinned; its text stays, be the message kept or not."""
        return frozenset(pin.index for pin in self.pins if pin.index is not None)

    # Plans

    def pressure(
        self, *, tiers: Iterable[Tier] = (), triggers: Iterable[Trigger] = (), tokens: int | None = None
    ) -> Pressure:
        """The context pressure, with a policy's tiers and triggers."""
        bands = tuple(tiers)
        at = self.figure
        value = at.tokens if tokens is None else tokens
        tier = max((band.number for band in bands if value >= band.threshold), default=0)
        return Pressure(
            tokens=value,
            window=self.model.window,
            tier=tier,
            tiers=bands,
            triggers=tuple(triggers),
            source=at.source if tokens is None else "estimated by the policy",
        )

    def unchanged(self, reason: str, **fields: object) -> Plan:
        """A plan that leaves the list as it is; other fields of `Plan` may be given."""
        return Plan(**({"reason": reason} | self._kept(fields)))  # type: ignore[arg-type]

    def becomes(
        self,
        items: Iterable[Item],
        reason: str,
        *,
        outcome: str = "compacted",
        lasts: Lasts = "session",
        **fields: object,
    ) -> Plan:
        """A plan that replaces the list; other fields of `Plan` may be given."""
        made = self._kept(fields)
        return Plan(input=tuple(items), reason=reason, outcome=outcome, lasts=lasts, **made)  # type: ignore[arg-type]

    def _kept(self, fields: Mapping[str, object]) -> dict[str, object]:
        """State and pressure as they are, unless other ones are given."""
        pressure = fields["pressure"] if "pressure" in fields else self.pressure()
        return {"state": self.state, **fields, "pressure": pressure}

    def after(self, plan: Plan) -> View:
        """The view as it would be after a plan, so that policies compose."""
        if plan.input is None:
            return replace(self, state=plan.state)
        after = ModelInput(plan.input)
        if self.usage is None or not self.billed:
            return replace(self, input=after, state=plan.state)
        carried = self.tokens_of(plan.input) - self.figure.billed
        return replace(self, input=after, state=plan.state, billed=len(after), carried=carried)
