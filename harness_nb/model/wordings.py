"""How providers word a refusal, as a table: what each pattern means, and where the figures stand in it.

Patterns see the text in its plain form (see `plain`): lower case, hyphens and underscores as spaces, no backticks, no
commas inside numbers. A group `input` is the size of the refused input, `window` the largest size, `output` what was
asked for as a reply. Loose words such as "context window" stand here only in a fuller phrase.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Meaning = Literal[
    "overflow", "rate", "busy", "quota", "output cap", "image", "payload", "field", "pairing", "order", "thinking", "filter", "key"
]  # fmt: skip


class Wording(NamedTuple):
    """One way of saying something.

    Attributes:
        provider: Who says it so.
        meaning: What it means.
        pattern: The words, in plain form.
    """

    provider: str
    meaning: Meaning
    pattern: re.Pattern[str]


def plain(text: str) -> str:
    """The text as patterns see it."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.casefold().replace("’", "'").replace("`", ""))
    return " ".join(re.sub(r"[-_‐‑–]+", " ", text).split())


def _all(meaning: Meaning, *rows: tuple[str, str]) -> tuple[Wording, ...]:
    return tuple(Wording(provider, meaning, re.compile(pattern)) for provider, pattern in rows)


CODES: dict[str, Meaning] = {
    "context length exceeded": "overflow",
    "context window exceeded": "overflow",
    "context overflow": "overflow",
    "exceed context size error": "overflow",
    "model context window exceeded": "overflow",
    "insufficient quota": "quota",
    "billing hard limit reached": "quota",
    "billing error": "quota",
    "rate limit exceeded": "rate",
    "rate limit error": "rate",
    "too many requests": "rate",
    "throttlingexception": "rate",
    "resource exhausted": "rate",
    "overloaded error": "busy",
    "string above max length": "field",
    "content filter": "filter",
    "content policy violation": "filter",
    "invalid api key": "key",
    "authentication error": "key",
}
"""What a structured code or type means, in plain form. A code decides before any text."""

STATUSES: dict[int, Meaning] = {402: "quota", 429: "rate", 503: "busy", 529: "busy"}
"""Statuses that rule out an overflow whatever the text says."""

REFUSALS: tuple[Wording, ...] = (
    *_all(
        "rate",
        ("OpenAI, Groq", r"tokens per (?:min|day|hour)|requests per (?:min|day|hour)|\b[tr]p[md]\b"),
        ("Anthropic", r"per (?:minute|day|hour) (?:rate|token|request|limit)|rate limit"),
        ("Bedrock", r"too many (?:tokens|requests),? please wait|throttl"),
        ("Bedrock", r"too many (?:tokens|requests) per (?:second|minute|day)"),
        ("Cerebras", r"too many (?:tokens|requests) processed|tokens? (?:quota|limit).{0,40}per (?:minute|day)"),
        ("Gemini", r"resource (?:has been )?exhausted"),
        ("any", r"\btoo many requests\b"),
    ),
    *_all(
        "quota",
        ("OpenAI", r"exceeded your current quota|insufficient quota|billing (?:hard )?limit|billing details"),
        ("Anthropic", r"credit balance|out of credits|insufficient (?:credits?|balance|funds)"),
        ("OpenRouter", r"payment required|requires more credits"),
    ),
    *_all(
        "busy",
        ("Anthropic", r"\boverloaded\b"),
        ("Mistral", r"service tier capacity exceeded|\bat capacity\b|server is busy"),
    ),
    *_all(
        "output cap",
        ("OpenAI", r"max (?:completion |output )?tokens is too large|supports at most \d+ completion tokens"),
        ("Gemini", r"max ?output ?tokens value of \d+ but the supported range"),
        ("DashScope", r"range of max tokens should be"),
        ("Anthropic", r"max tokens: \d+ > \d+"),
    ),
    *_all(
        "image", ("Anthropic", r"image exceeds|image dimensions exceed|images? (?:is|are) too large|too many images")
    ),
    *_all("payload", ("proxy", r"(?:request entity|payload|request body) too large")),
    *_all("field", ("OpenAI", r"string too long|string above max length")),
    *_all(
        "pairing",
        ("OpenAI", r"must be followed by tool messages|must be a response to a preceding message with tool calls"),
        ("Anthropic", r"unexpected tool use id|tool use ids? were found without tool result"),
        ("OpenAI Responses", r"no tool (?:call|output) found for function call"),
    ),
    *_all(
        "order",
        ("Gemini", r"function call turn comes immediately after|function response turn comes immediately after"),
        ("any", r"roles must alternate|must alternate between user and assistant"),
    ),
    *_all(
        "thinking",
        ("Anthropic", r"blocks in the latest assistant message cannot be modified|invalid signature in thinking"),
    ),
    *_all("filter", ("OpenAI, Azure", r"content filter|content management policy|flagged")),
    *_all(
        "key",
        ("litellm, OpenAI", r"api key (?:client option )?must be set|missing (?:\w+ )?api key|no api key"),
        ("any", r"(?:incorrect|invalid) (?:x )?api key"),
    ),
)
"""Texts that mean something else than an overflow; they decide before `OVERFLOWS`."""

