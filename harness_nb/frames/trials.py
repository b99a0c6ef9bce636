"""Frames of what is tried out in the lab: planted canaries, tasks, and policies beside each other."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from harness_nb.core.view import HOOKS
from harness_nb.frames.assembly import Record, assemble
from harness_nb.frames.columns import Column

CANARIES = (
    Column("policy", "text", "name of the policy, with its variant"),
    Column("budget", "number", "most that a round may leave, as a part of the list at the first round", "0 to 1"),
    Column("budget_tokens", "count", "the same", "tokens"),
    Column("seed", "count", "seed of the canaries and their places"),
    Column("kind", "text", "what kind of thing was planted"),
    Column("round", "count", "round of compaction, 1 for the first"),
    Column("planted", "count", "items of that kind"),
    Column("survived", "count", "items of which every code word is in the context"),
    Column("survival", "number", "the same as a part", "0 to 1"),
    Column("cliff_round", "count", "first round after which less than half is left; missing where that never happens"),
    Column("stale", "count", "updated values of which the replaced one is shown; missing for other kinds"),
    Column("misled", "count", "of these: without the replacement"),
    Column("merged", "count", "near-duplicate pairs of which only one is left; missing for other kinds"),
    Column("tokens_before", "count", "list before the round", "tokens"),
    Column("tokens_after", "count", "list that the next request would send", "tokens"),
    Column("is_held", "flag", "whether every round stayed within the budget"),
    Column("setting", "text", "what the policy was held by"),
    Column("outcome", "text", "what came of the round's plan"),
    Column("model_calls", "count", "model calls that the policy made in the round"),
    Column("model", "text", "what answered them"),
    Column("counter", "text", "what counted the tokens"),
)


def canaries_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Survival of canaries by policy, budget, seed, kind and round; columns `CANARIES`."""
    return assemble(records, CANARIES)


EVALUATION = (
    Column("task", "text", "name of the task"),
    Column("preset", "text", "name of the preset"),
    Column("model", "text", "name of the model"),
    Column("passed", "flag", "whether it was run to its end and every check holds"),
    Column("checks", "count", "checks"),
    Column("failed", "count", "of these: those that do not hold"),
    Column("why", "text", "the error, or the checks that fail with their reasons; empty when all is well"),
    Column("answer", "text", "the last answer"),
    Column("requests", "count", "model requests of its turns"),
    Column("input_tokens", "count", "their prompts, as the provider reported them", "tokens"),
    Column("output_tokens", "count", "their answers, as the provider reported them", "tokens"),
)

CHECKS = (
    Column("task", "text", "name of the task"),
    Column("preset", "text", "name of the preset"),
    Column("check", "text", "the check in words"),
    Column("passed", "flag", "whether it holds"),
    Column("detail", "text", "why not, or empty"),
)


def evaluation_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Tasks under presets; columns `EVALUATION`."""
    return assemble(records, EVALUATION)


def checks_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Checks of tasks under presets; columns `CHECKS`."""
    return assemble(records, CHECKS)


TIMELINE = (
    Column("index", "count", "messages said by then"),
    Column("policy", "text", "name of the policy"),
    Column("turn", "count", "number of the turn, 1 for the first"),
    Column("hook", "category", "why the policy was called", values=HOOKS),
    Column("outcome", "text", "the plan's word for what it did"),
    Column("reason", "text", "why, in words"),
    Column("tokens_before", "count", "model input before, by the session's measure", "tokens"),
    Column("tokens_after", "count", "the same measure after", "tokens"),
    Column("messages_before", "count", "items before", "messages"),
    Column("messages_after", "count", "items after", "messages"),
    Column("model_calls", "count", "requests made for it"),
    Column("edits", "text", "items that the plan made, by how"),
)


def timeline_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Points at which policies replaced their lists, in the order of the conversation; columns `TIMELINE`."""
    return assemble(records, TIMELINE)
