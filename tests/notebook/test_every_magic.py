"""The notebook of all magics leaves none out, and its cells run in plain IPython as well."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat

import harness_nb
from harness_nb.notebook.arguments import split
from harness_nb.notebook.grammar import ASK, MAGICS

BOOK = Path(harness_nb.__file__).parent.parent / "notebooks" / "12_every_magic.ipynb"


def sources() -> list[str]:
    """The code cells."""
    return [cell.source for cell in nbformat.read(BOOK, as_version=4).cells if cell.cell_type == "code"]


def used() -> tuple[set[str], set[str]]:
    """The sub-commands of the notebook, and the options of `%%agent`."""
    commands, options = set(), set()
    for line in "\n".join(sources()).splitlines():
        words = [word.text for word in split(line[line.index("%") :])] if "%" in line else []
        if words[:1] == ["%%agent"]:
            options |= {word.removeprefix("--") for word in words if word.startswith("--")}
        elif words and words[0].strip("%") in MAGICS:
            commands.add(" ".join(words[:2]) if len(words) > 1 else words[0])
    return commands, options


def test_no_sub_command_is_left_out() -> None:
    grammar = {command.name for commands in MAGICS.values() for command in commands}
    commands, options = used()
    assert commands == grammar
    assert options >= {"var", "out", "no-stream", "dry-run"} and options <= {option.name for option in ASK.options}


def test_its_cells_run_in_plain_ipython(bare_shell: Any) -> None:
    before = Path.cwd()
    try:
        for source in sources():
            bare_shell.cell(source)
    finally:
        os.chdir(before)
        if "harness_nb" in bare_shell.extension_manager.loaded:
            bare_shell.run_line_magic("unload_ext", "harness_nb")
