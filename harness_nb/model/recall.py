"""What the offline model does in a chat: it asks the memory tools, quotes what they found, and notes what it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.core.tool import Tool
from harness_nb.model.cues import asks_to_recall, bare_fact, fact_weight, is_question
from harness_nb.model.kin import kin, stem
from harness_nb.model.sentences import content_words, normal, sentences, shortened, without_code

INTRODUCTION = (
    "I am the offline model: no language model, but fixed rules that find and quote sentences. I can recall what was said "
    "or noted, and call a tool that you name with its arguments."
)
_NOTHING = "I am the offline model and can't work out answers; choose another model for that."
_ABOUT_ITSELF = re.compile(
    r"\b(?:who|what) are you\b|\bwhat(?:'s| is) your name\b|\b(?:which|what) (?:language )?model\b|\bare you (?:an? )?(?:ai|real|human|bot|llm|model)"
    r"|\bwhat can you do\b|你是谁|あなたは(?:誰|何)",
    re.IGNORECASE,
)
_CALL = re.compile(r"(?<![\w.])(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_USE = re.compile(
    r"\b(?:use|call|run|invoke|try)\s+(?:the\s+)?(?:tool\s+)?[`\"']?(\w+)[`\"']?(?:\s+tool)?\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
_PAIR = re.compile(r"(\w+)\s*[=:]\s*(\"[^\"]*\"|'[^']*'|\[[^\]]*\]|\{[^}]*\}|[^\s,;]+)")
_HIT = re.compile(
    r"^[\s\-*>\d.)\[]*(?:source:\s*)?(?P<path>[\w./~-]+\.\w{2,5})(?:#L?|:)(?P<line>\d+)\]?(?:-\d+)?[\s:|)—–-]*(?P<text>.*)$",
    re.IGNORECASE,
)
_OF_A_SEARCH = re.compile(
    r"(?:I found nothing about|Nothing was found|I am the offline model|From [\w./ -]+(?:#\d+)?: “)", re.IGNORECASE
)
_MOST_QUOTES = 3
_MOST_QUERY_WORDS = 6
_QUOTE_CHARS = 300
_KIN_WORTH = 0.5  # of a word of the question that only another stands for
_EARLIER_MESSAGES = 400  # the latest ones of the model input are searched, too


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool that is to be called."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A passage and where it stands."""

    source: str
    text: str


def answer(messages: Sequence[Message], tools: Sequence[Tool]) -> str | Wish:
    """The next reply of a chat: a text, or a tool to call first."""
    at = max(
        (place for place, one in enumerate(messages) if one.role == "user" and one.origin != "harness"), default=-1
    )
    if at < 0:
        return INTRODUCTION
    wanted = messages[at].text.strip()
    results = [one for one in messages[at + 1 :] if one.role == "tool"]
    if results:
        return _after_results(wanted, results, messages, at, tools)
    if _ABOUT_ITSELF.search(wanted) or not wanted:
        return INTRODUCTION
    wish = named_tool(wanted, tools) or _search(wanted, tools)
    if wish is not None:
        return wish
    if asks_to_recall(wanted):
        return _quoted(_earlier(wanted, messages[:at])) or f"I found nothing about that. {_NOTHING}"
    return _noted(wanted)


def _search(wanted: str, tools: Iterable[Tool]) -> Wish | None:
    """A search of the memory, where the message asks for something and there is such a tool."""
    tool = next((one for one in tools if one.name == "memory_search"), None)
    words = list(dict.fromkeys(content_words(wanted)))[:_MOST_QUERY_WORDS]
    if tool is None or not words or not asks_to_recall(wanted):
        return None
    return _query(tool, words)


def _search_of_kin(wanted: str, tools: Iterable[Tool]) -> Wish | None:
    """A second search, for the words that may stand in a note instead of the question's; None where there are none."""
    tool = next((one for one in tools if one.name == "memory_search"), None)
    words = list(dict.fromkeys(other for word in content_words(wanted) for other in kin(word)))
    return _query(tool, words) if tool is not None and words else None


