"""What an agent does for its memory: consolidation and maintenance, by hand and in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness_nb.agent.hooks import Emit
from harness_nb.errors import ConfigError
from harness_nb.memory.design import MemoryDesign

if TYPE_CHECKING:
    from harness_nb.memory.maintenance import Maintenance
    from harness_nb.memory.maintenance_report import MaintenanceReport


class Upkeep:
    """Keeps the memory of one agent in order.

    Args:
        design: The memory.
        in_background: Whether a thread is to do it, too, from the first turn on.
        heard: Called with an event for each consolidation and each run, in the thread that ran it.
    """

    def __init__(self, design: MemoryDesign, in_background: bool, heard: Emit) -> None:
        self._maintenance = design.maintenance
        self._in_background = in_background
        self._runs = False
        if self._maintenance is not None:
            self._maintenance.heard = heard

    def start(self) -> None:
        """Has the workspace's thread work for this agent; a second time does nothing."""
        if self._runs or not self._in_background or self._maintenance is None:
            return
        from harness_nb.memory.maintenance_thread import maintain

        self._runs = True
        self._maintenance.look()
        maintain(self._maintenance)

    def stop(self) -> None:
        """Ends that; the thread ends with the last agent of its workspace."""
        if self._runs and self._maintenance is not None:
            from harness_nb.memory.maintenance_thread import release

            self._runs = False
            release(self._maintenance)

    def run(self) -> MaintenanceReport:
        """A whole cycle, now.

        Raises:
            ConfigError: The memory has nothing to keep in order.
        """
        return self.maintenance.run()

    @property
    def maintenance(self) -> Maintenance:
        """Schedule, status and past runs.

        Raises:
            ConfigError: The memory has nothing to keep in order.
        """
        if self._maintenance is None:
            raise ConfigError("This memory has no maintenance.", "Use a preset that has one, such as 'harness'.")
        return self._maintenance
