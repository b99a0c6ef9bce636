"""What an outside memory provider must be able to do: a plain protocol, and what guards the agent against it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from harness_nb.core.blocks import block
from harness_nb.core.messages import Message
from harness_nb.core.tool import Tool

PREFETCH_SECONDS = 8.0
"""Longest wait for a provider; one that is still stuck is not asked again."""

T = TypeVar("T")


class MemoryProvider(Protocol):
    """An outside memory. At most one is used; every method may do nothing."""

    @property
    def name(self) -> str:
        """How it is called."""
        ...

    def prompt_block(self) -> str:
        """What is to stand in the prompt of every session."""
        ...

    def prefetch(self, query: str, session: str) -> str:
        """What it recalls for a text of the user."""
        ...

    def sync_turn(self, messages: Sequence[Message], session: str) -> None:
        """Takes in a completed turn."""
        ...

    def tools(self) -> Sequence[Tool]:
        """Tools of its own."""
        ...

    def wrote(self, action: str, target: str, content: str) -> None:
        """The built-in stores were changed."""
        ...


class Guarded:
    """A provider that can neither stop the agent nor keep it waiting.

    Args:
        provider: The provider.
        seconds: Longest wait for one call.
    """

    def __init__(self, provider: MemoryProvider, seconds: float = PREFETCH_SECONDS) -> None:
        self.provider = provider
        self.seconds = seconds
        self.problem = ""
        self._is_stuck = False

    def prompt_block(self) -> str:
        """What stands in the prompt."""
        return self._asked(self.provider.prompt_block, "")

    def recalled(self, query: str, session: str) -> str:
        """What it recalls, in a marked block; empty for nothing."""
        text = self._asked(lambda: self.provider.prefetch(query, session), "").strip()
        return block("recalled_memory", text, title=f'from="{self.provider.name}"') if text else ""

    def sync_turn(self, messages: Sequence[Message], session: str) -> None:
        """Lets it take in a completed turn."""
        self._asked(lambda: self.provider.sync_turn(messages, session), None)

    def wrote(self, action: str, target: str, content: str) -> None:
        """Tells it of a change."""
        self._asked(lambda: self.provider.wrote(action, target, content), None)

    def _asked(self, ask: Callable[[], T], otherwise: T) -> T:
        """What it answers; the other value when it fails, takes too long, or did before and is still at it."""
        import threading

        if self._is_stuck:
            return otherwise
        answers: list[T] = []

        def work() -> None:
            try:
                answers.append(ask())
            except Exception as error:  # noqa: BLE001 - a foreign provider may raise anything
                self.problem = f"{self.provider.name!r} failed: {type(error).__name__}: {error}"
            self._is_stuck = False

        self._is_stuck = True
        thread = threading.Thread(target=work, name="harness_nb-provider", daemon=True)
        thread.start()
        thread.join(self.seconds)
        if thread.is_alive():
            self.problem = f"{self.provider.name!r} gave no answer within {self.seconds:g} seconds."
        return answers[0] if answers else otherwise
