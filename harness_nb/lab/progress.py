"""How far long work is: a bar where one is wanted, or whoever wants to be told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], object]
"""Called with what is done and all there is to do."""


@contextmanager
def following(progress: Progress | bool, total: int, unit: str) -> Iterator[Callable[[int], object]]:
    """Gives a function that is told how much more is done.

    Args:
        progress: True for a bar, in a notebook as in a terminal; a function that is told; False for neither.
        total: All there is to do.
        unit: Of what.
    """
    if progress is True:
        from tqdm.auto import tqdm

        with tqdm(total=total, unit=f" {unit}") as bar:
            yield bar.update
    elif callable(progress):
        done = 0

        def told(more: int) -> None:
            nonlocal done
            done += more
            progress(done, total)

        yield told
    else:
        yield lambda more: None
