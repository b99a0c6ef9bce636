"""The foreign packages, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from harness_nb.errors import ConfigError


def foreign(module: str, package: str) -> Any:
    """A module of another project.

    Args:
        module: Its name.
        package: The package that brings it, as it is installed.

    Raises:
        ConfigError: The package is not installed, or not one that this adapter knows.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{module!r} can't be imported: {error}.",
            f"Install the extra `bench`, which brings {package}: pip install 'harness_nb[bench]'.",
            subject=package,
        ) from error
