"""Errors of requests for which no verdict was possible.

Every error has one `ErrorReason`. Reasons are stable, so programs may branch on them;
messages are for people and may change. `rpc.status` maps reasons to gRPC codes.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from sidecheck_server.core.types import Violation

__all__ = ["ErrorReason", "RequestError"]


class ErrorReason(StrEnum):
    """Reason of an error: why no verdict was possible."""

    # The request
    INVALID_REQUEST = "INVALID_REQUEST"
    """A required field of the request is missing, or two fields contradict each other."""
    UNKNOWN_PROTOCOL_VERSION = "UNKNOWN_PROTOCOL_VERSION"
    """The request names an unknown MCP protocol version."""
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    """A payload, schema or request exceeds a limit; metadata ``bound`` names the limit."""

    # The target
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    """No tool of that name is registered for that server."""
    UNKNOWN_DEFINITION = "UNKNOWN_DEFINITION"
    """No registered tool definition has that digest."""
    UNKNOWN_SCHEMA = "UNKNOWN_SCHEMA"
    """No registered tool has a schema with that digest."""
    DEFINITION_MISMATCH = "DEFINITION_MISMATCH"
    """The registered tool definition does not have the digest that the request pins."""
    NO_OUTPUT_SCHEMA = "NO_OUTPUT_SCHEMA"
    """The tool has no output schema to validate structured content against."""
    INVALID_TOOL = "INVALID_TOOL"
    """A tool definition is not JSON, or lacks a name or an input schema."""

    # The schema
    SCHEMA_NOT_JSON = "SCHEMA_NOT_JSON"
    """A schema or a document is not JSON, or is ambiguous JSON, as with duplicate keys."""
    UNSUPPORTED_DIALECT = "UNSUPPORTED_DIALECT"
    """The schema declares an unsupported dialect, and its meta-schema was not sent along."""
    INVALID_SCHEMA = "INVALID_SCHEMA"
    """The schema is invalid against the meta-schema of its dialect."""
    INVALID_PATTERN = "INVALID_PATTERN"
    """A pattern of the schema is not a regular expression of ECMA-262."""
    UNSUPPORTED_PATTERN = "UNSUPPORTED_PATTERN"
    """A pattern has look-around or back-references, which linear-time engines cannot match."""
    UNRESOLVABLE_REFERENCE = "UNRESOLVABLE_REFERENCE"
    """A reference of the schema cannot be resolved; nothing is ever fetched."""
    REFERENCE_CYCLE = "REFERENCE_CYCLE"
    """References of the schema form a cycle that consumes no part of the payload."""

    # The conversion
    NOT_CONVERTIBLE = "NOT_CONVERTIBLE"
    """The tool cannot be converted for the provider's API in the requested mode."""
    INVALID_MAPPING = "INVALID_MAPPING"
    """A conversion mapping cannot be read, or has an unknown version."""
    MAPPING_MISMATCH = "MAPPING_MISMATCH"
    """A conversion mapping does not belong to the call or to the tool definition."""

    # The inference
    FEATURE_DISABLED = "FEATURE_DISABLED"
    """A setting of the server disables the feature."""

    # The registry
    QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
    """A registration would exceed a quota of the registry; metadata ``quota`` names it."""
    COMPACTED = "COMPACTED"
    """The registry no longer keeps the requested changes; list the tools instead."""
    REVISION_NOT_REACHED = "REVISION_NOT_REACHED"
    """The server has not reached the revision that the request requires; a retry may succeed."""
    REGISTRY_UNUSABLE = "REGISTRY_UNUSABLE"
    """The registry cannot be written; reads continue. Nothing has changed, unless metadata
    ``outcome`` is ``unknown``: then the change may have taken effect."""

    # The caller
    UNAUTHENTICATED = "UNAUTHENTICATED"
    """The call has no token, or one that the server does not know."""
    PERMISSION_DENIED = "PERMISSION_DENIED"
    """The token lacks a role, or is for other servers; metadata names the ``role`` and the
    ``method``, or the ``server``."""

    # The service
    OVERLOADED = "OVERLOADED"
    """A load limit of the server is reached; retry after the delay in RetryInfo."""
    WORKER_CRASHED = "WORKER_CRASHED"
    """The worker process crashed during the request, or none is alive; a retry may succeed."""
    SHUTTING_DOWN = "SHUTTING_DOWN"
    """The server is shutting down and accepts no more requests."""


class RequestError(Exception):
    """No verdict was possible; *reason* says why.

    ``metadata`` holds every variable part of the message by name, so that programs need
    not parse text. ``violations`` lists all faults of a schema or a tool definition; the
    message reports the first. ``truncated`` is true if the list may be incomplete.
    """

    def __init__(
        self,
        reason: ErrorReason,
        message: str,
        metadata: Mapping[str, str] = MappingProxyType({}),
        violations: tuple[Violation, ...] = (),
        *,
        truncated: bool = False,
    ) -> None:
        super().__init__(reason, message)
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata)
        self.violations = violations
        self.truncated = truncated

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RequestError) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((self.reason, self.message))

    def __reduce__(self) -> tuple[object, ...]:
        # Workers send errors to the server as pickles.
        content = (self.reason, self.message, self.metadata, self.violations)
        return (RequestError, content, {"truncated": self.truncated})

    def _content(self) -> tuple[object, ...]:
        return (self.reason, self.message, self.metadata, self.violations, self.truncated)
