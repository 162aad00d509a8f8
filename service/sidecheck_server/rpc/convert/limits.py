"""The bounds of the server, for the wire."""

from typing import Any

from sidecheck.v1 import info_service_pb2

from sidecheck_server.core.limits import Limits

__all__ = ["limits_to_wire"]


def limits_to_wire(limits: Limits) -> info_service_pb2.Limits:
    """Return the message of the server's bounds."""
    told = info_service_pb2.Limits.DESCRIPTOR.fields_by_name
    values: dict[str, Any] = {name: getattr(limits, name) for name in told}
    return info_service_pb2.Limits(**values)
