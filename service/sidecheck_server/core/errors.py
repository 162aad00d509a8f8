"""Refusals: the answers of a judge who could not judge.

Every refusal has one reason out of `ErrorReason`. A reason is stable and a program may
decide by it; the message is for a person and free to improve. Which gRPC status a
reason travels under is the business of `rpc.status` alone.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from sidecheck_server.core.types import Violation

__all__ = ["ErrorReason", "RequestError"]


class ErrorReason(StrEnum):
    """Why no judgement could be made."""

    # The request
    INVALID_REQUEST = "INVALID_REQUEST"
    """A part of the request is missing, or contradicts another."""
    UNKNOWN_PROTOCOL_VERSION = "UNKNOWN_PROTOCOL_VERSION"
    """The request names an MCP protocol version that is not known."""
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    """A payload, a schema or a request lies beyond a bound, which metadata names."""

    # The target
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    """No tool of that name is registered for that server."""
    UNKNOWN_DEFINITION = "UNKNOWN_DEFINITION"
    """No registered definition has that digest."""
    UNKNOWN_SCHEMA = "UNKNOWN_SCHEMA"
    """No schema of a registered tool has that digest."""
    DEFINITION_MISMATCH = "DEFINITION_MISMATCH"
    """The registered tool is not the one that the caller pinned."""
    NO_OUTPUT_SCHEMA = "NO_OUTPUT_SCHEMA"
    """The tool has no output schema to judge structured content under."""
    INVALID_TOOL = "INVALID_TOOL"
    """A tool definition is not JSON, or lacks a name or an input schema."""

    # The schema
    SCHEMA_NOT_JSON = "SCHEMA_NOT_JSON"
    """A schema or a document is not JSON, or ambiguous JSON."""
    UNSUPPORTED_DIALECT = "UNSUPPORTED_DIALECT"
    """The schema declares a dialect that is neither supported nor sent along."""
    INVALID_SCHEMA = "INVALID_SCHEMA"
    """The schema breaks the meta-schema of its dialect."""
    INVALID_PATTERN = "INVALID_PATTERN"
    """A pattern of the schema is not a regular expression of ECMA-262."""
    UNSUPPORTED_PATTERN = "UNSUPPORTED_PATTERN"
    """A pattern cannot be matched in linear time: look-around or back-references."""
    UNRESOLVABLE_REFERENCE = "UNRESOLVABLE_REFERENCE"
    """A reference of the schema leads nowhere; nothing is ever fetched."""
    REFERENCE_CYCLE = "REFERENCE_CYCLE"
    """A reference of the schema leads back to itself without consuming any payload."""

    # The conversion
    NOT_CONVERTIBLE = "NOT_CONVERTIBLE"
    """The API takes nothing that the tool could be turned into, in the mode asked for."""
    INVALID_MAPPING = "INVALID_MAPPING"
    """A plan is none, or of a later version."""
    MAPPING_MISMATCH = "MAPPING_MISMATCH"
    """A plan does not belong to the call, or to the tool."""

    # The inference
    FEATURE_DISABLED = "FEATURE_DISABLED"
    """A setting of the server switches this off."""

    # The service
    WORKER_CRASHED = "WORKER_CRASHED"
    """The worker process died that was at it; trying again may succeed."""
    SHUTTING_DOWN = "SHUTTING_DOWN"
    """The server is draining and takes no more work."""


class RequestError(Exception):
    """No judgement could be made, and *reason* says why.

    ``metadata`` holds every dynamic part of the message by name, so that a program
    need not parse text. ``problems`` lists single faults where there are several,
    for example those of a schema against its meta-schema.
    """

    def __init__(
        self,
        reason: ErrorReason,
        message: str,
        metadata: Mapping[str, str] = MappingProxyType({}),
        problems: tuple[Violation, ...] = (),
    ) -> None:
        super().__init__(reason, message)
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata)
        self.violations = problems

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RequestError) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((self.reason, self.message))

    def __reduce__(self) -> tuple[type["RequestError"], tuple[object, ...]]:
        # Refusals cross process borders: workers compile.
        return (RequestError, self._content())

    def _content(self) -> tuple[object, ...]:
        return (self.reason, self.message, self.metadata, self.violations)
