"""Runs a turn with a display that follows it: ten updates a second at most, one final state that stands alone."""

from __future__ import annotations

import time
from collections import deque
from contextlib import closing
from typing import TYPE_CHECKING, Any

from harness_nb.core.events import CompactionFinished, Event, Interrupted, TextPiece, ThinkingPiece, TurnFailed
from harness_nb.errors import HarnessError
from harness_nb.render.results import card_bundle
from harness_nb.render.turn import Turn, ended_card, running_bundle

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness_nb.agent.agent import HarnessAgent
    from harness_nb.agent.results import AgentReply

MAX_UPDATES_A_SECOND = 10


class Pace:
    """Says when a display may be updated.

    A piece of text waits a tenth of a second; anything else is shown at once, unless a second has had its ten updates.

    Args:
        now: Gives the time in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._updates: deque[float] = deque(maxlen=MAX_UPDATES_A_SECOND)

    def allows(self, *, is_piece: bool) -> bool:
        """Whether an update is due now; one that is allowed counts as done."""
        now = self._now()
        if len(self._updates) == MAX_UPDATES_A_SECOND and now - self._updates[0] < 1:
            return False
        if is_piece and self._updates and now - self._updates[-1] < 1 / MAX_UPDATES_A_SECOND:
            return False
        self._updates.append(now)
        return True


class LiveDisplay:
    """One display of a turn, updated in place.

    Args:
        pace: When it may be updated.
    """

    def __init__(self, pace: Pace | None = None) -> None:
        self.turn = Turn()
        self._pace = pace or Pace()
        self._handle: Any = None

    def add(self, event: Event) -> None:
        """Takes an event in and shows it when it is due."""
        self.turn.add(event)
        if self._pace.allows(is_piece=isinstance(event, TextPiece | ThinkingPiece)):
            self._show(running_bundle(self.turn))

    def end(self) -> None:
        """Shows the form that stays."""
        self._show(card_bundle(ended_card(self.turn)))

    def _show(self, bundle: dict[str, Any]) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def follow(agent: HarnessAgent, text: str) -> AgentReply:
    """Runs a turn and shows it as it goes on.

    Raises:
        HarnessError: The turn failed; the display says what had come by then.
        KeyboardInterrupt: It was stopped; likewise.
    """
    live = LiveDisplay()
    try:
        with closing(agent.follow(text)) as events:  # type: ignore[type-var]  # it is a generator
            for event in events:
                live.add(event)
                if isinstance(event, CompactionFinished):
                    _link(agent, event)
    except (HarnessError, KeyboardInterrupt) as error:
        _mark_end(live.turn, agent, stopped=isinstance(error, KeyboardInterrupt))
        raise
    finally:
        live.end()
    if agent.last_reply is None:
        raise HarnessError("The turn ended without an answer.", "Look at agent.events, and ask again.")
    return agent.last_reply


def _link(agent: HarnessAgent, event: CompactionFinished) -> None:
    """Shows a button that opens the plan of a compaction."""
    from IPython.display import display

    from harness_nb.notebook.widgets.plan_link import PlanLink

    if event.plan_number:
        display(PlanLink(agent, event.plan_number))


def _mark_end(turn: Turn, agent: HarnessAgent, *, stopped: bool) -> None:
    """Gives a turn whose last event did not arrive the end that it had."""
    if turn.end is None:
        now = agent.workspace.clock.now()
        turn.finish(Interrupted(time=now) if stopped else TurnFailed(time=now, error=""))
