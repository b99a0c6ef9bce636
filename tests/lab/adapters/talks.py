"""Conversations for the tests of adapters."""

from __future__ import annotations

from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.transcript import Transcript

RULE = "Never push to the main branch."


def talk(turns: int = 12, *, with_tools: bool = False) -> list[Message]:
    """A prompt, a rule of the user's, and turns of some length, the last of them a request that is not answered yet."""
    said = [Message.system("You help."), Message.user(f"Hello. {RULE}"), Message.assistant("I will not.")]
    for turn in range(turns):
        said.append(Message.user(f"Question {turn}: what does part {turn} of the importer do with long rows?"))
        if with_tools:
            call = ToolCall(f"call-{turn}", "read_file", f'{{"path":"part_{turn}.py"}}')
            said += [Message.assistant(calls=[call]), Message.tool(call.id, f"row {turn} " * 60, name="read_file")]
        said.append(Message.assistant(f"Part {turn} splits long rows at column {turn * 7} and keeps the rest."))
    return [*said, Message.user("And what now?")]


def transcript(turns: int = 12, *, with_tools: bool = False) -> Transcript:
    """The same as a transcript."""
    return Transcript(talk(turns, with_tools=with_tools))
