"""View model of the context pressure: what fills the window, where a policy acts, and how it came to this."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness_nb.core.plan import Plan, Pressure
from harness_nb.core.view import View
from harness_nb.render.text import percent, short
from harness_nb.render.theme import ROLE_COLOURS

MAX_POINTS = 200
"""Most points of a course that are drawn; more would be narrower than a pixel."""


class CoursePoint(NamedTuple):
    """Size of the model input at one step.

    Attributes:
        turn: Number of the turn.
        step: Number of the request in the turn.
        tokens: Size of the model input.
        window: Context window in tokens.
        mark: What happened there, such as `compacted`, or None.
    """

    turn: int
    step: int
    tokens: int
    window: int
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of content of the window. `messages` is 0 for what is no message."""

    name: str
    tokens: int
    messages: int = 0

    @property
    def colour(self) -> str:
        """Its colour."""
        return ROLE_COLOURS[self.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A place in the window at which a policy acts.

    Attributes:
        name: `tier 1`, or the setting's name.
        at: Where, in tokens or messages.
        value: Where the conversation stands, in the same unit.
        unit: `tokens` or `messages`.
        action: What the policy does there, in words, or empty.
        number: Number of a tier, 0 for a trigger.
    """

    name: str
    at: int
    value: int
    unit: str = "tokens"
    action: str = ""
    number: int = 0

    @property
    def is_reached(self) -> bool:
        """Whether the policy acts."""
        return self.value >= self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class PressureModel:
    """All that a pressure display shows.

    Attributes:
        tokens: Size of the model input, the figure that triggers.
        window: Context window in tokens.
        source: How `tokens` is known, in words.
        parts: What fills the window; their tokens add up to `tokens`.
        reserved: Tokens kept free for the reply.
        tier: Number of the tier in force, 0 for none.
        thresholds: Tiers and triggers, ascending.
        policy: Name of the policy, or empty.
        next: What the policy would do now, in words, or empty.
        course: Sizes over the session.
        window_source: Where the window comes from, or empty.
        is_scaled: Whether the parts, which are estimates, were scaled to a reported total.
    """

    tokens: int
    window: int
    source: str = ""
    parts: tuple[Part, ...] = ()
    reserved: int = 0
    tier: int = 0
    thresholds: tuple[Threshold, ...] = ()
    policy: str = ""
    next: str = ""
    course: tuple[CoursePoint, ...] = ()
    window_source: str = ""
    is_scaled: bool = False

    @property
    def share(self) -> float:
        """Part of the window in use; above 1 when it does not fit."""
        return self.tokens / self.window

    @property
    def reserved_shown(self) -> int:
        """The part of `reserved` that is still free."""
        return min(self.reserved, max(0, self.window - self.tokens))

    @property
    def free(self) -> int:
        """Tokens that are neither used nor reserved."""
        return max(0, self.window - self.tokens - self.reserved_shown)

    @property
    def extent(self) -> int:
        """What the whole width of the bar stands for: the window, or the input where that is larger."""
        return max(self.window, self.tokens)

    @property
    def line(self) -> str:
        """The state in words."""
        over = f", {short(self.tokens - self.window)} too long" if self.tokens > self.window else ""
        source = self.source or "estimated"
        said = [f"{short(self.tokens)} of {short(self.window)} tokens ({percent(self.share)}){over}, {source}"]
        if self.policy:
            said.append(f"policy {self.policy}")
        if self.next:
            said.append(f"next: {self.next}")
        return " · ".join(said)

    @property
    def title(self) -> str:
        """Title with the tier in force, where there are tiers."""
        has_tiers = any(one.number for one in self.thresholds)
        return f"Context pressure · tier {self.tier}" if has_tiers else "Context pressure"


def pressure_model(
    view: View,
    pressure: Pressure | None = None,
    *,
    policy: str = "",
    plan: Plan | None = None,
    memory_tokens: int = 0,
    reserved: int | None = None,
    course: Iterable[Sequence[object]] = (),
) -> PressureModel:
    """Puts together what a pressure display shows.

    Args:
        view: The conversation as the policy sees it.
        pressure: The policy's own figures; those of the plan, or bare ones, by default.
        policy: Name of the policy.
        plan: What the policy would do now.
        memory_tokens: The part of the fixed tokens that is injected memory.
        reserved: Tokens kept for the reply; what the model states by default.
        course: Points (turn, step, tokens, window, mark or None).
    """
    at = pressure or (plan.pressure if plan is not None else None) or view.pressure()
    parts = _parts(view, memory_tokens)
    total = sum(part.tokens for part in parts)
    return PressureModel(
        tokens=at.tokens,
        window=at.window,
        source=at.source,
        parts=scaled(parts, at.tokens),
        reserved=(view.model.max_output or 0) if reserved is None else reserved,
        tier=at.tier,
        thresholds=_thresholds(at),
        policy=policy,
        next=plan.reason if plan is not None else "",
        course=course_points(tuple(course)),
        window_source=view.model.window_source,
        is_scaled=total != at.tokens,
    )


def bare_model(pressure: Pressure) -> PressureModel:
    """A display of a policy's figures alone, without the conversation."""
    return PressureModel(
        tokens=pressure.tokens,
        window=pressure.window,
        source=pressure.source,
        parts=(Part("model input", pressure.tokens),),
        tier=pressure.tier,
        thresholds=_thresholds(pressure),
    )


def course_points(course: Sequence[Sequence[object]]) -> tuple[CoursePoint, ...]:
    """The points of a course that are drawn."""
    return tuple(map(_point, thinned(course)))


def _point(values: Sequence[object]) -> CoursePoint:
    return CoursePoint(*values[:5])  # type: ignore[arg-type]  # points are plain tuples of this order


_PART_OF_ROLE = {"tool": "tool results", "assistant": "assistant", "user": "user", "system": "system"}


def _parts(view: View, memory_tokens: int) -> tuple[Part, ...]:
    """Estimates of what fills the window: fixed parts first, then messages by role."""
    schemas = min(view.measure.tools(view.tools), view.fixed_tokens)
    memory = min(memory_tokens, view.fixed_tokens - schemas)
    tokens = dict.fromkeys(ROLE_COLOURS, 0) | {
        "system": view.fixed_tokens - schemas - memory,
        "memory": memory,
        "tool schemas": schemas,
    }
    messages = dict.fromkeys(ROLE_COLOURS, 0)
    sums = view.sums(view.measure)
    for at, item in enumerate(view.input[:]):
        name = "summaries and notes" if item.how in ("summary", "note") else _PART_OF_ROLE[item.message.role]
        tokens[name] += sums[at + 1] - sums[at]
        messages[name] += 1
    return tuple(Part(name, tokens[name], messages[name]) for name in ROLE_COLOURS if tokens[name] or messages[name])


def scaled(parts: Sequence[Part], total: int) -> tuple[Part, ...]:
    """The same parts in the same proportion, adding up to a total exactly (largest remainders get what is left)."""
    have = sum(part.tokens for part in parts)
    if have == total or not have:
        return tuple(parts)
    exact = [part.tokens * total / have for part in parts]
    whole = [int(value) for value in exact]
    by_remainder = sorted(range(len(parts)), key=lambda at: (whole[at] - exact[at], at))
    for at in by_remainder[: total - sum(whole)]:
        whole[at] += 1
    return tuple(Part(part.name, tokens, part.messages) for part, tokens in zip(parts, whole, strict=True))


def _thresholds(at: Pressure) -> tuple[Threshold, ...]:
    tiers = [
        Threshold(name=f"tier {one.number}", at=one.threshold, value=at.tokens, action=one.action, number=one.number)
        for one in at.tiers
    ]
    triggers = [
        Threshold(name=one.name, at=one.threshold, value=one.value, unit=one.unit)
        for one in at.triggers
        if one.threshold > 0
    ]
    return (*tiers, *sorted(triggers, key=lambda one: (one.unit != "tokens", one.at)))


def thinned(course: Sequence[Sequence[object]], most: int = MAX_POINTS) -> tuple[Sequence[object], ...]:
    """At most about so many points; marked ones and those before them stay, so that no fall is drawn flat.

    Of very many marks only some stay, as many as there is room for.
    """
    if len(course) <= most:
        return tuple(course)
    pace = len(course) / most
    wanted = {int(at * pace) for at in range(most)} | {len(course) - 1}
    marked = [at for at, point in enumerate(course) if point[4]]
    for at in marked[:: max(1, 2 * len(marked) // most)]:
        wanted |= {at, max(0, at - 1)}
    return tuple(course[at] for at in sorted(wanted))
