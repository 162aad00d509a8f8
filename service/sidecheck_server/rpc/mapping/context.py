"""Protocol context and report limits of requests to ProtocolService."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sidecheck.v1 import protocol_service_pb2, verdict_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import Context, check_version_known
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import Severity
from sidecheck_server.rpc.mapping.fields import max_violations_from_proto, unknown_value
from sidecheck_server.services.checks import RequestContext

__all__ = ["request_context_from_proto", "session_context_from_proto"]

_MIN_SEVERITIES: Mapping[int, Severity] = MappingProxyType(
    {
        verdict_pb2.SEVERITY_UNSPECIFIED: Severity.INFO,
        verdict_pb2.SEVERITY_INFO: Severity.INFO,
        verdict_pb2.SEVERITY_WARNING: Severity.WARNING,
        verdict_pb2.SEVERITY_ERROR: Severity.ERROR,
    }
)


def request_context_from_proto(
    context: protocol_service_pb2.ProtocolContext,
    options: protocol_service_pb2.CheckOptions,
    limits: Limits,
    default_version: str,
) -> RequestContext:
    """Return the context that applies to every subject of a request.

    A request that names no protocol version gets *default_version*.

    Raises:
        RequestError: INVALID_REQUEST for an unknown enum value, or capabilities that are
            not a JSON object; UNKNOWN_PROTOCOL_VERSION; LIMIT_EXCEEDED if capabilities are
            too large.
    """
    check_version_known(context.protocol_version)
    min_severity = _MIN_SEVERITIES.get(options.min_severity)
    if min_severity is None:
        raise unknown_value("min_severity")
    return RequestContext(
        Context(
            version=context.protocol_version or default_version,
            client_capabilities=_capabilities(context, "client_capabilities", limits),
            server_capabilities=_capabilities(context, "server_capabilities", limits),
            hide_values=options.hide_values,
        ),
        ReportLimits(
            max_violations=max_violations_from_proto(options.max_violations, limits),
            max_characters=limits.verdict_characters,
            min_severity=min_severity,
        ),
        names_version=bool(context.protocol_version),
    )


def session_context_from_proto(
    defaults: protocol_service_pb2.SessionDefaults, limits: Limits, default_version: str
) -> RequestContext:
    """Return the context of a session before its first message.

    Raises:
        RequestError: as `request_context_from_proto`.
    """
    context = request_context_from_proto(
        defaults.context, defaults.options, limits, default_version
    )
    if defaults.HasField("from_beginning"):
        return replace(context, from_beginning=defaults.from_beginning)
    return context


def _capabilities(
    context: protocol_service_pb2.ProtocolContext, field: str, limits: Limits
) -> dict[str, Any] | None:
    if not context.HasField(field):
        return None
    text: bytes = getattr(context, field)
    # Capabilities are decoded in the event loop; those of real peers have some hundred bytes.
    if len(text) > limits.inline_bytes:
        raise limit_exceeded_error("inline_bytes", limits.inline_bytes, field, len(text))
    try:
        value = decode(text, max_depth=limits.payload_depth, max_violations=1)
    except MalformedError as error:
        message = error.violations[0].message
        raise _invalid_capabilities(field, f"{field} is not valid JSON: {message}") from None
    if not isinstance(value, dict):
        raise _invalid_capabilities(field, f"{field} must be a JSON object")
    return value


def _invalid_capabilities(field: str, message: str) -> RequestError:
    return RequestError(ErrorReason.INVALID_REQUEST, message, {"field": field})
