"""Every row of the two tables of provider errors, and the pairs that are easy to confuse."""

from __future__ import annotations

import json

import pytest

from harness_nb.errors import ContextOverflowError, MissingKeyError, ModelError, QuotaError, RateLimitError
from harness_nb.model.errors import classify


class BadRequestError(Exception):
    """Shaped like litellm's: a message, a status, a code, a body."""

    def __init__(self, message: str, status: int = 400, code: object = None, body: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.status_code = status
        self.code = code
        self.body = body


class ContextWindowExceededError(BadRequestError):
    """By name only, as litellm is not imported here."""


OVERFLOWS = [
    ("OpenAI older", 400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.", 9001, 8192),
    ("OpenAI current", 400, "Your input exceeds the context window of this model. Please adjust your input and try again.", None, None),
    ("OpenAI variant", 400, "The input is longer than the model's context window.", None, None),
    ("OpenAI variant 2", 400, "Input exceeds this model's context window.", None, None),
    ("Azure", 400, "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.", 300123, 272000),
    ("Anthropic", 400, "prompt is too long: 210345 tokens > 200000 maximum", 210345, 200000),
    ("Anthropic output", 400, "input length and `max_tokens` exceed context limit: 180100 + 32000 > 200000, decrease input length or `max_tokens`", 180100, 168000),
    ("Anthropic bytes", 413, "Request exceeds the maximum size", None, None),
    ("Claude on Vertex", 400, 'b\'{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum"}}\'', 200001, 200000),
    ("Gemini", 400, "The input token count (1200400) exceeds the maximum number of tokens allowed (1048576).", 1200400, 1048576),
    ("Gemini newer", 400, "The input token count exceeds the maximum number of tokens allowed (1048576)", None, 1048576),
    ("Gemini bare", 400, "The input token count exceeds the maximum number of tokens allowed.", None, None),
    ("Gemini stream", 400, "Request is too large, input token limit is 1048576", None, 1048576),
    ("Bedrock", 400, "ValidationException: Input is too long for requested model.", None, None),
    ("Bedrock 2", 400, "too many input tokens", None, None),
    ("Bedrock 3", 400, "The prompt exceeds the maximum number of input tokens", None, None),
    ("Bedrock Mantle", 400, "prompt tokens (130000) exceed model maximum (128000)", 130000, 128000),
    ("Mistral", 400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 40000, 32768),
    ("Groq", 400, "Please reduce the length of the messages or completion.", None, None),
    ("Ollama", 400, "prompt too long; exceeded max context length by 300 tokens", None, None),
    ("vLLM", 400, "This model's maximum context length is 32768 tokens. However, you requested 4096 output tokens and your prompt contains at least 30000 input tokens, for a total of at least 34096 tokens.", 30000, 28672),
    ("vLLM older", 400, "The prompt (total length 40000) is too long to fit (max_model_len 32768)", None, None),
    ("llama.cpp", 400, "request (5120 tokens) exceeds the available context size (4096 tokens), try increasing it", 5120, 4096),
    ("llama.cpp 500", 500, "Context size has been exceeded.", None, None),
    ("LM Studio", 400, "The number of tokens to keep from the initial prompt is greater than the context length", None, None),
    ("DeepSeek", 400, "This model's maximum context length is 65536 tokens. However, you requested 70100 tokens (66004 in the messages, 4096 in the completion).", 66004, 61440),
    ("OpenRouter", 400, "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens", 140000, 131072),
    ("Poolside", 400, "Input length 140000 exceeds the maximum allowed input length of 131000 tokens", 140000, 131000),
    ("Together", 400, "The input (9000 tokens) is longer than the model's context length (8192 tokens).", 9000, 8192),
    ("xAI", 400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 140000, 131072),
    ("Cerebras", 400, "Please reduce the length. Current length is 9000 while limit is 8192", 9000, 8192),
    ("Perplexity", 400, "The length of all messages is too long", None, None),
    ("Cohere", 400, "too many tokens: total number of tokens in the prompt cannot exceed 4081", None, 4081),
    ("DashScope", 400, "Range of input length should be [1, 129024]", None, 129024),
    ("TGI", 422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`", 4000, 4096),
    ("Moonshot", 400, "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)", 140000, 131072),
    ("MiniMax", 400, "invalid params, context window exceeds limit (2013)", None, None),
    ("Copilot", 400, "prompt token count of 130000 exceeds the limit of 128000", 130000, 128000),
    ("z.ai", 400, "finish_reason: model_context_window_exceeded", None, None),
    ("proxy", 500, "context_overflow", None, None),
    ("proxy 2", 400, "Context-Overflow: too much", None, None),
    ("proxy 3", 400, "input and output exceed context limit", None, None),
    ("proxy inner class", 500, "upstream failed: litellm.ContextWindowExceededError", None, None),
    ("proxy JSON in string", 500, json.dumps({"error": json.dumps({"error": {"code": "context_length_exceeded", "message": "no"}})}), None, None),
    ("proxy dict in text", 400, "Error code: 400 - {'error': {'message': \"This model's maximum context length is 10 tokens\", 'code': None}}", None, 10),
    ("Chinese", 400, "输入超过最大长度", None, None),
    ("Chinese 2", 400, "上下文长度超限", None, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "text", "given", "window"), [row[1:] for row in OVERFLOWS], ids=[row[0] for row in OVERFLOWS]
)
@pytest.mark.parametrize("lead", ["", "litellm.BadRequestError: SomeException - "])
def test_overflow_is_recognised_with_its_figures(
    status: int, text: str, given: int | None, window: int | None, lead: str
) -> None:
    found = classify(BadRequestError(lead + text, status))
    assert isinstance(found, ContextOverflowError)
    assert (found.input_tokens, found.window) == (given, window)


OTHERS = [
    ("OpenAI TPM", 429, "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 35120.", "rate_limit_exceeded", RateLimitError),
    ("Groq TPM", 413, "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.", "rate_limit_exceeded", RateLimitError),
    ("Groq TPM no code", 413, "on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.", None, RateLimitError),
    ("Bedrock", 429, "ThrottlingException: Too many tokens, please wait before trying again.", None, RateLimitError),
    ("Bedrock 400", 400, "Too many tokens, please wait before trying again.", None, RateLimitError),
    ("daily", 429, "Too many tokens per day, please wait", None, RateLimitError),
    ("daily 400", 400, "Too many tokens per day", None, RateLimitError),
    ("Anthropic", 429, "This request would exceed your organization's per-minute rate limit of 40,000 input tokens", "rate_limit_error", RateLimitError),
    ("Cerebras", 429, "too many tokens processed", None, RateLimitError),
    ("Gemini", 429, "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED", RateLimitError),
    ("Mistral", 429, "Service tier capacity exceeded for this model.", None, RateLimitError),
    ("overloaded", 529, "Overloaded", None, RateLimitError),
    ("overloaded 503", 503, "The model is overloaded: context window exceeded", None, RateLimitError),
    ("at capacity", 500, "We are at capacity", None, RateLimitError),
    ("quota", 429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", QuotaError),
    ("quota, no code", 429, "You exceeded your current quota, please check your plan and billing details.", None, QuotaError),
    ("payment", 402, "Payment Required", None, QuotaError),
    ("credit", 400, "Your credit balance is too low to access the Anthropic API.", None, QuotaError),
    ("output cap", 400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens", "invalid_value", ModelError),
    ("output cap Gemini", 400, "Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 to 8193", None, ModelError),
    ("output cap DashScope", 400, "Range of max_tokens should be [1, 8192]", None, ModelError),
    ("image", 400, "messages.0.content.1.image: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes", None, ModelError),
    ("image 2", 400, "image dimensions exceed max allowed size", None, ModelError),
    ("field", 400, "Invalid 'user': string too long. Expected a string with maximum length 64", "string_above_max_length", ModelError),
    ("payload", 413, "request entity too large", None, ModelError),
    ("payload 2", 413, "Payload Too Large", None, ModelError),
    ("pairing", 400, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.", None, ModelError),
    ("pairing 2", 400, "messages.2: unexpected `tool_use_id` found in `tool_result` blocks: x", None, ModelError),
    ("pairing 3", 400, "No tool call found for function call output with call_id x.", None, ModelError),
    ("order", 400, "Please ensure that function call turn comes immediately after a user turn", None, ModelError),
    ("order 2", 500, "Conversation roles must alternate user/assistant", None, ModelError),
    ("thinking", 400, "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified", None, ModelError),
    ("thinking 2", 400, "messages.1.content.0: Invalid `signature` in `thinking` block", None, ModelError),
    ("echo", 400, "Invalid value for 'messages[3].content': \"My server says the prompt is too long: 9 tokens > 8 maximum, why?\"", "invalid_value", ModelError),
    ("filter", 400, "The response was filtered due to the prompt triggering content management policy", "content_filter", ModelError),
    ("filter 2", 400, "Your input was flagged", None, ModelError),
    ("loose words", 400, "Unknown field: context window", None, ModelError),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "text", "code", "kind"), [row[1:] for row in OTHERS], ids=[row[0] for row in OTHERS]
)
def test_look_alike_is_no_overflow(status: int, text: str, code: str | None, kind: type[ModelError]) -> None:
    found = classify(BadRequestError(text, status, code), pressure=0.99)
    assert type(found) is kind


PAIRS = [
    ("too many tokens: total number of tokens in the prompt cannot exceed 4081", "Too many tokens, please wait before trying again"),
    ("too many tokens: total number of tokens in the prompt cannot exceed 4081", "Too many tokens per day"),
    ("Please reduce the length of the messages", "on tokens per minute (TPM): Limit 6, Requested 7, reduce your message size"),
    ("input length and `max_tokens` exceed context limit", "max_tokens is too large: 5"),
    ("Range of input length should be [1, 5]", "Range of max_tokens should be [1, 5]"),
]  # fmt: skip


@pytest.mark.parametrize(("overflow", "other"), PAIRS)
def test_easily_confused_pair_is_told_apart(overflow: str, other: str) -> None:
    assert isinstance(classify(BadRequestError(overflow)), ContextOverflowError)
    assert not isinstance(classify(BadRequestError(other)), ContextOverflowError)


@pytest.mark.parametrize("text", ["", "litellm.APIError: APIError: CerebrasException - ", "413 status code (no body)"])
@pytest.mark.parametrize("status", [400, 413])
def test_refusal_without_text_is_an_overflow_only_when_the_window_is_nearly_full(text: str, status: int) -> None:
    assert isinstance(classify(BadRequestError(text, status), pressure=0.97), ContextOverflowError)
    assert not isinstance(classify(BadRequestError(text, status), pressure=0.2), ContextOverflowError)
    assert not isinstance(classify(BadRequestError(text, status)), ContextOverflowError)


def test_r024_code_attribute_decides_where_the_text_does_not() -> None:
    error = BadRequestError("OpenAIException - please adjust your input", code="context_length_exceeded")
    assert isinstance(classify(error), ContextOverflowError)


@pytest.mark.parametrize(
    "body",
    [
        {"code": "context_length_exceeded"},
        {"error": {"type": "exceed_context_size_error"}},
        json.dumps({"error": {"code": "context_length_exceeded"}}),
        b'{"error": {"code": "model_context_window_exceeded"}}',
    ],
)
def test_r024_parsed_body_decides(body: object) -> None:
    assert isinstance(classify(BadRequestError("refused", body=body)), ContextOverflowError)


def test_r024_class_decides_anywhere_in_the_causes() -> None:
    outer = RuntimeError("the call failed")
    outer.__cause__ = ContextWindowExceededError("no")
    assert isinstance(classify(outer), ContextOverflowError)
    assert isinstance(classify(ExceptionGroup("many", [ValueError("x"), outer])), ContextOverflowError)


def test_r025_anthropic_sum_gives_what_is_left_for_the_input() -> None:
    found = classify(BadRequestError("input length and `max_tokens` exceed context limit: 180100 + 32000 > 200000"))
    assert isinstance(found, ContextOverflowError)
    assert (found.input_tokens, found.window) == (180_100, 168_000)


@pytest.mark.parametrize(
    "text", ["CONTEXT_OVERFLOW", "context-overflow", "context overflow", "Prompt Is Too Long", "prompt_is_too_long"]
)
def test_r026_case_hyphens_and_underscores_do_not_matter(text: str) -> None:
    assert isinstance(classify(BadRequestError(text)), ContextOverflowError)


@pytest.mark.parametrize("status", [200, 400, 413, 429, 500])
def test_r028_tokens_per_minute_is_a_rate_limit_whatever_the_status(status: int) -> None:
    text = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35120. context_length_exceeded"
    found = classify(BadRequestError(text, status))
    assert isinstance(found, RateLimitError)
    assert found.hopeless
    assert "Waiting will not help" in str(found)


def test_r028_request_below_the_limit_is_worth_waiting_for() -> None:
    found = classify(BadRequestError("tokens per min (TPM): Limit 30,000, Used 29,000, Requested 1,500", 429))
    assert isinstance(found, RateLimitError)
    assert not found.hopeless


def test_r030_quota_is_told_from_a_rate_limit_that_passes() -> None:
    assert isinstance(
        classify(BadRequestError("You exceeded your current quota", 429, "insufficient_quota")), QuotaError
    )
    passing = "You exceeded your current quota. Quota exceeded for requests per minute. Please retry in 20s."
    assert type(classify(BadRequestError(passing, 429, "RESOURCE_EXHAUSTED"))) is RateLimitError


def test_missing_key_and_refused_key_are_different() -> None:
    assert isinstance(classify(BadRequestError("The api_key client option must be set", 401)), MissingKeyError)
    assert type(classify(BadRequestError("Incorrect API key provided", 401))) is ModelError


def test_own_error_comes_back_as_it_is() -> None:
    own = ContextOverflowError("too long", window=5)
    wrapper = RuntimeError("x")
    wrapper.__cause__ = own
    assert classify(own) is own
    assert classify(wrapper) is own


def test_hostile_text_is_read_in_bounded_time() -> None:
    import time

    for text in (
        "{" * 200_000,
        '{"a":' * 50_000,
        '"' * 200_000,
        "maximum context length is " * 20_000,
        "a" * 1_000_000,
    ):
        started = time.process_time()
        classify(BadRequestError(text))
        assert time.process_time() - started < 3.0


def test_message_of_an_error_is_short() -> None:
    assert len(str(classify(BadRequestError("x y " * 5_000)))) < 600
