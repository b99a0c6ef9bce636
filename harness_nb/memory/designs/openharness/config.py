"""Settings of OpenHarness' memory."""

from __future__ import annotations

from dataclasses import dataclass

from harness_nb.core.config import plain_repr, switch, whole
from harness_nb.errors import ConfigError


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenHarnessMemoryConfig:
    """Settings of OpenHarness' memory.

    Attributes:
        data_root: Folder of its data, below the workspace (default `openharness`).
        topic_schema: Whether topic files have the fields of schema 1: signature, usage, expiry, soft deletion (default True;
            releases up to 0.1.9 have none of them and delete for good).
        max_entrypoint_lines: Most lines of the index in the prompt (default 200).
        max_entrypoint_bytes: Most UTF-8 bytes of them (default 25,000); None for no such limit.
        max_files: Topic files that are put into the prompt by its words, at most (default 5; 0 never).
        max_topic_chars: Characters of each, at most (default 8,000).
        scan_files: Newest topic files that are looked at (default 100).
        stale_days: A file at least this old is marked as such (default 2).
        auto_extract_enabled: Whether a model takes notes after each turn in which none were written (default False).
        auto_extract_max_records: Notes that it may take at once (default 3).
        file_tools: Whether the model gets `write_file` and `edit_file` for the memory folder (default True).
    """

    data_root: str = "openharness"
    topic_schema: bool = True
    max_entrypoint_lines: int = 200
    max_entrypoint_bytes: int | None = 25_000
    max_files: int = 5
    max_topic_chars: int = 8_000
    scan_files: int = 100
    stale_days: int = 2
    auto_extract_enabled: bool = False
    auto_extract_max_records: int = 3
    file_tools: bool = True

    def __post_init__(self) -> None:
        switch(self, "topic_schema", "file_tools", "auto_extract_enabled")
        whole(self, "max_files", "stale_days")
        whole(self, "max_entrypoint_lines", "max_topic_chars", "scan_files", least=1)
        whole(self, "auto_extract_max_records", least=1)
        if self.max_entrypoint_bytes is not None:
            whole(self, "max_entrypoint_bytes", least=1)
        if not isinstance(self.data_root, str) or not self.data_root.strip():
            raise ConfigError(
                f"data_root={self.data_root!r} is not valid.",
                "Give the name of a folder below the workspace.",
                subject="data_root",
            )

    __repr__ = plain_repr
