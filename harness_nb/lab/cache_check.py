"""Predicted against billed reads from the cache, for recorded sessions whose bills say how much was read.

Two predictions stand beside the bill. The first uses what the recording says and no bill's figure of reads: sizes, times,
where the recorded system compacted, and changes of model or level of thinking, which hold from the next turn on. The
second also knows where the whole beginning was new though nothing recorded says why, as after a restart of the agent,
whose system prompt may hold the time; a bill that read nothing in spite of a live cache is taken as that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.core.messages import Usage
from harness_nb.core.transcript import Transcript
from harness_nb.lab.assembly import ReadReport
from harness_nb.lab.cache import Broken, CacheRules, Prompt, Read, blocks, reads, rules_for
from harness_nb.memory.results import Displayed

if TYPE_CHECKING:
    from pandas import DataFrame

RESTARTED = "the whole beginning was new, as after a restart of the agent"


@dataclass(frozen=True, slots=True)
class BilledCall:
    """One billed request of a recorded session.

    Attributes:
        message: Log index of the reply.
        prompt: The request as a cache sees it.
        usage: The bill.
        predicted: What the rules say it reads.
        informed: The same, restarts that the bills show included.
    """

    message: int
    prompt: Prompt
    usage: Usage
    predicted: Read
    informed: Read

    @property
    def difference(self) -> int:
        """Tokens by which the prediction is above the bill."""
        return self.predicted.tokens - self.usage.cached_tokens

    @property
    def is_restart(self) -> bool:
        """Whether the bill read nothing though the cache was alive."""
        return self.informed.reason.startswith(RESTARTED)

    @property
    def reason(self) -> str:
        """Why prediction and bill differ, as far as it is known."""
        if self.is_restart:
            return self.informed.reason
        return self.predicted.reason if abs(self.difference) > _MATERIAL * max(1, self.prompt.tokens) else ""


_MATERIAL = 0.02


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CacheCheck(Displayed):
    """Predicted and billed reads of a recorded session.

    Attributes:
        session: Its name.
        rules: The provider's rules.
        calls: Its billed requests.
    """

    session: str
    rules: CacheRules
    calls: tuple[BilledCall, ...]

    def __repr__(self) -> str:
        return f"CacheCheck({self.session!r}, {len(self.calls)} calls)"

    def __str__(self) -> str:
        return (
            f"{self.session}: {self.billed:.1%} of {self.tokens:,} prompt tokens were read from the cache; "
            f"{self.predicted:.1%} predicted, {self.informed:.1%} with the {self.restarts} restarts that the bills show"
        )

    @property
    def tokens(self) -> int:
        """Billed prompt tokens."""
        return sum(call.usage.input_tokens for call in self.calls)

    @property
    def billed(self) -> float:
        """Part of them that was read from the cache."""
        return self._share(call.usage.cached_tokens for call in self.calls)

    @property
    def predicted(self) -> float:
        """Part of them that the rules say was."""
        return self._share(call.predicted.tokens for call in self.calls)

    @property
    def informed(self) -> float:
        """The same, restarts that the bills show included."""
        return self._share(call.informed.tokens for call in self.calls)

    @property
    def restarts(self) -> int:
        """Calls that read nothing though the cache was alive."""
        return sum(call.is_restart for call in self.calls)

    def _share(self, tokens: Iterator[int]) -> float:
        return sum(tokens) / self.tokens if self.tokens else 0.0

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each call, those first at which prediction and bill differ most."""
        found = [
            {
                "message": call.message,
                "time": call.prompt.at,
                "tokens": call.usage.input_tokens,
                "predicted": call.predicted.tokens,
                "billed": call.usage.cached_tokens,
                "difference": call.difference,
                "points": 100 * call.difference / self.tokens,
                "reason": call.reason,
            }
            for call in self.calls
        ]
        return sorted(found, key=lambda one: -abs(one["difference"]))

    @property
    def df(self) -> DataFrame:
        """One row a call, those first at which prediction and bill differ most."""
        from harness_nb.frames import cache_check_frame

        return cache_check_frame(self.records)


