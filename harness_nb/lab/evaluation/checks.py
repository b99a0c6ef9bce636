"""A small vocabulary of what can be asserted of a case. Texts are compared without regard to case and line breaks.

A check is a value: it has words, can be sent to another process, and gives a finding when it is called with a case.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from harness_nb.core.events import CallFinished, StepFinished
from harness_nb.lab.evaluation.case import Case, Finding

Test = Callable[[Case], object]


@dataclass(frozen=True, slots=True)
class Check:
    """Something that must hold for a case.

    Attributes:
        said: The check in words.
        test: Asserts, or gives None, True or empty when it holds, else False or the reason.
    """

    said: str
    test: Test

    def __call__(self, case: Case) -> Finding:
        """What comes of it; an error in the test is a failure with its words."""
        try:
            found = self.test(case)
        except Exception as error:  # noqa: BLE001 - a user's own check may raise anything
            return Finding(check=self.said, passed=False, detail=f"{type(error).__name__}: {error}".rstrip(": "))
        if found is None or found is True or found == "":
            return Finding(check=self.said, passed=True)
        return Finding(check=self.said, passed=False, detail=found if isinstance(found, str) else "it does not hold")


def as_check(given: Check | Test) -> Check:
    """A check of the vocabulary as it is; a function under its own name."""
    if isinstance(given, Check):
        return given
    return Check(getattr(given, "__name__", repr(given)).replace("_", " "), given)


def answer_says(*texts: str) -> Check:
    """The last answer has all of these texts."""
    return Check(f"the answer says {_listed(texts)}", partial(_has, "answer", texts))


def answer_lacks(*texts: str) -> Check:
    """The last answer has none of these texts."""
    return Check(f"the answer lacks {_listed(texts)}", partial(_has_not, "answer", texts))


def answer_matches(pattern: str) -> Check:
    """The last answer matches a regular expression somewhere."""
    return Check(f"the answer matches {pattern!r}", partial(_matches, pattern))


def memory_says(*texts: str) -> Check:
    """MEMORY.md has all of these texts."""
    return Check(f"MEMORY.md says {_listed(texts)}", partial(_has, "memory", texts))


def memory_lacks(*texts: str) -> Check:
    """MEMORY.md has none of these texts."""
    return Check(f"MEMORY.md lacks {_listed(texts)}", partial(_has_not, "memory", texts))


def logs_say(*texts: str) -> Check:
    """The daily logs together have all of these texts."""
    return Check(f"the daily logs say {_listed(texts)}", partial(_has, "logs", texts))


def logs_lack(*texts: str) -> Check:
    """The daily logs together have none of these texts."""
    return Check(f"the daily logs lack {_listed(texts)}", partial(_has_not, "logs", texts))


def context_says(*texts: str) -> Check:
    """What the model sees of the conversation has all of these texts."""
    return Check(f"the context says {_listed(texts)}", partial(_has, "context", texts))


def context_lacks(*texts: str) -> Check:
    """What the model sees of the conversation has none of these texts."""
    return Check(f"the context lacks {_listed(texts)}", partial(_has_not, "context", texts))


def file_says(name: str, *texts: str) -> Check:
    """A file of the workspace has all of these texts."""
    return Check(f"{name} says {_listed(texts)}", partial(_file_has, name, texts))


def file_exists(name: str) -> Check:
    """There is a file of that name in the workspace."""
    return Check(f"{name} exists", partial(_exists, name, True))


def file_is_gone(name: str) -> Check:
    """There is no file of that name in the workspace."""
    return Check(f"{name} is gone", partial(_exists, name, False))


def file_is_unchanged(name: str) -> Check:
    """A file of the workspace is, byte for byte, as it was when the case began."""
    return Check(f"{name} is unchanged", partial(_is_unchanged, name))


def search_finds(query: str, text: str, *, within: int = 5) -> Check:
    """A search of the memory has a text among its first hits."""
    return Check(f"a search for {query!r} finds {text!r} within {within}", partial(_finds, query, text, within))


def tool_was_called(name: str) -> Check:
    """The model called a tool, and it succeeded at least once."""
    return Check(f"{name} was called", partial(_called, name, True))


def tool_was_not_called(name: str) -> Check:
    """The model did not call a tool."""
    return Check(f"{name} was not called", partial(_called, name, False))


def requests_at_most(number: int) -> Check:
    """All turns together took at most so many model requests; those for summaries and facts are not counted."""
    return Check(f"at most {number} requests", partial(_requests, number))


def _listed(texts: tuple[str, ...]) -> str:
    return ", ".join(map(repr, texts))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _text(case: Case, place: str) -> str:
    if place == "context":
        return "\n".join(item.message.text for item in case.agent.view().input)
    return str(getattr(case, place))


def _missing(text: str, texts: tuple[str, ...]) -> str:
    lost = tuple(one for one in texts if _plain(one) not in _plain(text))
    return f"it does not say {_listed(lost)}" if lost else ""


def _has(place: str, texts: tuple[str, ...], case: Case) -> str:
    return _missing(_text(case, place), texts)


def _has_not(place: str, texts: tuple[str, ...], case: Case) -> str:
    there = tuple(one for one in texts if _plain(one) in _plain(_text(case, place)))
    return f"it says {_listed(there)}" if there else ""


def _matches(pattern: str, case: Case) -> bool:
    return re.search(pattern, case.answer) is not None


def _file_has(name: str, texts: tuple[str, ...], case: Case) -> str:
    text = case.workspace.read(name)
    return "there is no such file" if text is None else _missing(text, texts)


def _exists(name: str, wanted: bool, case: Case) -> str:
    is_there = case.workspace.resolve(name).is_file()
    return "" if is_there is wanted else "it is there" if is_there else "there is no such file"


def _is_unchanged(name: str, case: Case) -> str:
    before, now = case.before.get(name), case.files().get(name)
    if before == now:
        return "" if now is not None else "there is no such file"
    return "it was made" if before is None else "it was deleted" if now is None else "it was changed"


def _finds(query: str, text: str, within: int, case: Case) -> str:
    hits = case.agent.memory.search(query, limit=within)
    return "" if any(_plain(text) in _plain(hit.content) for hit in hits) else f"{len(hits)} hits, none with it"


def _called(name: str, wanted: bool, case: Case) -> str:
    calls = [
        one for reply in case.replies for one in reply.events if isinstance(one, CallFinished) and one.name == name
    ]
    if not wanted:
        return f"it was called {len(calls)} times" if calls else ""
    return "" if any(one.status == "ok" for one in calls) else "it failed" if calls else "it was not called"


def _requests(number: int, case: Case) -> str:
    made = sum(isinstance(one, StepFinished) and one.purpose == "chat" for r in case.replies for one in r.events)
    return "" if made <= number else f"it took {made}"
