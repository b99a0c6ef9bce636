"""Context windows and abilities of models, read from litellm's own list without importing litellm."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness_nb.core.limits import DEFAULT_WINDOW, ModelLimits

_LIST = "model_prices_and_context_window_backup.json"
_PROVIDERS = "provider_endpoints_support_backup.json"
_FEWEST_MODELS = 100  # fewer are no list of models, whatever they are


def limits_of(name: str, *, window: int | None = None, max_output: int | None = None) -> ModelLimits:
    """What a model takes: the user's figures, then litellm's list, then the default.

    Args:
        name: Name of the model as litellm takes it, with or without a provider.
        window: Context window in tokens that the user gave.
        max_output: Largest reply in tokens that the user gave.

    Returns:
        Limits whose `window_source` is `user`, `litellm` or `default`.

    Raises:
        ConfigError: A figure is no number of tokens.
    """
    entry = known_models().get(known_name(name) or "", {})
    listed = entry.get("max_input_tokens") or entry.get("max_tokens")
    source = "user" if window is not None else "litellm" if _is_tokens(listed) else "default"
    output = entry.get("max_output_tokens")
    return ModelLimits(
        name=name,
        window={"user": window, "litellm": listed}.get(source) or DEFAULT_WINDOW if window is None else window,
        max_output=max_output if max_output is not None else output if _is_tokens(output) else None,
        window_source=source,
        takes_images=bool(entry.get("supports_vision", not entry)),
        takes_tools=bool(entry.get("supports_function_calling", not entry)),
    )


def window_warning(limits: ModelLimits) -> str:
    """One line for the user where the window is only assumed, else an empty text."""
    if limits.window_source != "default":
        return ""
    return f"The context window of {limits.name!r} is not known; {limits.window} tokens are assumed. Set window=... to correct it."


def known_name(name: str) -> str | None:
    """The name under which litellm lists a model: as it stands, or without provider prefixes; None when it is unknown."""
    models = known_models()
    pieces = name.split("/")
    candidates = ("/".join(pieces[at:]) for at in range(len(pieces)))
    return next((one for one in candidates if one in models), None)


def chat_models() -> list[str]:
    """Names of all listed models that chat, sorted."""
    return sorted(name for name, entry in known_models().items() if entry.get("mode") in ("chat", "responses"))


def nearest(name: str, among: Iterable[str], most: int = 3) -> list[str]:
    """Names most like one that is unknown, the nearest first."""
    import difflib

    bare = name.rpartition("/")[2].casefold()
    by_bare: dict[str, str] = {}
    for one in sorted(among, key=lambda full: (len(full), full)):
        by_bare.setdefault(one.rpartition("/")[2].casefold(), one)
    return [by_bare[found] for found in difflib.get_close_matches(bare, by_bare, n=most, cutoff=0.6)]


@functools.cache
def known_models() -> dict[str, dict[str, Any]]:
    """The list of litellm by model name, read once; empty where litellm or its list is missing or broken."""
    listed = _read(_LIST)
    if len(listed) < _FEWEST_MODELS:
        return {}
    return {name: entry for name, entry in listed.items() if isinstance(entry, dict) and name != "sample_spec"}


@functools.cache
def known_providers() -> frozenset[str]:
    """Words that may stand before a model's name: of litellm's list of providers, and of its list of models."""
    providers = _read(_PROVIDERS).get("providers")
    served = providers if isinstance(providers, dict) else {}
    named = {str(entry.get("litellm_provider", "")) for entry in known_models().values()}
    before = {name.partition("/")[0] for name in known_models() if "/" in name}
    return frozenset({*served, *named, *before, *_SERVERS} - {""})


_SERVERS = (
    "custom_openai",
    "hosted_vllm",
    "litellm_proxy",
    "lm_studio",
    "llamafile",
    "ollama",
    "ollama_chat",
    "openai_like",
    "vllm",
)
"""Providers of one's own servers; litellm lists none of their models."""


def _read(name: str) -> dict[str, Any]:
    """A JSON object in litellm's folder; empty where it is missing or broken."""
    folder = litellm_folder()
    try:
        found = json.loads((folder / name).read_text(encoding="utf-8")) if folder else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def litellm_folder() -> Path | None:
    """Folder of the installed litellm package, found without importing it."""
    from importlib.util import find_spec

    spec = find_spec("litellm")
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else None


def _is_tokens(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
