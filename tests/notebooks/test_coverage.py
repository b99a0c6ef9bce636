"""The notebooks leave nothing out: each magic, each widget and each public name is used in one of them."""

from __future__ import annotations

import ast
from functools import cache

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

import harness_nb
from harness_nb.notebook.arguments import split
from harness_nb.notebook.grammar import ASK, MAGICS
from tests.notebooks.run import NOTEBOOKS

COMMANDS = sorted({ASK.name, *(command.name for commands in MAGICS.values() for command in commands)})


def command_of(line: str) -> str:
    """The command of a line with a magic of ours, such as `%memory search`; empty for any other line."""
    words = [word.text for word in split(line[line.index("%") :])] if "%" in line else []
    if words[:1] == [ASK.name]:
        return ASK.name
    for length in (2, 1):
        if " ".join(words[:length]) in COMMANDS:
            return " ".join(words[:length])
    return ""


def names_of(source: str) -> set[str]:
    """The public names that the Python of a cell uses after it imported them, in that cell or in an earlier one.

    Importing a name does not count, and an attribute counts where it is taken of the package itself.
    """
    tree = ast.parse(source)
    plain = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    of_package = {
        one.attr
        for one in ast.walk(tree)
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "harness_nb"
    }
    return (plain | of_package) & set(harness_nb.__all__)


def imported_in(source: str) -> set[str]:
    """What a cell imports from the package."""
    found = (
        one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.ImportFrom) and one.module == "harness_nb"
    )
    return {alias.asname or alias.name for one in found for alias in one.names}


def python_of(source: str) -> str:
    """A cell as Python: its magics as calls of the shell, and nothing of a cell that is a magic's body."""
    return "" if source.startswith("%%") else TransformerManager().transform_cell(source)


@cache
def used() -> tuple[frozenset[str], frozenset[str]]:
    """The commands and the public names in all notebooks."""
    commands: set[str] = set()
    names: set[str] = set()
    for path in NOTEBOOKS:
        known: set[str] = {"harness_nb"}
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                commands |= {command_of(line) for line in cell.source.splitlines()}
                python = python_of(cell.source)
                known |= imported_in(python)
                names |= names_of(python) & known
    return frozenset(commands), frozenset(names)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_magic_is_used_in_a_notebook(command: str) -> None:
    assert command in used()[0]


@pytest.mark.parametrize("name", [name for name in harness_nb.__all__ if not name.startswith("__")])
def test_each_public_name_is_used_in_a_notebook(name: str) -> None:
    assert name in used()[1]


def test_what_was_only_imported_or_belongs_to_something_else_was_not_used() -> None:
    assert names_of("from harness_nb import replay, score\nscore(run)\nother.sweep(1)") == {"score"}
    assert names_of("harness_nb.replay(conversation)") == {"replay"}
    assert imported_in("from harness_nb import replay as again") == {"again"}


def test_a_command_is_known_by_its_first_words() -> None:
    assert command_of("hits = %memory search who is Mira --limit 5") == "%memory search"
    assert command_of("%%agent --out reply") == "%%agent"
    assert command_of("%context") == "%context"
    assert command_of('print(f"{7 % 5}")') == ""
