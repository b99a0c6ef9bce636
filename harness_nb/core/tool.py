"""A tool: its name, its schema made from a signature, and what it may do. Running it is the agent's."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from harness_nb.errors import ConfigError

Effect = Literal["read", "write", "run"]

_JSON_TYPES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array"},
    dict: {"type": "object"},
    type(None): {"type": "null"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something that a model may call.

    Attributes:
        name: Name that the model uses.
        description: What it does, for the model.
        parameters: JSON schema of the arguments, an object.
        function: What runs; a coroutine function is awaited, a plain one runs in a worker thread.
        effect: `read` changes nothing, `write` changes files of the workspace, `run` may do anything.
        evicts: Whether a large result may be moved to a file.
        check: Called with the arguments before anybody is asked whether the call may be made; an error that it raises is
            the call's result.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    function: Callable[..., Any] = field(repr=False, compare=False)
    effect: Effect = "run"
    evicts: bool = True
    check: Callable[[dict[str, Any]], object] | None = field(default=None, repr=False, compare=False)

    @property
    def schema(self) -> dict[str, Any]:
        """The tool in OpenAI chat format, as sent."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.parameters},
        }

    @classmethod
    def of(cls, function: Callable[..., Any] | Tool, *, effect: Effect = "run", **fields: Any) -> Tool:
        """A tool from a function: name, docstring and annotated parameters become the schema.

        Args:
            function: A function with a name. A line `name: text` below `Args:` of its docstring describes a parameter.
            effect: What it may do (see the class).
            **fields: Other attributes of the tool, to replace what was found.

        Raises:
            ConfigError: The function has no usable name, or takes positional-only or variable parameters.
        """
        if isinstance(function, Tool):
            return function
        name = getattr(function, "__name__", "")
        if not callable(function) or not name.isidentifier():
            raise ConfigError(
                f"{function!r} can't become a tool.",
                "Give a named function with annotated parameters.",
                subject=function,
            )
        doc = inspect.getdoc(function) or ""
        made: dict[str, Any] = {
            "name": name,
            "description": _summary(doc) or f"Calls {name}.",
            "parameters": _parameters(function, _described(doc)),
        }
        return cls(function=function, effect=effect, **(made | fields))


def _parameters(function: Callable[..., Any], described: dict[str, str]) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):  # a name that is not there at run time
        hints = {}
    properties: dict[str, Any] = {}
    required = []
    for parameter in _signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            plain = parameter.replace(annotation=parameter.empty, default=parameter.empty)
            raise ConfigError(
                f"{function.__name__}() takes {str(plain)!r} without a name to give, which has no place in a schema.",
                "Use named parameters only.",
                subject=function,
            )
        schema = dict(json_schema(hints.get(parameter.name, parameter.annotation)))
        if parameter.name in described:
            schema["description"] = described[parameter.name]
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif parameter.default is None or isinstance(parameter.default, str | int | float | bool):
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    return {"type": "object", "properties": properties, "required": required}


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError as error:
        raise ConfigError(
            f"The parameters of {function!r} are not known.", "Wrap it in a function of your own.", subject=function
        ) from error


def json_schema(annotation: Any) -> dict[str, Any]:
    """JSON schema of a type annotation; empty (anything goes) for what has none."""
    if isinstance(annotation, type) and annotation in _JSON_TYPES:
        return dict(_JSON_TYPES[annotation])
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return json_schema(arguments[0])
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [json_schema(one) for one in arguments]}
    if origin is dict:
        return {"type": "object"}
    if origin in (list, set, tuple) or getattr(origin, "__name__", "") in ("Sequence", "Iterable"):
        items = [one for one in arguments if one is not Ellipsis]
        return {"type": "array", "items": json_schema(items[0])} if len(items) == 1 else {"type": "array"}
    return {}


def _summary(doc: str) -> str:
    """All of a docstring above its first section."""
    lines = []
    for line in doc.splitlines():
        if line.strip() in ("Args:", "Returns:", "Raises:", "Yields:", "Examples:"):
            break
        lines.append(line)
    return "\n".join(lines).strip()


def _described(doc: str) -> dict[str, str]:
    """Descriptions below `Args:` of a Google docstring, by parameter."""
    found: dict[str, str] = {}
    name, inside, indent = "", False, 0
    for line in doc.splitlines():
        text = line.strip()
        if text == "Args:":
            inside, indent = True, 0
            continue
        if not inside or not text:
            continue
        depth = len(line) - len(line.lstrip())
        if depth == 0:
            break
        indent = indent or depth
        if depth == indent and ":" in text:
            head, _, tail = text.partition(":")
            name = head.split("(")[0].strip()
            found[name] = tail.strip()
        elif name:
            found[name] = f"{found[name]} {text}".strip()
    return found
