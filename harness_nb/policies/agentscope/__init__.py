"""AgentScope's compaction as it is, faults included: settings, sizes, cuts, texts and the policy, a file each."""

from harness_nb.policies.agentscope.config import AgentScopeArguments, AgentScopeConfig, AgentScopeEviction
from harness_nb.policies.agentscope.policy import AgentScopePolicy

__all__ = ["AgentScopeArguments", "AgentScopeConfig", "AgentScopeEviction", "AgentScopePolicy"]
