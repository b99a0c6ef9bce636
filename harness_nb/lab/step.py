"""One point of a replay at which the policy was called, or a recorded request was made, as a record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness_nb.agent.driver import Pass
from harness_nb.core.item import ModelInput
from harness_nb.core.messages import Message, Usage
from harness_nb.core.plan import Plan, Pressure
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask
from harness_nb.core.tokens import Measure
from harness_nb.core.view import Hook, View

ROLES = ("user", "assistant", "tool", "harness")
"""Whose texts a list holds; the harness's own are summaries and notes, in whatever role they are sent."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One point.

    What it holds are the parts; every figure is worked out when it is asked for.

    Attributes:
        step: Number of the point, 1 for the first.
        turn: Number of the turn, 1 for the first.
        view: What the policy was given, or would have been.
        after: The list as it stands after what the policy did.
        made: The last plan that the policy made, or None where it was not asked for one or failed.
        resting: The policy where it was not asked because it had promised to do nothing; None elsewhere.
        passes: The plans that were carried out, refused or failed; none at a quiet point.
        sent: The items as sent with the recorded request made here, after what an overflow changed; None at other points.
        sent_tokens: Their size with all that is sent beside them; 0 at other points.
        usage: What the provider reported for that request, where the transcript has it.
    """

    step: int
    turn: int
    view: View
    after: ModelInput
    passes: tuple[Pass, ...] = ()
    made: Plan | None = None
    resting: CompactionPolicy | None = None
    sent: ModelInput | None = None
    sent_tokens: int = 0
    usage: Usage | None = None

    @property
    def index(self) -> int:
        """Messages of the transcript said by then."""
        return len(self.view.log)

    @property
    def hook(self) -> Hook:
        """Why the policy was called."""
        return self.view.hook

    @cached_property
    def plan(self) -> Plan | None:
        """The last plan: as carried out, or as made where nothing was to do; None where the policy was not called."""
        if self.passes:
            return self.passes[-1].plan
        return self.made if self.resting is None else self.resting.plan(self.view)

    @property
    def outcome(self) -> str:
        """The plan's word for what it did, or the driver's where the plan was not carried out."""
        if self.passes and not self.passes[-1].plan.changes:
            return self.passes[-1].outcome
        return self.plan.outcome if self.plan is not None else "unchanged"

    @property
    def reason(self) -> str:
        """Why, in words."""
        if self.passes:
            return self.passes[-1].reason
        return self.plan.reason if self.plan is not None else "the policy is not called here"

    @property
    def tokens_before(self) -> int:
        """Size of the model input before, by the session's measure."""
        return self.view.tokens

    @property
    def tokens_after(self) -> int:
        """The same after."""
        return self.passes[-1].tokens_after if self.passes else self.view.tokens

    @property
    def fixed_tokens(self) -> int:
        """System prompt and schemas, part of both sizes."""
        return self.view.fixed_tokens

    @property
    def messages_before(self) -> int:
        """Items before."""
        return len(self.view.input)

    @property
    def messages_after(self) -> int:
        """Items after."""
        return len(self.after)

    @cached_property
    def pressure(self) -> Pressure:
        """How full the context was, as the policy measured it."""
        return (self.plan.pressure if self.plan is not None else None) or self.view.pressure()

    @property
    def model_calls(self) -> int:
        """Model calls that the policy made."""
        return sum(isinstance(request, Ask) for one in self.passes for request, _ in one.asked)

    @property
    def changed(self) -> bool:
        """True when a plan replaced the list."""
        return any(one.plan.changes and one.outcome != "noted" for one in self.passes)

    @property
    def shown(self) -> ModelInput:
        """The items as sent here, or the list as it stands where nothing was sent."""
        return self.after if self.sent is None else self.sent

    @property
    def estimate(self) -> int:
        """Size of what is shown by the counter alone, no bill taken into account, with what is sent beside it."""
        return self.shown.messages.tokens(self.view.measure) + self.view.fixed_tokens

    @property
    def tokens_by_role(self) -> dict[str, int]:
        """Estimated tokens of what is shown by whose texts they are (`ROLES`); prompt and schemas are `fixed_tokens`."""
        return {role: self.shown.messages.tokens(_SizeOf(role, self.view.measure)) for role in ROLES}

    @property
    def edits(self) -> dict[str, int]:
        """Items that plans made here, by how: summaries, notes, and messages cleared, shortened, evicted or merged."""
        found: Counter[str] = Counter()
        for one in self.passes:
            known = set(map(id, one.view.input))
            found.update(item.how for item in one.plan.input or () if id(item) not in known and item.how != "kept")
        return dict(sorted(found.items()))

    @property
    def fates(self) -> dict[str, int]:
        """Messages by what became of them in the plans that replaced the list: kept, changed, stood for, gone, back."""
        last = [one for one in self.passes if one.plan.changes]
        return dict(Counter(fate.fate for one in last for fate in one.plan.fates(one.view)))

    @property
    def record(self) -> dict[str, Any]:
        """A mapping of plain values."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        window, fates, usage = self.pressure.window, self.fates, self.usage
        return (
            plain
            | {"window": window, "pressure": self.tokens_after / window, "tier": self.pressure.tier}
            | {f"{role}_tokens": size for role, size in self.tokens_by_role.items()}
            | {"edits": ", ".join(f"{number} {how}" for how, number in self.edits.items())}
            | {"summarised": fates.get("stood for", 0), "gone": fates.get("gone", 0)}
            | {name: getattr(usage, name) if usage is not None else None for name in _USAGE}
        )


_PLAIN = (
    *("step", "turn", "index", "hook", "outcome", "reason", "tokens_before", "tokens_after", "fixed_tokens"),
    *("messages_before", "messages_after", "model_calls", "estimate"),
)
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "cost")


@dataclass(frozen=True, slots=True)
class _SizeOf:
    """Tokens of a message if it is of one role, else 0; equal ones share their running sums."""

    role: str
    measure: Measure

    def __call__(self, message: Message) -> int:
        role = "harness" if message.origin == "harness" else message.role
        return self.measure(message) if role == self.role else 0
