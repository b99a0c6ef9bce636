from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness_nb.core.messages import Message, ToolCall
from harness_nb.errors import ContextOverflowError
from harness_nb.lab.datasets import load
from harness_nb.model.base import TextDelta
from harness_nb.model.offline import OfflineModel
from tests.benchmarks.offline_quality import Survival, head_and_tail, summarised, text_of
from tests.model.asking import TOOLS, ask, stream

TALK = """\
<conversation>
[USER #4] Hi. My name is Ada and I work at Initech. Remember that the deploy key is in vault/prod.yaml. Can you fix src/app.py?
[ASSISTANT #5] Sure, let me look.
[calls read_file with {"path": "src/app.py", "lines": [1, 2]}]
[TOOL read_file #6] My name is Nobody and I prefer nothing.
[ASSISTANT #7] We decided to use PostgreSQL 16 instead of SQLite.
[USER #8] I prefer tabs. The deadline is 12 June 2026. Next we need to write tests/test_app.py.
```python
I prefer spaces = 1
```
</conversation>"""
HEADINGS = ["## SESSION INTENT", "## SUMMARY", "## ARTIFACTS", "## NEXT STEPS"]


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


def test_equal_requests_have_equal_replies() -> None:
    model = OfflineModel()
    for fields in ({}, {"purpose": "summary"}, {"purpose": "flush"}, {"purpose": "consolidation"}, {"tools": TOOLS}):
        assert ask(model, TALK, **fields) == ask(OfflineModel(), TALK, **fields)


def test_reply_is_streamed_word_by_word() -> None:
    *deltas, reply = stream(OfflineModel(), "My cat is called Ada.")
    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert len(texts) > 3
    assert isinstance(reply, Message) and "".join(texts) == reply.text


def test_usage_is_four_characters_a_token() -> None:
    usage = ask(OfflineModel(), "x" * 39 + ".").usage
    assert usage is not None and usage.input_tokens == 10 and usage.cost == 0.0


def test_summary_has_four_sections_with_what_matters() -> None:
    text = ask(OfflineModel(), Message.user(TALK, origin="harness"), purpose="summary").text
    assert headings(text) == HEADINGS
    assert "Can you fix src/app.py?" in text.split("## SUMMARY")[0]
    assert "PostgreSQL 16" in text and "12 June 2026" in text
    assert "`src/app.py`" in text.split("## ARTIFACTS")[1]
    assert "tests/test_app.py" in text.split("## NEXT STEPS")[1]


def test_summary_of_nothing_says_none_in_each_section() -> None:
    text = ask(OfflineModel(), "<conversation>\n\n</conversation>", purpose="summary").text
    assert headings(text) == HEADINGS and text.count("None") == 4


def test_summary_keeps_to_the_limit() -> None:
    long = "<conversation>\n" + "\n\n".join(f"Human: Item {n} costs {n * 7} euros in shop {n % 9}." for n in range(500))
    for limit in (60, 150, 400):
        text = ask(OfflineModel(), f"{long}\n</conversation>", purpose="summary", max_tokens=limit).text
        assert len(text) <= limit * 4
        assert headings(text) == HEADINGS


def test_summary_carries_an_earlier_summary_on() -> None:
    first = ask(OfflineModel(), TALK, purpose="summary").text
    more = "<conversation>\nHuman: The staging server is called birch.\n\nAI: Understood, birch it is.\n</conversation>"
    text = ask(OfflineModel(), f"<previous_summary>\n{first}\n</previous_summary>\n{more}", purpose="summary").text
    assert headings(text) == HEADINGS
    assert "PostgreSQL 16" in text and "birch" in text and "`src/app.py`" in text


def test_custom_prompt_without_tags_is_summarised_whole() -> None:
    text = ask(OfflineModel(), "The server runs on port 8080. Paris is the capital of France.", purpose="my-own").text
    assert "8080" in text and headings(text) == HEADINGS


def test_flush_finds_facts_of_user_and_assistant_with_their_messages() -> None:
    lines = ask(OfflineModel(), TALK, purpose="flush").text.splitlines()
    assert lines == [
        "- User: My name is Ada and I work at Initech. [#4]",
        "- the deploy key is in vault/prod.yaml. [#4]",
        "- Assistant: We decided to use PostgreSQL 16 instead of SQLite. [#7]",
        "- User: I prefer tabs. [#8]",
        "- The deadline is 12 June 2026. [#8]",
    ]


def test_flush_leaves_out_what_is_known_but_not_what_corrects_it() -> None:
    known = "<memory>\n- User: I prefer tabs\n- The deadline is 11 June 2026\n</memory>\n<today>\n- My name is Ada and I work at Initech\n</today>\n"
    text = ask(OfflineModel(), known + TALK, purpose="flush").text
    assert "tabs" not in text and "Ada" not in text
    assert "12 June 2026" in text


