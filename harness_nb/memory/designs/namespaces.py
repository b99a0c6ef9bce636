"""Memory folders named after the working directory that they belong to."""

from __future__ import annotations

import hashlib
import os


def canonical(path: str, home: str | None = None) -> str:
    """The one spelling of a directory: absolute, `~` expanded, links followed, no slash at the end; case is kept.

    Args:
        path: The directory, which need not exist.
        home: What `~` stands for; the user's own home by default.
    """
    if home is not None and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return os.path.realpath(os.path.expanduser(path))


def namespace(
    path: str, *, home: str | None = None, hash_name: str = "sha1", hash_length: int = 12, unnamed: str = "root"
) -> str:
    """Name of a memory folder: the directory's last part, a hyphen and the beginning of a hash of its whole path.

    Args:
        path: The working directory.
        home: What `~` stands for.
        hash_name: Algorithm of `hashlib`.
        hash_length: Hexadecimal digits of the hash.
        unnamed: Stands for the last part of a path that has none.
    """
    whole = canonical(path, home)
    digits = hashlib.new(hash_name, whole.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()
    return f"{os.path.basename(whole) or unnamed}-{digits[:hash_length]}"
