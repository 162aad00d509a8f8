"""Maximum memory of a server and its workers with given settings."""

from sidecheck_server.config.settings import Settings

__all__ = ["needed_memory", "permanent_memory"]

_BASE_BYTES = 128 << 20
_TOOL_BYTES = 1500
_HISTORY_BYTES = 32 << 20
_CALL_BYTES = 35_000
_AWAITED_MESSAGES = 128
_BUSY_WORKER_BYTES = 96 << 20
"""Bytes of a new worker and of its cached schemas."""


def permanent_memory(settings: Settings) -> int:
    """Return the bytes between calls: base, caches, registry, history and workers."""
    workers = settings.workers * _BUSY_WORKER_BYTES
    return _BASE_BYTES + _stored(settings) + _HISTORY_BYTES + workers


def needed_memory(settings: Settings) -> int:
    """Return the sum of the table in docs/operations/capacity.md, in bytes."""
    transport, limits = settings.transport, settings.limits
    return (
        settings.workers * limits.worker_bytes
        + _BASE_BYTES
        + _stored(settings)
        + _HISTORY_BYTES
        + transport.pending_calls * _CALL_BYTES
        + transport.session_bytes
        + 3 * transport.bytes_in_flight
        + (transport.streams + _AWAITED_MESSAGES) * limits.message_bytes
    )


def _stored(settings: Settings) -> int:
    quotas = settings.registry_quotas
    return (settings.memory_bytes + quotas.bytes + quotas.tools * _TOOL_BYTES) * 5 // 4