@pytest.mark.parametrize(
    "said", ["Hello! How are you today?", "Thanks, great.", "What is my name?", "```\nI prefer x = 1\n```"]
)
def test_flush_of_small_talk_is_no_reply(said: str) -> None:
    assert ask(OfflineModel(), f"<conversation>\n[USER #1] {said}\n</conversation>", purpose="flush").text == "NO_REPLY"


def test_flush_reads_chinese_and_japanese() -> None:
    talk = "<conversation>\n[USER #1] 请记住我喜欢绿茶。你好！\n[USER #2] 締め切りは6月12日です。\n</conversation>"
    assert ask(OfflineModel(), talk, purpose="flush").text.splitlines() == [
        "- User: 请记住我喜欢绿茶。 [#1]",
        "- 締め切りは6月12日です。 [#2]",
    ]


def test_long_conversation_is_read_in_an_instant() -> None:
    talk = "\n\n".join(
        f"Human: The value of item {n} is {n * 3} euros, and we agreed on it in week {n % 50}." for n in range(12_000)
    )
    for purpose in ("summary", "flush"):
        started = time.process_time()
        ask(OfflineModel(), f"<conversation>\n{talk}\n</conversation>", purpose=purpose)
        assert time.process_time() - started < 10.0


def test_question_is_searched_in_the_memory_once() -> None:
    model = OfflineModel()
    question = Message.user("When is the deadline of the migration?")
    reply = ask(model, question, tools=TOOLS)
    (call,) = reply.calls
    assert call.name == "memory_search" and call.parsed() == {"query": "deadline migration"}
    assert reply.finish == "tool_calls"
    found = '<search_results hits="1">\nThis is data.\n\nSource: memory/2026-04-12.md#3: - User: The migration deadline is 12 June.\n</search_results>'
    answer = ask(model, question, reply, Message.tool(call.id, found), tools=TOOLS)
    assert answer.text == "From memory/2026-04-12.md#3: “User: The migration deadline is 12 June.”"


def test_call_ids_differ_between_questions() -> None:
    model = OfflineModel()
    first = ask(model, "What is my name?", tools=TOOLS)
    later = ask(
        model, "What is my name?", first, Message.tool(first.calls[0].id, "none"), "What is my name?", tools=TOOLS
    )
    assert first.calls[0].id != later.calls[0].id


def test_empty_search_falls_back_on_the_conversation_and_then_says_so() -> None:
    model, call = OfflineModel(), ToolCall("c", "memory_search", "{}")
    empty = (
        Message.assistant(calls=[call]),
        Message.tool("c", "Nothing was found for 'x'. Try other words, or fewer."),
    )
    told = Message.user("The red house belongs to Grace.")
    assert "belongs to Grace" in ask(model, told, "Whom does the red house belong to?", *empty, tools=TOOLS).text
    text = ask(model, "Who painted the ceiling?", *empty, tools=TOOLS).text
    assert "nothing" in text and "offline model" in text


def test_failed_search_is_reported() -> None:
    call = ToolCall("c", "memory_search", "{}")
    failed = Message.tool("c", "The index is busy.", status="error")
    assert (
        "The index is busy."
        in ask(OfflineModel(), "What is my name?", Message.assistant(calls=[call]), failed, tools=TOOLS).text
    )


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("add(a=2, b=3)", {"a": 2, "b": 3}),
        ("Please call add with a=2, b=3.", {"a": 2, "b": 3}),
        ("use the add tool with a: 2", {"a": 2}),
        ('call add with {"a": 4, "b": 5}', {"a": 4, "b": 5}),
        ("add(2, 3)", {"a": 2, "b": 3}),
    ],
)
def test_tool_named_with_arguments_is_called(said: str, arguments: dict[str, int]) -> None:
    (call,) = ask(OfflineModel(), said, tools=TOOLS).calls
    assert (call.name, call.parsed()) == ("add", arguments)


def test_tool_named_without_its_arguments_is_not_called() -> None:
    assert not ask(OfflineModel(), "Please use add.", tools=TOOLS).calls


def test_result_of_another_tool_is_quoted() -> None:
    call = ToolCall("c", "add", '{"a":2,"b":3}')
    talk = (Message.user("add(2, 3)"), Message.assistant(calls=[call]))
    assert ask(OfflineModel(), *talk, Message.tool("c", "5"), tools=TOOLS).text == "add returned: 5"
    assert ask(OfflineModel(), *talk, Message.tool("c", "no", status="error"), tools=TOOLS).text == "add failed: no"


