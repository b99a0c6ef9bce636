"""A recorded transcript under a policy: messages are fed one by one, and the policy is called where the live loop would.

The recorded answers stand; only what the policy itself asks for is answered anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness_nb import presets
from harness_nb.core.config import PinsConfig, ToolResultEvictionConfig
from harness_nb.core.limits import ModelLimits
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.tokens import Measure
from harness_nb.core.tool import Tool
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.lab.answers import Answers
from harness_nb.lab.counting import measure_for
from harness_nb.lab.feeding import Feeding
from harness_nb.lab.progress import Progress, following
from harness_nb.lab.run import Replay
from harness_nb.lab.step import Step
from harness_nb.model.base import Model
from harness_nb.model.resolve import resolve
from harness_nb.model.windows import limits_of
from harness_nb.presets import Preset


def replay(
    transcript: Transcript,
    policy: str | Preset | CompactionPolicy = "harness",
    *,
    window: int | None = None,
    model: str | Model | None = "offline",
    system: str | None = None,
    tools: Sequence[Tool] = (),
    eviction: ToolResultEvictionConfig | None = None,
    pins: PinsConfig | None = None,
    measure: Measure | None = None,
    guarded: bool = True,
    progress: Progress | bool = False,
) -> Replay:
    """Feeds a transcript message by message and lets a policy act where the live loop would.

    Args:
        transcript: What was said.
        policy: Name of a preset, a preset, or a policy.
        window: Context window in tokens; by default that of the recorded model, or 128,000 where none is known.
        model: Answers the policy's own model calls: a name, a model, or None, which lets replies be assumed.
        system: The system prompt; by default the system messages of the transcript.
        tools: Tools as offered in the recorded session, for the size of their schemas.
        eviction: When large results are replaced by a preview, as an agent may be told to; None leaves them whole.
        pins: Whether standing instructions of the user are recognised and stay word for word; by default as the preset
            has it, or as the preset `harness` has it for a bare policy. As shipped, with `guarded=False`, nothing is pinned.
        measure: Sizes of messages; one that is shared between replays counts each message once.
        guarded: False lets a policy's faults through, for comparisons with a system as shipped.
        progress: True for a bar, or a function that is called with the number of messages fed and of all messages.

    Returns:
        A record for each point at which the policy was called, and the conversation at the end.

    Raises:
        ConfigError: The transcript, the policy, the model or the window is not valid.
        ReplayStopped: It was interrupted; its `partial` is the replay up to there.
    """
    _check_transcript(transcript)
    acting, limits = chosen(policy, transcript.model, window)
    run = Feeding(
        transcript=transcript,
        policy=acting,
        answers=Answers(resolve(model) if model is not None else None),
        measure=measure or measure_for(transcript),
        limits=limits,
        system=system,
        tools=tuple(tools),
        eviction=eviction,
        pins=pins or _pins(policy),
        guarded=guarded,
    )
    steps: list[Step] = []
    settings = _settings(policy, acting)
    try:
        with following(progress, len(transcript), "messages") as told:
            for index in range(len(transcript)):
                steps += run.feed(index)
                told(1)
    except KeyboardInterrupt as interrupt:
        raise ReplayStopped(run.replay(steps, settings), len(transcript)) from interrupt
    return run.replay(steps, settings)


class ReplayStopped(KeyboardInterrupt):
    """A replay was interrupted.

    Attributes:
        partial: The replay up to the last point that was finished, of the part of the transcript that was fed by then.
    """

    def __init__(self, partial: Replay, messages: int) -> None:
        super().__init__(
            f"stopped at message {len(partial.transcript):,} of {messages:,}; what was replayed is the exception's `partial`"
        )
        self.partial = partial


def _settings(given: str | Preset | CompactionPolicy, acting: CompactionPolicy) -> dict[str, Any]:
    """The settings in force, and the variant where a preset has several."""
    if isinstance(given, CompactionPolicy):
        return dict(acting.settings)
    preset = presets.get(given) if isinstance(given, str) else given
    return {"variant": preset.variant, **preset.settings} if preset.variant else dict(preset.settings)


def _pins(policy: str | Preset | CompactionPolicy) -> PinsConfig:
    """What is pinned unless something else is asked for."""
    if isinstance(policy, CompactionPolicy):
        return PinsConfig()
    return (presets.get(policy) if isinstance(policy, str) else policy).pins


def _check_transcript(given: object) -> None:
    if isinstance(given, Transcript):
        return
    is_path = isinstance(given, str | Path)
    remedy = (
        f"Read it first: read_transcript({str(given)!r})." if is_path else "Give a Transcript: read_transcript(...)."
    )
    raise ConfigError(f"{given!r} is no transcript.", remedy, subject=given)


def chosen(
    policy: str | Preset | CompactionPolicy, model: str, window: int | None
) -> tuple[CompactionPolicy, ModelLimits]:
    """The policy that is meant, and the limits of a model as its preset sees them.

    Args:
        policy: Name of a preset, a preset, or a policy.
        model: Name of the model, or empty.
        window: Context window in tokens, or None for what is known of the model.

    Raises:
        ConfigError: There is no such preset or policy, or the window is no number of tokens.
    """
    limits = limits_of(model or "unknown", window=window)
    if isinstance(policy, CompactionPolicy):
        return policy, limits
    preset = presets.get(policy) if isinstance(policy, str) else policy
    if not isinstance(preset, Preset):
        remedy = (
            f"Give one, such as {policy.__name__}()." if isinstance(policy, type) else "Give one, or a preset's name."
        )
        raise ConfigError(f"{policy!r} is no policy.", remedy, subject=policy)
    return preset.policy or _Off(), preset.limits(limits)


class _Off(CompactionPolicy):
    """Never acts: what a preset without compaction does."""

    name = "off"

    def plan(self, view: View) -> Plan:
        return view.unchanged("compaction is off")
