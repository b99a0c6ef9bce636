"""Settings records that say which setting was meant, where Python itself would only name the unknown one."""

from __future__ import annotations

import functools
from dataclasses import fields
from typing import Any, TypeVar, cast

from harness_nb.errors import ConfigError

Record = TypeVar("Record")


def named(record: type[Record]) -> type[Record]:
    """Lets a dataclass refuse an unknown setting with the nearest that there is.

    Args:
        record: A dataclass whose fields are given by name.

    Returns:
        The same class.
    """
    make = cast("Any", record).__init__

    @functools.wraps(make)
    def checked(self: object, *values: Any, **given: Any) -> None:
        known = [one.name for one in fields(cast("Any", record))]
        for name in given:
            if name not in known:
                raise ConfigError(*_unknown(record.__name__, name, known), subject=name)
        make(self, *values, **given)

    setattr(record, "__init__", checked)  # noqa: B010 - a type checker takes no assignment to a method
    return record


def _unknown(record: str, name: str, known: list[str]) -> tuple[str, str]:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"{record} has no setting {name!r}.", f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(known)}."
