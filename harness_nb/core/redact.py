"""Keys in text are replaced by a labelled mark before the text is written anywhere.

A shape is looked for only where its fixed part occurs, and no pattern can backtrack over more than one run of
characters, so the time is linear in the text. Ordinary text is left alone: hashes, ids, base64, names in code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from harness_nb.core.messages import Image, Message, Part, Text, ToolCall, to_json

LEFT_OUT = "[a signed part that held a key was left out]"
"""What stands in the place of a part that must not be altered and held a key."""

SHORTEST_KNOWN = 6
"""A known value with fewer characters is not looked for: it would occur in ordinary text."""

_SIGNED_FIELDS = ("signature", "thoughtSignature", "thought_signature", "encrypted_content")
_LONGEST_OF_MEANING = 64  # characters; what is longer in a signed field is the signature itself

# A key begins where no letter or digit precedes it, or behind an escape in JSON, a URL or a coloured terminal line.
_START = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\x1b\[m)|(?<=\x1b\[\dm)|(?<=\x1b\[\d\dm)|(?<=\x1b\[\d;\d\dm))"
)
_WORD_START = _START.replace("(?<![A-Za-z0-9])", "(?<![A-Za-z0-9_-])")

# Names of settings that hold keys; in front of the last word anything may stand.
_NAME = re.compile(
    r".*[A-Z0-9]_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)"
    r"|.*(?i:api[_-]?key|(?:access|secret|private|account)[_-]?key|(?:access|refresh|auth|bearer|session)[_-]?token"
    r"|secret|password|passwd)"
)
_LONGEST_NAME = 60
_LAST_WORD = r"[KkTtSsPp](?i:ey|oken|ecret|assword|asswd)"
_BETWEEN = r"""(?:_?\d{1,3})?["'\\]{0,4}[ \t]{0,3}(?::=|=>|[:=])[ \t]{0,3}(?:[brf]?["'\\]{1,4})?"""
_VALUE = r"[A-Za-z0-9_+/=.~@#%^&*!-]{8,}+(?![(\[{])"

_REFERENCE = re.compile(r"[A-Za-z_]+(?:[._-][A-Za-z_]+)*")
_IDENTIFIER_END = re.compile(r"[A-Za-z0-9_-]*$")


def _holds_digit_and_capital(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isupper() for c in value)


def _is_openai_key(match: re.Match[str]) -> bool:
    rest = match[0][3:]
    return _holds_digit_and_capital(rest) or (rest.isalnum() and any(c.isdigit() for c in rest))


def _is_key_block(match: re.Match[str]) -> bool:
    """Whether there is a body behind the first line, so that it is not just spoken of."""
    return (
        "\n" in match["body"] or "\\n" in match["body"] or re.search(r"[A-Za-z0-9+/=]{16}", match["body"]) is not None
    )


def _looks_secret(value: str) -> bool:
    """Whether the value of a setting named like a key is one, and not a name, a path or a word."""
    if len(value) < 8 or value.startswith(("/", "./", "~/", "$", "<")):
        return False
    if _REFERENCE.fullmatch(value):
        return len(value) >= 16 and value.isalnum()
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_value_of_key(match: re.Match[str]) -> bool:
    end = match.end("last")
    name = _IDENTIFIER_END.search(match.string[max(0, end - _LONGEST_NAME) : end])
    return name is not None and _NAME.fullmatch(name[0]) is not None and _looks_secret(match["value"])


def _is_credential(match: re.Match[str]) -> bool:
    return _looks_secret(match["value"])


def _is_bearer(match: re.Match[str]) -> bool:
    return any(c.isdigit() for c in match["value"])


@dataclass(frozen=True, slots=True)
class _Shape:
    """One kind of key.

    Attributes:
        label: What the mark calls it.
        needles: Without one of these the pattern can't match; lower case where `folds`.
        pattern: Finds it, compiled when it is first needed. A group `keep` stays in front of the mark.
        accepts: Decides on a match, where the pattern alone can't.
        folds: Whether needles are compared without case.
    """

    label: str
    needles: tuple[str, ...]
    pattern: str
    accepts: Callable[[re.Match[str]], bool] | None = None
    folds: bool = False

    def replace_in(self, text: str) -> str:
        """The text with every key of this shape replaced."""
        return re.compile(self.pattern).sub(self._mark, text)

    def _mark(self, match: re.Match[str]) -> str:
        if self.accepts is not None and not self.accepts(match):
            return match[0]
        return (match.groupdict().get("keep") or "") + mark(self.label)


def mark(label: str) -> str:
    """The mark that stands for a key of that kind."""
    return f"[redacted: {label}]"


def _prefixed(label: str, needles: str, pattern: str, accepts: Callable[[re.Match[str]], bool] | None = None) -> _Shape:
    return _Shape(label, tuple(needles.split()), _START + pattern, accepts)


_SHAPES = (
    _Shape(
        "private key",
        ("-----BEGIN",),
        (
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?P<body>(?:[^-]|-(?!----))*+(?=-{5,6}END )|(?:(?:\s|\\[nrt])*+[A-Za-z0-9+/=]{16,}+)*+)"
            r"(?:-{5,6}END [A-Z0-9 ]{0,40}(?:-----)?)?"
        ),
        _is_key_block,
    ),
    _prefixed("Anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{6,}"),
    _prefixed("OpenAI key", "sk-", r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{6,}|" + _START + r"sk-test-[\w-]{3,}"),
    _prefixed("OpenRouter key", "sk-or-", r"sk-or-[A-Za-z0-9_-]{6,}"),
    _prefixed("OpenAI key", "sk-", r"sk-[A-Za-z0-9_-]{20,}", _is_openai_key),
    _prefixed("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    _prefixed("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    _prefixed("GitLab token", "glpat-", r"glpat-[A-Za-z0-9_-]{16,}"),
    _prefixed("AWS key id", "AKIA ASIA", r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _prefixed("Google key", "AIza", r"AIza[A-Za-z0-9_-]{30,}"),
    _prefixed("Google token", "ya29. GOCSPX-", r"(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}"),
    _prefixed("Slack token", "xox xapp-", r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}"),
    _prefixed("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{20,}"),
    _prefixed("Stripe key", "k_live_ k_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    _prefixed("xAI key", "xai-", r"xai-[A-Za-z0-9]{20,}"),
    _prefixed("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{20,}"),
    _prefixed("NVIDIA key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{20,}"),
    _prefixed("npm token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _prefixed("PyPI token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{30,}"),
    _Shape(
        "token",
        ("eyJ",),
        (_WORD_START + r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
    ),
    _Shape(
        "credentials",
        ("authorization", "bearer "),
        (
            r"""(?P<keep>(?i:authorization)["'\\]{0,4}[ \t]{0,3}[:=][ \t]{0,3}["'\\]{0,4}(?:(?i:bearer|basic|token)[ ]{1,3})?)"""
            r"(?P<value>[A-Za-z0-9_+/=.~-]{8,}+)(?![(\[{])"
        ),
        _is_credential,
        folds=True,
    ),
    _Shape(
        "credentials",
        ("bearer ",),
        (r"(?P<keep>\b(?i:bearer) {1,3})(?P<value>[A-Za-z0-9_+/=.~-]{16,}+)(?![(\[{])"),
        _is_bearer,
        folds=True,
    ),
    _Shape(
        "value of a key",
        ("key", "token", "secret", "passw"),
        (rf"(?P<keep>(?P<last>{_LAST_WORD}){_BETWEEN})(?P<value>{_VALUE})"),
        _is_value_of_key,
        folds=True,
    ),
)

_NEEDLES = tuple({needle.lower() for shape in _SHAPES for needle in shape.needles})


def redact(text: str, known: Iterable[str] = ()) -> str:
    """The text with every key in it replaced by a mark such as `[redacted: OpenAI key]`.

    Args:
        text: Any text. Without a key in it the same object comes back.
        known: Values to be replaced wherever they occur, whatever their shape; those shorter than
            `SHORTEST_KNOWN` characters are ignored.
    """
    once = _redact_once(text, known)
    return text if once == text else redact(once, known)  # a mark may free the start of another key


def _redact_once(text: str, known: Iterable[str]) -> str:
    for value in sorted(known, key=len, reverse=True):
        if len(value) >= SHORTEST_KNOWN and value in text and value not in mark("known key"):
            text = text.replace(value, mark("known key"))
    folded = text.lower()
    if not any(map(folded.__contains__, _NEEDLES)):  # as a rule, and then this is all the work
        return text
    for shape in _SHAPES:
        searched = folded if shape.folds else text
        for needle in shape.needles:
            if needle in searched:
                text = shape.replace_in(text)
                break
    return text


def redact_json(value: Any, known: Iterable[str] = ()) -> Any:
    """JSON values with the keys in all their texts replaced; equal to `value` when there was none.

    The text beside a name such as `password` counts as a key when it looks like one. A signature is never altered.
    """
    known = tuple(known)
    if isinstance(value, str):
        return redact(value, known)
    if isinstance(value, list | tuple):
        return [redact_json(one, known) for one in value]
    if isinstance(value, dict):
        return _redact_fields(value, known)
    return value


def _redact_fields(fields: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in fields.items():
        clean = redact(name, known) if isinstance(name, str) else name
        if clean != name and clean in made:
            clean = f"{clean} {len(made)}"
        made[clean] = _redact_field(name, value, known)
    return made


def _redact_field(name: object, value: Any, known: tuple[str, ...]) -> Any:
    if not isinstance(value, str):
        return redact_json(value, known)
    if name in _SIGNED_FIELDS and len(value) > _LONGEST_OF_MEANING:
        return value
    if isinstance(name, str) and _NAME.fullmatch(name) and _looks_secret(value) and " " not in value:
        return mark("value of a key")
    return redact(value, known)


def redact_message(message: Message, known: Iterable[str] = ()) -> Message:
    """The message with the keys in all its parts, arguments and further fields replaced; the same object without one.

    A part that must go back to its provider byte for byte is left out whole when it holds a key.
    """
    known = tuple(known)
    content = message.content
    if isinstance(content, str):
        content = redact(content, known)
    elif content is not None:
        content = tuple(_redact_part(part, known) for part in content)
    calls = tuple(_redact_call(call, known) for call in message.calls)
    rest = _redact_rest(message.rest, known)
    if (content, calls, rest) == (message.content, message.calls, message.rest):
        return message
    return replace(message, content=content, calls=calls, rest=rest)


def _redact_part(part: Part, known: tuple[str, ...]) -> Part:
    if isinstance(part, Text):
        text, rest = redact(part.text, known), _redact_rest(part.rest, known)
        return part if (text, rest) == (part.text, part.rest) else Text(text, rest)
    if isinstance(part, Image) and part.url.startswith("data:image/"):
        return part
    raw = _redact_document(part.raw, known)
    if raw == part.raw:
        return part
    return Image(redact(part.url, known), raw) if isinstance(part, Image) else Text(LEFT_OUT)


def _redact_call(call: ToolCall, known: tuple[str, ...]) -> ToolCall:
    arguments, rest = _redact_document(call.arguments, known), _redact_rest(call.rest, known)
    unchanged = (arguments, rest) == (call.arguments, call.rest)
    return call if unchanged else replace(call, arguments=arguments, rest=rest)


def _redact_document(text: str, known: tuple[str, ...]) -> str:
    """JSON text with the keys in it replaced, still JSON where it was; the same text without one."""
    try:
        value = json.loads(text)
        clean = redact_json(value, known)
    except (ValueError, RecursionError):
        return redact(text, known)
    return text if clean == value else to_json(clean)


def _redact_rest(rest: str, known: tuple[str, ...]) -> str:
    """Further fields with their keys replaced; a signed field that holds one is left out."""
    if not rest:
        return rest
    fields = json.loads(rest)
    clean = redact_json(fields, known)
    if clean == fields:
        return rest
    kept = {name: value for name, value in clean.items() if value == fields.get(name) or not _is_signed(value)}
    return to_json(kept) if kept else ""


def _is_signed(value: Any) -> bool:
    if isinstance(value, dict):
        return any(name in value for name in _SIGNED_FIELDS) or any(_is_signed(one) for one in value.values())
    return isinstance(value, list) and any(_is_signed(one) for one in value)


_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_unicode(text: str) -> str:
    """The text as valid Unicode: surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    joined = _SURROGATE_PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _SURROGATE.sub("\ufffd", joined)
