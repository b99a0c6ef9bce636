"""One topic file of OpenHarness: the fields in front of it, what stands for those that are missing, and when it expires."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

TYPES = ("user", "feedback", "project", "reference")
_SCOPES = {
    "personal": "private",
    "user": "private",
    "shared": "team",
    "private": "private",
    "project": "project",
    "team": "team",
}
_MARK = "---"
_FIELD = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?")
_DESCRIPTION_LINES, _DESCRIPTION_CHARS, _PREVIEW_CHARS = 10, 200, 300
_PUNCTUATION = str.maketrans("", "", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True, slots=True)
class Note:
    """A topic file, read.

    Attributes:
        file: Its name.
        fields: What stands in front, by name.
        body: The text below.
    """

    file: str
    fields: Mapping[str, Any]
    body: str

    @property
    def name(self) -> str:
        """Its title: the field, else the file's name."""
        return str(self.fields.get("name") or self.file.removesuffix(".md"))

    @property
    def id(self) -> str:
        """Its id, empty without one."""
        return str(self.fields.get("id") or "")

    @property
    def description(self) -> str:
        """What it is about: the field, else the first line that is no heading."""
        return str(self.fields.get("description") or "") or first_line(self.body)

    @property
    def preview(self) -> str:
        """The beginning of its text without headings and without the line that describes it."""
        own = "" if self.fields.get("description") else first_line(self.body)
        lines, is_first = [], bool(own)
        for line in map(str.strip, self.body.splitlines()):
            if is_first and line[:_DESCRIPTION_CHARS] == own:
                is_first = False
            elif line and not line.startswith("#"):
                lines.append(line)
        return " ".join(lines)[:_PREVIEW_CHARS]

    @property
    def importance(self) -> int:
        """How important it is, 0 where nothing says so."""
        return whole_number(self.fields.get("importance")) or 0

    @property
    def is_disabled(self) -> bool:
        """Whether it was removed."""
        return str(self.fields.get("disabled")).lower() in ("true", "yes", "1", "on")

    @property
    def updated(self) -> datetime | None:
        """When it was last written, as far as it says so."""
        return instant(self.fields.get("updated_at")) or instant(self.fields.get("created_at"))

    def is_expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        days, since = whole_number(self.fields.get("ttl_days")) or 0, self.updated
        return days > 0 and since is not None and now >= since + timedelta(days=days)


def first_line(body: str) -> str:
    """The first line among the first ten that is no heading."""
    lines = (line.strip() for line in body.splitlines()[:_DESCRIPTION_LINES])
    return next((line[:_DESCRIPTION_CHARS] for line in lines if line and not line.startswith("#")), "")


def signature(body: str, kind: str, category: str) -> str:
    """What two notes of the same words, type and category have in common."""
    words = " ".join(body.lower().translate(_PUNCTUATION).split())
    return hashlib.sha256(f"{words}|{kind}|{category}".encode("utf-8", "surrogatepass")).hexdigest()


def type_of(word: str) -> str:
    """A type that there is; others count as `project`."""
    return word.strip().lower() if word.strip().lower() in TYPES else "project"


def scope_of(word: str) -> str:
    """A scope that there is; others count as `project`."""
    return _SCOPES.get(word.strip().lower(), "project")


def whole_number(value: Any) -> int | None:
    """A value as a whole number, None for any other."""
    try:
        return None if isinstance(value, bool) or value is None else int(value)
    except (TypeError, ValueError):
        return None


def instant(value: Any) -> datetime | None:
    """A value as an aware time, None for what is none."""
    try:
        found = datetime.fromisoformat(str(value).strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


# Reading and writing


def parsed(file: str, text: str) -> Note:
    """A file's text as a note; without a closing mark all but the opening one is text, and broken fields count as none."""
    lines = text.split("\n")
    if lines[0].rstrip() != _MARK:
        return Note(file, {}, text)
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _MARK), None)
    if end is None:
        return Note(file, {}, "\n".join(lines[1:]))
    return Note(file, _fields(lines[1:end]), "\n".join(lines[end + 1 :]).strip("\n"))


def _fields(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    name = ""
    for line in lines:
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        entry = _FIELD.fullmatch(line.rstrip())
        if entry is not None:
            name = entry[1]
            try:
                found[name] = _value((entry[2] or "").strip())
            except ValueError:
                return {}
        elif bare.startswith("- ") and name and found[name] in (None, "") or isinstance(found.get(name), list):
            found[name] = [*(found[name] or []), bare[2:].strip().strip("\"'")]
        elif not (line[:1] in " \t" and name):
            return {}
    return found


def _value(text: str) -> Any:
    """A plain YAML value; raises ValueError for one that is broken."""
    if text[:1] == "[":
        return _list(text)
    if text[:1] in ('"', "{"):
        return json.loads(text)
    if text[:1] == "'":
        if len(text) < 2 or text[-1] != "'":
            raise ValueError(text)
        return text[1:-1].replace("''", "'")
    if ": " in text or text.endswith(":"):
        raise ValueError(text)
    text = re.sub(r"\s+#.*", "", text)
    plain = {"": None, "null": None, "~": None, "true": True, "false": False}
    if text.lower() in plain:
        return plain[text.lower()]
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else text


def _list(text: str) -> list[Any]:
    """A list in brackets, as JSON or of bare words; raises ValueError for one without its end."""
    if not text.endswith("]"):
        raise ValueError(text)
    try:
        return list(json.loads(text))
    except ValueError:
        return [word for one in text[1:-1].split(",") if (word := one.strip().strip("\"'"))]


def rendered(fields: Mapping[str, Any], body: str) -> str:
    """A file's text: each field a line of JSON, then the body."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join([_MARK, *lines, _MARK, "", f"{body.strip()}\n"])
