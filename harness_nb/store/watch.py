"""Whether a folder surely is as it was a moment ago, found out with a few looks instead of one at each file."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from harness_nb.store.documents import Stamp, Survey, has_stamp

TRUSTED_SECONDS = 1.0
"""How long a change within an old file, made in place by others, may stay unseen. All other changes are seen at once."""

RACY_NS = 2_000_000_000
"""What changed less than this before it was looked at may have changed again within one tick of its file system."""

_WATCHED_FILES = 4


@dataclass(frozen=True, slots=True)
class Watch:
    """What was seen of a folder, and when.

    Attributes:
        folder: The folder.
        folders: It and the folders in it: files made, renamed, replaced or removed change their stamps.
        files: The files that changed last: what changes next is most likely one of them.
        seen_at: Monotonic seconds.
    """

    folder: Path
    folders: dict[str, Stamp]
    files: dict[str, Stamp]
    seen_at: float

    @classmethod
    def of(cls, folder: Path, found: Survey, seen_at: float, seen_ns: int) -> Watch | None:
        """A watch on what was found, None where it changed so lately that it must be looked at again.

        Args:
            folder: The folder.
            found: What lay in it.
            seen_at: Monotonic seconds before it was looked at.
            seen_ns: The same moment by the wall clock, in nanoseconds.
        """
        lately = sorted(found.files, key=lambda name: found.files[name].mtime_ns)[-_WATCHED_FILES:]
        stamps = [found.files[name] for name in lately] + list(found.folders.values())
        if any(stamp.mtime_ns + RACY_NS >= seen_ns for stamp in stamps):
            return None
        return cls(folder, found.folders, {name: found.files[name] for name in lately}, seen_at)

    def is_unchanged(self) -> bool:
        """Whether nothing is seen to have changed, and the last look at every file is not long ago."""
        if time.monotonic() - self.seen_at > TRUSTED_SECONDS:
            return False
        root = f"{self.folder}{os.sep}"
        return all(
            [has_stamp(root + name, stamp) for stamps in (self.folders, self.files) for name, stamp in stamps.items()]
        )
