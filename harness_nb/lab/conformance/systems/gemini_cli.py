"""Gemini CLI: compression, masks, and outputs shortened on arrival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness_nb import presets
from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.core.requests import Ask, Evict, Failure, Reply
from harness_nb.core.utf16 import utf16_len
from harness_nb.core.view import Hook, View
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.compare import Wording
from harness_nb.lab.conformance.driving import (
    Driven,
    Stub,
    conversation,
    drive,
    named_results,
    plain_reply,
    policy_of,
    surroundings,
    verbatim,
)

_PEER_STATUS = {
    "noop": "NOOP",
    "compressed": "COMPRESSED",
    "truncated": "CONTENT_TRUNCATED",
    "inflated": "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT",
    "empty": "COMPRESSION_FAILED_EMPTY_SUMMARY",
    "error": "ERROR",
}
_STATUS = {"unchanged": "noop", "failed": "error"}
_KNOWN_WINDOW = 1_048_576
_REQUEST = Message.user("What the request in the making asks.")
"""Stands for what the system is about to send, which its history does not hold yet."""


def run(given: Given) -> Mapping[str, Any]:
    """Lets Gemini CLI act on a case."""
    return _LEVELS[given.config["level"]](given)


@dataclass
class _Client:
    """Answers the driver as what surrounds Gemini CLI would, and notes what was asked.

    Attributes:
        stub: The model.
        config: Parameters of the case.
        messages: The conversation.
        counts: Token counts that were asked for.
        filed: Log indices of results that went to files, in order.
        replies: What came of each request.
    """

    stub: Stub
    config: Mapping[str, Any]
    messages: tuple[Message, ...]
    counts: int = 0
    filed: list[int] = field(default_factory=list)
    replies: dict[Any, Reply] = field(default_factory=dict)

    def __call__(self, effect: Effect) -> Answer:
        """What comes of an effect."""
        if isinstance(effect, Begun | Leaving):
            return None
        reply = self._reply(effect)
        self.replies[effect] = reply
        return reply

    def seen(self, view: View) -> View:
        """A view with all replies."""
        for request, reply in self.replies.items():
            view = view.learn(request, reply)
        return view

    def _reply(self, request: Ask | Evict | Any) -> Reply:
        if isinstance(request, Ask):
            return self._asked(request)
        if isinstance(request, Evict):
            return self._file(request)
        self.counts += 1
        count = self.config.get("count_tokens")
        return Reply(count) if isinstance(count, int) else Reply(None, Failure("error", "not counted"))

    def _asked(self, request: Ask) -> Reply:
        for _ in range(request.attempts):
            reply = plain_reply(self.stub.next(request))
            if reply.failure is not None or reply.text.strip() or not request.blank_fails:
                return reply
        return Reply(None, Failure("blank", "every reply was blank"))

    def _file(self, request: Evict) -> Reply:
        if not self.config.get("spill_writable", True):
            return Reply(None, Failure("error", "the folder can't be written"))
        self.filed.append(request.index)
        return Reply(f"{self.config['spill_dir']}/tool-outputs/{self._name(request)}.txt")

    def _name(self, request: Evict) -> str:
        """Name of a file: numbered in the budget pass, named after the call elsewhere."""
        tool, config = self.messages[request.index].name, self.config
        if "spill_suffix" in config:
            return f"session-oracle/{tool}_{request.call_id}_{config['spill_suffix']}"
        folder = config.get("spill_subfolder")
        numbered, called = f"{tool}_{len(self.filed)}", f"{folder}/{tool}_{request.call_id}"
        return numbered if folder is None else called


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the preset from the parameters of a case."""
    attempts = 0 if config.get("llm_client") == "bare" else config.get("llm_max_attempts", 5)
    names = {
        "threshold_setting": "compression_threshold",
        "threshold_flag": "threshold_flag",
        "tool_response_budget": "tool_response_budget",
        "preserve_fraction": "preserve_fraction",
        "truncate_setting": "truncate_tool_output_threshold",
        "merge_turns": "merge_turns",
        "protection_tokens": "protection_threshold_tokens",
        "min_prunable_tokens": "min_prunable_threshold_tokens",
        "protect_latest": "protect_latest_turn",
    }
    found = {ours: config[name] for name, ours in names.items() if name in config}
    return {**found, "blank_attempts": attempts, "window_other": _KNOWN_WINDOW}


