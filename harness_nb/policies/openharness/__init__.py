"""OpenHarness' compaction as it is, faults included: settings, sizes, the steps one by one, texts and the policy, a file each."""
