"""The pages of the reference that are made from the program itself: settings, presets, magics, commands, errors, names.

`python -m notebooks.reference.generated` writes them beside this file; a test compares what is there with what would be
written, so that a setting, a magic, a command or a name that is added appears here or the test fails.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import harness_nb
from harness_nb import presets
from harness_nb.core import config
from harness_nb.presets.facts import facts_of
from notebooks.reference import layers

FOLDER = Path(__file__).parent
PACKAGE = Path(harness_nb.__file__).parent
NOTE = "<!-- Made by `python -m notebooks.reference.generated`; edit what it is made from. -->\n\n"


def pages() -> dict[str, str]:
    """Each generated page by its file name."""
    made = {
        "api.md": _api(),
        "settings.md": _settings(),
        "presets.md": _presets(),
        "magics.md": _magics(),
        "commands.md": _commands(),
        "errors.md": _errors(),
        "metrics.md": _metrics(),
    }
    return {name: f"{NOTE}{text.rstrip()}\n" for name, text in made.items()} | {"layers.svg": layers.picture()}


# Public names

GROUPS = {
    "An agent": ("HarnessAgent",),
    "Settings": (
        "CompactionConfig", "TruncateArgsConfig", "ClearResultsConfig", "PinsConfig", "ToolResultEvictionConfig",
        "MemoryConfig", "MaintenanceConfig",
    ),
    "Models": ("OfflineModel", "ScriptedModel", "LiteLLMModel"),
    "Memory": ("MemoryIndex", "SearchHit", "Workspace"),
    "Policies": ("CompactionPolicy", "View", "Plan", "Item", "Ask", "edits", "presets"),
    "Conversations": ("Message", "Transcript"),
    "Widgets": ("PressureWidget", "CutoffWidget", "ConsolidationWidget", "TunerWidget"),
    "Errors": ("HarnessError", "ContextOverflowError"),
}  # fmt: skip
"""Public names by what they are for; what stands in none of them belongs to the lab."""


def groups() -> dict[str, tuple[str, ...]]:
    """All public names by what they are for."""
    grouped = {name for names in GROUPS.values() for name in names}
    rest = tuple(sorted((name for name in harness_nb.__all__ if name not in grouped), key=str.lower))
    return {**GROUPS, "The lab": rest}


def _api() -> str:
    lines = ["# Public names\n", "All of them are imported from `harness_nb`; everything else may change.\n"]
    for title, names in groups().items():
        lines += [f"## {title}\n", *(_directive(name) for name in names)]
    return "\n".join(lines)


def _directive(name: str) -> str:
    """What makes Sphinx take the documentation of a name from the program."""
    value = getattr(harness_nb, name)
    home = getattr(value, "__module__", None) or value.__name__
    if inspect.ismodule(value):
        return f"```{{eval-rst}}\n.. automodule:: {value.__name__}\n   :members:\n```\n"
    kind = "autoclass" if inspect.isclass(value) else "autofunction"
    options = "   :members:\n" if inspect.isclass(value) else ""
    return f"```{{eval-rst}}\n.. {kind}:: {home}.{name}\n{options}```\n"


# Settings


def _settings() -> str:
    lines = [
        "# Settings\n",
        "Names and defaults follow AgentScope's documentation of its harness, except those that it does not have: these are "
        "ours, and their figures stand with the reason in the description. `CompactionConfig(...)` and the others check "
        "values when they are made; all sizes are tokens unless said otherwise.\n",
    ]
    for kind in _config_classes():
        described = _described(inspect.getdoc(kind) or "")
        lines += [f"## `{kind.__name__}`\n", f"{(inspect.getdoc(kind) or '').splitlines()[0]}\n"]
        lines += _table(
            ("setting", "default", "meaning"),
            ((f"`{one.name}`", _value(_default(kind, one.name)), described.get(one.name, "")) for one in fields(kind)),
        )
    return "\n".join(lines)


def _config_classes() -> Iterator[type]:
    """The records of settings, in the order of their file."""
    for value in vars(config).values():
        if inspect.isclass(value) and is_dataclass(value) and value.__module__ == config.__name__:
            yield value


def _default(kind: type, name: str) -> object:
    return getattr(kind(), name)


def _value(value: object) -> str:
    """A default as it is shown: long sets by their size."""
    if isinstance(value, frozenset | set):
        return f"{len(value)} names" if value else "none"
    shown = repr(value)
    if shown.startswith("datetime.timedelta"):
        shown = str(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return f"`{shown}`".replace("|", "\\|")


def _described(doc: str) -> dict[str, str]:
    """The entries of a docstring's list of attributes or arguments, by name."""
    found = re.finditer(r"^    \*{0,2}(\w+): (.*(?:\n {8}.*)*)", doc, re.MULTILINE)
    return {one[1]: " ".join(one[2].split()) for one in found}