class _Session:
    """A session in which everything was said, and what the provider last reported of it.

    Args:
        given: The case.
        upto: Messages that were said.
        **settings: Settings of the preset beside those of the case.
    """

    def __init__(self, given: Given, upto: int | None = None, **settings: Any) -> None:
        config = given.config
        self.messages = named_results(given.messages())[:upto]
        self.preset = presets.get("gemini-cli", **_settings(config), **settings)
        self.policy = policy_of(self.preset)
        self.client = _Client(Stub(given.answers), config, self.messages)
        self.talk = conversation(self.messages)
        self.talk.state = self.policy.record(latched=config.get("has_failed_before", False))
        if "current_token_count" in config:
            self.talk.usage = Usage(input_tokens=config["current_token_count"])
            self.talk.billed = len(self.talk.input)
        self.config = config

    def drive(self, hook: Hook) -> Driven:
        """Lets the policy act."""
        limits = self.preset.limits(ModelLimits(name=self.config["model"]))
        if self.config.get("token_limit_patched"):
            limits = replace(limits, window=self.config["token_limit"])
        if hook == "request":
            self.talk.add(_REQUEST)
        around = surroundings(self.messages, limits, host={"memory": self._environment})
        return drive(self.talk, self.policy, hook, around, self.client)

    @property
    def is_latched(self) -> bool:
        """Whether a snapshot that came out too long keeps the next from being tried."""
        state: Any = self.talk.state
        return bool(state.latched)

    @property
    def _environment(self) -> str:
        """A text with the recorded lengths; a line feed is two characters in JSON."""
        about = self.config.get("environment")
        if about is None:
            return ""
        chars, written = int(about["chars"]), int(about["json_chars"])
        feeds = written - chars - len('{"text":""}')
        return "\n" * feeds + "x" * (chars - feeds)

    def output(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        """The list without what the request in the making adds."""
        return [_output(item) for item in items if item.index is None or item.index < len(self.messages)]


def _output(item: Item) -> dict[str, Any]:
    if item.index is None:
        return {"kind": "summary" if item.how == "summary" else "ack"}
    meta = item.meta
    sizes = {"chars": utf16_len(item.message.text), **{key: meta[key] for key in ("head", "tail") if key in meta}}
    if item.how == "evicted" and "unit" not in meta:
        return {"kind": "truncated", "index": item.index, **sizes, "omitted": meta["omitted"]}
    if item.how == "evicted":
        more = {key: meta[key] for key in ("preview_chars", "unit", "omitted") if key in meta}
        return {"kind": "placeholder", "index": item.index, **sizes, **more}
    return verbatim(item)


def _compression(given: Given) -> Mapping[str, Any]:
    """Compression before a turn, or because the user asks for it."""
    config = given.config
    is_client = given.config["level"] == "client"
    session = _Session(given, masking=False, environment_in_history=config["environment"]["in_history"])
    driven = session.drive("manual" if config["force"] else "request")
    policy, client, plan = session.policy, session.client, driven.plans[0]
    view = client.seen(driven.view)
    look = policy.look(view)
    status = _STATUS.get(plan.outcome, plan.outcome)
    is_triggered = bool(look.past.turns) and policy.is_due(view, look)
    short = policy.short(view, look) if is_triggered else look.past
    draft = policy.draft(view, look, short) if client.stub.calls else None
    new = _new(status, view, policy, short, draft, look.count)
    items = driven.items if plan.changes else look.past.curated
    return {
        "status": status,
        "peer_status": _PEER_STATUS[status],
        "triggered": is_triggered,
        "output": [*([{"kind": "environment"}] if is_client else []), *session.output(items)],
        "summarised": [item.index for item in draft.older.items] if draft is not None else [],
        "model_calls": client.stub.calls,
        "count_tokens_calls": client.counts,
        "spilled": client.filed,
        "hook": ["manual" if config["force"] else "auto"] if look.past.turns else [],
        "token_estimates": {**_estimates(look.past, look.count, draft), "new": new},
        "latch_after": session.is_latched,
        "next_token_count": new if plan.changes else look.count,
        "error": Wording(plan.error.problem if plan.error is not None else ""),
        **(_of_draft(draft, policy, config) if draft is not None else {}),
    }


def _new(status: str, view: View, policy: Any, short: Any, draft: Any, count: int) -> int:
    """Size of the new history; that of the old one where it stays without a snapshot having been measured."""
    if status in ("compressed", "inflated"):
        return int(policy.made(view, draft).tokens)
    return int(short.tokens) if status == "truncated" else count


def _estimates(past: Any, count: int, draft: Any) -> dict[str, Any]:
    environment = sum(part.quarters for part in past.environment_part) / 4
    found = {"current": count, "history": past.tokens, "environment": environment}
    return found if draft is None else {**found, "older": draft.older_tokens, "older_original": draft.original_tokens}


def _of_draft(draft: Any, policy: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    model = policy.compressor(config["model"])
    alias = f"chat-compression-{model.removeprefix('gemini-').removesuffix('-preview')}"
    return {
        "summariser_source": "truncated" if draft.is_shortened else "original",
        "merge_previous": draft.older.holds_snapshot,
        "compressor_model": alias if config["llm_client"] == "bare" else model,
    }


def _masking(given: Given) -> Mapping[str, Any]:
    """Masks on old tool outputs."""
    session = _Session(given, compression=False)
    driven = session.drive("request")
    past = session.policy.look(driven.view).past
    made = [item for item in driven.items if item.how == "evicted"]
    size = past.sizes.output_tokens
    saved = sum(size(session.messages[item.index or 0]) - size(item.message) for item in made)
    return {
        "status": "masked" if made else "noop",
        "triggered": bool(made),
        "output": session.output(driven.items),
        "summarised": [],
        "model_calls": 0,
        "masked_count": len(made),
        "token_estimates": {"history": past.tokens, "saved": saved},
    }


def _arrival(given: Given) -> Mapping[str, Any]:
    """One output before it enters the history."""
    config, messages = given.config, named_results(given.messages())
    at = config["target_index"]
    more = {"mcp_tools": (messages[at].name,)} if config["tool_kind"] == "mcp" else {"mcp_tools": ()}
    session = _Session(given, upto=at + 1, **more)
    driven = session.drive("result")
    before = [verbatim(Item(index, one)) for index, one in enumerate(messages) if one.role != "system"]
    output = [*session.output(driven.items), *before[len(driven.items) :]]
    is_short = driven.plans[0].changes
    return {
        "status": "truncated" if is_short else "noop",
        "triggered": is_short,
        "output": output,
        "summarised": [],
        "model_calls": 0,
        "token_estimates": {"history": session.policy.look(driven.view).past.tokens},
    }


_LEVELS = {"service": _compression, "client": _compression, "masking": _masking, "exec_truncation": _arrival}
