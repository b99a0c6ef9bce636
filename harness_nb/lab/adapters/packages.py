"""The foreign packages, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from harness_nb.errors import ConfigError


def foreign(module: str, package: str, *names: str) -> Any:
    """A module of another project.

    Args:
        module: Its name.
        package: The package that brings it, as it is installed.
        *names: What is used of it besides what the project promises to keep.

    Raises:
        ConfigError: The package is not installed, or not one that this adapter knows.
    """
    try:
        found = import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{module!r} can't be imported: {error}.",
            f"Install the extra `bench`, which brings {package}: pip install 'harness_nb[bench]'.",
            subject=package,
        ) from error
    for name in names:
        if not hasattr(found, name):
            raise ConfigError(
                f"The {package} that is installed has no {module}.{name}.",
                f"Install the version of {package} that this adapter was made for, or tell us.",
                subject=package,
            )
    return found
