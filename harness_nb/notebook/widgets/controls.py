"""Controls for the settings of a preset: a slider for a number, a box for a switch, a field for several numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import ipywidgets

from harness_nb.errors import ConfigError
from harness_nb.presets import Preset

FIRST = 6
"""How many controls are shown at once; the others are folded."""

_LARGE = 1_000

_IMPORTANT = re.compile(r"trigger|threshold|keep|protect|ratio|tail|head|batch|max_|min_")
_STYLE = {"description_width": "170px"}
_LAYOUT = {"width": "400px", "max_width": "100%"}


def tunable(preset: Preset) -> dict[str, Any]:
    """The settings of a preset that change what its policy does and that a control can show, the important ones first."""
    config = getattr(preset.policy, "config", None)
    own = {one.name for one in fields(config)} if is_dataclass(config) else set(preset.settings)
    found = {name: value for name, value in preset.settings.items() if name in own and _kind(value)}
    return dict(sorted(found.items(), key=lambda pair: _rank(*pair)))


def _rank(name: str, value: object) -> tuple[bool, bool]:
    return isinstance(value, bool), not _IMPORTANT.search(name)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "switch"
    if isinstance(value, int | float):
        return "number"
    is_numbers = isinstance(value, tuple) and bool(value) and all(isinstance(one, int | float) for one in value)
    return "numbers" if is_numbers else ""


def control(name: str, value: Any, window: int) -> ipywidgets.Widget:
    """A control that holds a setting.

    Args:
        name: Name of the setting.
        value: Its value.
        window: Context window in tokens, the range of settings in tokens.
    """
    common: dict[str, Any] = {"description": name, "style": dict(_STYLE), "layout": ipywidgets.Layout(**_LAYOUT)}
    kind = _kind(value)
    if kind == "switch":
        return ipywidgets.Checkbox(value=value, **common)
    if kind == "numbers":
        shown = ", ".join(f"{one:g}" for one in value)
        return ipywidgets.Text(value=shown, continuous_update=False, **common)
    if isinstance(value, int):
        return _whole(name, value, window, common)
    if value < 0 or abs(100 * value - round(100 * value)) > 1e-9:  # no slider meets it
        return ipywidgets.FloatText(value=value, continuous_update=False, **common)
    return ipywidgets.FloatSlider(value=value, min=0, max=1.0 if value <= 1 else 4 * value, step=0.01, **common)


def _whole(name: str, value: int, window: int, common: dict[str, Any]) -> ipywidgets.IntSlider:
    step, most = _step(value), _most(value, name, window)
    least, most = min(0, value), most - most % step
    return ipywidgets.IntSlider(value=value, min=least, max=most, step=step, readout_format=",d", **common)


def _most(value: int, name: str, window: int) -> int:
    """The largest value of a slider; a size in tokens may be as large as the window."""
    if name.endswith("_tokens") and (value >= _LARGE or not value):
        return max(window, 2 * value)
    return max(100 if "message" in name else 10, 4 * value)


def _step(value: int) -> int:
    """The largest step of a slider that begins at 0 and meets the value; a front-end would change a value between steps."""
    return next(step for step in (1_000, 500, 100, 50, 10, 1) if value % step == 0) if value >= _LARGE else 1


MOST_VALUES = 7
"""Values of a setting that a sweep tries."""

_FACTORS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3)


def values_to_try(control: ipywidgets.Widget) -> list[Any]:
    """Values around that of a control, all of which it can hold; its own is among them.

    A number that is 0 is tried in equal steps over a quarter of its range. A control without a range, or of several
    numbers, has none.

    Args:
        control: A control made by `control`.
    """
    if isinstance(control, ipywidgets.Checkbox):
        return [False, True]
    if not isinstance(control, ipywidgets.IntSlider | ipywidgets.FloatSlider):
        return []
    now, reach = control.value, (control.max - control.min) / 4
    wanted = (
        [now * one for one in _FACTORS]
        if now > 0
        else [now + reach * n / (MOST_VALUES - 1) for n in range(MOST_VALUES)]
    )
    met = {_met(control, one) for one in wanted} | {now}
    return sorted(met)


def _met(control: ipywidgets.Widget, wanted: float) -> Any:
    """The value nearest to a number that a front-end can give a slider."""
    steps = round((min(max(wanted, control.min), control.max) - control.min) / control.step)
    value = control.min + steps * control.step
    return (
        min(int(value), control.max) if isinstance(control, ipywidgets.IntSlider) else round(min(value, control.max), 6)
    )


def value_of(control: ipywidgets.Widget, before: Any) -> Any:
    """The value of a control, of the kind that the setting has.

    Args:
        control: The control.
        before: The value that it was made with.

    Raises:
        ConfigError: A field holds no numbers.
    """
    if _kind(before) != "numbers":
        return control.value
    try:
        numbers = [float(one) for one in re.split(r"[,;\s]+", control.value.strip()) if one]
    except ValueError as error:
        raise ConfigError(f"{control.value!r} are no numbers.", "Give numbers, with commas between.") from error
    return tuple(int(one) if one.is_integer() else one for one in numbers)


def folded(controls: Iterable[ipywidgets.Widget]) -> list[ipywidgets.Widget]:
    """The first controls, and the others folded below them."""
    shown = list(controls)
    if len(shown) <= FIRST + 1:
        return shown
    more = ipywidgets.Accordion([ipywidgets.VBox(shown[FIRST:])], titles=["More settings"], selected_index=None)
    return [*shown[:FIRST], more]
