"""Questions to models, each with its answer: kept in a file, so that nothing is asked twice and all can be read later."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness_nb.agent.runner import runner
from harness_nb.core.messages import Message, to_json
from harness_nb.core.records import parse_line
from harness_nb.core.redact import redact
from harness_nb.errors import ConfigError
from harness_nb.model.base import Model, ModelRequest, complete
from harness_nb.model.offline import OfflineModel
from harness_nb.model.resolve import resolve
from harness_nb.store.files import append_text, read_text

FILE = "exchanges.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question to a model and its answer, keys masked.

    Attributes:
        key: Tells it apart: model, purpose, whole prompt, limit.
        model: Name of the model.
        purpose: Why it was asked.
        prompt: Role and text of each message.
        reply: What it answered.
    """

    key: str
    model: str
    purpose: str
    prompt: tuple[tuple[str, str], ...]
    reply: str


class Exchanges:
    """Asks models, and keeps what was asked and answered.

    Args:
        folder: Where `exchanges.jsonl` is kept, a line each; what stands in it is not asked again. None keeps nothing.

    Attributes:
        asked: How often a model was asked; answers that were there already do not count.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self._path = Path(folder) / FILE if folder is not None else None
        self._known = _read(self._path) if self._path is not None else {}
        self.asked = 0

    def ask(self, model: Model, messages: Sequence[Message], *, purpose: str, max_tokens: int | None) -> Exchange:
        """The exchange, from the file where it was asked before.

        Raises:
            ModelError: The model failed; what was answered before is kept.
            StoreError: The file can't be written.
        """
        prompt = tuple((message.role, message.text) for message in messages)
        key = _key(model.limits.name, purpose, prompt, max_tokens)
        if key not in self._known:
            request = ModelRequest(messages=tuple(messages), purpose=purpose, max_tokens=max_tokens)
            reply = runner.wait(complete(model, request))
            self.asked += 1
            self._keep(
                Exchange(
                    key=key,
                    model=model.limits.name,
                    purpose=purpose,
                    prompt=tuple((role, redact(text)) for role, text in prompt),
                    reply=redact(reply.text),
                )
            )
        return self._known[key]

    def _keep(self, exchange: Exchange) -> None:
        if self._path is not None:
            append_text(self._path, to_json(asdict(exchange)) + "\n")
        self._known[exchange.key] = exchange


def _key(model: str, purpose: str, prompt: object, max_tokens: int | None) -> str:
    return hashlib.sha256(to_json([model, purpose, prompt, max_tokens]).encode()).hexdigest()


def _read(path: Path) -> dict[str, Exchange]:
    """The exchanges in a file; a line that is none, such as a torn last one, is passed over."""
    records = (parse_line(line) for line in (read_text(path) or "").splitlines())
    found = (_exchange(record) for record in records if record is not None)
    return {one.key: one for one in found if one is not None}


def _exchange(record: dict[str, Any]) -> Exchange | None:
    try:
        prompt = tuple((str(role), str(text)) for role, text in record["prompt"])
        texts = {name: str(record[name]) for name in ("key", "model", "purpose", "reply")}
    except (KeyError, TypeError, ValueError):
        return None
    return Exchange(prompt=prompt, **texts)


def resolved(models: str | Model | Sequence[str | Model]) -> tuple[Model, ...]:
    """Models by name or as they are.

    Raises:
        ConfigError: There is none, a name is unknown, two have the same name, so that answers could not be told apart, or one
            is the offline model, which neither answers nor judges.
    """
    given = [models] if isinstance(models, str) or not isinstance(models, Sequence) else list(models)
    found = tuple(resolve(one) for one in given)
    if any(isinstance(one, OfflineModel) for one in found):
        raise ConfigError(
            "The offline model neither answers questions nor judges answers.",
            "Give a model of a provider, 'local', or a ScriptedModel.",
            subject=models,
        )
    names = [one.limits.name for one in found]
    if not names or len(set(names)) < len(names):
        raise ConfigError(
            f"Models named {', '.join(map(repr, names)) or 'nothing'} can't be told apart.",
            "Give at least one, each with a name of its own.",
            subject=models,
        )
    return found
