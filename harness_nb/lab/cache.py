"""Prompt caches of providers: how much of each request is read from the cache, by the rules that a provider states.

A cache holds beginnings of requests. What a request has in common with the one before, `lcp(C[i-1], C[i])`, is what it
may read; lifetime, least size, units and breakpoints of the provider take away from that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from harness_nb.core.config import positive, whole
from harness_nb.core.messages import Message
from harness_nb.lab.run import Replay
from harness_nb.lab.sent import Sent, sent_requests
from harness_nb.memory.results import Displayed
from harness_nb.model.prices import cache_provider, least_cached

if TYPE_CHECKING:
    from pandas import DataFrame

Broken = Literal["", "messages", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRules:
    """How a provider caches prompts.

    Attributes:
        name: Of the rules, for reports.
        lifetime_seconds: How long a beginning is kept after it was last used; None for ever.
        least_tokens: A shorter beginning is not cached.
        unit_tokens: Only whole units are read.
        has_breakpoints: Whether only what ended at a breakpoint is kept, as the end of an earlier request or of prompt and
            schemas; otherwise any common beginning is read.
        lookback_blocks: How many blocks before its end a request looks for an earlier end; None for no limit.
    """

    name: str
    lifetime_seconds: float | None = 300.0
    least_tokens: int = 0
    unit_tokens: int = 1
    has_breakpoints: bool = False
    lookback_blocks: int | None = None

    def __post_init__(self) -> None:
        whole(self, "least_tokens")
        whole(self, "unit_tokens", least=1)
        if self.lifetime_seconds is not None:
            positive(self, "lifetime_seconds")


PLAIN = CacheRules(name="plain prefix")
"""Any common beginning, kept for five minutes: for models whose provider is not known."""

ANTHROPIC = CacheRules(name="anthropic", least_tokens=1_024, has_breakpoints=True, lookback_blocks=20)
"""Five minutes after the last use, the ends of requests and of the system prompt as breakpoints, 20 blocks of lookback, at
least 1,024 tokens (4,096 for some models). Source: platform.claude.com/docs/en/build-with-claude/prompt-caching."""

OPENAI = CacheRules(name="openai", least_tokens=1_024, unit_tokens=128)
"""Automatic, from 1,024 tokens on in units of 128, five to ten minutes after the last use, of which the lower figure is
taken. Source: platform.openai.com/docs/guides/prompt-caching."""

GEMINI = CacheRules(name="gemini", least_tokens=2_048)
"""Implicit caching; the least size depends on the model, and "a short amount of time" is taken as five minutes. Source:
ai.google.dev/gemini-api/docs/caching."""

DEEPSEEK = CacheRules(name="deepseek", lifetime_seconds=None, unit_tokens=64)
"""Automatic, in units of 64 tokens, kept for hours at least. Source: api-docs.deepseek.com/guides/kv_cache."""

RULES: Mapping[str, CacheRules] = {one.name: one for one in (PLAIN, ANTHROPIC, OPENAI, GEMINI, DEEPSEEK)}


def rules_for(model: str) -> CacheRules:
    """The rules of a model's provider, with the model's own least size where that is known.

    Args:
        model: Name of the model as litellm takes it, with or without a provider; an unknown one gets `PLAIN`.
    """
    rules = RULES.get(cache_provider(model), PLAIN)
    least = least_cached(model)
    return replace(rules, least_tokens=least) if least is not None else rules


class Prompt(NamedTuple):
    """One request as a cache sees it; sizes in tokens, positions in blocks.

    Attributes:
        at: When it was sent, or None.
        tokens: Size of all of it.
        fixed: Size of prompt and schemas, with which it begins.
        shared: Size of what it begins with as the request before did, prompt and schemas included.
        shared_blocks: Blocks of the list that are among that.
        blocks: Blocks of its list.
        broken: What is known to be new whatever it looks like: nothing, `messages` (as after a change of the thinking
            budget) or `all` (as after a change of the model).
        why: Why it is, in words.
    """

    at: datetime | None
    tokens: int
    fixed: int
    shared: int
    shared_blocks: int
    blocks: int
    broken: Broken = ""
    why: str = ""


class Read(NamedTuple):
    """What one request reads from the cache.

    Attributes:
        tokens: How much.
        reason: Why not more, in words; empty where it reads all that the request before sent.
    """

    tokens: int
    reason: str = ""


class _End(NamedTuple):
    """A beginning that a cache keeps: its size, its blocks, and when it was last used."""

    tokens: int
    blocks: int
    used: datetime | None


def reads(prompts: Iterable[Prompt], rules: CacheRules) -> Iterator[Read]:
    """What successive requests read from the cache."""
    cache = _Breakpoints(rules) if rules.has_breakpoints else _Prefix(rules)
    for prompt in prompts:
        yield cache.take(prompt)


class _Prefix:
    """A cache that serves any beginning in common with the request before."""

    def __init__(self, rules: CacheRules) -> None:
        self._rules = rules
        self._last: Prompt | None = None

    def take(self, prompt: Prompt) -> Read:
        """What a request reads; from then on it is the last one."""
        last, self._last = self._last, prompt
        if last is None:
            return Read(0, "the first request")
        if prompt.broken == "all":
            return Read(0, prompt.why)
        if pause := _expired(self._rules, last.at, prompt.at):
            return Read(0, pause)
        whole = min(prompt.fixed, prompt.shared) if prompt.broken else prompt.shared
        tokens = whole - whole % self._rules.unit_tokens
        if tokens < self._rules.least_tokens:
            return Read(0, f"less than {self._rules.least_tokens:,} tokens in common")
        return Read(tokens, prompt.why or _changed(last, prompt))


class _Breakpoints:
    """A cache that serves what ended at a breakpoint: an earlier request that this one begins with, or the prompt."""

    def __init__(self, rules: CacheRules) -> None:
        self._rules = rules
        self._ends: list[_End] = []
        self._prompt: _End | None = None
        self._last: Prompt | None = None

    def take(self, prompt: Prompt) -> Read:
        """What a request reads; from then on its own end is a breakpoint, too."""
        last, self._last = self._last, prompt
        read = Read(0, "the first request") if last is None else self._read(last, prompt)
        if prompt.tokens >= self._rules.least_tokens:
            self._ends.append(_End(prompt.tokens, prompt.blocks, prompt.at))
        if prompt.fixed >= self._rules.least_tokens:
            self._prompt = _End(prompt.fixed, 0, prompt.at)
        return read

    def _read(self, last: Prompt, prompt: Prompt) -> Read:
        if prompt.broken == "all" or prompt.shared < prompt.fixed:
            self._ends, self._prompt = [], None
            return Read(0, prompt.why or "prompt or schemas changed")
        why = prompt.why or _changed(last, prompt)
        reach = 0 if prompt.broken else prompt.shared_blocks
        while self._ends and self._ends[-1].blocks > reach:
            self._ends.pop()
        if not self._ends:
            return self._from_prompt(prompt, why or "nothing was cached before")
        end = self._ends[-1]
        if pause := _expired(self._rules, end.used, prompt.at):
            return self._from_prompt(prompt, pause)
        back = prompt.blocks - end.blocks
        if self._rules.lookback_blocks is not None and back > self._rules.lookback_blocks:
            return self._from_prompt(prompt, f"{why or 'the request grew'}: the last breakpoint is {back} blocks back")
        self._ends[-1] = end._replace(used=prompt.at)
        return Read(end.tokens, why)

    def _from_prompt(self, prompt: Prompt, why: str) -> Read:
        """Prompt and schemas alone, where they are cached."""
        end = self._prompt
        if end is None or _expired(self._rules, end.used, prompt.at):
            return Read(0, why)
        return Read(end.tokens, why)


def _expired(rules: CacheRules, used: datetime | None, now: datetime | None) -> str:
    """Why what was used then is gone now, or empty; without times nothing is."""
    if rules.lifetime_seconds is None or used is None or now is None:
        return ""
    pause = (now - used).total_seconds()
    return f"a pause of {pause:,.0f} s" if pause > rules.lifetime_seconds else ""


def _changed(last: Prompt, prompt: Prompt) -> str:
    return "the list changed" if prompt.shared_blocks < last.blocks else ""


def blocks(message: Message) -> int:
    """Content blocks of a message as Anthropic's format has them: each part and each call."""
    return max(1, len(message.parts) + len(message.calls))


