"""What every policy is: a pure function from a view to a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

from harness_nb.core.plan import Plan
from harness_nb.core.transcript import Size
from harness_nb.core.view import Hook, View


@dataclass(frozen=True, slots=True)
class Rest:
    """Sizes of a list between which a policy certainly does nothing.

    Attributes:
        tokens: It rests while the list is smaller than this, or None where tokens are no reason to act.
        messages: It rests while the list has fewer items than this, or None where their number is no reason to act.
        least: It rests only while the list has as many tokens as this.
        size: The policy's own size of a message, by which `tokens` counts the list alone; None for the token figure.
    """

    tokens: int | None = None
    messages: int | None = None
    least: int = 0
    size: Size | None = None

    def holds(self, view: View) -> bool:
        """Whether a view is within all of them."""
        if self.messages is not None and len(view.input) >= self.messages:
            return False
        tokens = view.tokens if self.size is None else view.input.messages.tokens(self.size)
        return self.least <= tokens and (self.tokens is None or tokens < self.tokens)


class CompactionPolicy:
    """Decides what the model sees.

    Subclass it and write `plan`. A policy does no input or output, asks no clock and calls no model: what it needs from
    outside it asks for with `view.reply(request)`, and what must outlive a call it keeps in `Plan.state`.

    Attributes:
        name: Shown in events and displays; the class name by default.
        passes: Most plans carried out in one call.
        hooks: Points of the loop at which it wants to be called. The loop and a replay know `turn`, `request`, `result`, `end`,
            `overflow` and `manual`; `reply`, `idle` and `new` come up in recordings of systems only.
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

    def rests(self, view: View) -> Rest | None:
        """Between which sizes it certainly does nothing, so that a replay need not ask it for a plan at every request.

        A promise: while the list only grows from that of the view, and model, prompt, schemas, pins and state stay, every plan
        within these sizes leaves list and state as they are, asks for nothing, remembers nothing and raises no error;
        after a refusal and by hand it is asked all the same. None, which promises nothing, is never wrong.
        """
        return None

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
