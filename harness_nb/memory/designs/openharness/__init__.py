"""OpenHarness' durable memory: an index and topic files for each working directory, picked by the words of a prompt."""