# Presets


def _presets() -> str:
    lines = [
        "# Presets\n",
        "Each imitates one system, of a stated version, as it was recorded; `harness` is the default and ours. "
        "[How far that is checked](conformance.md). Any setting below is a keyword of `presets.get(NAME, ...)`.\n",
    ]
    for name in presets.names():
        lines += _preset(name)
    return "\n".join(lines)


def _preset(name: str) -> Iterator[str]:
    first = presets.get(name)
    yield f"## `{name}`\n"
    yield f"{first.about}\n"
    for variant in first.variants or ("",):
        facts = facts_of(presets.get(name, variant=variant) if variant else first)
        yield f"**Variant `{variant}`**\n" if variant else ""
        said = ("trigger", "cut", "kept", "model_calls", "holds", "injected", "review", "search", "version", "source")
        yield "\n".join(f"- {one.replace('_', ' ')}: {getattr(facts, one)}" for one in said if getattr(facts, one))
        if facts.known_faults:
            yield "\nKnown faults:\n\n" + "\n".join(f"- {one}" for one in facts.known_faults)
        yield ""
    meanings = _meanings(name)
    yield from _table(
        ("setting", "default", "meaning"),
        ((f"`{key}`", _value(value), meanings.get(key, "")) for key, value in first.settings.items()),
    )


@cache
def _meanings(preset: str) -> dict[str, str]:
    """What the settings of a preset mean: from the records that hold most of them, its own before those that all share."""
    folder, settings = preset.replace("-", "_"), presets.get(preset).settings
    own = [path for path in _sources() if folder in path.parts or path.stem == folder]
    shared = [path for path in _sources() if "core" in path.parts or "policies" in path.parts or "memory" in path.parts]
    found: dict[str, str] = {}
    for paths in (own, shared):
        records = [record for path in paths for record in _documented(path)]
        for record in sorted(records, key=lambda one: -len(one.keys() & settings.keys())):
            found = record | found
    return found


@cache
def _sources() -> tuple[Path, ...]:
    return tuple(sorted(PACKAGE.rglob("*.py")))


