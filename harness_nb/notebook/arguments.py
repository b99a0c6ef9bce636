"""One parser for the line of a magic, made from the declaration of a sub-command.

argparse is not used: it can't tell a quoted dash from an option, splits free text at apostrophes, ends the process on
`--help`, and has no values to complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal, NamedTuple, cast

from harness_nb.core.figures import figure
from harness_nb.notebook.errors import MagicError

Kind = Literal["text", "number", "amount", "flag"]

HELP_WORDS = ("--help", "-h")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of a sub-command.

    Attributes:
        name: Without dashes, as on the line; the keyword of the Python twin is the same with underscores.
        meaning: In words, for the help.
        kind: `text`, `number` (whole, from 1), `amount` (above 0) or `flag`.
        value: How the help calls its value.
        values: Name of a set of values for completion, or empty.
        repeats: Whether it may be given several times.
    """

    name: str
    meaning: str
    kind: Kind = "text"
    value: str = "TEXT"
    values: str = ""
    repeats: bool = False

    @property
    def key(self) -> str:
        """Its name in Python."""
        return self.name.replace("-", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A magic or one of its sub-commands.

    Attributes:
        name: As typed, such as `%memory search`.
        meaning: What it does, in one sentence.
        twin: The same in Python.
        text: How the help calls the free text it takes, or empty.
        text_values: Name of a set of values for its completion, or empty.
        needs_text: Whether it can't do without.
        words: Whether the text is a list of words, so that completion offers values for each.
        options: Its options.
        example: A line that works.
    """

    name: str
    meaning: str
    twin: str
    text: str = ""
    text_values: str = ""
    needs_text: bool = False
    words: bool = False
    options: tuple[Option, ...] = ()
    example: str = ""

    @property
    def usage(self) -> str:
        """The line in short."""
        text = f" {self.text}" if self.needs_text else f" [{self.text}]" if self.text else ""
        options = "".join(f" [{_shown(option)}]" for option in self.options)
        return f"{self.name}{text}{options}"

    @property
    def help(self) -> str:
        """The whole help."""
        rows = [(_shown(option), option.meaning) for option in (*self.options, *COMMON)]
        width = max(len(row[0]) for row in rows)
        lines = [self.usage, "", self.meaning, "", *(f"  {name:<{width}}  {meaning}" for name, meaning in rows)]
        lines += ["", f"In Python: {self.twin}"]
        return "\n".join([*lines, f"Example:   {self.example}"] if self.example else lines)


COMMON = (
    Option(name="debug", kind="flag", meaning="show the whole traceback of an error"),
    Option(name="help", kind="flag", meaning="show this"),
)
"""What every sub-command takes."""


def _shown(option: Option) -> str:
    value = "" if option.kind == "flag" else f" {option.value}"
    return f"--{option.name}{value}{' ...' if option.repeats else ''}"


@dataclass(frozen=True, slots=True)
class Given:
    """What stands on a line.

    Attributes:
        text: The free text, words joined by single spaces.
        options: Values by Python name; a flag is True, a repeated option a list.
    """

    text: str = ""
    options: dict[str, str | int | float | bool | list[str]] = field(default_factory=dict)

    @property
    def debug(self) -> bool:
        """Whether whole tracebacks are wanted."""
        return bool(self.options.get("debug"))


class Word(NamedTuple):
    """A word of a line; quotes that grouped it are gone."""

    text: str
    is_quoted: bool


_WORD = re.compile(
    r"""(?P<name>--[A-Za-z][\w-]*=)?(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')(?=\s|$)|(?P<plain>\S+)""",
)


def split(line: str) -> list[Word]:
    """The words of a line. Quotes around a word or after `=` group; any other quote is a letter, as in `don't`."""
    words = []
    for found in _WORD.finditer(line):
        if found["plain"] is not None:
            words.append(Word(found["plain"], False))
            continue
        inner = found["double"] if found["double"] is not None else found["single"]
        if found["name"]:
            words.append(Word(found["name"][:-1], False))
        words.append(Word(inner, True))
    return words


def wants_help(line: str) -> bool:
    """Whether help is asked for anywhere before a `--`."""
    plain = [word.text for word in split(line) if not word.is_quoted]
    return any(word in HELP_WORDS for word in plain[: plain.index("--") if "--" in plain else None])


def parse(command: Command, line: str) -> Given:
    """Reads a line.

    Options may stand anywhere. After `--` everything is text; so is a number with a minus sign.

    Raises:
        MagicError: An option is unknown or lacks its value, or text is missing or not taken.
    """
    given, texts = Given(), []
    words = iter(split(line))
    for word in words:
        if word == Word("--", False):
            texts += [one.text for one in words]
        elif _is_option(word):
            _take(command, word.text, words, given)
        else:
            texts.append(word.text)
    text = " ".join(texts)
    if command.needs_text and not text.strip():
        raise MagicError(f"{command.name} needs {command.text}.", f"Usage: {command.usage}", subject=line)
    if text.strip() and not command.text:
        raise MagicError(
            f"{command.name} takes no text, but {text!r} was given.", f"Usage: {command.usage}", subject=text
        )
    return Given(text, given.options)


def _is_option(word: Word) -> bool:
    return not word.is_quoted and re.match(r"--?[A-Za-z]", word.text) is not None


def _take(command: Command, word: str, words: Iterator[Word], given: Given) -> None:
    name, equals, inline = word.lstrip("-").partition("=")
    option = _option(command, name if word.startswith("--") else word)
    if option.kind == "flag":
        if equals:
            raise MagicError(f"--{option.name} takes no value.", f"Usage: {command.usage}", subject=word)
        given.options[option.key] = True
        return
    value = Word(inline, True) if equals else next(words, None)
    if value is None or (_is_option(value) and not equals) or not value.text:
        raise MagicError(f"--{option.name} needs a value.", f"Usage: {command.usage}", subject=word)
    read = _read(option, value.text)
    if option.repeats:
        given.options[option.key] = [*cast("list[str]", given.options.get(option.key, [])), str(read)]
    else:
        given.options[option.key] = read


def _option(command: Command, name: str) -> Option:
    options = {option.name: option for option in (*command.options, *COMMON)}
    if name in options:
        return options[name]
    hint = nearest(name.lstrip("-"), options)
    shown = name if name.startswith("-") else f"--{name}"
    raise MagicError(
        f"{command.name} has no option {shown!r}.",
        f"Did you mean --{hint}?" if hint else f"Usage: {command.usage}  (text after -- is plain text)",
        subject=name,
    )


def _read(option: Option, text: str) -> str | int | float:
    if option.kind == "text":
        return text
    wanted = "a whole number above 0" if option.kind == "number" else "a number above 0"
    try:
        value = figure(text) or 0 if option.kind == "number" else float(text)
    except ValueError:
        value = 0
    if not value > 0 or value == float("inf") or (option.kind == "number" and not isinstance(value, int)):
        raise MagicError(f"--{option.name} {text!r} is not valid.", f"Give {wanted}.", subject=text)
    return value


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is most like another, or empty."""
    found = get_close_matches(word, list(known), n=1, cutoff=0.55)
    return found[0] if found else ""


def find_command(commands: Sequence[Command], magic: str, word: str) -> Command:
    """The sub-command of that name.

    Raises:
        MagicError: There is none; names the nearest.
    """
    names = {command.name.split()[-1]: command for command in commands}
    if word in names:
        return names[word]
    hint = nearest(word, names)
    raise MagicError(
        f"{magic} has no sub-command {word!r}.",
        f"Did you mean {magic} {hint}?" if hint else f"It has: {', '.join(names)}.",
        subject=word,
    )
