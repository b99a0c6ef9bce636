"""The tools with which a model looks after its own context: it may pin what the user said, and ask for a compaction."""

from __future__ import annotations

from collections.abc import Callable

from harness_nb.agent.pinning import Pinning
from harness_nb.core.tool import Tool
from harness_nb.errors import ToolError


class ContextTools:
    """Tools for the session that is open.

    Args:
        pins: Whether there is `pin_instruction`.
        compaction: Whether there is `compact_context`.
    """

    def __init__(self, *, pins: bool, compaction: bool) -> None:
        self._pins = pins
        self._compaction = compaction
        self._pinning: Pinning | None = None
        self._asked: str | None = None

    def serve(self, pinning: Pinning) -> None:
        """Takes up a session; what was asked for in another is forgotten."""
        self._pinning, self._asked = pinning, None

    def asked(self) -> str | None:
        """What a compaction that the model asked for is to heed, once; None when it asked for none."""
        words, self._asked = self._asked, None
        return words

    def tools(self) -> tuple[Tool, ...]:
        """The tools that are switched on."""

        def pin_instruction(quote: str) -> str:
            """Keeps what the user said is to hold from now on word for word.

            Args:
                quote: The user's own words.
            """
            if self._pinning is None:
                raise ToolError("No session is open.", subject="pin_instruction")
            pin = self._pinning.quote(str(quote))
            return f"Pinned: {pin.text}"

        def compact_context(focus: str = "") -> str:
            """Summarises the older part of this conversation before your next step.

            Args:
                focus: What must stay.
            """
            self._asked = str(focus)
            return "Done before your next step. Go on with the task."

        made: list[tuple[bool, Callable[[str], str]]] = [
            (self._pins, pin_instruction),
            (self._compaction, compact_context),
        ]
        return tuple(Tool.of(function, effect="write") for is_on, function in made if is_on)
