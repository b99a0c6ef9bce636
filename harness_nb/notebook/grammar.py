"""All magics and their sub-commands: what they take, what they do, and the same in Python."""

from __future__ import annotations

from harness_nb.notebook.arguments import Command, Option

MODEL = Option(name="model", value="NAME", values="models", meaning="offline, local, or any model of litellm")
PRESET = Option(name="preset", value="NAME", values="presets", meaning="policy and memory design")
SESSION = Option(name="session", value="ID", values="sessions", meaning="session to resume or begin")
WORKSPACE = Option(name="workspace", value="FOLDER", meaning="folder of the memory")
WINDOW = Option(name="window", value="TOKENS", kind="number", meaning="context window in tokens")
MAX_COST = Option(name="max-cost", value="DOLLARS", kind="amount", meaning="stop when the session has cost this much")
LIMIT = Option(name="limit", value="N", kind="number", meaning="most hits (default: %config HarnessMagics.limit)")

AGENT = (
    Command(
        name="%agent new",
        meaning="Makes an agent and puts it in use.",
        twin='HarnessAgent("NAME", model=..., preset=..., workspace=..., session=..., window=..., max_cost=...)',
        text="NAME",
        options=(MODEL, PRESET, WORKSPACE, SESSION, WINDOW, MAX_COST),
        example="%agent new lab --preset harness --window 4000",
    ),
    Command(
        name="%agent use",
        meaning="Puts an agent of your own, by the name of its variable, in use for the magics.",
        twin="a variable of yours",
        text="VARIABLE",
        text_values="agents",
        needs_text=True,
        example="%agent use agent",
    ),
    Command(
        name="%agent reset",
        meaning="Begins another session, or resumes one; the memory stays.",
        twin="agent.reset(session)",
        text="SESSION",
        text_values="sessions",
    ),
    Command(name="%agent status", meaning="Shows model, window, session, cost and warnings.", twin="agent.status()"),
    Command(name="%agent config", meaning="Shows the settings in force.", twin="agent.preset.settings"),
    Command(name="%agent tools", meaning="Shows the tools, and what each may do.", twin="agent.tools"),
    Command(name="%agent sessions", meaning="Shows the sessions of the workspace.", twin="agent.sessions()"),
)

ASK = Command(
    name="%%agent",
    meaning="Sends the cell, as typed, to the agent and streams the answer. {{name}} stands for a variable given by --var.",
    twin='agent.ask("...")   with other settings: HarnessAgent(model=..., preset=..., session=...).ask("...")',
    options=(
        MODEL,
        PRESET,
        SESSION,
        Option(name="var", value="NAME", values="variables", repeats=True, meaning="variable that {{NAME}} stands for"),
        Option(name="out", value="NAME", meaning="variable that takes the reply"),
        Option(name="no-stream", kind="flag", meaning="show the final answer only"),
        Option(name="dry-run", kind="flag", meaning="show the request and the plan; send nothing"),
    ),
    example="%%agent --var note --out reply",
)

MEMORY = (
    Command(
        name="%memory search",
        meaning="Searches curated memory, daily logs and sessions; any text is a query, quotes keep words together.",
        twin='agent.memory.search("...", limit=10)',
        text="TEXT",
        needs_text=True,
        options=(LIMIT,),
        example='%memory search "lab 7" --limit 5',
    ),
    Command(name="%memory show", meaning="Shows MEMORY.md.", twin="agent.memory.show()"),
    Command(
        name="%memory log",
        meaning="Shows the daily log of a day, of today, or of all days.",
        twin='agent.memory.log("2026-04-12")',
        text="DAY",
        text_values="days",
        example="%memory log today",
    ),
    Command(
        name="%memory status", meaning="Shows what the memory holds and where it lies.", twin="agent.memory.status()"
    ),
)

CONTEXT = (
    Command(
        name="%context",
        meaning="Shows what fills the context window, where the policy acts, and the course over the session.",
        twin="PressureWidget(agent)",
    ),
    Command(
        name="%context plan",
        meaning="Shows what would be compacted now, and why; changes nothing.",
        twin="agent.plan()",
    ),
)

MAGICS = {"agent": AGENT, "memory": MEMORY, "context": CONTEXT}
"""Sub-commands by magic."""


def overview(magic: str) -> str:
    """The sub-commands of a magic, a line each."""
    commands = [*MAGICS[magic], *((ASK,) if magic == "agent" else ())]
    width = max(len(command.name) for command in commands)
    lines = [f"  {command.name:<{width}}  {command.meaning}" for command in commands]
    return "\n".join([*lines, "", "Each has --help."])