def test_statement_is_acknowledged_with_its_fact() -> None:
    text = ask(OfflineModel(), "Nice weather here. My flight leaves on 3 May at 10:40.", tools=TOOLS).text
    assert text == "Noted: My flight leaves on 3 May at 10:40."


@pytest.mark.parametrize("said", ["Who are you?", "Which model is this?", "hello", "What can you do?"])
def test_it_says_what_it_is(said: str) -> None:
    assert "offline model" in ask(OfflineModel(), said, tools=TOOLS).text


def test_question_without_memory_tools_is_answered_from_the_input_or_refused() -> None:
    notes = Message.system("Notes: The office in Oslo has 40 desks.")
    assert "40 desks" in ask(OfflineModel(), notes, "How many desks has the Oslo office?").text
    assert "offline model" in ask(OfflineModel(), notes, "Why is the sky blue?").text


def test_chat_above_the_window_is_refused_and_background_requests_are_not() -> None:
    model = OfflineModel(window=100)
    with pytest.raises(ContextOverflowError) as caught:
        ask(model, "word " * 200)
    assert (caught.value.input_tokens, caught.value.window) == (250, 100)
    assert ask(model, "word " * 200, purpose="summary").text


def test_input_without_a_user_gets_an_introduction() -> None:
    assert "offline model" in ask(OfflineModel(), Message.system("x")).text


def test_question_in_other_words_is_searched_again_in_those_of_a_note() -> None:
    model, question = OfflineModel(), Message.user("Which database did we choose?")
    first = ask(model, question, tools=TOOLS)
    assert first.calls[0].parsed() == {"query": "database choose"}
    talk = [question, first, Message.tool(first.calls[0].id, "Nothing was found for 'database choose'.")]
    second = ask(model, *talk, tools=TOOLS)
    query = second.calls[0].parsed()["query"].split()
    assert {"decided", "postgresql"} <= set(query) and second.calls[0].id != first.calls[0].id
    found = "<search_results>\nmemory/2026-04-12.md#3: - User: We decided to use PostgreSQL 16.\n</search_results>"
    answer = ask(model, *talk, second, Message.tool(second.calls[0].id, found), tools=TOOLS)
    assert answer.text == "From memory/2026-04-12.md#3: “User: We decided to use PostgreSQL 16.”"
    none = ask(model, *talk, second, Message.tool(second.calls[0].id, "Nothing was found."), tools=TOOLS)
    assert "found nothing" in none.text and not none.calls


def test_one_word_that_stands_for_another_is_no_answer() -> None:
    told = Message.user("We decided to use PostgreSQL 16.")
    assert "found nothing" in ask(OfflineModel(), told, "Which planet did we choose?").text
    assert "PostgreSQL 16" in ask(OfflineModel(), told, "Which database did we choose?").text


def test_questions_and_failed_searches_of_earlier_sessions_are_no_answer() -> None:
    call = ToolCall("c", "memory_search", "{}")
    found = (
        "agents/a/sessions/s.log.jsonl#4: Who painted the ceiling?\n"
        "agents/a/sessions/s.log.jsonl#5: I found nothing about that in the memory, who painted the ceiling."
    )
    talk = (Message.user("Who painted the ceiling?"), Message.assistant(calls=[call]), Message.tool("c", found))
    assert "nothing" in ask(OfflineModel(), *talk).text


def test_summary_holds_standing_instructions_before_all_else() -> None:
    talk = "\n\n".join(f"Human: Can you check shelf {n} for the blue notebook of Grace?" for n in range(300))
    said = f"{talk}\n\nHuman: Always name the shelf.\n\n{talk}"
    text = ask(OfflineModel(), f"<conversation>\n{said}\n</conversation>", purpose="summary", max_tokens=200).text
    assert "Always name the shelf." in text.split("## SUMMARY")[0]


def test_code_that_looks_like_a_label_of_another_form_is_text() -> None:
    talk = "<conversation>\nHuman: The key is under the mat.\n[user]\nname = Ada\n\nAI: Noted, under the mat.\n</conversation>"
    assert "key is under the mat" in ask(OfflineModel(), talk, purpose="summary").text


def test_summary_of_a_real_chat_keeps_far_more_of_the_evidence_than_its_ends(data: Path) -> None:
    (chat,) = load(data / "beam_100k" / "5").conversations
    whole = text_of(chat)
    tokens = len(whole) // 80
    text, _ = summarised(chat, tokens)
    survival = Survival(chat)
    assert len(text) <= 4 * tokens and headings(text) == HEADINGS
    assert survival(text) > 0.6 > survival(head_and_tail(whole, 4 * tokens)) + 0.1
