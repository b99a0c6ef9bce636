from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.memory.facts import MAX_FACT_CHARS, Facts, bullets, cited, read_facts, says_nothing
from harness_nb.memory.flush_prompt import FLUSH_PROMPT, RETRY_PROMPT

NOTHING = [
    "NO_REPLY",
    " no_reply.\n",
    "`NO_REPLY`",
    "NO REPLY",
    "NO-REPLY",
    "No reply.",
    "**NO_REPLY**",
    "NO_REPLY\n\nNothing new today.",
    "NO_REPLY because nothing was decided",
    "NO REPLY - there is nothing new",
    "- NO_REPLY",
    '"NO_REPLY"',
    "```\nNO_REPLY\n```",
    "Nothing was decided.\n\nNO_REPLY",
    '{"reply": "NO_REPLY"}',
    "[]",
    '{"facts": []}',
    "null and void\n\n`NO_REPLY`",
    "<think>is there anything?</think>NO_REPLY",
    "「NO_REPLY」",
    "- Nothing new",
    "NO_REPLY\n\n- nothing to store",
]


@pytest.mark.parametrize("reply", NOTHING)
def test_r046_nothing_to_store_is_recognised_in_all_its_forms(reply: str) -> None:
    facts = read_facts(reply)
    assert facts.lines == () and facts.refused is None


@pytest.mark.parametrize(
    "text",
    [
        "- No reply: the vendor is silent since 3 May.\n- Ana asks again.",
        "- no-reply@example.com sends the reports\n- The port is 8080",
    ],
)
def test_a_fact_that_begins_with_no_reply_is_kept(text: str) -> None:
    assert len(read_facts(text).lines) == 2


FORMS = {
    "bullets": "- a lab\n- b lab",
    "stars": "* a lab\n* b lab",
    "dots": "• a lab\n•b lab",
    "numbers": "1. a lab\n2. b lab",
    "numbers in parentheses": "1) a lab\n2) b lab",
    "a sentence before and after": "Here they are:\n\n- a lab\n- b lab\n\nTell me if you need more.",
    "fenced list": "```markdown\n- a lab\n- b lab\n```",
    "fenced JSON": 'Sure:\n```json\n["a lab", "b lab"]\n```',
    "JSON list": '["a lab", "b lab"]',
    "JSON object": '{"facts": ["a lab", "b lab"]}',
    "JSON list of objects": '[{"fact": "a lab"}, {"text": "b lab"}]',
    "JSON object of an object": '{"memories": [{"content": "a lab"}, {"content": "b lab"}]}',
    "text in JSON": '"- a lab\\n- b lab"',
    "repeated": "- a lab\n- b lab\n- a lab",
    "with a heading": "## Facts\n\n- a lab\n\n**More:**\n- b lab",
    "in a tag": "<facts>\n- a lab\n- b lab\n</facts>",
    "CRLF": "- a lab\r\n- b lab\r\n",
    "after thinking": "<think>\n- not this\n</think>\n- a lab\n- b lab",
}


@pytest.mark.parametrize("form", FORMS)
def test_r048_lists_in_any_form_become_the_same_facts(form: str) -> None:
    assert read_facts(FORMS[form]).lines == ("a lab", "b lab")


def test_r048_objects_keep_what_stands_beside_the_fact() -> None:
    reply = '[{"fact": "DOP853 is the solver", "date": "2026-04-12"}, {"owner": "Ana", "deadline": "5 May"}]'
    assert read_facts(reply).lines == ("DOP853 is the solver (date: 2026-04-12)", "owner: Ana", "deadline: 5 May")


@pytest.mark.parametrize(
    "reply",
    [
        "The user prefers Python 3.11 and dark plots.",
        "",
        "   ",
        "<think>- only thought of</think>",
        "{'facts': ['a', 'b']}",
        "Message(role='user')",
    ],
)
def test_r048_what_is_no_list_is_refused_with_a_reason(reply: str) -> None:
    facts = read_facts(reply)
    assert facts.lines == () and facts.refused


