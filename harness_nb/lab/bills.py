"""Which of the recorded bills are of the list that is replayed.

A bill, the usage that a provider reported, is of the list which the recorded system sent. As long as the replayed list
is the same, its figures are exact, as in the live loop. Once a policy has changed the list, or the recorded system has
compacted its own, a bill counts only when its size is rather that of the replayed list than that of the recorded one; the
list is estimated otherwise, by the factor between bill and estimate that was last seen. A list for one request only has no
bill that says anything of the session's own list, as in the live loop.
"""

from __future__ import annotations

from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.core.messages import Message, Usage

FITS_WITHIN = 0.25
"""Largest distance of a bill from the figure, as a part of it, at which it can be of a list that was changed: as far as an
estimate is off."""

FITS_TOKENS = 500
"""The same distance in tokens for short lists, where the frames of a few messages weigh much."""

IS_WITHIN = 0.01
"""Distance of a bill from the figure, as a part of it, at which it is taken as of the replayed list whatever the recorded
one would be: both are nearly the same then, and so is what follows."""

IS_TOKENS = 100
"""The same distance in tokens for short lists."""

DROPS_BELOW = 0.8
"""A bill below this part of the one before, for a list that only grew, is of a list that the recorded system cut."""

LARGEST_FACTOR = 1.5
"""Largest factor that is learnt from a bill; more is a prompt and schemas that are not recorded."""


class Bills:
    """The bills of one replay, in order."""

    def __init__(self) -> None:
        self._is_same = True
        self._last = Usage(0)
        self._covered = 0
        self._factor = 1.0

    def take(self, conversation: Conversation, reply: Message, around: Surroundings, *, figure: int) -> None:
        """Takes a recorded reply in; its usage becomes the bill only when it is of this list.

        Args:
            conversation: Gets the reply.
            reply: The reply as recorded.
            around: What was sent beside the messages.
            figure: Size of the list as figured just before, in tokens.
        """
        recorded = self._recorded(conversation)
        is_of_list = conversation.next_input is None
        conversation.add_reply(reply)
        usage = reply.usage
        if usage is None or not is_of_list:
            return
        self._is_same = self._counts(usage, figure, recorded)
        self._last, self._covered = usage, len(conversation.log)
        if self._is_same:
            self._learn(conversation, usage, around)
        else:
            conversation.usage, conversation.billed, conversation.carried = None, 0, 0
            conversation.scale = max(conversation.scale, self._factor)

    def changed(self) -> None:
        """Notes that the replayed list is no longer the recorded one."""
        self._is_same = False

    def _recorded(self, conversation: Conversation) -> int:
        """Size of the recorded list, had it only grown since the last bill."""
        since = conversation.log.tokens(conversation.measure, self._covered)
        return self._last.input_tokens + self._last.output_tokens + since

    def _counts(self, usage: Usage, figure: int, recorded: int) -> bool:
        if self._is_same:
            return usage.input_tokens >= DROPS_BELOW * self._last.input_tokens
        distance = abs(usage.input_tokens - figure)
        if distance <= max(IS_TOKENS, IS_WITHIN * figure):
            return True
        return distance <= max(FITS_TOKENS, FITS_WITHIN * figure) and distance < abs(usage.input_tokens - recorded)

    def _learn(self, conversation: Conversation, usage: Usage, around: Surroundings) -> None:
        bare = conversation.input.messages.tokens(conversation.measure) + around.fixed_tokens
        billed = usage.input_tokens + usage.output_tokens
        self._factor = min(LARGEST_FACTOR, max(1.0, billed / bare)) if bare else 1.0
