"""The magics: they read the line, call what any Python user can call, and return its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from traitlets import Bool, Int, Unicode

from harness_nb.notebook import commands, memory_commands, policy_commands
from harness_nb.notebook.arguments import HELP_WORDS, Command, Given, find_command, parse, split, wants_help
from harness_nb.notebook.errors import short_errors
from harness_nb.notebook.grammar import ASK, CONTEXT, MAGICS, overview
from harness_nb.notebook.seat import Seat

Run = Callable[["HarnessMagics", Given], Any]


@magics_class
class HarnessMagics(Magics):
    """Talk to an agent, search its memory, look at its context."""

    limit = Int(10, min=1, help="Most hits of %memory search.").tag(config=True)
    static = Bool(False, help="Show final results only, nothing that moves.").tag(config=True)
    model = Unicode("offline", help="Model of an agent that a magic makes.").tag(config=True)
    preset = Unicode("harness", help="Preset of an agent that a magic makes.").tag(config=True)
    workspace = Unicode("", help="Workspace of an agent that a magic makes; empty for the default.").tag(config=True)

    runs: ClassVar[dict[str, Run]] = {
        "%agent new": commands.agent_new,
        "%agent use": commands.agent_use,
        "%agent reset": commands.agent_reset,
        "%agent status": lambda magics, given: magics.seat.agent.status(),
        "%agent config": commands.agent_config,
        "%agent tools": commands.agent_tools,
        "%agent sessions": lambda magics, given: magics.seat.agent.sessions(),
        "%memory search": memory_commands.search,
        "%memory show": memory_commands.show,
        "%memory log": lambda magics, given: magics.seat.agent.memory.log(given.text or None),
        "%memory flush": lambda magics, given: magics.seat.agent.flush(),
        "%memory consolidate": lambda magics, given: magics.seat.agent.consolidate(),
        "%memory pending": memory_commands.pending,
        "%memory accept": memory_commands.accept,
        "%memory reject": memory_commands.reject,
        "%memory restore": memory_commands.restore,
        "%memory status": lambda magics, given: magics.seat.agent.memory.status(),
        "%memory reindex": memory_commands.reindex,
        "%context": policy_commands.context,
        "%context plan": policy_commands.plan,
        "%context compact": lambda magics, given: magics.seat.agent.compact(given.text),
        "%context tiers": policy_commands.tiers,
        "%context course": policy_commands.course,
        "%context pin": policy_commands.pin,
        "%policy list": policy_commands.list_presets,
        "%policy show": policy_commands.show_preset,
        "%policy use": policy_commands.use_preset,
        "%policy compare": policy_commands.compare,
        "%policy tune": policy_commands.tune,
    }

    seat: Seat

    def __init__(self, shell: Any = None, **options: Any) -> None:
        super().__init__(shell, **options)
        self.seat = Seat(self._defaults)

    @property
    def variables(self) -> dict[str, Any]:
        """The user's variables."""
        return self.shell.user_ns if self.shell is not None else {}

    def say(self, text: str) -> None:
        """Shows help, or a remark beside a result, in the cell's output as plain text."""
        import sys

        sys.stdout.write(f"{text}\n")

    def _defaults(self) -> dict[str, Any]:
        return {"model": self.model, "preset": self.preset, "workspace": self.workspace or None}

    @no_var_expand
    @line_cell_magic
    def agent(self, line: str, cell: str | None = None) -> Any:
        """%%agent sends the cell to the agent; %agent new, use, reset, status, config, tools, sessions. Each has --help."""
        if cell is None:
            return self._dispatch("agent", line)
        return self._run(ASK, line, lambda magics, given: commands.ask(magics, given, cell))

    @no_var_expand
    @line_magic
    def memory(self, line: str) -> Any:
        """%memory search, show, log, status and more: what the agent remembers. Each has --help."""
        return self._dispatch("memory", line)

    @no_var_expand
    @line_magic
    def context(self, line: str) -> Any:
        """%context shows how full the context window is; %context plan, compact, tiers, course, pin. Each has --help."""
        words = split(line)
        if not words or words[0].text.startswith("-"):
            return self._run(CONTEXT[0], line, self.runs[CONTEXT[0].name])
        return self._dispatch("context", line)

    @no_var_expand
    @line_magic
    def policy(self, line: str) -> Any:
        """%policy list, show, use, compare, tune: what compacts a conversation, and how. Each has --help."""
        return self._dispatch("policy", line)

    def _dispatch(self, magic: str, line: str) -> Any:
        """Runs the sub-command that the line begins with; without one, shows what there is."""
        words = split(line)
        if not words or words[0].text in HELP_WORDS:
            self.say(overview(magic))
            return None
        word = words[0].text
        with short_errors():
            command = find_command(MAGICS[magic], f"%{magic}", word)
        rest = line.strip()[len(word) :] if not words[0].is_quoted else line.strip()[len(word) + 2 :]
        return self._run(command, rest, self.runs[command.name])

    def _run(self, command: Command, line: str, run: Run) -> Any:
        if wants_help(line):
            self.say(command.help)
            return None
        given = parse(command, line)
        with short_errors(debug=given.debug):
            return run(self, given)
