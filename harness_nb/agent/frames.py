"""Frames of an agent, `agent.frames`: each is made when asked for, from what the session holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.agent.agent import HarnessAgent


class AgentFrames:
    """Data frames of one agent; columns and dtypes stand in `harness_nb/frames/columns.py`."""

    def __init__(self, agent: HarnessAgent) -> None:
        self._agent = agent

    def __repr__(self) -> str:
        return f"AgentFrames({self._agent.name!r})"

    def messages(self) -> DataFrame:
        """One row a message of the session, with its size and what became of it."""
        from harness_nb.frames import messages_frame
        from harness_nb.frames.records import message_records

        view = self._agent.view()
        records = message_records(view.log, view, events=self._agent.events, session=self._agent.session)
        return messages_frame(records)

    def events(self) -> DataFrame:
        """One row an event of this kernel's part of the session."""
        from harness_nb.frames import events_frame
        from harness_nb.frames.records import event_records
        from harness_nb.render.event_words import words

        return events_frame(event_records(self._agent.events, words=words, session=self._agent.session))

    def plans(self) -> DataFrame:
        """One row a compaction."""
        from harness_nb.frames import plans_frame
        from harness_nb.frames.records import plan_records

        return plans_frame(plan_records(self._agent.events, session=self._agent.session))

    def usage(self) -> DataFrame:
        """One row a model request: estimate, and what the provider reported."""
        from harness_nb.frames import usage_frame
        from harness_nb.frames.records import usage_records

        return usage_frame(usage_records(self._agent.events, session=self._agent.session))

    def daily_logs(self) -> DataFrame:
        """One row an entry of the daily logs."""
        return self._agent.memory.log().df

    def pending(self) -> DataFrame:
        """One row a log entry that is not in MEMORY.md yet, or a change that waits for review."""
        return self._agent.memory.pending().df

    def versions(self) -> DataFrame:
        """One row a version of MEMORY.md before a replacement."""
        return self._agent.memory.versions().df

    def maintenance(self) -> DataFrame:
        """One row a step of a maintenance run of this kernel."""
        return self._agent.maintenance.runs.df

    def hits(self, query: str, limit: int = 10) -> DataFrame:
        """One row a hit of a search of the memory."""
        return self._agent.memory.search(query, limit=limit).df
