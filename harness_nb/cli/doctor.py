"""Looks at this computer: what is installed, and what will work and why not."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from harness_nb.errors import ConfigError
from harness_nb.render.card import Card, Table
from harness_nb.render.text import count

KEY_VARIABLE = re.compile(r"^(?!HARNESS_NB_)\w+_(API_KEY|API_TOKEN|ACCESS_KEY_ID)$|^HF_TOKEN$|^GITHUB_TOKEN$")
"""Names under which litellm looks for keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at.

    Attributes:
        about: `installed`, `model`, `front-end` or `files`.
        name: What was looked at.
        is_fine: Whether it will work.
        detail: The version, or why not and what to do.
        is_essential: Whether nothing works without it.
    """

    about: str
    name: str
    is_fine: bool
    detail: str
    is_essential: bool = False


def checks(workspace: Path | None = None) -> tuple[Check, ...]:
    """Looks at everything; nothing is asked of the network, and no key is read, only whether one is there.

    Args:
        workspace: The workspace to check; the usual one of the working directory by default.
    """
    return (*_installed(), *_models(), *_front_ends(), *_files(workspace))


def doctor_card(found: tuple[Check, ...]) -> Card:
    """What was found, as a table."""
    broken = [check for check in found if check.is_essential and not check.is_fine]
    line = f"{count(len(broken), 'essential thing')} broken" if broken else "everything essential works"
    rows = [(check.about, check.name, "yes" if check.is_fine else "no", check.detail) for check in found]
    return Card("harness_nb on this computer", line, (Table.of(("", "what", "works", "how"), rows, most=len(rows)),))


_ESSENTIAL = ("harness_nb", "ipykernel", "ipython", "nbclient", "nbconvert", "nbformat", "click", "filelock", "pandas")
_USEFUL = ("tiktoken", "litellm")
_EXTRAS = {"wordllama": "semantic", "dask": "distributed", "xllamacpp": "local"}


def _installed() -> Iterator[Check]:
    running = f"{sys.version.split()[0]} at {sys.executable}"
    is_new_enough = sys.version_info >= (3, 11)
    yield Check(about="installed", name="Python", is_fine=is_new_enough, detail=running, is_essential=True)
    for name in (*_ESSENTIAL, *_USEFUL):
        yield _package("installed", name, "pip install harness_nb", is_essential=name in _ESSENTIAL)
    for name, extra in _EXTRAS.items():
        yield _package("installed", name, f"optional: pip install 'harness_nb[{extra}]'")


def _package(about: str, name: str, remedy: str, *, is_essential: bool = False, label: str = "") -> Check:
    try:
        found = version(name)
    except PackageNotFoundError:
        return Check(
            about=about,
            name=label or name,
            is_fine=False,
            detail=f"not installed ({remedy})",
            is_essential=is_essential,
        )
    return Check(about=about, name=label or name, is_fine=True, detail=found, is_essential=is_essential)


def _models() -> Iterator[Check]:
    yield Check(about="model", name="offline", is_fine=True, detail="built in; no key, no network", is_essential=True)
    yield _local()
    yield _litellm()


def _local() -> Check:
    from harness_nb.model.local import LocalModel, bundled_model

    try:
        LocalModel()
    except ConfigError as error:
        return Check(about="model", name="local", is_fine=False, detail=" ".join(str(error).split()))
    return Check(about="model", name="local", is_fine=True, detail=bundled_model().name)


def _litellm() -> Check:
    name = "any of litellm"
    if find_spec("litellm") is None:
        return Check(about="model", name=name, is_fine=False, detail="litellm is not installed (pip install litellm)")
    keys = sorted(one for one, value in os.environ.items() if value and KEY_VARIABLE.search(one))
    if not keys:
        how = "no key is set: set the provider's variable, such as OPENAI_API_KEY, before starting Jupyter"
        return Check(about="model", name=name, is_fine=False, detail=how)
    return Check(about="model", name=name, is_fine=True, detail=f"with the keys in {', '.join(keys)}, over the network")


def _front_ends() -> Iterator[Check]:
    yield _package("front-end", "jupyterlab", "pip install jupyterlab", label="JupyterLab")
    yield _package("front-end", "notebook", "optional: pip install notebook", label="Jupyter Notebook")
    yield _package("front-end", "ipywidgets", "pip install ipywidgets", label="widgets")
    yield _package("front-end", "ipython", "pip install ipython", label="IPython in a terminal (text only)")


def _files(workspace: Path | None) -> Iterator[Check]:
    yield _full_text_search()
    yield _place(workspace)


def _full_text_search() -> Check:
    def check(is_fine: bool, detail: str) -> Check:
        return Check(about="files", name="full-text search", is_fine=is_fine, detail=detail, is_essential=True)

    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError as error:
        return check(False, f"SQLite {sqlite3.sqlite_version} without FTS5 ({error}): use a Python that has it")
    finally:
        connection.close()
    return check(True, f"SQLite {sqlite3.sqlite_version} with FTS5")


def _place(workspace: Path | None) -> Check:
    """Whether files can be made in the workspace, or where it would be made; nothing stays behind."""
    from harness_nb.store.workspace import DEFAULT_PATH

    wanted = Path(DEFAULT_PATH if workspace is None else workspace)
    place = wanted
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place.resolve()):
            detail = f"{str(wanted)!r} can be written"
    except OSError as error:
        detail = f"{str(wanted)!r} can't be written: {error.strerror} (give another folder with workspace=)"
        return Check(about="files", name="workspace", is_fine=False, detail=detail, is_essential=True)
    return Check(about="files", name="workspace", is_fine=True, detail=detail, is_essential=True)
