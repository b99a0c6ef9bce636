"""What the sub-commands of `%agent` and `%%agent` do that is more than one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness_nb.notebook.arguments import Given, nearest
from harness_nb.notebook.environment import is_static
from harness_nb.notebook.errors import MagicError
from harness_nb.notebook.variables import filled

if TYPE_CHECKING:
    from harness_nb.agent.agent import HarnessAgent
    from harness_nb.agent.results import AgentReply, AgentStatus
    from harness_nb.notebook.magics import HarnessMagics
    from harness_nb.notebook.results import DryRun, SettingList, ToolList


def settings_of(given: Given, *names: str) -> dict[str, Any]:
    """Those of some options that were given."""
    return {name: given.options[name] for name in names if name in given.options}


# %agent


def agent_new(magics: HarnessMagics, given: Given) -> HarnessAgent:
    """Makes an agent and puts it in use."""
    settings = settings_of(given, "model", "preset", "workspace", "session", "window", "max_cost")
    name, before = given.text or "agent", magics.seat.taken
    agent = magics.seat.new(name, **settings)
    if before is not None and _goes_on_elsewhere(before, agent):
        magics.say(f"This is another session of {name!r}; go on with the one before: %agent reset {before.session}")
    return agent


def _goes_on_elsewhere(before: HarnessAgent, agent: HarnessAgent) -> bool:
    """Whether an agent of the same name and workspace has begun another session, and the one before holds something."""
    is_same = before.name == agent.name and before.workspace.path == agent.workspace.path
    return is_same and before.session != agent.session and len(before.messages) > 0


def agent_use(magics: HarnessMagics, given: Given) -> HarnessAgent:
    """Puts an agent of the user's in use."""
    from harness_nb.agent.agent import HarnessAgent

    variables = magics.variables
    agent = variables.get(given.text)
    if isinstance(agent, HarnessAgent):
        magics.seat.use(agent)
        return agent
    agents = [name for name, value in variables.items() if isinstance(value, HarnessAgent) and not name.startswith("_")]
    hint = nearest(given.text, agents) or next(iter(agents), "")
    what = "is no agent" if given.text in variables else "is no variable"
    raise MagicError(
        f"{given.text!r} {what}.",
        f"Did you mean {hint!r}?" if hint else "Make one: agent = HarnessAgent(...), or %agent new.",
        subject=given.text,
    )


def agent_reset(magics: HarnessMagics, given: Given) -> AgentStatus:
    """Begins or resumes another session."""
    agent = magics.seat.agent
    agent.reset(given.text or None)
    return agent.status()


def agent_config(magics: HarnessMagics, given: Given) -> SettingList:
    """The settings in force."""
    from harness_nb.notebook.results import SettingList

    agent = magics.seat.agent
    return SettingList(agent.settings, f"Settings of {agent.name}")


def agent_tools(magics: HarnessMagics, given: Given) -> ToolList:
    """The tools, and what each may do."""
    from harness_nb.notebook.results import ToolList

    return ToolList.of(magics.seat.agent)


# %%agent


def ask(magics: HarnessMagics, given: Given, cell: str) -> AgentReply | DryRun:
    """Sends the cell as typed; whatever is wrong with the line is said before anything is sent."""
    names = given.options.get("var", [])
    text = filled(_body(cell), names if isinstance(names, list) else [], magics.variables)
    out = str(given.options.get("out", ""))
    if out and not out.isidentifier():
        raise MagicError(
            f"--out {out!r} is no name of a variable.", "Use letters, digits and underscores.", subject=out
        )
    agent = magics.seat.with_settings(settings_of(given, "model", "preset", "session"))
    result = _dry_run(agent, text) if given.options.get("dry_run") else _turn(magics, given, agent, text)
    if out:
        magics.variables[out] = result
    return result


def _body(cell: str) -> str:
    """The cell without the line end that front-ends may put behind it.

    Raises:
        MagicError: It is empty.
    """
    if not cell.strip():
        raise MagicError("The cell is empty: there is nothing to send.", "Write your message below the line %%agent.")
    return cell.removesuffix("\n")


def _dry_run(agent: HarnessAgent, text: str) -> DryRun:
    from harness_nb.notebook.results import DryRun

    return DryRun(*agent.dry_run(text))


def _turn(magics: HarnessMagics, given: Given, agent: HarnessAgent, text: str) -> AgentReply:
    if given.options.get("no_stream") or is_static(magics.shell):
        return agent.ask(text)
    from harness_nb.notebook.live import follow

    return follow(agent, text)
