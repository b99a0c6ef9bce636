"""What a cutoff widget can show: what a policy would do to an agent or a transcript, and what it did to them before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from harness_nb import presets
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.tokens import Measure
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.model.prices import input_price
from harness_nb.notebook.tuning import keep_setting, remade
from harness_nb.presets import Preset
from harness_nb.render.card import Block
from harness_nb.render.cutoff import UNCHANGED, CutoffModel, planned_model
from harness_nb.render.cutoff_view import plan_details


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A conversation with a plan for it.

    Attributes:
        view: The conversation as the policy sees it.
        plan: What the policy wants, or did.
        policy: Its name.
        title: What is shown.
        state: The state in words.
        is_done: Whether it was done already.
    """

    view: View
    plan: Plan
    policy: str
    title: str
    state: str
    is_done: bool = False

    @property
    def model(self) -> CutoffModel:
        """The view model."""
        made = planned_model(self.view, self.plan, self.policy, price=input_price(self.view.model.name))
        return replace(made, title=self.title, state=self.state, promise="" if self.is_done else UNCHANGED)

    @cached_property
    def details(self) -> tuple[Block, ...]:
        """The plan message by message, for the static form."""
        return plan_details(self.view, self.plan)


class Stage(Protocol):
    """Where scenes come from.

    Attributes:
        keep: Name of the setting that moves the cut, or empty where it can't be moved.
        noun: What a scene is, where there are several.
    """

    keep: str
    noun: str

    @property
    def places(self) -> int:
        """Number of scenes that there are to choose from."""
        ...

    def scene(self, place: int, changes: Mapping[str, Any]) -> Scene:
        """A scene.

        Args:
            place: Which one, from 0.
            changes: Settings to try.
        """
        ...


class Ahead:
    """What a preset would do to a conversation that goes on or ends here.

    Args:
        look: Gives the conversation as it is now.
        preset: Whose policy acts.
    """

    noun = "plan"

    def __init__(self, look: Any, preset: Preset) -> None:
        self._look = look
        self.preset = preset
        self.keep = keep_setting(preset)

    @property
    def places(self) -> int:
        """One."""
        return 1

    @property
    def setting(self) -> int:
        """The value of the setting that moves the cut."""
        return int(self.preset.settings.get(self.keep, 0))

    def scene(self, place: int, changes: Mapping[str, Any]) -> Scene:
        """What would be done now; where that is nothing, what would be done if it were asked for."""
        preset = remade(self.preset, **changes) if changes else self.preset
        view: View = self._look()
        if preset.policy is None:
            return _quiet(view, "compaction is off")
        policy = preset.policy
        now = policy.plan(view)
        if now.changes or "manual" not in policy.hooks:
            title = f"What {policy.name} would do now"
            return Scene(view=view, plan=now, policy=policy.name, title=title, state=_said(now))
        asked = replace(view, hook="manual")
        plan = policy.plan(asked)
        state = f"Now nothing: {now.reason}. If asked, {_said(plan)}" if view.hook != "manual" else _said(plan)
        return Scene(
            view=asked, plan=plan, policy=policy.name, title=f"What {policy.name} would do if asked", state=state
        )


class Live(Ahead):
    """The plans that were carried out in an agent's session, by number, and after them what would be done now.

    Args:
        agent: The agent.
        preset: Whose policy acts now.
    """

    def __init__(self, agent: Any, preset: Preset) -> None:
        super().__init__(agent.view, preset)
        self._agent = agent

    @property
    def places(self) -> int:
        """The past plans, and the one ahead."""
        return len(self._agent.plans) + 1

    def scene(self, place: int, changes: Mapping[str, Any]) -> Scene:
        """A past plan, or for the last place what would be done now."""
        plans = self._agent.plans
        if place >= len(plans):
            return super().scene(place, changes)
        done, number = plans[place], place + 1
        policy = self._policy_of(number)
        return Scene(
            view=done.view,
            plan=done.plan,
            policy=policy,
            title=f"Plan {number}: what {policy or 'a policy'} did",
            state=f"{done.outcome}: {done.reason}.",
            is_done=True,
        )

    def _policy_of(self, number: int) -> str:
        """Whose plan it was; a session may go on under another policy."""
        events = (one for one in self._agent.events if getattr(one, "plan_number", 0) == number)
        return str(getattr(next(events, None), "policy", ""))


class Past:
    """What a policy did in a replay.

    Args:
        run: The replay.
    """

    keep = ""
    noun = "compaction"

    def __init__(self, run: Any) -> None:
        self._run = run

    @property
    def places(self) -> int:
        """The points at which the list was replaced; one, where there is none."""
        return max(1, len(self._run.compactions))

    def scene(self, place: int, changes: Mapping[str, Any]) -> Scene:
        """One of the points at which the list was replaced."""
        if not self._run.compactions:
            return _quiet(self._run.final, "nothing was compacted", self._run.policy)
        step = self._run.compactions[place]
        done = next(one for one in reversed(step.passes) if one.plan.changes)
        title = f"What {self._run.policy} did at message {step.index}, turn {step.turn}"
        state = f"{done.plan.outcome}: {done.reason}."
        return Scene(view=done.view, plan=done.plan, policy=self._run.policy, title=title, state=state, is_done=True)


def _said(plan: Plan) -> str:
    return f"{plan.outcome}: {plan.reason}."


def _quiet(view: View, reason: str, policy: str = "") -> Scene:
    return Scene(
        view=view,
        plan=view.unchanged(reason),
        policy=policy,
        title="Compaction cutoff",
        state=f"{reason}.",
        is_done=True,
    )


def stage_of(source: Any, policy: str | Preset | CompactionPolicy | None) -> Stage:
    """Where the scenes of an agent, a replay or a transcript come from.

    Args:
        source: An agent, a replay or a transcript.
        policy: What acts; by default the agent's own preset, or `harness` for a transcript.

    Raises:
        ConfigError: The preset is unknown, or the source is none of these.
    """
    if hasattr(source, "compactions"):
        return Past(source)
    if isinstance(source, Transcript):
        preset = as_preset(policy if policy is not None else "harness")
        return Ahead(lambda: view_of(source, preset), preset)
    if not hasattr(source, "view"):
        raise ConfigError(f"{source!r} can't be shown.", "Give an agent, a replay or a transcript.", subject=source)
    preset = as_preset(policy) if policy is not None else source.preset
    return Live(source, preset) if hasattr(source, "plans") else Ahead(source.view, preset)


def as_preset(policy: str | Preset | CompactionPolicy) -> Preset:
    """A preset by name, as it is, or around a policy of one's own, whose settings are not known.

    Raises:
        ConfigError: There is no preset of that name.
    """
    if isinstance(policy, Preset):
        return policy
    if isinstance(policy, CompactionPolicy):
        return Preset(name=policy.name, about="", policy=policy)
    return presets.get(policy)


def view_of(
    transcript: Transcript, preset: Preset, *, window: int | None = None, measure: Measure | None = None
) -> View:
    """A whole conversation as a preset's policy would be given it.

    Args:
        transcript: The conversation.
        preset: Its policy and its idea of the window.
        window: Context window in tokens; by default that of the recorded model.
        measure: Sizes of messages, where they were measured before.
    """
    from harness_nb.model.windows import limits_of

    limits = preset.limits(limits_of(transcript.model or "unknown", window=window))
    measured = {} if measure is None else {"measure": measure}
    return View.of(transcript, hook="manual", model=limits, **measured)
