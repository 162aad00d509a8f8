"""Shares of the caches in the memory that the server may take for them."""

from dataclasses import dataclass

from sidecheck_server.core.memory import measure_memory

__all__ = ["DEFAULT_SHARES", "MemoryShares", "weigh_entry"]

_ENTRY_BYTES = 700
"""What a cache takes for an entry, beside key and result, in bytes."""


@dataclass(frozen=True, slots=True)
class MemoryShares:
    """The bytes that each cache may take; together they are *memory_bytes*.

    The shares are fixed, so that requests that bring schemas and tools along never displace
    the schemas of registered tools.
    """

    memory_bytes: int

    @property
    def registered_schemas(self) -> int:
        """Compiled schemas of registered tools."""
        return self.memory_bytes // 2

    @property
    def inline_schemas(self) -> int:
        """Compiled schemas that requests contain."""
        return self.memory_bytes // 4

    @property
    def conversions(self) -> int:
        """Definitions as they were converted to the APIs of model providers."""
        return self.memory_bytes // 8

    @property
    def inline_tools(self) -> int:
        """Tool definitions that requests contain, read."""
        return self.memory_bytes // 16

    @property
    def adapted_tools(self) -> int:
        """Definitions as they were adapted to protocol versions."""
        return self.memory_bytes // 32

    @property
    def findings(self) -> int:
        """What the rules found in the definitions that servers register."""
        return self.memory_bytes // 32


DEFAULT_SHARES = MemoryShares(256 << 20)
"""The shares of the default of the setting."""


def weigh_entry(key: object, outcome: object) -> int:
    """Return how many bytes a cache entry takes with *key* and *outcome*."""
    return _ENTRY_BYTES + measure_memory(key, outcome)
