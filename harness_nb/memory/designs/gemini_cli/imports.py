"""Files that a context file names with `@path`: shown in their place, or one behind the other."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DEEPEST = 5
"""Files inside files that are shown in their place, at most."""

_IMPORT = re.compile(r"(?<!\S)@((?:[A-Za-z./])\S*)")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CODE = re.compile(r"^(```+|~~~+).*?^\1[ \t]*$|(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Imports:
    """Reads what context files name.

    Attributes:
        root: Folder that named files have to lie in, links followed.
        read: Gives the text of a file, None where there is none.
    """

    root: Path
    read: Callable[[Path], str | None]

    def shown(self, path: Path, form: Literal["tree", "flat"]) -> str:
        """The text of a file with what it names; empty where there is no such file.

        Args:
            path: The file.
            form: `tree`: a named file stands in the place of its name; `flat`: all files follow one another, each once.
        """
        text = self.read(path)
        if text is None:
            return ""
        real = Path(os.path.realpath(path))
        return self._tree(text, real, (real,)) if form == "tree" else self._flat(text, real)

    def _tree(self, text: str, path: Path, above: tuple[Path, ...]) -> str:
        def put(name: str) -> str:
            target, fault = self._target(name, path.parent)
            if target in above:
                fault = "is above already"
            elif len(above) > DEEPEST:
                fault = "lies too deep"
            found = self.read(target) if not fault else None
            if found is None:
                return f"<!-- {name}: {fault or 'there is no such file'} -->"
            return f"<!-- from {name} -->\n{self._tree(found, target, (*above, target))}\n<!-- end of {name} -->"

        return _replaced(text, put)

    def _flat(self, text: str, path: Path) -> str:
        """All files, each once and below its path, in the order in which they are named."""
        texts = {path: text}
        waiting = [path]
        while waiting:
            current = waiting.pop(0)
            for name in _names(texts[current]):
                target, fault = self._target(name, current.parent)
                found = self.read(target) if not fault and target not in texts else None
                if found is not None:
                    texts[target] = found
                    waiting.append(target)
        return "\n\n".join(f"--- {one} ---\n{found.strip()}" for one, found in texts.items())

    def _target(self, name: str, folder: Path) -> tuple[Path, str]:
        """The file that a name means, and why it is not shown."""
        target = Path(os.path.realpath(folder / name))
        if _URL.match(name):
            return target, "is no file"
        return target, "" if target.is_relative_to(self.root) else "lies outside the project"


def _names(text: str) -> list[str]:
    found: list[str] = []
    _replaced(text, lambda name: found.append(name) or "")  # type: ignore[func-returns-value]
    return found


def _replaced(text: str, put: Callable[[str], str]) -> str:
    """A text with something in the place of each name, those in code left alone."""
    made, at = [], 0
    for code in (*_CODE.finditer(text), None):
        end = code.start() if code is not None else len(text)
        made.append(_IMPORT.sub(lambda found: put(found[1]), text[at:end]))
        made.append(code[0] if code is not None else "")
        at = code.end() if code is not None else end
    return "".join(made)
