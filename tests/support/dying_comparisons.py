"""Comparisons that kill their process, or never end, depending on the name of the tool."""

import os
import signal
from dataclasses import dataclass

from sidecheck_server.core.compat.changes import ToolComparison
from sidecheck_server.core.limits import Limits
from sidecheck_server.workers.tasks import CompareTools

__all__ = ["DyingComparison"]


@dataclass(frozen=True)
class DyingComparison(CompareTools):
    """Comparison that may die or not end, depending on the name of the tool."""

    def execute(self, limits: Limits) -> ToolComparison:
        """Compare the definitions, or die."""
        if not self.undecided:
            if self.new.name == "crashes":
                os.kill(os.getpid(), signal.SIGSEGV)
            elif self.new.name == "hangs":
                sum(range(10**15))
            elif self.new.name == "fills memory":
                bytes(limits.worker_bytes)
        return CompareTools.execute(self, limits)
