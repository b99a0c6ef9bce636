"""OpenHarness' compaction: one call of it, a run of its query loop, or turns of its engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Consult, Failure, Reply
from harness_nb.core.view import Hook, Refusal, View
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import Stub, conversation, drive, policy_of, surroundings
from harness_nb.lab.conformance.systems.openharness.output import Told
from harness_nb.presets import Preset
from harness_nb.presets import get as get_preset

if TYPE_CHECKING:
    from harness_nb.policies.openharness.policy import OpenHarnessPolicy
    from harness_nb.policies.openharness.work import Done

_HOOKS: dict[str, Hook] = {"auto": "request", "reactive": "overflow", "manual": "manual"}
_REPLY_TOKENS = 16_384
_MOST_STEPS = 200
_STATUS = {"unchanged": "noop", "failed": "error"}


def preset_of(given: Given) -> Preset:
    """The preset with the settings of a case."""
    config = given.config
    same = ("auto_compact_threshold_tokens", "timeout_seconds", "micro_keep", "micro_large_chars", "micro_tools")
    settings = {name: config[name] for name in (*same, "image_tokens") if name in config}
    named = {"keep_recent": "keep_messages", "breaker": "failure_limit"}
    settings |= {ours: config[name] for name, ours in named.items() if name in config}
    settings |= {f"collapse_{name}_chars": one for name, one in config.get("collapse", {}).items()}
    digest = config.get("session_memory") or {}
    settings |= {_DIGEST[name]: one for name, one in digest.items() if name in _DIGEST}
    summary = config.get("summary") or {}
    settings |= {_SUMMARY[name]: one for name, one in summary.items() if name in _SUMMARY}
    return get_preset(
        "openharness",
        **settings,
        use_checkpoint=given.version != "0.1.9",
        hooks="hook" in config,
        only_known_overflows=True,
    )


_DIGEST = {
    "keep": "session_memory_keep",
    "more_than": "session_memory_more_than",
    "max_lines": "session_memory_lines",
    "max_chars": "session_memory_chars",
}
_SUMMARY = {"max_tokens": "summary_max_tokens", "attempts": "attempts", "overflow_retries": "overflow_retries"}


def compacted(given: Given) -> Mapping[str, Any]:
    """Lets the compaction act on a case; several rounds one after the other on one list."""
    session = _Session(given)
    feed = given.config.get("feed")
    if feed is None:
        return session.round(len(session.messages))
    return {"rounds": [session.round(upto) for upto in feed]}


@dataclass(eq=False)
class _Watched(CompactionPolicy):
    """A policy of which every view can be looked at afterwards."""

    policy: OpenHarnessPolicy
    seen: dict[int, View] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name, self.passes, self.hooks = self.policy.name, self.policy.passes, self.policy.hooks

    def plan(self, view: View) -> Any:
        self.seen[len(view.done)] = view
        return self.policy.plan(view)

    @property
    def done(self) -> list[Done]:
        """What was done in each pass in which something was tried."""
        views = (self.seen[at] for at in sorted(self.seen))
        return [self.policy.work(view) for view in views if self.policy.acts(view)]


class _Responder:
    """Answers for the recorded model and the host's hooks."""

    def __init__(self, stub: Stub, hook: Mapping[str, Any]) -> None:
        self._stub = stub
        self._hook = hook

    def __call__(self, effect: Effect) -> Answer:
        if isinstance(effect, Begun | Leaving):
            return None
        if isinstance(effect, Ask):
            return _reply(self._stub.next(effect), effect.timeout_seconds)
        if isinstance(effect, Consult):
            return self._consulted(self._hook.get(effect.question.removesuffix("_compact")) or {})
        return Failure("error", f"the recording has no answer to {type(effect).__name__}")

    @staticmethod
    def _consulted(said: Mapping[str, Any]) -> Reply:
        reason = str(said.get("reason") or said.get("output") or "\n".join(said.get("outputs") or ()))
        return Reply(None, Failure("veto", reason)) if said.get("blocked") else Reply(reason)


def _reply(answer: Mapping[str, Any], seconds: float | None = None) -> Reply:
    """A stub answer: late ones don't come, a stream without an end and a mere call have no text."""
    if "error" in answer:
        return Reply(None, Failure("error", str(answer["error"])))
    if seconds is not None and answer.get("sleep", 0) > seconds:
        return Reply(None, Failure("timeout", "no answer in time"))
    return Reply(str(answer.get("text") or ""))


