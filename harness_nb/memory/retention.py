"""How long files are kept: merged daily logs go to the archive, sessions nobody used for long are deleted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path

from harness_nb.errors import HarnessError, SessionBusyError
from harness_nb.memory.pending import is_merged
from harness_nb.store.files import leftovers
from harness_nb.store.sessions import SessionFiles
from harness_nb.store.watermark import Watermark
from harness_nb.store.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What was moved or deleted.

    Attributes:
        names: Files, relative to the workspace, as they were called.
        stayed: Files that are old enough and stay all the same, each with the reason behind it.
    """

    names: tuple[str, ...] = ()
    stayed: tuple[str, ...] = ()


def expire(workspace: Workspace, days: int | None, now: datetime) -> Cleared:
    """Moves daily logs to the archive that are older than some days and merged whole.

    Args:
        workspace: Where they lie.
        days: Age from which they go; 0 and None: never.
        now: The aware time; its date counts.

    Raises:
        StoreError: A file can't be read or moved.
    """
    if not days:
        return Cleared()
    log, watermark = workspace.daily_log, Watermark(workspace.watermark_path, clock=workspace.clock)
    marks = watermark.read()[0].marks
    moved: list[date] = []
    stayed: list[str] = []
    for day in log.days():
        if day >= now.date() - timedelta(days=days):
            continue
        if log.archive(day, partial(is_merged, mark=marks.get(day), day=day)):
            moved.append(day)
        else:
            stayed.append(f"{workspace.relative(log.path(day))}: not merged yet")
    if moved:
        watermark.change(lambda known: replace(known, marks={d: m for d, m in known.marks.items() if d not in moved}))
    return Cleared(names=tuple(workspace.relative(log.path(day)) for day in moved), stayed=tuple(stayed))


def prune(workspace: Workspace, days: int | None, now: datetime) -> Cleared:
    """Deletes the sessions whose last recorded activity is longer ago than some days; never one that is open.

    What a process that was killed left half written goes after a day in any case: nothing reads it.

    Args:
        workspace: Where they lie.
        days: Days without activity; 0 and None: never.
        now: The aware time.

    Raises:
        StoreError: A file can't be deleted.
    """
    names = [_delete(workspace, path) for path in leftovers(workspace.path)]
    stayed: list[str] = []
    for files in workspace.sessions():
        if not _is_older(files, days, now):
            continue
        try:
            files.claim()
        except SessionBusyError:
            stayed.append(f"{workspace.relative(files.log_path)}: open")
            continue
        try:
            if _is_older(files, days, now):  # nobody can have used it since
                names += _deleted(workspace, files)
        finally:
            files.release()
    return Cleared(names=tuple(names), stayed=tuple(stayed))


def _is_older(files: SessionFiles, days: int | None, now: datetime) -> bool:
    """Whether a session was last used longer ago than some days; without a number of days none was."""
    if not days:
        return False
    last = files.last_activity()
    return last is not None and last < now - timedelta(days=days)


def _deleted(workspace: Workspace, files: SessionFiles) -> list[str]:
    paths = (files.view_path, files.log_path)  # the log last: a session without it would begin anew
    return [_delete(workspace, path) for path in paths if path.exists()]


def _delete(workspace: Workspace, path: Path) -> str:
    """Deletes a file; its name in the workspace."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise HarnessError(f"{str(path)!r} can't be deleted: {reason}.", "Correct its permissions.") from error
    return workspace.relative(path)
