"""The tools that write Eney's memory: a topic file, the index, and the end of a topic file.

A call is checked before anybody is asked whether it may be made, so that an invalid one never prompts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from harness_nb.core.tool import Tool
from harness_nb.errors import StoreError, ToolError
from harness_nb.store.topics import INDEX_NAME, Topic, Topics

LONGEST_NAME = 100
"""Characters of a topic's name, at most."""

LONGEST_TYPE = 32
"""Characters of a topic's type, at most."""

T = TypeVar("T")

_DRIVE = re.compile(r"[A-Za-z]:")


class NameRefused(ToolError):
    """A name that can't be a topic's.

    Attributes:
        reason: In a few words.
    """

    def __init__(self, name: str, reason: str, remedy: str = "Use a plain name, such as 'user_preferences'.") -> None:
        super().__init__(f"{name!r} can't be a topic's name: {reason}.", remedy, subject=name)
        self.reason = reason


def topic_file(name: str) -> str:
    """Name of the file of a topic.

    Raises:
        NameRefused: It leads out of the folder, is reserved, or nothing of it is left.
    """
    bare = topic_name(name)
    reason = _fault(bare)
    if reason:
        raise NameRefused(name, reason)
    stem = "".join(char if _stays(char) else " " for char in bare.lower())
    stem = re.sub(r" +", "_", stem).strip("_")
    if not stem:
        raise NameRefused(name, "nothing left")
    if stem == "memory":
        raise NameRefused(name, "reserved", "The index is changed with MemoryUpdateMemoryMd.")
    return f"{stem}.md"


def topic_name(name: str) -> str:
    """A name as its file's front matter has it: without outer space and without `.md`."""
    bare = name.strip()
    bare = bare[:-3] if bare.lower().endswith(".md") else bare
    return unicodedata.normalize("NFC", bare)


def _fault(bare: str) -> str:
    if not bare.strip():
        return "empty"
    if len(bare) > LONGEST_NAME:
        return f"longer than {LONGEST_NAME} characters"
    if any(char in "/\\" or unicodedata.category(char) == "Cc" for char in bare):
        return "forbidden character"
    if bare.startswith("."):
        return "starts with a dot"
    return "has a drive" if _DRIVE.match(bare) else ""


def _stays(char: str) -> bool:
    return char in "_-" or unicodedata.category(char)[0] == "L" or unicodedata.category(char) == "Nd"


def topic_of(arguments: Mapping[str, Any]) -> Topic:
    """The topic file that a call of `MemorySave` asks for.

    Raises:
        ToolError: An argument is not valid.
    """
    name, content = _text(arguments, "name"), _text(arguments, "content")
    kind, description = _text(arguments, "type", "project"), _text(arguments, "description", "")
    file = topic_file(name)
    if not content.strip():
        raise ToolError("The content is blank.", "Write what is to be remembered.", subject="content")
    if not kind.strip() or len(kind.splitlines()) > 1 or len(kind) > LONGEST_TYPE:
        raise ToolError(
            f"type={kind!r} is not valid.", f"Use one line of at most {LONGEST_TYPE} characters.", subject="type"
        )
    fields = {"name": topic_name(name), "description": " ".join(description.splitlines()), "type": kind.strip()}
    return Topic(file, fields, content)


def _text(arguments: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolError(f"{name}={value!r} is no text.", "Give a text.", subject=name)
    return value


def topic_tools(topics: Callable[[], Topics]) -> tuple[Tool, ...]:
    """`MemorySave`, `MemoryUpdateMemoryMd` and `MemoryDelete`.

    Args:
        topics: Gives the folder that they write to.
    """

    def memory_save(name: str, content: str, type: str = "project", description: str = "") -> str:
        topic = topic_of({"name": name, "content": content, "type": type, "description": description})
        _kept(lambda: topics().write(topic))
        return f"Saved {topic.file}. The index does not list it yet unless you add it."

    def memory_update_memory_md(content: str) -> str:
        _kept(lambda: topics().write_index(content))
        return f"Replaced {INDEX_NAME}. It is shown from the next session on."

    def memory_delete(name: str) -> str:
        file = topic_file(name)
        if not _kept(lambda: topics().delete(file)):
            raise ToolError(f"There is no {file}.", "Use a name from the index.", subject=file)
        return f"Deleted {file}. If the index lists it, update the index."

    return (
        _tool("MemorySave", memory_save, _SAVE, check=topic_of, required=("name", "content")),
        _tool("MemoryUpdateMemoryMd", memory_update_memory_md, _UPDATE, check=_index_of, required=("content",)),
        _tool("MemoryDelete", memory_delete, _DELETE, check=_deleted_of, required=("name",)),
    )


_SAVE = "Creates or replaces a note on one topic. It does not change the index."
_UPDATE = "Replaces the whole index of notes, MEMORY.md."
_DELETE = "Deletes the note on one topic for good. It does not change the index."
_PARAMETERS = {
    "name": "Name of the topic, such as user_preferences.",
    "content": "The whole text, in Markdown.",
    "type": "user, feedback, project or reference.",
    "description": "What the note is about, in one line.",
}


def _tool(
    name: str,
    function: Callable[..., str],
    about: str,
    *,
    check: Callable[[Mapping[str, Any]], object],
    required: tuple[str, ...],
) -> Tool:
    made = Tool.of(function, name=name, description=about, effect="write", evicts=False, check=check)
    properties = {
        key: {**schema, "description": _PARAMETERS[key]} for key, schema in made.parameters["properties"].items()
    }
    return replace(made, parameters={"type": "object", "properties": properties, "required": list(required)})


def _index_of(arguments: Mapping[str, Any]) -> str:
    return _text(arguments, "content")


def _deleted_of(arguments: Mapping[str, Any]) -> str:
    return topic_file(_text(arguments, "name"))


def _kept(write: Callable[[], T]) -> T:
    """What came of writing; a failure as a tool's."""
    try:
        return write()
    except StoreError as error:
        raise ToolError(error.problem, error.remedy, subject=error.subject) from error
