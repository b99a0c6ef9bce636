"""How far a long command is, on the error output while somebody watches it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from harness_nb.cli.kernel import Progress


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """A bar while the error output is a terminal, else nothing; what is given is called with what is done and all of it."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def show(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        yield show
