"""What is known of peers, and how much is told of what they say, from the wire."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sidecheck.v1 import protocol_service_pb2, verdict_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.mcp.versions import DEFAULT_VERSION, check_version_known
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import Severity
from sidecheck_server.rpc.mapping.limits import most_violations
from sidecheck_server.rpc.mapping.values import no_such_value

__all__ = ["RequestContext", "terms_from_wire"]

_LEAST: Mapping[int, Severity] = MappingProxyType(
    {
        verdict_pb2.SEVERITY_UNSPECIFIED: Severity.INFO,
        verdict_pb2.SEVERITY_INFO: Severity.INFO,
        verdict_pb2.SEVERITY_WARNING: Severity.WARNING,
        verdict_pb2.SEVERITY_ERROR: Severity.ERROR,
    }
)


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What holds for everything that one request has checked."""

    context: Context
    how: ReportLimits
    #: Whether the request names the protocol version itself.
    names_version: bool


def terms_from_wire(
    context: protocol_service_pb2.ProtocolContext,
    options: protocol_service_pb2.CheckOptions,
    limits: Limits,
) -> RequestContext:
    """Return the terms that *context* and *options* ask for.

    Raises:
        Refusal: INVALID_REQUEST for an enum value that does not exist, or capabilities
            that are no JSON object; UNKNOWN_PROTOCOL_VERSION; LIMIT_EXCEEDED if
            capabilities are too large.
    """
    check_version_known(context.protocol_version)
    least = _LEAST.get(options.min_severity)
    if least is None:
        raise no_such_value("min_severity")
    return RequestContext(
        Context(
            version=context.protocol_version or DEFAULT_VERSION,
            client_capabilities=_capabilities(context, "client_capabilities", limits),
            server_capabilities=_capabilities(context, "server_capabilities", limits),
            hide_values=options.hide_values,
        ),
        ReportLimits(
            most=most_violations(options.max_violations, limits),
            longest=limits.verdict_characters,
            least=least,
        ),
        names_version=bool(context.protocol_version),
    )


def _capabilities(
    context: protocol_service_pb2.ProtocolContext, field: str, limits: Limits
) -> dict[str, Any] | None:
    if not context.HasField(field):
        return None
    text: bytes = getattr(context, field)
    if len(text) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, field, len(text))
    try:
        value = decode(text, max_depth=limits.payload_depth, most=1)
    except MalformedError as error:
        said = error.violations[0].message
        raise _no_capabilities(field, f"{field} are not JSON: {said}") from None
    if not isinstance(value, dict):
        raise _no_capabilities(field, f"{field} must be a JSON object")
    return value


def _no_capabilities(field: str, said: str) -> RequestError:
    return RequestError(ErrorReason.INVALID_REQUEST, said, {"field": field})
