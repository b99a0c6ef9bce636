"""The public names: one sorted list, each of them there, explained and shown to the user."""

from __future__ import annotations

import ast
import inspect
import re
import types
from pathlib import Path

import pytest

import harness_nb

PACKAGE = Path(harness_nb.__file__).parent
PROJECT = PACKAGE.parent


def names_for_checkers() -> list[str]:
    """Names that `__init__` imports below `if TYPE_CHECKING:`."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    blocks = [
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
    ]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return [alias.asname or alias.name for node in imports for alias in node.names]


def shown_to_the_user() -> str:
    """README and the sources of the notebooks as one text."""
    pages = [PROJECT / "README.md", *sorted((PROJECT / "notebooks").rglob("*.ipynb"))]
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def test_the_public_names_are_sorted_and_unique() -> None:
    assert harness_nb.__all__ == sorted(set(harness_nb.__all__), key=str.casefold)


@pytest.mark.parametrize("name", harness_nb.__all__)
def test_a_public_name_is_there_and_has_a_docstring(name: str) -> None:
    member = getattr(harness_nb, name)
    explained = isinstance(member, type | types.FunctionType | types.ModuleType)
    assert not explained or inspect.getdoc(member)
    assert name in dir(harness_nb)


def test_checkers_see_the_same_names() -> None:
    lazy = [name for name in harness_nb.__all__ if not name.startswith("__")]
    assert sorted(names_for_checkers()) == sorted(lazy)


def test_public_names_appear_in_the_readme_or_a_notebook() -> None:
    shown = set(re.findall(r"\w+", shown_to_the_user()))
    assert [name for name in harness_nb.__all__ if name not in shown and not name.startswith("__")] == []


def test_an_unknown_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        harness_nb.no_such_name  # noqa: B018 - the look-up is what is tested


def test_the_notebook_hooks_are_there() -> None:
    assert callable(harness_nb.load_ipython_extension)
    assert callable(harness_nb.unload_ipython_extension)
