"""Values of InfoService: version, limits and capabilities of a server."""

from dataclasses import dataclass

__all__ = ["Engine", "Limits", "ServerInfo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a server. Exceeding one is the error ``LIMIT_EXCEEDED``."""

    #: Largest gRPC message that the server receives, in bytes.
    message_bytes: int
    #: Maximum items in a batch, and tools in a registration.
    batch_items: int
    #: Maximum violations in a verdict.
    violations: int
    #: Largest payload, in bytes.
    payload_bytes: int
    #: Deepest nesting of arrays and objects in a payload.
    payload_depth: int
    #: Largest schema, in bytes. The schemas of one tool may have twice as many together.
    schema_bytes: int
    #: Deepest nesting of arrays and objects in a schema.
    schema_depth: int
    #: Maximum subschemas in a schema.
    subschemas: int
    #: Maximum documents sent along with a schema.
    documents: int
    #: Total size of the documents sent along with a schema, in bytes.
    documents_bytes: int
    #: Longest pattern, in characters.
    pattern_length: int
    #: Maximum evaluation steps for one payload. A step is about the work of one comparison.
    steps: int
    #: Maximum items of a batch that may need a worker process.
    offloaded_items: int
    #: Maximum violations in a batch.
    batch_violations: int
    #: Longest text of the violations in a verdict or a batch, in characters. The first
    #: violation is always included.
    verdict_characters: int
    #: Largest size of all compiled patterns of a schema, in instructions.
    pattern_instructions: int
    #: Whether patterns with look-around and back-references are accepted.
    allow_backtracking: bool
    #: Largest source text to infer tools from, in bytes.
    source_bytes: int
    #: Maximum repetitions of a part of a pattern, with nested repetitions multiplied.
    pattern_repetitions: int
    #: Maximum steps for a whole request. Items beyond it are not reached.
    request_steps: int


@dataclass(frozen=True, slots=True)
class Engine:
    """A validation engine of a server."""

    #: Its role: ``fast`` decides validity, ``complete`` explains violations.
    name: str
    #: The underlying library.
    library: str
    #: Version of that library.
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """Version, limits and capabilities of a server."""

    #: Version of the server.
    version: str
    limits: Limits
    #: URIs of the supported JSON Schema dialects, the default first.
    dialects: tuple[str, ...]
    #: Supported MCP protocol versions, oldest first.
    protocol_versions: tuple[str, ...]
    #: Protocol version of requests that name none.
    default_protocol_version: str
    engines: tuple[Engine, ...]
    #: Revision of the registry.
    registry_revision: int
