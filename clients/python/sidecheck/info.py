"""What a server is and what it accepts."""

from dataclasses import dataclass

__all__ = ["Engine", "Limits", "ServerInfo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of a server. What lies beyond one is refused with ``LIMIT_EXCEEDED``."""

    #: The largest gRPC message that the server receives, in bytes.
    message_bytes: int
    #: The largest number of items in a batch.
    batch_items: int
    #: The largest number of violations in a verdict.
    violations: int
    #: The largest payload, in bytes.
    payload_bytes: int
    #: The deepest nesting of arrays and objects in a payload.
    payload_depth: int
    #: The largest schema, in bytes. A tool may have twice as many in all.
    schema_bytes: int
    #: The deepest nesting of arrays and objects in a schema.
    schema_depth: int
    #: The largest number of subschemas in a schema.
    subschemas: int
    #: The largest number of documents given along with a schema.
    documents: int
    #: The size of all documents given along with a schema, in bytes.
    documents_bytes: int
    #: The longest pattern, in characters.
    pattern_length: int
    #: The largest number of steps that judging one payload may take. A step is about
    #: the work of one comparison.
    steps: int
    #: The largest number of them in the server itself; more takes a worker process.
    inline_steps: int
    #: The largest payload that is judged in the server itself, in bytes.
    inline_bytes: int
    #: The largest number of items in a batch that may need a worker process.
    offloaded_items: int
    #: The largest number of violations in a batch.
    batch_violations: int
    #: The largest text of the violations in a verdict or a batch, in characters. One
    #: violation is always told.
    verdict_characters: int
    #: How long compiling one schema may take, in seconds.
    compile_seconds: int
    #: How long a worker process may judge one payload, in seconds.
    validation_seconds: int
    #: The largest size of all patterns of a schema once compiled, in instructions.
    pattern_instructions: int
    #: Whether patterns with look-around and back-references are run.
    allow_backtracking: bool
    #: How much memory a worker process may have, in bytes of address space.
    worker_bytes: int
    #: The largest source text that tools are inferred from, in bytes.
    source_bytes: int


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that judges."""

    #: Its part: ``fast`` says yes or no, ``complete`` explains.
    name: str
    #: The library it stands on.
    library: str
    #: That library's release.
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """The facts of a server."""

    #: The release of the server.
    version: str
    limits: Limits
    #: The URIs of the supported JSON Schema dialects, the default one first.
    dialects: tuple[str, ...]
    #: The MCP protocol versions that it knows, oldest first.
    protocol_versions: tuple[str, ...]
    #: The protocol version that holds if a request names none.
    default_protocol_version: str
    engines: tuple[Engine, ...]
    #: The revision of the registry.
    registry_revision: int
