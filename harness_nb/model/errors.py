"""What a provider's exception means: one of our errors, decided from class, codes, status and words together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness_nb.core.redact import redact
from harness_nb.errors import ContextOverflowError, MissingKeyError, ModelError, QuotaError, RateLimitError
from harness_nb.model.wordings import CODES, OVERFLOWS, REFUSALS, STATUSES, Meaning, Wording, plain

FULL = 0.9
"""Pressure from which a refusal without any text is taken for an overflow."""

_OVERFLOW_CLASSES = {"ContextWindowExceededError"}
_UNREACHABLE_CLASSES = {"APIConnectionError", "Timeout", "APITimeoutError", "TimeoutError", "ConnectionError"}
_CODE_KEYS = ("code", "type", "status", "reason", "__type")
_MOST_CHARS = 20_000
_MOST_OBJECTS = 20
_SHOWN_CHARS = 300
_LEAD = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\b\s*[:-]\s*|Error code: \d+\s*-?\s*)+")
_ECHO = re.compile(r"(?<![\w\\])([\"'“])(?=\w)(?:(?!\1|”).){24,}?(?:\1|”)(?!\w)", re.DOTALL)
_NO_TEXT = re.compile(
    r"(?:\W|litellm|\w*(?:error|exception)\b|error code|status code|bad request|no body|none|null|\d+)*", re.IGNORECASE
)
_LIMIT = re.compile(r"\blimit:? (\d+).{0,40}?\brequested:? (\d+)")
_PASSING = re.compile(r"per (?:min|day|hour|second)|retry (?:in|after|delay)|please wait")
_REMEDIES: dict[Meaning, str] = {
    "output cap": "Lower max_tokens (the length of the reply); the input is not too long.",
    "image": "Send a smaller picture.",
    "payload": "Send fewer or smaller attachments.",
    "field": "Shorten the field that is named.",
    "pairing": "Repair the message list: each tool call needs its results behind it. Compaction does not help.",
    "order": "Repair the order of the messages. Compaction does not help.",
    "thinking": "Send the reasoning parts back as they came, or leave them out.",
    "filter": "The provider's safety filter refused; change the wording.",
    "key": "Check the key of the provider in the environment.",
}


@dataclass(frozen=True, slots=True)
class _Evidence:
    """All that an exception says about itself, causes and groups included."""

    classes: frozenset[str]
    codes: tuple[str, ...]
    statuses: tuple[int, ...]
    texts: tuple[str, ...]

    @property
    def words(self) -> str:
        """All texts in plain form, long quotations left out: they may be the user's own words."""
        return plain("\n".join(_ECHO.sub(" ", text[:_MOST_CHARS]) for text in self.texts))

    @property
    def shown(self) -> str:
        """The first text that says something, short and without keys."""
        said = next((text for text in (_LEAD.sub("", one.strip()) for one in self.texts) if text), "no text")
        line = redact(" ".join(said[:_MOST_CHARS].split()))
        return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"


def classify(error: BaseException, *, pressure: float | None = None, model: str = "") -> ModelError:
    """The error of ours that a provider's exception means. Raise it `from` the exception.

    Args:
        error: What was caught. A `ModelError`, also inside a group or a cause, is returned as it is.
        pressure: Estimated input divided by the window, for refusals that say nothing. Unknown counts as not full.
        model: Name of the model, for the text.

    Returns:
        `ContextOverflowError` with the provider's figures, `RateLimitError` (also for an overloaded server), `QuotaError`,
        `MissingKeyError`, or a plain `ModelError`.
    """
    chain = list(_chain(error))
    known = next((one for one in chain if isinstance(one, ModelError)), None)
    if known is not None:
        return known
    evidence = _evidence(chain)
    who = repr(model) if model else "The model"
    meaning = _meaning(evidence, pressure)
    match meaning:
        case "overflow":
            return _overflow(evidence, who)
        case "rate" | "busy":
            return _rate(evidence, who, meaning)
        case "quota":
            return QuotaError(
                f"{who} has no credit or quota left: {evidence.shown}", "Check the plan and billing of the account."
            )
        case "key":
            return _key(evidence, who)
    return ModelError(f"{who} refused or failed: {evidence.shown}", _remedy(evidence, meaning), subject=model or None)


