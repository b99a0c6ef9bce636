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
KIND = Option(
    name="kind",
    value="KIND",
    values="kinds",
    repeats=True,
    meaning="what hits may be: memory, daily, topic, session, archive (default: all)",
)
NEIGHBOURS = Option(name="neighbours", value="N", kind="number", meaning="lines before and behind each hit")
MODE = Option(name="mode", value="MODE", values="modes", meaning="keyword (default), hybrid (extra: semantic) or auto")

VARIANT = Option(name="variant", value="NAME", values="variants", meaning="version of the preset")
ON = Option(
    name="on", value="VARIABLE", values="conversations",
    meaning="transcript, replay or agent (default: the agent in use)",
)  # fmt: skip
ANSWERED_BY = Option(
    name="model",
    value="NAME",
    values="models",
    meaning="answers the presets' own requests (default: replies are assumed)",
)
FACTS = Option(name="facts", kind="flag", meaning="what the systems do and are known for, without a conversation")
CHANGES = Option(
    name="only",
    value="N",
    kind="number",
    repeats=True,
    meaning="number of a change (default: all that are not decided)",
)

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
        twin='agent.memory.search("...", limit=10, kinds=["daily"], neighbours=1, mode="hybrid")',
        text="TEXT",
        needs_text=True,
        options=(LIMIT, KIND, NEIGHBOURS, MODE),
        example='%memory search "lab 7" --limit 5',
    ),
    Command(
        name="%memory show",
        meaning="Shows MEMORY.md, or another Markdown file of the memory, such as a topic.",
        twin='agent.memory.show("notes/optics.md")',
        text="FILE",
        text_values="topics",
    ),
    Command(
        name="%memory log",
        meaning="Shows the daily log of a day, of today, or of all days.",
        twin='agent.memory.log("2026-04-12")',
        text="DAY",
        text_values="days",
        example="%memory log today",
    ),
    Command(
        name="%memory flush",
        meaning="Takes the facts to the daily log, now, from what was said and not read yet.",
        twin="agent.flush()",
    ),
    Command(
        name="%memory consolidate",
        meaning="Merges into MEMORY.md what is not merged yet, now; a change that loses much waits for review.",
        twin="agent.consolidate()",
    ),
    Command(
        name="%memory pending",
        meaning="Shows what waits: log entries by day, proposed changes to decide on, versions to go back to.",
        twin="ConsolidationWidget(agent)   as a list: agent.memory.pending()",
    ),
    Command(
        name="%memory accept",
        meaning="Makes proposed changes to MEMORY.md; with the last one, the candidate is done.",
        twin="agent.memory.accept(1, [2, 3])",
        text="CANDIDATE",
        text_values="candidates",
        needs_text=True,
        options=(CHANGES,),
        example="%memory accept 1 --only 2 --only 3",
    ),
    Command(
        name="%memory reject",
        meaning="Forgets proposed changes; the log entries stay in the logs.",
        twin="agent.memory.reject(1, [2, 3], again=False)",
        text="CANDIDATE",
        text_values="candidates",
        needs_text=True,
        options=(
            CHANGES,
            Option(name="again", kind="flag", meaning="of a whole candidate: merge its log entries anew next time"),
        ),
        example="%memory reject 1 --only 2",
    ),
    Command(
        name="%memory restore",
        meaning="Makes an earlier MEMORY.md the current one, which is kept as a version; without a number lists them.",
        twin="agent.memory.restore(3)   the list: agent.memory.versions()",
        text="VERSION",
        text_values="versions",
        example="%memory restore 3",
    ),
    Command(
        name="%memory status", meaning="Shows what the memory holds and where it lies.", twin="agent.memory.status()"
    ),
    Command(
        name="%memory reindex",
        meaning="Builds the search index anew from the files, which are the truth.",
        twin="agent.memory.index.rebuild()",
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
        meaning="Shows what would be compacted now, where it is cut and why, or what the plan of a number did; changes nothing.",
        twin="CutoffWidget(agent, plan=3)   as a record: agent.plan()   past ones: agent.plans",
        text="NUMBER",
        text_values="plans",
        example="%context plan 3",
    ),
    Command(
        name="%context compact",
        meaning="Compacts now, whatever the triggers say; words are passed on to the policy.",
        twin='agent.compact("keep the file names")',
        text="WORDS",
        example="%context compact keep the file names",
    ),
    Command(
        name="%context tiers",
        meaning="Shows the thresholds at which the policy acts, and how far they are.",
        twin="agent.pressure()",
    ),
    Command(
        name="%context course",
        meaning="Shows the size of the model input over the session, request by request.",
        twin="agent.course()",
    ),
    Command(
        name="%context pin",
        meaning="Keeps a text, or that of a message, word for word through every compaction; alone shows what is pinned.",
        twin='agent.pin("Never touch prod.")   agent.pin(4)   agent.unpin(0)   agent.pins',
        text="TEXT",
        options=(
            Option(name="message", value="INDEX", meaning="index of the message in the session whose text is meant"),
            Option(name="off", kind="flag", meaning="take the pin of that text or number away"),
        ),
        example="%context pin Never touch the production database.",
    ),
)

POLICY = (
    Command(
        name="%policy list", meaning="Shows the presets: a policy and a memory design each.", twin="presets.names()"
    ),
    Command(
        name="%policy show",
        meaning="Shows what a preset does, its variants and its settings; the one in use by default.",
        twin='presets.get("hermes", variant="report")',
        text="PRESET",
        text_values="presets",
        options=(VARIANT,),
        example="%policy show eney",
    ),
    Command(
        name="%policy use",
        meaning="Goes on with the session under another preset.",
        twin='HarnessAgent(preset=presets.get("eney"), session=agent.session)',
        text="PRESET",
        text_values="presets",
        needs_text=True,
        options=(VARIANT,),
        example="%policy use eney",
    ),
    Command(
        name="%policy compare",
        meaning="Lets presets act on one conversation and shows what each costs, leaves and does otherwise, first of all where.",
        twin='compare(transcript, ["harness", "eney"])   a report: .write("report.html")   facts: presets.compare()',
        text="PRESETS",
        text_values="presets",
        words=True,
        options=(ON, WINDOW, ANSWERED_BY, FACTS),
        example="%policy compare harness eney --on transcript",
    ),
    Command(
        name="%policy tune",
        meaning="Opens sliders for the settings of presets over a conversation; the cut, the course and figures follow.",
        twin='TunerWidget(transcript, "harness", "eney")',
        text="PRESETS",
        text_values="presets",
        words=True,
        options=(ON, WINDOW),
        example="%policy tune harness --on transcript",
    ),
)

MAGICS = {"agent": AGENT, "memory": MEMORY, "context": CONTEXT, "policy": POLICY}
"""Sub-commands by magic."""


def overview(magic: str) -> str:
    """The sub-commands of a magic, a line each."""
    commands = [*MAGICS[magic], *((ASK,) if magic == "agent" else ())]
    width = max(len(command.name) for command in commands)
    lines = [f"  {command.name:<{width}}  {command.meaning}" for command in commands]
    cell = " %%agent --help needs a line below it: IPython runs no empty cell." if magic == "agent" else ""
    return "\n".join([*lines, "", f"Each has --help.{cell}"])