class _Session:
    """A conversation that lives through the rounds of a case."""

    def __init__(self, given: Given) -> None:
        self.config = given.config
        self.entry = str(given.config["entry"])
        self.messages = given.messages()
        self.policy: OpenHarnessPolicy = policy_of(preset_of(given))
        self.stub = Stub(given.answers)
        self.main = Stub((given.more.get("stub") or {}).get("main_answers") or ())
        self.respond = _Responder(self.stub, given.config.get("hook") or {})
        limits = ModelLimits(name=given.config.get("model", "stub"), window=max(1, given.config["effective_window"]))
        self.around: Surroundings = surroundings(self.messages, limits, host=_host(given.config))
        self.talk: Conversation = conversation(())
        self.talk.turn = 0
        self.talk.state = self.policy.record(failures=given.config.get("consecutive_failures", 0))
        self.upto = 0
        self.numbers: dict[int, int] = {}
        self.history: tuple[Item, ...] = ()
        self.tracked = self.policy.tracked()

    def round(self, upto: int) -> dict[str, Any]:
        """One round and what came of it."""
        self._take_in(upto)
        run = _Run(self, Told(self.talk.log, self.numbers))
        if self.entry in _HOOKS:
            run.compact(_HOOKS[self.entry], words=self.config.get("args") or "")
            return {**run.outcome(), **run.alone()}
        ended = self._looped(run)
        return {**run.outcome(), **ended}

    def _take_in(self, upto: int) -> None:
        """Says the messages up to a position; the system prompt stays outside the list."""
        fresh = self.messages[self.upto : upto]
        for number, message in enumerate(fresh, self.upto):
            if self.entry == "engine" and number == upto - 1:
                self._mend()
            self.numbers[self._add(message)] = number
        self.upto = upto
        if self.entry == "engine" and fresh:
            self.tracked.take(fresh[-1])
            self._tell()
            self.history = self.talk.input[:]

    def _add(self, message: Message) -> int:
        index = self.talk.add(message)
        if message.role == "system":
            self.talk.replace_input(ModelInput(item for item in self.talk.input if item.index != index))
        return index

    def _mend(self) -> None:
        """Leaves out what an interrupted turn left behind, before a new prompt."""
        kept = self.policy.sanitized(self.policy.messages_of(self.talk.input))
        self.talk.replace_input(ModelInput(item for peer in kept for item in peer.items))

    def _forget(self) -> None:
        """The engine takes over the list when an answer is there; results cleared since then stay cleared."""
        self.talk.request_failed()
        cleared = {item.index: item for item in self.talk.input if item.how == "cleared"}
        self.talk.replace_input(ModelInput(cleared.get(item.index, item) for item in self.history))

    def _tell(self) -> None:
        """Lets the policy know what the engine has tracked."""
        host = {key: one for key, one in self.around.host.items() if key != "checkpoint"}
        self.around = replace(self.around, host={**host, "carryover": self.tracked.state})

    def _looped(self, run: _Run) -> dict[str, Any]:
        """The query loop: compaction, a request, calls, and so on until an answer without calls."""
        failed, has_recovered = False, False
        for step in range(_MOST_STEPS):
            run.compact("request")
            reply = run.request(self.main)
            if reply.failure is None:
                run.replies += 1
                if not self._answered(reply, step):
                    break
            elif has_recovered or not run.compact("overflow", error=Refusal(reply.failure.detail)):
                failed = True
                break
            else:
                has_recovered = True
        if failed and self.entry == "engine":
            self._forget()
        if self.entry == "engine":
            drive(self.talk, self.policy, "end", self.around, self.respond)
        return {"ended_with_error": failed, "replies": run.replies}

    def _answered(self, reply: Reply, step: int) -> bool:
        """Takes an answer in and runs its call; False when there is none."""
        tool = reply.finish
        calls = [ToolCall(f"made_{step}", tool)] if tool else []
        self._add(Message.assistant(reply.text or None, calls))
        self.history = self.talk.input[:]
        if not tool:
            return False
        self._add(Message.tool(f"made_{step}", f"Unknown tool: {tool}", status="error"))
        return True


