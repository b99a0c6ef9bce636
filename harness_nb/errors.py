"""All errors of this package.

HarnessError
├── ConfigError             a setting, an option or a name is wrong: correct it
├── MessageError            a message or a list of messages is not valid: repair it
├── TranscriptError         a file of a conversation can't be read
├── ModelError              the model or its provider failed
│   ├── ContextOverflowError    the input is longer than the model takes
│   ├── RateLimitError          too many requests or tokens for now: wait
│   ├── QuotaError              no credit is left: waiting does not help
│   └── MissingKeyError         no key for the provider was found
├── ToolError               a tool failed or was called wrongly
│   └── PermissionDenied        the tool may not do this
├── StoreError              a file or a folder can't be read or written
├── QueryError              a search query is not valid
├── BudgetError             a limit on steps, tokens or cost was reached
├── SessionBusyError        another turn or compaction of the session is running
└── CheckError              what was asserted of a case does not hold

Each says what is wrong, names the value, and says what to do.
"""

from __future__ import annotations


class HarnessError(Exception):
    """Root of all errors that this package raises.

    Args:
        problem: What is wrong, in one sentence that names the value.
        remedy: What to do about it, in one sentence. May be empty.
        subject: The object that the error is about (a path, a tool, an index).
    """

    def __init__(self, problem: str, remedy: str = "", *, subject: object = None) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy
        self.subject = subject

    def __str__(self) -> str:
        """Problem and remedy, a line each."""
        return f"{self.problem}\n{self.remedy}" if self.remedy else self.problem


class ConfigError(HarnessError):
    """A setting, an option or a name is wrong."""


class MessageError(HarnessError):
    """A message, or a list of messages, is not valid."""


class TranscriptError(HarnessError):
    """A file of a conversation can't be read."""


class ModelError(HarnessError):
    """The model or its provider failed; the provider's exception is the cause."""


class ContextOverflowError(ModelError):
    """The input is longer than the model takes.

    Attributes:
        input_tokens: Size of the refused input as the provider gave it, if it did.
        window: Largest input in tokens as the provider gave it, if it did.
        largest: The largest parts of the input, as (name, tokens), largest first.
    """

    def __init__(
        self,
        problem: str,
        remedy: str = "",
        *,
        subject: object = None,
        input_tokens: int | None = None,
        window: int | None = None,
        largest: tuple[tuple[str, int], ...] = (),
    ) -> None:
        super().__init__(problem, remedy, subject=subject)
        self.input_tokens = input_tokens
        self.window = window
        self.largest = largest


class RateLimitError(ModelError):
    """Too many requests or tokens for now.

    Attributes:
        hopeless: True when the single request is above the limit, so that waiting can't help.
    """

    def __init__(self, problem: str, remedy: str = "", *, subject: object = None, hopeless: bool = False) -> None:
        super().__init__(problem, remedy, subject=subject)
        self.hopeless = hopeless


class QuotaError(ModelError):
    """No credit or quota is left; waiting does not help."""


class MissingKeyError(ModelError):
    """No key for the provider was found."""


class ToolError(HarnessError):
    """A tool failed or was called wrongly."""


class PermissionDenied(ToolError):
    """The tool may not do this."""


class StoreError(HarnessError):
    """A file or a folder can't be read or written."""


class QueryError(HarnessError):
    """A search query is not valid."""


class BudgetError(HarnessError):
    """A limit on steps, tokens or cost was reached."""


class SessionBusyError(HarnessError):
    """Another turn or compaction of the session is running."""


class CheckError(HarnessError, AssertionError):
    """What was asserted of a case does not hold; test runners count it as a failure, as they do any assertion."""
