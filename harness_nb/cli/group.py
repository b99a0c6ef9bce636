"""A group of commands whose errors are short: what is wrong and what to do in at most three lines, and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

import click

from harness_nb.errors import HarnessError

MAX_ERROR_LINES = 3
EXIT_CODE = 2


class Commands(click.Group):
    """Commands of this package: no error that a user can act on ends in a traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs the command that the arguments name, and ends the process unless told otherwise."""
        run: Callable[[], Any] = partial(super().main, args, prog_name, complete_var, standalone_mode=False, **extra)
        if not standalone_mode:
            return run()
        code: Any
        try:
            code = run()
        except HarnessError as error:
            code = _said(str(error))
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = EXIT_CODE
        except click.UsageError as error:
            place = error.ctx.command_path if error.ctx is not None else self.name
            code = _said(f"{error.format_message()}\nSee {place} --help.")
        except click.ClickException as error:
            code = _said(error.format_message())
        except click.Abort:
            code = _said("Stopped.")
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; an unknown one brings the nearest."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            near = get_close_matches(name, known, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Use one of {', '.join(known)}."
            raise click.UsageError(f"There is no command {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)


def _said(text: str) -> int:
    """Prints an error; gives the exit code."""
    click.echo(short(text), err=True)
    return EXIT_CODE


def short(text: str) -> str:
    """A text in at most three lines; what is longer goes on in the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "\n".join([*lines[: MAX_ERROR_LINES - 1], " ".join(lines[MAX_ERROR_LINES - 1 :])]).strip()