def _meaning(evidence: _Evidence, pressure: float | None) -> Meaning | None:
    """The decision, most reliable evidence first."""
    if evidence.classes & _OVERFLOW_CLASSES:
        return "overflow"
    words = evidence.words
    coded = [CODES[code] for code in evidence.codes if code in CODES]
    if "overflow" in coded:
        return "overflow"
    found = coded or [STATUSES[status] for status in evidence.statuses if status in STATUSES]
    refusal = _first(REFUSALS, words)
    if found:
        return _narrowed(found[0], refusal, words)
    if refusal is not None:
        return _narrowed(refusal.meaning, refusal, words)
    if 401 in evidence.statuses or "AuthenticationError" in evidence.classes:
        return "key"
    if _first(OVERFLOWS, words) is not None or _is_silent(evidence) and pressure is not None and pressure >= FULL:
        return "overflow"
    return None


def _narrowed(meaning: Meaning, refusal: Wording | None, words: str) -> Meaning:
    """A rate limit that is a quota in truth, told by its words; one that passes by itself stays a rate limit."""
    quota = any(one.meaning == "quota" and one.pattern.search(words) for one in REFUSALS)
    if meaning == "rate" and quota and not _PASSING.search(words):
        return "quota"
    return "busy" if meaning == "rate" and refusal is not None and refusal.meaning == "busy" else meaning


def _first(table: tuple[Wording, ...], words: str) -> Wording | None:
    return next((one for one in table if one.pattern.search(words)), None)


def _is_silent(evidence: _Evidence) -> bool:
    """Whether a 400 or 413 came without any text."""
    return bool({400, 413} & set(evidence.statuses)) and all(_NO_TEXT.fullmatch(text) for text in evidence.texts)


def _overflow(evidence: _Evidence, who: str) -> ContextOverflowError:
    figures = _figures(evidence.words)
    window, given = figures.get("window"), figures.get("input")
    if window is not None:
        window = max(window - figures.get("output", 0), 1)
    sizes = f" ({given} tokens, at most {window})" if given and window else ""
    return ContextOverflowError(
        f"{who} refused the input as too long{sizes}: {evidence.shown}",
        "Compact the conversation, shorten its largest part, or choose a model with a larger window.",
        input_tokens=given,
        window=window,
    )


def _figures(words: str) -> dict[str, int]:
    """Sizes in the text, by the pattern that finds most of them."""
    matches = (match for one in OVERFLOWS if (match := one.pattern.search(words)))
    found = ({name: int(figure) for name, figure in match.groupdict().items() if figure} for match in matches)
    return max(found, key=len, default={})


def _rate(evidence: _Evidence, who: str, meaning: Meaning) -> RateLimitError:
    if meaning == "busy":
        return RateLimitError(f"{who} is overloaded: {evidence.shown}", "Wait and ask again.")
    found = _LIMIT.search(evidence.words)
    hopeless = found is not None and int(found.group(2)) > int(found.group(1))
    remedy = (
        "Waiting will not help: this request alone is above the limit. Send less, or choose another model."
        if hopeless
        else "Wait and ask again."
    )
    return RateLimitError(f"{who} is limited in tokens or requests: {evidence.shown}", remedy, hopeless=hopeless)


def _key(evidence: _Evidence, who: str) -> ModelError:
    if re.search(r"(?:incorrect|invalid) ", evidence.words):
        return ModelError(f"{who} refused the key: {evidence.shown}", _REMEDIES["key"])
    return MissingKeyError(
        f"{who} got no valid key: {evidence.shown}", "Set the provider's key in the environment, outside the notebook."
    )


