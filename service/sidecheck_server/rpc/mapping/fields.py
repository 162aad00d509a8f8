"""Fields that messages of several services have: counts, severities, bounds, enum values."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sidecheck.v1 import info_service_pb2, verdict_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import DEFAULT_VIOLATIONS, Limits
from sidecheck_server.core.types import Severity

__all__ = ["SEVERITIES", "limits_to_proto", "max_violations_from_proto", "unknown_value"]

SEVERITIES: Mapping[Severity, verdict_pb2.Severity] = MappingProxyType(
    {
        Severity.ERROR: verdict_pb2.SEVERITY_ERROR,
        Severity.WARNING: verdict_pb2.SEVERITY_WARNING,
        Severity.INFO: verdict_pb2.SEVERITY_INFO,
    }
)


def unknown_value(field: str) -> RequestError:
    """Return the error for a number in an enum *field* that the API does not define."""
    return RequestError(ErrorReason.INVALID_REQUEST, f"unknown value for {field}", {"field": field})


def max_violations_from_proto(requested: int, limits: Limits) -> int:
    """Return how many violations a verdict lists if *requested* are; 0 requests the default."""
    return min(requested or DEFAULT_VIOLATIONS, limits.violations)


def limits_to_proto(limits: Limits) -> info_service_pb2.Limits:
    """Return the message of the limits that callers can act on."""
    names = info_service_pb2.Limits.DESCRIPTOR.fields_by_name
    values: dict[str, Any] = {name: getattr(limits, name) for name in names}
    return info_service_pb2.Limits(**values)