def _query(tool: Tool, words: Iterable[str]) -> Wish:
    names = list(tool.parameters.get("properties", {})) or ["query"]
    return Wish(tool.name, {"query" if "query" in names else names[0]: " ".join(words)})


def named_tool(wanted: str, tools: Sequence[Tool]) -> Wish | None:
    """The tool that a message names together with its arguments: `add(a=2, b=3)`, `use add with a=2, b=3`."""
    by_name = {tool.name: tool for tool in tools}
    for found in _CALL.finditer(wanted):
        if found.group(1) in by_name:
            return _wish(by_name[found.group(1)], found.group(2), by_position=True)
    for found in _USE.finditer(wanted):
        if found.group(1) in by_name:
            return _wish(by_name[found.group(1)], found.group(2))
    return None


def _wish(tool: Tool, text: str, *, by_position: bool = False) -> Wish | None:
    """The tool with the arguments in a text, or None when a required one is missing."""
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    given = _json_object(text) or {
        name: _value(raw, properties[name]) for name, raw in _PAIR.findall(text) if name in properties
    }
    if by_position and not given:
        given = _by_position(text, properties)
    missing = [name for name in tool.parameters.get("required", ()) if name not in given]
    return None if missing else Wish(tool.name, given)


def _json_object(text: str) -> dict[str, Any] | None:
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _by_position(text: str, properties: dict[str, Any]) -> dict[str, Any]:
    """Arguments without names, in the order of the schema: `2, 3`."""
    given = [piece.strip() for piece in text.split(",") if piece.strip()]
    if not given or len(given) > len(properties):
        return {}
    return {name: _value(raw, schema) for (name, schema), raw in zip(properties.items(), given, strict=False)}


def _value(raw: str, schema: dict[str, Any]) -> Any:
    bare = raw.strip().strip("\"'") if raw[:1] in "\"'" else raw.rstrip(".")
    if schema.get("type") == "string":
        return bare
    try:
        return json.loads(bare)
    except ValueError:
        return {"true": True, "false": False, "none": None}.get(bare.casefold(), bare)


def _after_results(
    wanted: str, results: Sequence[Message], messages: Sequence[Message], at: int, tools: Sequence[Tool]
) -> str | Wish:
    """What the tools brought, quoted; without a find, what was said earlier, and before that one more search."""
    names = {call.id: call.name for one in messages[at + 1 :] for call in one.calls}
    name = names.get(results[-1].call_id or "", results[-1].name or "the tool")
    if not name.startswith("memory_search"):
        return "\n".join(_reported(names.get(one.call_id or "", "the tool"), one) for one in results)
    found = [hit for one in results if one.status in ("", "ok") for hit in hits(one.text) if not _is_own(hit.text)]
    best = _best(wanted, found)
    if best:
        return _quoted(best)
    failed = next((one.text for one in results if one.status not in ("", "ok")), "")
    if failed:
        return f"The search failed: {shortened(failed.strip(), _QUOTE_CHARS)}"
    again = _search_of_kin(wanted, tools) if len(results) == 1 else None
    return _quoted(_earlier(wanted, messages[:at])) or again or f"I found nothing about that in the memory. {_NOTHING}"


def _is_own(text: str) -> bool:
    """Whether a passage of an earlier conversation is a question, or what came of one, and no answer to this one."""
    return is_question(text) or _OF_A_SEARCH.match(bare_fact(text)) is not None


def _reported(name: str, result: Message) -> str:
    text = shortened(result.text.strip(), 2 * _QUOTE_CHARS)
    return f"{name} failed: {text}" if result.status not in ("", "ok") else f"{name} returned: {text}"


