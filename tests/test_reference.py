from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import Path

import pytest

import harness_nb
from harness_nb import errors, presets
from harness_nb.cli.commands import main
from harness_nb.core import config
from harness_nb.lab.metrics import METRICS
from harness_nb.notebook import grammar
from notebooks.reference import generated, layers

FOLDER = Path(__file__).parent.parent / "notebooks" / "reference"


def page(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(generated.pages()))
def test_a_page_made_from_the_program_is_up_to_date(name: str) -> None:
    assert page(name) == generated.pages()[name], "run: python -m notebooks.reference.generated"


def test_every_public_name_is_on_the_page_of_names() -> None:
    documented = set(re.findall(r"auto(?:class|function|module):: [\w.]*?(\w+)$", page("api.md"), re.MULTILINE))
    assert documented == set(harness_nb.__all__)


def test_every_setting_is_on_the_page_of_settings_with_its_meaning() -> None:
    kinds = [one for one in vars(config).values() if is_dataclass(one) and one.__module__ == config.__name__]
    assert kinds
    text = page("settings.md")
    for kind in kinds:
        assert f"## `{kind.__name__}`" in text  # type: ignore[union-attr]  # a class
        for setting in fields(kind):
            assert re.search(rf"^\| `{setting.name}` \| `?[^|]+`? \| [^|]{{10,}} \|$", text, re.MULTILINE), setting.name


@pytest.mark.parametrize("name", presets.names())
def test_every_setting_of_a_preset_is_on_the_page_of_presets_with_its_meaning(name: str) -> None:
    section = page("presets.md").partition(f"## `{name}`\n")[2].partition("\n## `")[0]
    for setting in presets.get(name).settings:
        assert re.search(rf"^\| `{setting}` \| .+ \| .{{5,}} \|$", section, re.MULTILINE), setting
    for variant in presets.get(name).variants:
        assert f"**Variant `{variant}`**" in section


def test_every_magic_command_error_and_metric_has_its_entry() -> None:
    magics = [grammar.ASK, *chain.from_iterable(grammar.MAGICS.values())]
    assert all(f"## `{one.name}`" in page("magics.md") for one in magics)
    assert all(f"## `harness-nb {name}`" in page("commands.md") for name in main.commands)
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.HarnessError)]
    assert all(f"## `{one.__name__}`" in page("errors.md") for one in kinds)
    assert all(f"| `{name}` |" in page("metrics.md") for name in METRICS)


def test_the_picture_of_the_layers_has_every_package_and_its_page_explains_each() -> None:
    drawn = set(chain.from_iterable(layers.layers()))
    there = {
        path.stem for path in Path(harness_nb.__file__).parent.iterdir() if not path.name.startswith(("_", ".", "py."))
    }
    assert drawn == there
    assert all(f"`{name}`" in page("architecture.md") for name in drawn)


def test_every_page_stands_in_the_contents() -> None:
    contents = page("index.md")
    for path in FOLDER.glob("*.md"):
        assert path.stem == "index" or re.search(rf"^{path.stem}$", contents, re.MULTILINE), path.name


def test_every_link_to_a_file_leads_somewhere() -> None:
    for path in [*FOLDER.glob("*.md"), FOLDER.parent.parent / "README.md"]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"