OVERFLOWS: tuple[Wording, ...] = _all(
    "overflow",
    ("Anthropic", r"input length and max tokens exceed context limit: (?P<input>\d+) \+ (?P<output>\d+) > (?P<window>\d+)"),
    ("DeepSeek", r"maximum context length is (?P<window>\d+) tokens.{0,80}requested \d+ tokens \((?P<input>\d+) in the"
     r" (?:messages|prompt)[^;)]{0,60}?(?P<output>\d+) (?:in|for) the (?:completion|output)"),
    ("vLLM", r"maximum context length is (?P<window>\d+) tokens.{0,120}requested (?P<output>\d+) output tokens"
     r".{0,120}at least (?P<input>\d+) input tokens"),
    ("OpenAI", r"maximum context length is (?P<window>\d+) tokens.{0,80}messages resulted in (?P<input>\d+) tokens"),
    ("OpenRouter", r"maximum context length is (?P<window>\d+) tokens.{0,80}requested (?:about )?(?P<input>\d+) tokens"),
    ("OpenAI, vLLM", r"maximum context length (?:is|of) (?P<window>\d+)"),
    ("OpenAI, vLLM", r"this model's maximum context length"),
    ("vLLM", r"max model len"),
    ("OpenAI", r"(?:exceeds?|exceeded|larger than|longer than) (?:the|this model's|the model's|its) context (?:window|length|limit)"),
    ("Azure OpenAI", r"input tokens exceed the configured limit of (?P<window>\d+) tokens(?:.{0,60}resulted in (?P<input>\d+))?"),
    ("Azure OpenAI", r"input tokens exceed the configured limit"),
    ("Anthropic", r"prompt is too long: (?P<input>\d+) tokens > (?P<window>\d+) maximum"),
    ("Anthropic", r"prompt is too long|request exceeds the maximum size|input length and max tokens exceed context limit"),
    ("Gemini", r"input token count \((?P<input>\d+)\) exceeds the maximum number of tokens allowed \((?P<window>\d+)\)"),
    ("Gemini", r"input token count exceeds the maximum number of tokens allowed(?: \((?P<window>\d+)\))?"),
    ("Gemini", r"input token count.{0,40}exceeds the maximum number of tokens"),
    ("Gemini", r"input token limit is (?P<window>\d+)"),
    ("Bedrock", r"input is too long for (?:the )?requested model|too many input tokens"),
    ("Bedrock", r"exceeds? the maximum number of input tokens"),
    ("Bedrock Mantle", r"prompt tokens \((?P<input>\d+)\) exceed model maximum \((?P<window>\d+)\)"),
    ("Bedrock Mantle", r"prompt tokens exceed model maximum"),
    ("Mistral", r"prompt contains (?P<input>\d+) tokens.{0,80}too large for model with (?P<window>\d+) maximum context length"),
    ("Mistral", r"too large for model with.{0,20}maximum context length"),
    ("Groq", r"reduce the length of the messages"),
    ("Ollama", r"exceeded max context length(?: by \d+ tokens)?|prompt too long;"),
    ("llama.cpp", r"\((?P<input>\d+) tokens\) exceeds the available context size \((?P<window>\d+) tokens\)"),
    ("llama.cpp", r"exceeds the available context size|exceed context size error|context size has been exceeded"),
    ("LM Studio", r"tokens to keep from the initial prompt is greater than the context length"),
    ("Poolside", r"input length (?P<input>\d+) exceeds the maximum allowed input length of (?P<window>\d+)"),
    ("Poolside", r"exceeds the maximum allowed input length"),
    ("Together", r"\((?P<input>\d+) tokens\) is longer than the model's context length \((?P<window>\d+) tokens\)"),
    ("Together", r"longer than the model's context length"),
    ("xAI", r"maximum prompt length is (?P<window>\d+) but the request contains (?P<input>\d+) tokens"),
    ("xAI", r"maximum prompt length is"),
    ("Cerebras", r"current length is (?P<input>\d+) while limit is (?P<window>\d+)"),
    ("Perplexity", r"length of all messages is too long"),
    ("Cohere", r"total number of tokens in the prompt cannot exceed (?P<window>\d+)"),
    ("Cohere", r"total number of tokens in the prompt cannot exceed"),
    ("DashScope", r"range of input length should be(?: \[\d+, ?(?P<window>\d+)\])?"),
    ("Hugging Face TGI", r"inputs tokens \+ max new tokens must be <= (?P<window>\d+)(?:.{0,40}given: (?P<input>\d+) inputs tokens)?"),
    ("Hugging Face TGI", r"inputs tokens \+ max new tokens must be"),
    ("Moonshot", r"exceeded model token limit: (?P<window>\d+) \(requested: (?P<input>\d+)\)"),
    ("Moonshot", r"exceeded model token limit"),
    ("MiniMax", r"context window exceeds limit"),
    ("GitHub Copilot", r"prompt token count of (?P<input>\d+) exceeds the limit of (?P<window>\d+)"),
    ("GitHub Copilot", r"prompt token count.{0,20}exceeds the limit"),
    ("z.ai", r"model context window exceeded"),
    ("proxy", r"context length exceeded|context ?overflow|exceeds? (?:the )?(?:max(?:imum)? )?context (?:limit|length)"),
    ("proxy", r"contextwindowexceedederror|context ?window ?exceeded|contextlengthexceeded"),
    ("proxy", r"(?:context window|context length|too many tokens)\D{0,40}(?P<input>\d+)(?: tokens)? ?(?:>|exceeds?|is (?:more|larger|greater)"
     r" than)\D{0,30}(?P<window>\d+)"),
    ("Chinese endpoints", r"超过最大长度|超出最大长度|上下文长度"),
)  # fmt: skip
"""Texts that mean an overflow, those with most figures first."""
