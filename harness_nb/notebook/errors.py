"""Errors of a user in a cell: the problem and what to do, without a traceback; the cell fails all the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness_nb.errors import HarnessError

MAX_LINES = 3


class MagicError(HarnessError):
    """What a magic raises; IPython shows its few lines instead of a traceback. The original is the cause."""

    def _render_traceback_(self) -> list[str]:
        """The lines to show; IPython asks for them by this name."""
        lines = [line for line in str(self).splitlines() if line.strip()]
        return [*lines[: MAX_LINES - 1], " ".join(lines[MAX_LINES - 1 :])] if len(lines) > MAX_LINES else lines


class TurnInterrupt(KeyboardInterrupt):
    """An interrupt while a magic worked; IPython shows one line instead of where in our code it struck."""

    def _render_traceback_(self) -> list[str]:
        """The line to show; IPython asks for it by this name."""
        return ["KeyboardInterrupt: stopped; the session stays valid."]


@contextmanager
def short_errors(*, debug: bool = False) -> Iterator[None]:
    """Turns an interrupt, and an error that the user can act on, into a short one; anything else is a fault of ours and keeps its traceback.

    Args:
        debug: Leaves every error as it is.
    """
    try:
        yield
    except MagicError:
        raise
    except HarnessError as error:
        if debug:
            raise
        raise MagicError(error.problem, error.remedy, subject=error.subject) from error
    except KeyboardInterrupt as error:
        if debug:
            raise
        raise TurnInterrupt from error
