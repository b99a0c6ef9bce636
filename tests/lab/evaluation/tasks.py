"""Tasks as other processes can import them."""

from __future__ import annotations

from harness_nb.lab.evaluation import Case, Fixtures, Task, checks

FIXTURES = Fixtures(
    memory="# Lab\n\n- The lab uses Python 3.11.\n",
    topics={"beam.md": "The beam energy is 41 keV.\n"},
    daily_logs={"2026-04-10": ["The detector was moved to room 7."]},
    sessions={"old": [{"role": "user", "content": "The cat is Mochi."}, {"role": "assistant", "content": "Noted."}]},
    files={"notes/plan.txt": "Measure twice.\n"},
)


def numbered(number: int) -> Task:
    """A task whose answer only its own workspace has."""
    fixtures = Fixtures(daily_logs={"2026-04-10": [f"The detector stands in room {number}."]})
    others = [f"room {other}" for other in range(11, 40) if other != number]
    return Task(
        name=f"room {number}",
        fixtures=fixtures,
        ask="Where does the detector stand?",
        checks=[checks.answer_says(f"room {number}"), checks.answer_lacks(*others), is_alone],
    )


def is_alone(case: Case) -> None:
    """The folder holds this case and its index, and nothing else."""
    names = {path.name for path in case.workspace.path.parent.iterdir()}
    own = {"workspace", ".locks", "memory_index.db", "memory_index.db-wal", "memory_index.db-shm"}
    assert names <= own, names - own
