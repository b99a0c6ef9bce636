"""The texts that Hermes' compaction puts into a conversation, in our words and as long as the system's own.

Lengths matter: sizes are estimated from characters, and a fallback text is cut to what its opening leaves.
"""

from __future__ import annotations

from harness_nb.core.item import Item
from harness_nb.core.messages import Message

MARK = "[EARLIER SUMMARY]:"
"""Begins every summary, so that it is known again, also in a conversation that came from elsewhere."""

OPENING = f"""\
{MARK} what follows stands for the earlier part
of this conversation, which was taken out to make room in
the context window. It is for reference only.

How to read it:
- It reports what was asked, what was done and what was found
  before. It is a record of the past, and it asks nothing of you at this moment.
- The newest message of the user, which comes after this
  block, is what counts. It alone decides what you are to do next.
- Do not take up a request that is only reported here, and
  do not answer a question that stands only here, unless the
  newest message asks you to. In the meantime it may have been
  dealt with, changed or dropped.
- When the newest message and this block disagree, follow the
  newest message. When the user changes the subject, change
  it too, and let the old task rest until somebody comes back to it.
- When the newest message tells you to go on, take the work up
  where the sections below say that it stands.

What else holds:
- Your memory of the user and of the environment, in the
  system prompt, is still true and fully in force. Nothing in this
  block takes its place, as it was not summarised.
- All of your tools are there as before, with the same rights. Use them to look at
  a file or at a state once more rather than to trust what is
  reported of it here, since both may have changed.
- What was done already is done: look at the results that are
  listed in the sections below before you repeat work of any kind.
- Keys and passwords were masked on purpose. Ask for them.
  Where something that you need is missing here, say so and ask for it, or look it up with a tool.
"""
"""In front of every summary: reference only, the newest message decides, memory and tools hold."""

CLOSING = "\n\n[END OF THE EARLIER SUMMARY. The messages after this line are of the now.]"
"""Behind every summary."""

MERGED_BEFORE = "[A message of the talk, as it was said:]\n"
MERGED_BETWEEN = "\n\n[What follows is a summary of all that came before this message:]\n"
"""Around the text of a message that a summary is merged into."""

TASK_HEADING = "## Historical Task Snapshot"
TASK_OPENING = (
    f"{TASK_HEADING}\nThe last request of the user in the part that is summarised here, word for word. "
    "It is past, and it is not a task for now.\n"
)
TASK_CLOSING = "\n\n"
TASK_CHARS = 1_400
"""Characters of the last summarised request that are quoted."""

ARGUMENT_MARK = "...[cut short]"
DUPLICATE = "[The same result stands further down, at the newest call.]  "
IMAGE_IN_RESULT = "[picture was here, taken out by now]"
IMAGE_STRIPPED = "[A picture stood here and was taken out in a compaction.]"
CALLS_REMOVED = "[A call stood here]"
SYSTEM_NOTE = (
    "\n\n[Note: earlier parts of this conversation were replaced by a summary to make room. The summary stands in the "
    "conversation and is for reference only: do not do again what it reports as done, and build on the state that it "
    "describes. Your memory of the user and of the environment, in this prompt, stays in force as it is.]"
)
TODO_OPENING = "[Your open tasks, kept over the compaction:]\n"
NO_USER = "[No request of a user is left in this conversation. Go on with the work that the summary reports.]"


def summary_text(body: str) -> str:
    """A summary as it stands in the conversation."""
    return f"{OPENING}{body}{CLOSING}"


def is_summary(item: Item) -> bool:
    """Whether an item is an earlier summary, or has one merged into it."""
    return item.meta.get("hermes") == "summary" or begins_summary(item.message)


def begins_summary(message: Message) -> bool:
    """Whether a message is an earlier summary by its text."""
    return message.role in ("user", "assistant") and message.text.startswith(MARK)


def is_request(item: Item) -> bool:
    """Whether an item is a real message of the user: neither a summary nor a note of the harness."""
    if item.message.role != "user" or item.index is None:
        return False
    return item.message.origin == "user" and not begins_summary(item.message)


def body_of(item: Item) -> str:
    """The text of the summary that an item holds, without what stands around it."""
    text = item.message.text
    _, found, rest = text.rpartition(OPENING)
    body = rest if found else text.removeprefix(MARK)
    return body.removesuffix(CLOSING).strip()
