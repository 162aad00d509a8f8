"""The bounds of the server, for the wire and from it."""

from typing import Any

from sidecheck.v1 import info_service_pb2

from sidecheck_server.core.limits import Limits

__all__ = ["limits_to_wire", "most_violations"]


_DEFAULT_VIOLATIONS = 20


def most_violations(wanted: int, limits: Limits) -> int:
    """Return how many violations are told where so many are *wanted*, and 0 means the default."""
    return min(wanted or _DEFAULT_VIOLATIONS, limits.violations)


def limits_to_wire(limits: Limits) -> info_service_pb2.Limits:
    """Return the message of the server's bounds."""
    told = info_service_pb2.Limits.DESCRIPTOR.fields_by_name
    values: dict[str, Any] = {name: getattr(limits, name) for name in told}
    return info_service_pb2.Limits(**values)
