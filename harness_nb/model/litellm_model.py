"""Any model of litellm: streamed, with tool calls, usage and cost, and errors that say what to do.

litellm is imported on the first request, with its own list of models instead of one from the network.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.errors import ConfigError, MissingKeyError, ModelError
from harness_nb.model.assembly import Assembly
from harness_nb.model.base import Delta, ModelRequest
from harness_nb.model.errors import classify
from harness_nb.model.truncation import overflow_in
from harness_nb.model.usage import input_tokens
from harness_nb.model.windows import chat_models, known_models, known_name, known_providers, limits_of, nearest

OFFLINE_VARIABLE = "HARNESS_NB_OFFLINE"
"""With this variable set (and not `0`) no request leaves this computer; servers on a loopback address are still asked."""

OPTIONS = frozenset(
    {
        "api_version", "extra_body", "extra_headers", "frequency_penalty", "logit_bias", "metadata", "num_retries",
        "parallel_tool_calls", "presence_penalty", "reasoning_effort", "response_format", "seed", "service_tier", "stop",
        "temperature", "thinking", "tool_choice", "top_p", "user",
    }
)  # fmt: skip
"""Further options of a request, handed to litellm as they are."""


class LiteLLMModel:
    """A model by its litellm name.

    Args:
        name: Name with the provider before it (`anthropic/...`, `openai/...`), or alone where litellm lists it so.
        window: Context window in tokens; by default as litellm lists it, else 128,000.
        max_output: Largest reply in tokens, sent with each request; by default only what the request asks for.
        api_base: Address of the server, for one of one's own.
        api_key_variable: Environment variable that holds the key, where it is not the provider's usual one.
        timeout_seconds: Longest time to wait for the next piece.
        alias: Name by which limits and errors call the model; by default its name.
        **options: Any of `OPTIONS`.

    Raises:
        ConfigError: The name or an option is unknown; says which is nearest.
    """

    def __init__(
        self,
        name: str,
        *,
        window: int | None = None,
        max_output: int | None = None,
        api_base: str | None = None,
        api_key_variable: str | None = None,
        timeout_seconds: float = 120.0,
        alias: str | None = None,
        **options: Any,
    ) -> None:
        _check_name(name)
        _check_options(options)
        if not timeout_seconds > 0:
            raise ConfigError(f"timeout_seconds={timeout_seconds!r} is no time to wait.", "Give a number above 0.")
        limits = limits_of(name, window=window, max_output=max_output)
        self._name = name
        self._limits = replace(limits, name=alias or name)
        self._max_output = max_output
        self._api_base = api_base
        self._api_key_variable = api_key_variable
        self._timeout_seconds = timeout_seconds
        self._options = options

    def __repr__(self) -> str:
        """Name and window; never a key."""
        return f"LiteLLMModel({self._limits.name!r}, window={self._limits.window})"

    @property
    def limits(self) -> ModelLimits:
        """What the model takes and where its window comes from."""
        return self._limits

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Message]:
        """Asks the provider.

        Raises:
            MissingKeyError: No key was found; names the variable.
            ModelError: The provider refused or failed; its exception is the cause.
        """
        import asyncio

        self._check_allowed()
        named = self._named_key()  # before litellm is imported, which takes seconds
        litellm = await asyncio.to_thread(import_litellm)
        sent = self._arguments(request) | (named or self._key(litellm))
        _hush_deprecations()
        assembly = Assembly()
        try:
            pieces = await litellm.acompletion(**sent)
            try:
                async for piece in pieces:
                    for delta in assembly.add(piece):
                        yield delta
            finally:
                await _close(pieces)
        except Exception as error:
            raise self._meant(error, request) from error
        message = assembly.message()
        if message.usage is not None:
            message = replace(message, usage=self._priced(litellm, message.usage))
        if overflow := overflow_in(message, self._limits.window):
            raise overflow
        yield message

    def _arguments(self, request: ModelRequest) -> dict[str, Any]:
        """What litellm is called with, the key excepted."""
        sent: dict[str, Any] = {
            "model": self._name,
            "messages": [message.to_openai() for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "timeout": self._timeout_seconds,
            "num_retries": 0,  # repeating is the driver's
            **self._options,
        }
        if request.tools:
            sent["tools"] = [tool.schema for tool in request.tools]
        else:
            sent.pop("tool_choice", None)
            sent.pop("parallel_tool_calls", None)
        wanted = [tokens for tokens in (request.max_tokens, self._max_output) if tokens is not None]
        if wanted:
            sent["max_tokens"] = min(wanted)
        return sent | ({"api_base": self._api_base} if self._api_base else {})

    def _named_key(self) -> dict[str, str]:
        """The key that a variable of one's own choice holds; nothing where none was named."""
        if self._api_key_variable is None:
            return {}
        key = os.environ.get(self._api_key_variable)
        if not key:
            raise _missing_key(self._limits.name, [self._api_key_variable])
        return {"api_key": key}

    def _key(self, litellm: Any) -> dict[str, str]:
        """The key of a local server, which needs none; elsewhere it is checked that litellm finds one by itself."""
        if is_loopback(self._api_base):
            return {"api_key": "none"}  # local servers ask for none, but litellm wants one
        if self._api_base is None:
            missing = litellm.validate_environment(self._name)["missing_keys"]
            if missing and all(name.endswith(("_API_KEY", "_TOKEN")) for name in missing):
                raise _missing_key(self._limits.name, missing)
        return {}

    def _check_allowed(self) -> None:
        if os.environ.get(OFFLINE_VARIABLE, "0") not in ("", "0") and not is_loopback(self._api_base):
            raise ModelError(
                f"{self._limits.name!r} was not asked: {OFFLINE_VARIABLE} is set.",
                "Unset it to allow requests to leave this computer, or use the model 'offline'.",
                subject=self._limits.name,
            )

    def _meant(self, error: Exception, request: ModelRequest) -> ModelError:
        pressure = input_tokens(request) / self._limits.window
        return classify(error, pressure=pressure, model=self._limits.name)

    def _priced(self, litellm: Any, usage: Usage) -> Usage:
        """Usage with its cost where litellm knows the price."""
        try:
            cost = sum(
                litellm.cost_per_token(
                    model=self._name,
                    prompt_tokens=usage.input_tokens,
                    completion_tokens=usage.output_tokens,
                    cache_read_input_tokens=usage.cached_tokens,
                )
            )
        except Exception:  # litellm raises bare exceptions for models without a price
            return usage
        return replace(usage, cost=cost)


