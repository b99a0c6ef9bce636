"""Hooks: functions of the user that are called with each event."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness_nb.agent.session import Session
from harness_nb.core.events import Event, Warned

Hook = Callable[[Event], object]
Emit = Callable[[Event], None]


class Watchers:
    """Functions that watch an agent for a while; together they are one hook."""

    def __init__(self) -> None:
        self._hooks: tuple[Hook, ...] = ()

    def add(self, hook: Hook) -> Callable[[], None]:
        """Calls a function with each event from now on; gives a function that ends this."""
        self._hooks = (*self._hooks, hook)

        def end() -> None:
            self._hooks = tuple(one for one in self._hooks if one is not hook)

        return end

    def __call__(self, event: Event) -> None:
        """Calls all of them."""
        for hook in self._hooks:
            hook(event)


def telling(hooks: Sequence[Hook], session: Session, emit: Emit) -> Emit:
    """Hands events on and to the hooks, too; a hook that fails is reported and harms nothing."""
    if not hooks:
        return emit

    def both(event: Event) -> None:
        emit(event)
        for hook in hooks:
            try:
                hook(event)
            except Exception as error:  # noqa: BLE001 - a user's hook may raise anything
                said = f"Hook {getattr(hook, '__name__', hook)!r} failed: {type(error).__name__}: {error}"
                failed = Warned(time=event.time, turn=event.turn, about="hook", text=said)
                session.record(failed)
                emit(failed)

    return both
