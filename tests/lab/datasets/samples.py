"""Made-up files in the forms of the data sets, with every fault that a loader must see to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-26",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_2_date_time": "9:05 am on 3 May, 2023",
            "session_2": [
                {"speaker": "Ben", "dia_id": "D2:1", "text": "My kiln arrived yesterday."},
                {"speaker": "Ada", "dia_id": "D2:2", "text": "Lovely!", "blip_caption": "a blue vase"},
            ],
            "session_1_date_time": "1:56 pm on 8 April, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a greyhound called Comet."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "What does Comet eat?"},
                {"speaker": "Ada", "dia_id": "D1:3", "text": "Only salmon, would you believe."},
            ],
            "session_3_date_time": "1:00 pm on 9 May, 2023",
        },
        "qa": [
            {"question": "What is Ada's dog called?", "answer": "Comet", "evidence": ["D1:1"], "category": 4},
            {"question": "What came and what is it for?", "answer": 2, "evidence": ["D2:1; D1:03"], "category": 1},
            {"question": "Who likes D?", "answer": "Ben", "evidence": ["D", "D:2:2", "D9:9"], "category": 3},
            {"question": "When did the kiln come?", "answer": "2 May 2023", "evidence": [], "category": 2},
            {
                "question": "What does Ben's dog eat?",
                "adversarial_answer": "salmon",
                "evidence": ["D1:3"],
                "category": 5,
            },
        ],
    },
    {
        "sample_id": "conv-99",
        "conversation": {
            "speaker_a": "Cy",
            "speaker_b": "Dee",
            "session_1_date_time": "some day",
            "session_1": [{"speaker": "Dee", "dia_id": "D1:1", "text": "Hello."}],
        },
        "qa": [],
    },
]

BEAM_CHAT: list[dict[str, Any]] = [
    {
        "batch_number": 1,
        "turns": [
            [
                {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "My rent is 900 euros. ->-> 1,1"},
                {"role": "assistant", "id": 1, "content": "Noted. An arrow ->-> 1 stays inside a line."},
            ]
        ],
    },
    {
        "batch_number": 2,
        "turns": [
            [
                {"role": "user", "id": 2, "content": "Always answer with a table please."},
                {"role": "assistant", "id": 3, "content": "I will."},
            ],
            [
                {"role": "user", "id": 4, "content": "My rent has gone up to 950 euros. ->-> 2,1"},
                {"role": "assistant", "id": 5, "content": "I see."},
            ],
        ],
    },
]
BEAM_QUESTIONS: dict[str, Any] = {
    "abstention": [
        {"question": "How big is the flat?", "ideal_response": "Not said.", "rubric": ["says it is not known"]}
    ],
    "knowledge_update": [
        {
            "question": "What is my rent?",
            "answer": "950 euros",
            "source_chat_ids": {"original_info": [0], "updated_info": [4, 77]},
            "rubric": ["states 950"],
        }
    ],
    "instruction_following": [
        {
            "question": "List it.",
            "expected_compliance": "a table",
            "source_chat_ids": [2],
            "rubric": ["a table", "short"],
        }
    ],
}

TAU: list[dict[str, Any]] = [
    {
        "task_id": 7,
        "trial": 1,
        "reward": 0.0,
        "traj": [
            {"role": "system", "content": "Rules for economy seats."},
            {"role": "user", "content": "Cancel booking ZX99QA for mia_li, flight HAT1."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"id": "ZX99QA"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
            {"role": "assistant", "content": "Done. Anything else?"},
            {"role": "user", "content": "Book seat HAT1 then."},
            {"role": "assistant", "content": "Booked."},
        ],
        "info": {
            "task": {
                "actions": [
                    {"name": "cancel", "kwargs": {"id": "ZX99QA"}},
                    {
                        "name": "book",
                        "kwargs": {"user": "mia_li", "flights": [{"no": "HAT1"}], "cabin": "economy", "n": 2},
                    },
                ]
            }
        },
    },
    {"task_id": 8, "trial": 0, "reward": 1.0, "traj": [{"role": "user", "content": "Hi."}], "info": {"task": {}}},
]

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "What did I plant?",
        "answer": 3,
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": ["s2", "s1", "s0"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/02 (Tue) 08:00", "2023/05/01 (Mon) 08:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Late news."}, {"role": "assistant", "content": "Indeed."}],
            [
                {"role": "user", "content": "I planted three quinces.", "has_answer": True},
                {"role": "assistant", "content": "Good choice."},
            ],
            [],
        ],
        "answer_session_ids": ["s1"],
    },
    {
        "question_id": "q2_abs",
        "question_type": "multi-session",
        "question": "What did I paint?",
        "answer": "You did not say.",
        "haystack_session_ids": ["s1"],
        "haystack_dates": ["2023/05/02"],
        "haystack_sessions": [[{"role": "user", "content": "Hello."}, {"role": "narrator", "content": "?"}]],
        "answer_session_ids": [],
    },
]


def write_beam(folder: Path, *names: str) -> Path:
    """Writes the made-up BEAM chat into a folder for each name."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "chat.json").write_text(json.dumps(BEAM_CHAT), encoding="utf-8")
        (folder / name / "probing_questions.json").write_text(json.dumps(BEAM_QUESTIONS), encoding="utf-8")
    return folder