def test_r048_a_python_repr_is_no_fact() -> None:
    facts = read_facts("- {'lab': 'Python 3.11'}\n- ['a', 'b']\n- [Message(role=1)]\n- The lab has three rooms")
    assert facts.lines == ("The lab has three rooms",)
    assert len(facts.dropped) == 3


PLACEHOLDERS = [
    "<fact 1>",
    "[fact 2]",
    "fact",
    "...",
    "<self-contained fact>",
    "none",
    "N/A",
    "Fact #3",
    "[your fact here]",
]


@pytest.mark.parametrize("line", PLACEHOLDERS)
def test_r050_placeholders_are_no_facts(line: str) -> None:
    facts = read_facts(f"- {line}\n- The lab uses Python 3.11")
    assert facts.lines == ("The lab uses Python 3.11",)
    assert facts.dropped[0].startswith("placeholder")


@pytest.mark.parametrize(
    "sentence", [one.strip() for one in FLUSH_PROMPT.replace("\n", " ").split(". ") if len(one) > 30]
)
def test_r050_sentences_of_the_prompt_are_no_facts(sentence: str) -> None:
    facts = read_facts(f"- {sentence}\n- The lab uses Python 3.11", prompt=f"{FLUSH_PROMPT}\n{RETRY_PROMPT}")
    assert facts.lines == ("The lab uses Python 3.11",)


def test_lines_that_belong_to_a_bullet_are_joined_to_it() -> None:
    text = "- The deadline of Kepler\n  is 5 May.\n- Labs:\n  - one in Bonn\n  - one in Kyoto\n\n  with a garden\n- c"
    assert bullets(text) == ["The deadline of Kepler is 5 May.", "Labs: one in Bonn; one in Kyoto with a garden", "c"]


def test_a_bullet_that_was_cut_off_is_dropped() -> None:
    assert read_facts("- The lab uses Python 3.11\n- The deadl", is_cut=True).lines == ("The lab uses Python 3.11",)


def test_r062_a_fact_that_is_too_long_is_dropped_whole_and_named() -> None:
    facts = read_facts(f"- {'x' * (MAX_FACT_CHARS + 1)}\n- short fact")
    assert facts.lines == ("short fact",)
    assert "2,001 characters" in facts.dropped[0]


def test_references_to_shown_messages_are_taken_out_of_a_fact() -> None:
    assert cited("The lab uses 3.11 [#4, #7].", {4, 7}) == ("The lab uses 3.11.", (4, 7))
    assert cited("See issue [#99].", {4, 7}) == ("See issue [#99].", ())


def test_r081_escaped_surrogate_pairs_become_one_character() -> None:
    assert read_facts('["lens \\ud83d\\udd2c"]').lines == ("lens 🔬",)


@given(st.text())
def test_any_reply_is_read_or_refused(reply: str) -> None:
    facts = read_facts(reply, prompt=FLUSH_PROMPT)
    assert isinstance(facts, Facts)
    assert all(line and "\n" not in line for line in facts.lines)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda one: st.lists(one) | st.dictionaries(st.text(), one),
    )
)
def test_any_json_is_read_or_refused(value: object) -> None:
    assert all("\n" not in line for line in read_facts(json.dumps(value)).lines)


def test_says_nothing_does_not_take_a_sentence_for_the_word() -> None:
    assert says_nothing("no_reply") and not says_nothing("no reply came from Ana")


@pytest.mark.parametrize(
    "hostile",
    ["- " * 100_000, "[" * 200_000, "_" * 500_000, "<think>" * 50_000, "```\n" * 100_000, " " * 300_000 + "x"],
)
def test_hostile_replies_are_read_in_bounded_time(hostile: str) -> None:
    import time

    start = time.perf_counter()
    read_facts(hostile)
    assert time.perf_counter() - start < 2.0