def import_litellm() -> Any:
    """litellm, imported with its own list of models unless the user's environment says otherwise.

    When it is we who import it, its advice printed on errors is switched off: our errors say what to do.
    """
    import sys

    if "litellm" in sys.modules:
        return sys.modules["litellm"]
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _hush_deprecations() -> None:
    """Hides deprecations in litellm's own code, which tell its authors to change it; all other warnings stay as they are.

    The filter is set anew for each request, as others reset filters; one that is there already is not doubled.
    """
    import warnings

    warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"litellm\.")


def is_loopback(address: str | None) -> bool:
    """Whether an address is of this computer."""
    host = (urlsplit(address).hostname or "") if address else ""
    if host == "localhost":
        return True
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _close(pieces: Any) -> None:
    """Ends the connection of a stream that was left early."""
    close = getattr(pieces, "aclose", None)
    if close is not None:
        await close()


def _check_name(name: str) -> None:
    provider, _, rest = name.partition("/")
    if not known_models() or (rest and provider in known_providers()):
        return
    if known_name(name) is not None and not (rest and _is_misspelt(provider)):
        return
    alike = nearest(name, [*chat_models(), "offline", "local", "scripted"])
    hint = f"Did you mean {' or '.join(map(repr, alike))}?" if alike else "Give 'offline', 'local' or 'provider/model'."
    raise ConfigError(f"{name!r} is no model that litellm knows.", hint, subject=name)


def _is_misspelt(provider: str) -> bool:
    """Whether an unknown provider looks like a known one: litellm takes a few more than it lists."""
    import difflib

    return bool(difflib.get_close_matches(provider, known_providers(), n=1, cutoff=0.85))


def _check_options(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in OPTIONS:
            import difflib

            alike = difflib.get_close_matches(name, OPTIONS, n=1)
            hint = f"Did you mean {alike[0]!r}?" if alike else f"Known are: {', '.join(sorted(OPTIONS))}."
            raise ConfigError(f"{name!r} is no option of a model.", hint, subject=name)


def _missing_key(model: str, variables: list[str]) -> MissingKeyError:
    names = " or ".join(variables)
    return MissingKeyError(
        f"{model!r} needs a key, and {names} is not set.",
        f"Set {variables[0]} outside the notebook (shell profile, .env of JupyterLab, keyring), or use the model 'offline'.",
        subject=variables[0],
    )