def hits(text: str) -> list[Found]:
    """The hits in a search result: JSON with path, line and content, or lines that begin with `path#line`."""
    listed = _listed(text)
    if listed is not None:
        return listed
    found: list[Found] = []
    for line in text.splitlines():
        start = _HIT.match(line)
        if start:
            found.append(Found(f"{start['path']}#{start['line']}", start["text"].strip()))
        elif found and line.strip() and not line.startswith("<"):
            last = found[-1]
            found[-1] = Found(last.source, f"{last.text} {line.strip()}".strip())
    return [one for one in found if one.text]


def _listed(text: str) -> list[Found] | None:
    try:
        value = json.loads(text) if text.lstrip()[:1] in ("[", "{") else None
    except ValueError:
        return None
    if isinstance(value, dict):
        value = next((one for one in value.values() if isinstance(one, list)), None)
    if not isinstance(value, list):
        return None
    rows = [row for row in value if isinstance(row, dict)]
    texts = [str(row.get("content") or row.get("snippet") or row.get("text") or "") for row in rows]
    return [Found(f"{row.get('path')}#{row.get('line')}", text) for row, text in zip(rows, texts, strict=True) if text]


def _earlier(wanted: str, messages: Sequence[Message]) -> list[Found]:
    """Sentences in the model input itself that share words with the question, memory in the system prompt included."""
    near = messages[-_EARLIER_MESSAGES:]
    first = [one for one in messages[:1] if len(messages) > len(near)]
    found = [Found(source, text) for one in (*first, *near) if (source := _source(one)) for text in sentences(one.text)]
    return _best(wanted, [one for one in found if not is_question(one.text)], least=2)


def _source(message: Message) -> str:
    """How a passage of a message is introduced; empty for what is not quoted, such as the model's own replies."""
    if message.role == "system" or (message.role == "user" and message.origin == "harness"):
        return "the notes I was given"
    return "what you said earlier" if message.role == "user" else ""


def _best(wanted: str, found: Iterable[Found], least: int = 1) -> list[Found]:
    """Passages that share most words with the question, each text once; at least `least` words where it has so many.

    A word that may stand for one of the question counts half, and one such word alone not at all where there are others.
    """
    asked = {stem(word): frozenset(map(stem, kin(word))) for word in content_words(wanted)}
    least = min(least, len(asked)) or 1
    unique = {normal(bare_fact(one.text)): one for one in reversed(list(found))}
    rated = [(_shared(asked, one.text, least), at, one) for at, one in enumerate(reversed(unique.values()))]
    best = sorted(
        (row for row in rated if row[0] and row[0] >= min(1, len(asked) * _KIN_WORTH)),
        key=lambda row: (-row[0], row[1]),
    )
    return [one for shared, _, one in best if shared * 2 > best[0][0]][:_MOST_QUOTES]


def _shared(asked: Mapping[str, frozenset[str]], text: str, least: int) -> float:
    """How many words a passage shares with a question, 0 where they are fewer than `least`."""
    words = set(map(stem, content_words(text)))
    exact = sum(word in words for word in asked)
    stood_for = sum(word not in words and not words.isdisjoint(others) for word, others in asked.items())
    return exact + _KIN_WORTH * stood_for if exact + stood_for >= least else 0.0


def _quoted(found: Sequence[Found]) -> str:
    return "\n".join(f"From {one.source}: “{shortened(one.text, _QUOTE_CHARS)}”" for one in found)


def _noted(wanted: str) -> str:
    """A short acknowledgement that repeats what matters most."""
    said = sentences(wanted)
    if not said:
        return f"Noted: {shortened(without_code(wanted).strip() or 'a block of code', _QUOTE_CHARS)}"
    best = max(said, key=lambda one: (fact_weight(one), -said.index(one)))
    if fact_weight(best) == 0 and len(content_words(wanted)) < 2:
        return (
            f"Hello. {INTRODUCTION}"
            if re.match(r"(?:hi|hello|hey|good \w+|你好|こんにちは)\b", wanted, re.IGNORECASE)
            else "Noted."
        )
    return f"Noted: {shortened(bare_fact(best), _QUOTE_CHARS)}"