class _Run:
    """What happened in one round."""

    def __init__(self, session: _Session, told: Told) -> None:
        self.session = session
        self.told = told
        self.start = session.talk.input[:]
        self.before = session.policy.estimate(session.talk.input)
        self.done: list[Done] = []
        self.requests: list[dict[str, Any]] = []
        self.calls = session.stub.calls + session.main.calls
        self.replies = 0

    def compact(self, hook: Hook, *, words: str = "", error: Refusal | None = None) -> bool:
        """Lets the policy act once; whether it says that it compacted."""
        session = self.session
        watched = _Watched(session.policy)
        error = error if error is not None or hook != "overflow" else Refusal("prompt too long")
        drive(session.talk, watched, hook, session.around, session.respond, words=words, error=error)
        done = watched.done
        for one in done:
            asked, limit = session.policy.instruction, session.policy.config.summary_max_tokens
            self.requests += [self.told.summary_request(older, asked, limit) for older in one.requests]
        self.done += done
        return bool(done) and _is_compacted(done[-1:])

    def request(self, main: Stub) -> Reply:
        """Sends the list to the recorded model."""
        items = self.session.talk.outgoing[:]
        window = self.session.config["effective_window"]
        about = {"call": "main", "peer_messages": self._count(items), "system": "agent", "tools": 0}
        shown = self.told.shown(items)
        self.requests.append({**about, "max_tokens": min(_REPLY_TOKENS, window), **shown})
        answer = main.next(items)
        if "error" in answer:
            return _reply(answer)
        if "deltas" in answer:
            return Reply(None, Failure("error", "the stream ended without a message"))
        return Reply(str(answer.get("text") or ""), finish=str(answer.get("tool_call") or ""))

    def outcome(self) -> dict[str, Any]:
        """What a recording says of any round."""
        session, items = self.session, self.session.talk.input[:]
        digests = [one.digest for one in self.done if one.digest is not None]
        found: dict[str, Any] = {
            "status": self._status(),
            "triggered": bool(self.done),
            "compacted": _is_compacted(self.done),
            "stage": [step for one in self.done for step in one.steps],
            "output": self.told.output(items),
            "summarised": self._summarised(),
            "model_calls": session.stub.calls + session.main.calls - self.calls,
            "token_estimates": self._estimates(items),
            "peer_messages": {"before": self._count(self.start), "after": self._count(items)},
            "lost": self._lost(items),
            "digest": self.told.digest(digests[-1]) if digests else None,
            "requests": self.requests,
        }
        return {key: one for key, one in found.items() if one or key not in ("lost", "digest", "requests")}

    def alone(self) -> dict[str, Any]:
        """What a recording says besides of one call of the compaction."""
        session = self.session
        record: Any = session.talk.state
        hooks = [name for one in self.done for name in one.consulted]
        found: dict[str, Any] = {"consecutive_failures": record.failures, **({"hooks": hooks} if hooks else {})}
        if session.entry == "manual":
            return {**found, "reply_counts": [self._count(self.start), self._count(session.talk.input)]}
        return {**found, "checkpoints": [list(mark) for one in self.done for mark in one.marks]}

    def _count(self, items: Iterable[Item]) -> int:
        """How many messages a list is in the system's own count."""
        return len(self.session.policy.messages_of(items))

    def _status(self) -> str:
        acted = [one.outcome for one in self.done if one.outcome != "unchanged"]
        return _STATUS.get(acted[-1], acted[-1]) if acted else "noop"

    def _estimates(self, items: Sequence[Item]) -> dict[str, Any]:
        estimate = self.session.policy.estimate
        view = self.session.talk.view("request", self.session.around)
        own = [item for item in items if item.index in self.told.numbers]
        return {
            "before": self.before,
            "threshold": self.session.policy.threshold(view),
            "after_microcompact": _first(one.cleared_tokens for one in self.done),
            "freed_by_microcompact": _first(one.freed for one in self.done),
            "after_collapse": _first(one.collapsed_tokens for one in self.done),
            "after": estimate(items),
            "after_own_items": estimate(own),
        }

    def _summarised(self) -> list[int]:
        asked = [one for one in self.requests if one["call"] == "summary"]
        return list(asked[-1]["indices"]) if asked else []

    def _lost(self, items: Iterable[Item]) -> list[int]:
        there = {*self.told.indices(items), *self._summarised()}
        return [index for index in self.told.indices(self.start) if index not in there]


def _is_compacted(done: Sequence[Done]) -> bool:
    """Whether its caller was told that something was compacted."""
    return any(one.outcome not in ("unchanged", "failed") for one in done) and done[-1].outcome != "failed"


def _first(figures: Iterable[int | None]) -> int | None:
    return next((one for one in figures if one is not None), None)


def _host(config: Mapping[str, Any]) -> dict[str, object]:
    """What the loop knows: the state of the work, and the session's checkpoint file."""
    return {"carryover": config.get("carryover") or {}, "checkpoint": config.get("checkpoint") or ""}