@cache
def _documented(path: Path) -> tuple[dict[str, str], ...]:
    """Attributes and arguments that each class of a file describes."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return tuple(_described(ast.get_docstring(node) or "") for node in nodes if isinstance(node, ast.ClassDef))


# Magics and commands


def _magics() -> str:
    from harness_nb.notebook import grammar

    lines = [
        "# Magics\n",
        "After `%load_ext harness_nb`. Each takes `--help` and `--debug` (the whole traceback of an error), and completes "
        "with the Tab key. What comes back is an object that shows itself and has `.df`.\n",
    ]
    for command in (grammar.ASK, *itertools.chain.from_iterable(grammar.MAGICS.values())):
        lines += [f"## `{command.name}`\n", f"{_plain(command.meaning)}\n", f"```text\n{command.help}\n```\n"]
    return "\n".join(lines)


def _commands() -> str:
    from harness_nb.cli.commands import main as root

    lines = [
        "# Commands\n",
        "`harness-nb` in a terminal. An error is at most three lines, and the exit code is then 2.\n",
    ]
    for name, command in sorted(root.commands.items()):
        taken = " ".join(one.metavar or one.name.upper() for one in command.params if one.param_type_name == "argument")
        about = inspect.cleandoc(command.help or "").replace("\b\n", "")
        lines += [f"## `harness-nb {name}`\n", f"```text\nharness-nb {name} [OPTIONS] {taken}".rstrip() + "\n```\n"]
        lines += [_plain(part) + "\n" for part in about.split("\n\n")]
        options = (one for one in command.params if one.param_type_name == "option")
        lines += _table(("option", "meaning"), ((_option(one), one.help or "") for one in options))
    return "\n".join(lines)


def _option(option: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar or option.type.name.upper()}"
    return f"`{', '.join((*option.opts, *option.secondary_opts))}{value}`"


# Errors


def _errors() -> str:
    tree = inspect.getdoc(harness_nb.errors) or ""
    lines = [
        "# Errors\n",
        "Each says what is wrong, names the value, and says what to do; `error.problem`, `error.remedy` and `error.subject` "
        "hold the parts. In the tables, … stands for the value\n",
        f"```text\n{tree.partition(chr(10) * 2)[2].partition(chr(10) * 2)[0]}\n```\n",
    ]
    raised = _raised()
    for kind in _error_classes():
        rows = sorted(raised.get(kind.__name__, ()))
        lines += [f"## `{kind.__name__}`\n", f"{(inspect.getdoc(kind) or '').splitlines()[0]}\n"]
        if rows:
            lines += _table(("what is wrong", "what to do"), rows)
    return "\n".join(lines)


def _error_classes() -> list[type]:
    found = [one for one in vars(harness_nb.errors).values() if inspect.isclass(one) and issubclass(one, Exception)]
    return [one for one in found if one.__module__ == harness_nb.errors.__name__]


_DEPENDS = "what fits the value"


@cache
def _raised() -> dict[str, set[tuple[str, str]]]:
    """Problem and remedy of every error that the package makes with its words beside it, by class."""
    names = {one.__name__ for one in _error_classes()}
    found: dict[str, set[tuple[str, str]]] = {}
    for path in _sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in names:
                continue
            words = [_words(one) for one in node.args[:2]]
            if words and words[0]:
                found.setdefault(node.func.id, set()).add((words[0], (words[1] or _DEPENDS) if len(words) > 1 else ""))
    return found


def _words(node: ast.expr) -> str:
    """A text of the program as it is shown, `…` where a value stands; empty for what is worked out elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (one.value if isinstance(one, ast.Constant) else "…" for one in node.values)
        text = "".join(map(str, parts))
        return text if text.replace("…", "").strip() else ""
    return ""


# Metrics


def _metrics() -> str:
    from harness_nb.lab.metrics import METRICS

    lines = [
        "# Metrics\n",
        "What `score` and `sweep` can measure in a replay without a model. A metric that does not apply gives nothing.\n",
    ]
    rows = ((f"`{one.name}`", one.unit, one.better or "", one.meaning) for one in METRICS.values())
    return "\n".join([*lines, *_table(("metric", "unit", "better", "what it is"), rows)])


# Markdown


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(_cell(one) for one in row)} |"
    yield ""


def _cell(text: str) -> str:
    """A text in a cell of a table: on one line, and nothing in it is taken for markup."""
    return _plain(text)


def _plain(text: str) -> str:
    """A text outside of code, with what Markdown would take for markup escaped."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(one if one.startswith("`") else re.sub(r"(?<!\\)([|<>*_{}\[\]$#~])", r"\\\1", one) for one in parts)


def main(arguments: list[str]) -> int:
    """Writes the pages; `--check` only says which of them are not up to date."""
    differ = 0
    for name, text in pages().items():
        path = FOLDER / name
        is_same = path.exists() and path.read_text(encoding="utf-8") == text
        differ += not is_same
        if not is_same and "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {'same' if is_same else 'differs' if '--check' in arguments else 'written'}\n")
    return 1 if differ and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
