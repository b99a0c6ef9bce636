"""Where policies differ first, on conversations small enough to see through."""

from __future__ import annotations

from harness_nb import CompactionPolicy, Message, Plan, Transcript, View, replay
from harness_nb.lab.differences import first_difference


class KeepsLast(CompactionPolicy):
    """Keeps the last messages once there are more than that."""

    hooks = frozenset({"request"})

    def __init__(self, keep: int, above: int, name: str) -> None:
        self.keep, self.above, self.name = keep, above, name

    def plan(self, view: View) -> Plan:
        if len(view.input) <= self.above:
            return view.unchanged(f"{len(view.input)} of {self.above} messages")
        return view.becomes(view.input[-self.keep :], f"kept the last {self.keep}")


class AtTheEnd(KeepsLast):
    """The same, called when a turn ends."""

    hooks = frozenset({"end"})


def talk(turns: int = 6) -> Transcript:
    return Transcript([m for n in range(turns) for m in (Message.user(f"question {n}"), Message.assistant("yes"))])


def test_the_first_difference_is_where_one_acts_and_the_other_does_not_with_both_reasons() -> None:
    early, late = (replay(talk(), KeepsLast(3, above, name)) for above, name in ((4, "early"), (6, "late")))
    found = first_difference([late, early])
    assert found is not None and (found.index, found.turn) == (5, 3)  # the fifth message makes it more than four
    first, second = found.deeds
    assert (first.policy, first.outcome, first.reason) == ("late", "unchanged", "5 of 6 messages")
    assert (second.policy, second.outcome, second.reason) == ("early", "compacted", "kept the last 3")
    assert first.kept == {0, 1, 2, 3, 4} and second.kept == {2, 3, 4}
    assert found.only_some_keep == (0, 1) and second.tokens_after < second.tokens_before
    assert "28 messages" not in str(found) and "2 messages that only some show word for word there: 0–1." in str(found)


def test_two_that_act_at_once_differ_when_they_leave_something_else() -> None:
    two, three = (replay(talk(), KeepsLast(keep, 4, f"keep {keep}")) for keep in (1, 3))
    found = first_difference([two, three])
    assert found is not None and found.index == 5
    assert [deed.outcome for deed in found.deeds] == ["compacted", "compacted"]
    assert found.only_some_keep == (2, 3)


def test_equal_policies_never_differ_and_neither_do_idle_ones() -> None:
    same = [replay(talk(), KeepsLast(3, 4, name)) for name in ("one", "other")]
    assert first_difference(same) is None
    assert first_difference([replay(talk(), KeepsLast(3, 99, name)) for name in ("one", "other")]) is None


def test_a_policy_that_is_not_called_there_is_said_so() -> None:
    runs = [replay(talk(), AtTheEnd(3, 4, "at the end")), replay(talk(), KeepsLast(3, 99, "at requests"))]
    found = first_difference(runs)
    assert found is not None and found.index == 6  # the third answer makes it more than four when its turn ends
    assert (found.deeds[1].hook, found.deeds[1].reason) == ("", "it is not called at this point")
    assert repr(found) == "Difference(after message 6: at the end compacted, at requests unchanged)"
    turned = first_difference([replay(talk(), KeepsLast(3, 4, "one")), replay(talk(), AtTheEnd(3, 99, "other"))])
    assert turned is not None and turned.deeds[1].reason == "the policy is not called here"
