"""The Binder files hold what repo2docker expects of them."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

PROJECT = Path(__file__).parent.parent
BINDER = PROJECT / "binder"
SCRIPTS = ("postBuild", "start")


def metadata() -> dict[str, object]:
    """The project's table of `pyproject.toml`."""
    return tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements() -> list[str]:
    """The lines that pip reads."""
    lines = (BINDER / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_binder_installs_the_package_itself() -> None:
    assert requirements()[0] == "."


def test_binder_pins_jupyterlab_within_what_the_package_takes() -> None:
    pinned = Requirement(requirements()[1])
    ours = next(one for text in metadata()["dependencies"] if (one := Requirement(text)).name == pinned.name)
    lowest, bounds = _lowest(pinned), {one.operator for one in pinned.specifier}
    assert pinned.name == "jupyterlab"
    assert bounds == {">=", "<"}
    assert ours.specifier.contains(lowest)


def _lowest(requirement: Requirement) -> str:
    return next(one.version for one in requirement.specifier if one.operator == ">=")


def test_binder_names_a_python_that_the_package_takes() -> None:
    named = re.fullmatch(r"python-(\d+\.\d+)\n", (BINDER / "runtime.txt").read_text(encoding="utf-8"))
    assert named is not None
    assert SpecifierSet(metadata()["requires-python"]).contains(named[1])
    assert f"Programming Language :: Python :: {named[1]}" in metadata()["classifiers"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_binder_script_can_be_run_and_has_no_syntax_error(name: str) -> None:
    assert os.access(BINDER / name, os.X_OK)
    assert (BINDER / name).read_text(encoding="utf-8").startswith("#!/bin/bash\n")
    subprocess.run(["bash", "-n", str(BINDER / name)], check=True)


def test_the_build_stops_at_an_error_and_checks_the_import() -> None:
    lines = (BINDER / "postBuild").read_text(encoding="utf-8").splitlines()
    assert "set -e" in lines
    assert any("from harness_nb import" in line for line in lines)


def test_the_build_succeeds_without_a_key_and_without_a_network(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.defpath}"
    bare = {
        "PATH": path,
        "HOME": str(tmp_path),
        "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled"),
        "HARNESS_NB_OFFLINE": "1",
    }
    built = subprocess.run([str(BINDER / "postBuild")], cwd=PROJECT, env=bare, capture_output=True, encoding="utf-8")
    assert built.returncode == 0, built.stderr
    assert "offline" in built.stdout


def test_the_start_hands_over_to_the_command_with_the_local_cost_map_set() -> None:
    command = [str(BINDER / "start"), "bash", "-c", 'echo "$LITELLM_LOCAL_MODEL_COST_MAP"']
    assert subprocess.check_output(command, encoding="utf-8") == "True\n"
    assert (BINDER / "start").read_text(encoding="utf-8").rstrip().endswith('exec "$@"')


@pytest.mark.parametrize("path", sorted(PROJECT.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_imports_nothing_that_binder_does_not_install(path: Path) -> None:
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    python = [TransformerManager().transform_cell(source) for source in cells if not source.startswith("%%")]
    found = {name for source in python for name in _imported(ast.parse(source))}
    installed = {Requirement(text).name.lower() for text in metadata()["dependencies"]}
    assert found - installed - sys.stdlib_module_names <= {"IPython", "harness_nb"}


def _imported(tree: ast.AST) -> set[str]:
    """The packages that some code imports, except where it can do without them: in a `try`."""
    if isinstance(tree, ast.Import):
        return {alias.name.partition(".")[0] for alias in tree.names}
    if isinstance(tree, ast.ImportFrom):
        return {str(tree.module).partition(".")[0]}
    below = (one for one in ast.iter_child_nodes(tree) if not (isinstance(tree, ast.Try) and one in tree.body))
    return {name for one in below for name in _imported(one)}


def test_an_import_that_a_notebook_can_do_without_is_not_counted() -> None:
    code = "import json\ntry:\n    import dask\nexcept ImportError:\n    import csv\nfrom a.b import c"
    assert _imported(ast.parse(code)) == {"json", "csv", "a"}
