"""What a test needs from outside the project, and what happens where that is missing."""

from __future__ import annotations

import importlib
import os
import shutil
from typing import NoReturn

import pytest


def is_strict() -> bool:
    """Whether everything must be there: HARNESS_NB_STRICT is set and is not 0."""
    return os.environ.get("HARNESS_NB_STRICT", "0") not in ("", "0")


def skip_or_fail(reason: str) -> NoReturn:
    """Skips the test; fails it in a strict run, where nothing may be missing.

    Args:
        reason: What is missing and how to get it.
    """
    if is_strict():
        pytest.fail(f"HARNESS_NB_STRICT is set, and {reason}", pytrace=False)
    pytest.skip(reason)


def find_chromium() -> str:
    """Path of a Chromium or Chrome on this computer; skips or fails the test without one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    skip_or_fail("no Chromium is on the PATH: install the package `chromium`.")


def need(*modules: str) -> None:
    """Skips or fails the tests of a file where a package of the extra `bench` is not installed."""
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            reason = f"{name} can't be imported ({error}): install the extra `bench`."
            if is_strict():
                pytest.fail(f"HARNESS_NB_STRICT is set, and {reason}", pytrace=False)
            pytest.skip(reason, allow_module_level=True)
