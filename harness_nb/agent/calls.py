"""Running a tool call: its arguments are checked, its function runs, and whatever comes of it becomes a result."""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness_nb.agent.permissions import Permissions
from harness_nb.core.messages import Message, ToolCall, to_json
from harness_nb.core.tool import Tool
from harness_nb.errors import HarnessError

INTERRUPTED = "[interrupted: the user stopped this call]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call.

    Attributes:
        text: The result for the model.
        status: `ok`, `error` or `denied`.
    """

    text: str
    status: str = "ok"


async def run_call(call: ToolCall, tools: Mapping[str, Tool], permissions: Permissions) -> Outcome:
    """Runs a call. Every mistake becomes a result that says what to do.

    Raises:
        KeyboardInterrupt: The user interrupted the tool, or the question whether it may run.
    """
    tool = tools.get(call.name)
    if tool is None:
        return Outcome(f"There is no tool {call.name!r}. Available: {', '.join(sorted(tools)) or 'none'}.", "error")
    arguments = call.parsed()
    problem = "The arguments are not a JSON object." if arguments is None else _problem(tool, arguments)
    if arguments is None or problem:
        return Outcome(f"{problem} {tool.name} takes {to_json(tool.parameters)}.", "error")
    try:
        if tool.check is not None:
            tool.check(arguments)
        if refusal := await _refusal(tool, arguments, permissions):
            return Outcome(f"{refusal} Go on without it, or ask the user.", "denied")
        return Outcome(as_text(await _call(tool, arguments)))
    except HarnessError as error:
        return Outcome(str(error), "error")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's tool may raise anything, and the model is told
        return Outcome(f"{type(error).__name__}: {error}", "error")


async def _refusal(tool: Tool, arguments: Mapping[str, Any], permissions: Permissions) -> str:
    """Why a call may not be made, or empty; where nobody could be asked, the answer is no."""
    if permissions.of(tool) != "ask":
        return permissions.refusal(tool, arguments)
    try:
        return str(await in_thread(lambda: permissions.refusal(tool, arguments)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever ails the asker, the tool does not run
        return f"{tool.name} needs the user's consent, and asking failed ({type(error).__name__}: {error})."


async def _call(tool: Tool, arguments: dict[str, Any]) -> object:
    if inspect.iscoroutinefunction(tool.function):
        return await tool.function(**arguments)
    value = await in_thread(lambda: tool.function(**arguments))
    return await value if inspect.isawaitable(value) else value


async def in_thread(work: Callable[[], Any]) -> Any:
    """Runs work in a daemon thread, which nobody waits for once the caller is cancelled; raises what it raised."""
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: object, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def run() -> None:
        value: object = None
        failed: BaseException | None = None
        try:
            value = context.run(work)
        except StopIteration as error:  # a future can't hold one
            failed = RuntimeError(f"StopIteration: {error}")
        except BaseException as error:  # noqa: BLE001 - handed on to the loop
            failed = error
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(settle, value, failed)

    threading.Thread(target=run, name="harness_nb-tool", daemon=True).start()
    return await future


def _problem(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """What is wrong with a call's arguments, or empty."""
    properties = tool.parameters.get("properties", {})
    missing = [name for name in tool.parameters.get("required", ()) if name not in arguments]
    if missing:
        return f"The argument {missing[0]!r} is missing."
    unknown = [name for name in arguments if name not in properties]
    if unknown and not tool.parameters.get("additionalProperties"):
        return f"There is no argument {unknown[0]!r}."
    wrong = [name for name, value in arguments.items() if not _fits(value, properties.get(name, {}))]
    if wrong:
        return f"{wrong[0]}={arguments[wrong[0]]!r} is no {properties[wrong[0]]['type']}."
    return ""


_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def _fits(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether a value is of the one type that a schema names; a schema without one takes anything."""
    kinds = _KINDS.get(schema.get("type", ""), (object,))
    return isinstance(value, kinds) and not (isinstance(value, bool) and kinds in ((int,), (int, float)))


def as_text(value: object) -> str:
    """A tool's return value as text: texts as they are, everything else as JSON where that is possible."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)


def result_message(call: ToolCall, outcome: Outcome, **fields: Any) -> Message:
    """The result of a call as a message."""
    return Message.tool(call.id, outcome.text, name=call.name, status=outcome.status, **fields)