def prompts_of(run: Replay) -> Iterator[Prompt]:
    """The recorded requests of a replay as a cache sees them, sizes by the session's measure."""
    for one in sent_requests(run):
        yield _prompt(one)


def _prompt(one: Sent) -> Prompt:
    view, messages = one.step.view, one.items.messages
    fixed = view.fixed_tokens
    return Prompt(
        at=one.at,
        tokens=fixed + messages.tokens(view.measure),
        fixed=fixed,
        shared=fixed + messages.tokens(view.measure, 0, one.kept),
        shared_blocks=messages.tokens(blocks, 0, one.kept),
        blocks=messages.tokens(blocks),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CacheUse(Displayed):
    """What the requests of a session read from a prompt cache.

    Attributes:
        rules: The rules.
        prompts: The requests.
        reads: What each read.
        replies: Log index of the reply to each.
    """

    rules: CacheRules
    prompts: tuple[Prompt, ...]
    reads: tuple[Read, ...]
    replies: tuple[int, ...] = field(default=())

    def __repr__(self) -> str:
        return f"CacheUse({len(self.prompts)} requests, {self.rules.name!r})"

    def __str__(self) -> str:
        share = "no request" if self.share is None else f"{self.share:.1%} of {self.tokens:,} prompt tokens"
        return f"{share} read from the cache by the rules {self.rules.name!r}, in {len(self.prompts)} requests"

    @property
    def tokens(self) -> int:
        """Tokens of all requests."""
        return sum(prompt.tokens for prompt in self.prompts)

    @property
    def share(self) -> float | None:
        """Part of them that is read from the cache, `sum lcp / sum tok(C_i)`, 0 to 1; None without a request."""
        return sum(read.tokens for read in self.reads) / self.tokens if self.tokens else None

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each request: its number, message, time, tokens, read, share and reason."""
        return [
            {
                "request": number,
                "message": reply,
                "time": prompt.at,
                "tokens": prompt.tokens,
                "read": read.tokens,
                "share": read.tokens / prompt.tokens if prompt.tokens else None,
                "reason": read.reason,
            }
            for number, (prompt, read, reply) in enumerate(zip(self.prompts, self.reads, self.replies, strict=True), 1)
        ]

    @property
    def df(self) -> DataFrame:
        """One row a request."""
        from harness_nb.frames import cache_frame

        return cache_frame(self.records)


def cache_use(run: Replay, rules: CacheRules | None = None) -> CacheUse:
    """What the recorded requests of a replay would read from a prompt cache.

    Args:
        run: The replay.
        rules: The provider's rules; by default those of the recorded model.
    """
    sent = tuple(sent_requests(run))
    prompts = tuple(map(_prompt, sent))
    acting = rules or rules_for(run.transcript.model)
    return CacheUse(
        rules=acting,
        prompts=prompts,
        reads=tuple(reads(prompts, acting)),
        replies=tuple(one.reply for one in sent),
    )


def cache_reuse(run: Replay, model: str | None = None) -> float | None:
    """Part of all prompt tokens that is read from the cache, by the rules of the recorded model's provider or another's."""
    return cache_use(run, rules_for(model or run.transcript.model)).share
