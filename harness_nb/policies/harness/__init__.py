"""The harness's own compaction: triggers, pre-passes, cuts, summaries and what comes back after one, a file each."""

from harness_nb.policies.harness.policy import HarnessPolicy

__all__ = ["HarnessPolicy"]
