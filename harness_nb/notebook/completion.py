"""Completion on our own lines: sub-commands, options and values with a known set. Never slow, never an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from harness_nb.notebook.arguments import COMMON, Command, Word, split
from harness_nb.notebook.grammar import ASK, CONTEXT, MAGICS

if TYPE_CHECKING:
    from harness_nb.notebook.magics import HarnessMagics

MODELS = ("offline", "local")
MODES = ("keyword", "hybrid", "auto")


def candidates(text: str, values: Callable[[str], Iterable[str]]) -> tuple[str, list[str]] | None:
    """What may stand at the end of a line.

    Args:
        text: The line up to the cursor.
        values: Gives the values of a named set.

    Returns:
        The part of the last word that is there, and its completions; None when the line is not one of ours.
    """
    stripped = text.lstrip()
    marks = len(stripped) - len(stripped.lstrip("%"))
    words = split(stripped[marks:])
    if marks not in (1, 2) or not words or words[0].text not in MAGICS:
        return None
    typed = "" if text[-1:].isspace() else words[-1].text
    done = words[1:] if not typed or len(words) == 1 else words[1:-1]
    if len(words) == 1 and typed:
        return None
    found = _cell(done, typed, values) if marks == 2 else _line(words[0].text, done, typed, values)
    return typed, sorted(one for one in found if one.startswith(typed))


def _cell(done: list[Word], typed: str, values: Callable[[str], Iterable[str]]) -> Iterable[str]:
    return _of(ASK, done, typed, values)


def _line(magic: str, done: list[Word], typed: str, values: Callable[[str], Iterable[str]]) -> Iterable[str]:
    commands = {command.name.split()[-1]: command for command in MAGICS[magic] if " " in command.name}
    if not done:
        own = _options(CONTEXT[0], typed) if magic == "context" else []
        return [*commands, *own]
    command = commands.get(done[0].text)
    return _of(command, done[1:], typed, values) if command else []


def _of(command: Command, done: list[Word], typed: str, values: Callable[[str], Iterable[str]]) -> Iterable[str]:
    before = done[-1].text if done else ""
    for option in command.options:
        if before == f"--{option.name}" and option.kind != "flag":
            return values(option.values) if option.values else []
    if typed.startswith("-"):
        return _options(command, typed)
    texts = values(command.text_values) if command.text_values and (command.words or not done) else []
    return [*texts, *(_options(command, typed) if not typed else [])]


def _options(command: Command, typed: str) -> list[str]:
    return [f"--{option.name}" for option in (*command.options, *COMMON)] if not typed or typed[0] == "-" else []


class Values:
    """The known sets of values.

    Args:
        magics: Knows the agent in use and the user's variables.
    """

    def __init__(self, magics: HarnessMagics) -> None:
        self._magics = magics

    def __call__(self, name: str) -> Iterable[str]:
        """Values of a set; an unknown set has none."""
        find = getattr(self, f"_{name}", None)
        return find() if find is not None else ()

    def _models(self) -> Iterable[str]:
        return MODELS

    def _presets(self) -> Iterable[str]:
        from harness_nb import presets

        return presets.names()

    def _variants(self) -> Iterable[str]:
        from harness_nb import presets

        return {variant for name in presets.names() for variant in presets.get(name).variants}

    def _conversations(self) -> Iterable[str]:
        kinds = ("Transcript", "Replay", "HarnessAgent")
        variables = self._magics.variables.items()
        return [name for name, value in variables if type(value).__name__ in kinds and not name.startswith("_")]

    def _candidates(self) -> Iterable[str]:
        from harness_nb.store.candidates import CandidateFiles

        agent = self._magics.seat.taken
        numbers = CandidateFiles(agent.workspace.candidates_folder).numbers() if agent is not None else []
        return map(str, numbers)

    def _kinds(self) -> Iterable[str]:
        from harness_nb.store.hits import KINDS

        return KINDS

    def _modes(self) -> Iterable[str]:
        return MODES

    def _topics(self) -> Iterable[str]:
        agent = self._magics.seat.taken
        return agent.memory.files() if agent is not None else ()

    def _plans(self) -> Iterable[str]:
        agent = self._magics.seat.taken
        return [str(number) for number in range(1, len(agent.plans) + 1)] if agent is not None else ()

    def _versions(self) -> Iterable[str]:
        agent = self._magics.seat.taken
        return [str(one.number) for one in agent.workspace.curated.versions()] if agent is not None else ()

    def _variables(self) -> Iterable[str]:
        return [name for name in self._magics.variables if not name.startswith("_")]

    def _agents(self) -> Iterable[str]:
        variables = self._magics.variables.items()
        return [
            name for name, value in variables if type(value).__name__ == "HarnessAgent" and not name.startswith("_")
        ]

    def _sessions(self) -> Iterable[str]:
        agent = self._magics.seat.taken
        return [files.session_id for files in agent.workspace.sessions(agent.name)] if agent is not None else ()

    def _days(self) -> Iterable[str]:
        agent = self._magics.seat.taken
        days = [day.isoformat() for day in agent.workspace.daily_log.days()] if agent is not None else []
        return ["today", *days]


def matcher(magics: HarnessMagics) -> Callable[..., Any]:
    """A matcher for IPython's completer."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    values = Values(magics)

    @context_matcher(identifier="harness_nb")
    def complete(context: Any) -> dict[str, Any]:
        try:
            found = candidates(context.text_until_cursor, values)
        except Exception:  # noqa: BLE001 - completion is never worth an error
            found = None
        if found is None:
            return {"completions": []}
        typed, words = found
        completions = [SimpleCompletion(word, type="param") for word in words]
        return {"completions": completions, "suppress": True, "matched_fragment": typed}

    return complete  # type: ignore[no-any-return]  # the decorator is untyped
