"""What every policy is: a pure function from a view to a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from harness_nb.core.plan import Plan
from harness_nb.core.view import Hook, View


class CompactionPolicy:
    """Decides what the model sees.

    Subclass it and write `plan`. A policy does no input or output, asks no clock and calls no model: what it needs from
    outside it asks for with `view.reply(request)`, and what must outlive a call it keeps in `Plan.state`.

    Attributes:
        name: Shown in events and displays; the class name by default.
        passes: Most plans carried out in one call.
        hooks: Points of the loop at which it wants to be called.
        record: The frozen dataclass of its state, of JSON values, or None when it keeps none.
    """

    name: str = ""
    passes: int = 4
    hooks: frozenset[Hook] = frozenset({"request", "overflow", "manual"})
    record: ClassVar[type | None] = None

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def plan(self, view: View) -> Plan:
        """The next model input, item by item, and why.

        Args:
            view: All that may be known.

        Returns:
            The plan; `view.unchanged(...)` leaves the list as it is.
        """
        raise TypeError(f"{type(self).__name__} has no plan(view).")

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its settings by name, for displays, sweeps and reports."""
        held = getattr(self, "config", None)
        return {one.name: getattr(held, one.name) for one in fields(held)} if is_dataclass(held) else {}

    def __repr__(self) -> str:
        """Class and name."""
        return f"{type(self).__name__}({self.name!r})"


class FunctionPolicy(CompactionPolicy):
    """A policy made of one function `plan(view)`."""

    def __init__(self, function: Callable[[View], Plan], name: str = "") -> None:
        self.name = name or getattr(function, "__name__", "policy")
        self._function = function

    def plan(self, view: View) -> Plan:
        """What the function says."""
        return self._function(view)