def check_cache(transcript: Transcript, report: ReadReport, rules: CacheRules | None = None) -> CacheCheck:
    """Sets predicted reads beside those of a session's bills.

    Args:
        transcript: The session.
        report: What its reader noted: compactions and changes of settings.
        rules: The provider's rules; by default those of the recorded model.
    """
    acting = rules or rules_for(transcript.model)
    billed = [at for at, one in enumerate(transcript) if one.usage is not None and one.usage.input_tokens]
    prompts = list(_prompts(transcript, report, billed))
    predicted = list(reads(prompts, acting))
    usages = [transcript[at].usage or Usage(0) for at in billed]
    broken = list(prompts)
    for at, (read, usage) in enumerate(zip(predicted, usages, strict=True)):
        if read.tokens and not usage.cached_tokens:
            starts_turn = transcript[billed[at] - 1].origin == "user"
            broken[at] = _restarted(prompts[at], prompts[at - 1], acting, starts_turn=starts_turn)
    informed = reads(broken, acting)
    calls = map(BilledCall, billed, prompts, usages, predicted, informed)
    return CacheCheck(session=transcript.name, rules=acting, calls=tuple(calls))


def _restarted(prompt: Prompt, last: Prompt, rules: CacheRules, *, starts_turn: bool) -> Prompt:
    """The request with a new beginning, and what speaks for that in words."""
    pause = f" {(prompt.at - last.at).total_seconds():,.0f} s after the last request" if prompt.at and last.at else ""
    even = ", not even prompt and schemas" if prompt.fixed >= rules.least_tokens else ""
    where = ", at the start of a turn" if starts_turn else ""
    return prompt._replace(broken="all", why=f"{RESTARTED}: nothing was read{pause}{even}{where}")


def _prompts(transcript: Transcript, report: ReadReport, billed: Sequence[int]) -> Iterator[Prompt]:
    """The recorded requests, sizes as billed: each begins with the one before unless a mark says otherwise."""
    fixed = _fixed(transcript, billed)
    settings = _settings(transcript, report)
    sums = transcript.sums(blocks)
    before, start = -1, 0
    for at in billed:
        usage = transcript[at].usage or Usage(0)
        cut = max((mark.index for mark in report.compactions if before < mark.index <= at), default=None)
        start = cut if cut is not None else start
        grown = before >= 0 and cut is None
        last = (transcript[before].usage or Usage(0)).input_tokens if grown else fixed
        broken, why = _broken(settings.get(before, {}), settings[at]) if before >= 0 else ("", "")
        yield Prompt(
            at=transcript[at - 1].time if at else None,
            tokens=usage.input_tokens,
            fixed=fixed,
            shared=min(last, usage.input_tokens),
            shared_blocks=sums[before] - sums[start] if grown else 0,
            blocks=sums[at] - sums[start],
            broken=broken,
            why=why or ("the recorded system compacted" if cut is not None else ""),
        )
        before = at


def _fixed(transcript: Transcript, billed: Sequence[int]) -> int:
    """Size of prompt and schemas, which are not recorded: the first bill without an estimate of what was said before it."""
    from harness_nb.lab.counting import measure_for

    if not billed:
        return 0
    first = transcript[billed[0]].usage or Usage(0)
    return max(0, first.input_tokens - measure_for(transcript).total(transcript[: billed[0]]))


def _settings(transcript: Transcript, report: ReadReport) -> dict[int, dict[str, str]]:
    """The settings in force at each reply: those that held when its turn began."""
    marks = sorted(report.settings, key=lambda mark: mark.index)
    found: dict[int, dict[str, str]] = {}
    now: dict[str, str] = {}
    taken = 0
    for at, message in enumerate(transcript):
        if message.origin == "user":
            while taken < len(marks) and marks[taken].index <= at:
                now = {**now, marks[taken].setting: marks[taken].value}
                taken += 1
        found[at] = now
    return found


def _broken(before: dict[str, str], now: dict[str, str]) -> tuple[Broken, str]:
    """What a change of settings makes new: with the model everything, with the level of thinking the messages."""
    if before.get("model") != now.get("model"):
        return "all", f"the model changed to {now.get('model')}"
    if before.get("thinking") != now.get("thinking"):
        return "messages", f"the level of thinking changed to {now.get('thinking')}"
    return "", ""