def _remedy(evidence: _Evidence, meaning: Meaning | None) -> str:
    if meaning in _REMEDIES:
        return _REMEDIES[meaning]
    if evidence.classes & _UNREACHABLE_CLASSES:
        return "Check the network and the address of the server, then ask again."
    if 404 in evidence.statuses:
        return "Check the name of the model and the address of the server."
    return "Ask again, or choose another model."


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, its causes and all members of groups, each once, outermost first."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        beneath = (
            one.__cause__,
            None if one.__suppress_context__ else one.__context__,
            getattr(one, "original_exception", None),
        )
        waiting += (nested for nested in beneath if isinstance(nested, BaseException))
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def _evidence(chain: list[BaseException]) -> _Evidence:
    classes = frozenset(base.__name__ for one in chain for base in type(one).__mro__)
    texts = [str(getattr(one, "message", None) or one) for one in chain]
    bodies = [getattr(one, "body", None) for one in chain]
    objects = [body for body in bodies if isinstance(body, Mapping)]
    for text in [*texts, *(body for body in bodies if isinstance(body, str | bytes))]:
        objects += _objects(text.decode(errors="replace") if isinstance(text, bytes) else text)
    fields = list(_fields(objects))
    for one in chain:
        fields += ((key, getattr(one, key, None)) for key in ("code", "type"))
    messages = [value for key, value in fields if key == "message" and isinstance(value, str)]
    return _Evidence(
        classes=classes,
        codes=tuple(plain(value) for key, value in fields if key in _CODE_KEYS and isinstance(value, str)),
        statuses=tuple(_statuses(chain, fields)),
        texts=tuple(dict.fromkeys([*messages, *(_without_objects(text) for text in texts)])),
    )


def _statuses(chain: list[BaseException], fields: list[tuple[str, Any]]) -> Iterator[int]:
    for one in chain:
        for holder in (one, getattr(one, "response", None)):
            for name in ("status_code", "status", "http_status"):
                value = getattr(holder, name, None)
                if isinstance(value, int):
                    yield value
    for key, value in fields:
        if key in ("code", "status", "status_code") and (isinstance(value, int) or str(value).isdecimal()):
            yield int(value)


def _fields(objects: list[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """All fields of JSON objects, nested ones and JSON inside strings included."""
    waiting: list[Any] = list(objects)
    for _ in range(_MOST_OBJECTS):
        if not waiting:
            return
        for key, value in waiting.pop(0).items():
            yield str(key), value
            if isinstance(value, Mapping):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += (item for item in value if isinstance(item, Mapping))
            elif isinstance(value, str) and key in ("message", "error", "raw", "detail", "body"):
                waiting += _objects(value) if value.lstrip()[:1] in ("{", "[") else ()


def _objects(text: str) -> list[Mapping[str, Any]]:
    """JSON objects (or printed dicts) at the top of a text or behind its lead-in; one inside a quotation does not count."""
    found: list[Mapping[str, Any]] = []
    text = text[:_MOST_CHARS]
    at = text.find("{")
    while at >= 0 and len(found) < _MOST_OBJECTS and text[:at].count('"') % 2 == 0:
        value, end = _object_at(text, at)
        if isinstance(value, Mapping) and value:
            found.append(value)
        at = text.find("{", end)
    return found


def _object_at(text: str, at: int) -> tuple[Any, int]:
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, at)
    except (ValueError, RecursionError):
        return _printed_dict(text, at)


def _printed_dict(text: str, at: int) -> tuple[Any, int]:
    """A dict as Python prints it, as the OpenAI client does in its messages."""
    import ast

    end = text.rfind("}") + 1
    try:
        return ast.literal_eval(text[at:end]), end
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None, at + 1


def _without_objects(text: str) -> str:
    """The text without the objects whose messages count by themselves."""
    at = text.find("{")
    return text[:at] if at >= 0 and _objects(text[at:]) else text
