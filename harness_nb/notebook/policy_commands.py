"""What the sub-commands of `%context` and `%policy` do that is more than one call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_nb.notebook.arguments import Given, nearest
from harness_nb.notebook.errors import MagicError

if TYPE_CHECKING:
    from harness_nb.agent.pinning import PinList
    from harness_nb.agent.results import AgentStatus
    from harness_nb.lab.compare import Comparison
    from harness_nb.notebook.magics import HarnessMagics
    from harness_nb.notebook.policy_results import Course, PresetList, PresetShown, Thresholds
    from harness_nb.notebook.widgets.cutoff import CutoffWidget
    from harness_nb.notebook.widgets.pressure import PressureWidget
    from harness_nb.notebook.widgets.tuner import TunerWidget
    from harness_nb.presets import Preset
    from harness_nb.presets.comparison import Comparison as Systems


def context(magics: HarnessMagics, given: Given) -> PressureWidget:
    """What fills the window."""
    from harness_nb.notebook.widgets.pressure import PressureWidget

    return PressureWidget(magics.seat.agent)


def plan(magics: HarnessMagics, given: Given) -> CutoffWidget:
    """What would be compacted now, or what a past plan did."""
    from harness_nb.notebook.widgets.cutoff import CutoffWidget

    if given.text and not given.text.isdecimal():
        raise MagicError(f"{given.text!r} is no number of a plan.", "See agent.frames.plans() for the numbers.")
    return CutoffWidget(magics.seat.agent, plan=int(given.text) if given.text else None)


def tiers(magics: HarnessMagics, given: Given) -> Thresholds:
    """Where the policy acts."""
    from harness_nb.notebook.policy_results import Thresholds

    return Thresholds(magics.seat.agent.pressure())


def course(magics: HarnessMagics, given: Given) -> Course:
    """The sizes over the session."""
    from harness_nb.notebook.policy_results import Course

    return Course(magics.seat.agent.course())


def pin(magics: HarnessMagics, given: Given) -> PinList:
    """Pins a text or takes a pin away, and shows what is pinned."""
    agent, index = magics.seat.agent, given.options.get("message")
    if index is not None and (given.text or not str(index).isdecimal()):
        raise MagicError(
            f"--message {index!r} is not valid here.", "Give the index of a message, and no text.", subject=index
        )
    what: str | int = int(str(index)) if index is not None else given.text
    if given.options.get("off"):
        agent.unpin(int(what) if str(what).isdecimal() else what)
    elif what != "":
        agent.pin(what)
    return agent.pins


def list_presets(magics: HarnessMagics, given: Given) -> PresetList:
    """All presets."""
    from harness_nb import presets
    from harness_nb.notebook.policy_results import PresetList

    taken = magics.seat.taken
    return PresetList(tuple(map(presets.get, presets.names())), taken.preset.name if taken is not None else "")


def show_preset(magics: HarnessMagics, given: Given) -> PresetShown:
    """One preset with its settings; without a name the one in use, as it is set."""
    from harness_nb.notebook.policy_results import PresetShown

    if given.text:
        return PresetShown(_preset(given))
    if "variant" in given.options:
        raise MagicError("--variant needs the name of a preset.", "Such as: %policy show hermes --variant report")
    return PresetShown(magics.seat.agent.preset)


def use_preset(magics: HarnessMagics, given: Given) -> AgentStatus:
    """Goes on with the session under another preset."""
    return magics.seat.with_settings({"preset": _preset(given)}).status()


def _preset(given: Given) -> Preset:
    from harness_nb import presets

    variant = given.options.get("variant")
    if variant is not None and not presets.get(given.text).variants:
        raise MagicError(f"Preset {given.text!r} has no variants.", "Leave --variant out.", subject=variant)
    chosen: dict[str, Any] = {"variant": variant} if variant is not None else {}
    return presets.get(given.text, **chosen)


def compare(magics: HarnessMagics, given: Given) -> Comparison | Systems:
    """Compares presets over one conversation, or by what is known of them."""
    from harness_nb import presets
    from harness_nb.lab.compare import compare
    from harness_nb.notebook.comparing import Told

    if given.options.get("facts"):
        return presets.compare(*given.text.split())
    model = given.options.get("model")
    told = Told()
    try:
        return compare(
            _conversation(magics, given),
            given.text.split() or presets.names(),
            window=_window(given),
            model=str(model) if model is not None else None,
            progress=told,
        )
    finally:
        told.end()


def tune(magics: HarnessMagics, given: Given) -> TunerWidget:
    """Opens the tuner over one conversation."""
    from harness_nb.notebook.widgets.tuner import TunerWidget

    source = _conversation(magics, given)
    names = given.text.split()
    own = () if names or not hasattr(source, "preset") else (source.preset,)
    return TunerWidget(source, *(names or own), window=_window(given))


def _window(given: Given) -> int | None:
    window = given.options.get("window")
    return window if isinstance(window, int) else None


def _conversation(magics: HarnessMagics, given: Given) -> Any:
    """The transcript, replay or agent that is meant.

    Raises:
        MagicError: There is no such variable, or nothing has been said yet.
    """
    name = given.options.get("on")
    found = magics.seat.agent if name is None else _variable(magics, str(name))
    messages = getattr(found, "messages", found)
    if hasattr(messages, "__len__") and len(messages) == 0:
        raise MagicError("Nothing has been said yet.", "Name a transcript with --on, or talk to the agent first.")
    return found


def _variable(magics: HarnessMagics, name: str) -> Any:
    from harness_nb.agent.agent import HarnessAgent
    from harness_nb.core.transcript import Transcript
    from harness_nb.lab.run import Replay

    kinds = (Transcript, Replay, HarnessAgent)
    found = magics.variables.get(name)
    if isinstance(found, kinds):
        return found
    hint = nearest(
        name, [one for one, value in magics.variables.items() if isinstance(value, kinds) and not one.startswith("_")]
    )
    what = "is no transcript, replay or agent" if name in magics.variables else "is no variable"
    remedy = f"Did you mean {hint!r}?" if hint else "Read one: transcript = read_transcript(...)."
    if Path(name).is_file():
        remedy = f"It is a file. Read it first: transcript = read_transcript({name!r}), then --on transcript."
    raise MagicError(f"--on {name!r} {what}.", remedy, subject=name)
