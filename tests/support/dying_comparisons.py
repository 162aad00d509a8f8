"""Comparisons that end the process they run in, or would never end, by the name of the tool."""

import os
import signal
from dataclasses import dataclass

from sidecheck_server.core.compat.changes import ToolComparison
from sidecheck_server.core.limits import Limits
from sidecheck_server.workers.tasks import CompareTools

__all__ = ["DyingComparison"]


@dataclass(frozen=True)
class DyingComparison(CompareTools):
    """A comparison, unless its proof is to end as the name of the tool says."""

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
