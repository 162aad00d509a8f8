"""The bounds beyond which nothing is judged."""

from dataclasses import dataclass

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["Limits", "exceeded"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a payload, a schema and a request may be.

    The defaults admit every valid tool among several thousand that public MCP
    servers offer; the largest schema of those has 71 KB, 12 levels of subschemas,
    21 levels of JSON and 1,030 subschemas.
    """

    #: The largest gRPC message received, in bytes.
    message_bytes: int = 4 << 20
    #: The largest number of items in a batch, and of tools in a registration.
    batch_items: int = 10_000
    #: The largest number of violations in a verdict.
    violations: int = 1000
    #: The largest payload, in bytes. Below message_bytes, so that one item that
    #: is too large is refused by itself and not with all others.
    payload_bytes: int = 1 << 20
    #: The deepest nesting of arrays and objects in a payload.
    payload_depth: int = 128
    #: The largest schema, in bytes. A tool may have twice as many.
    schema_bytes: int = 256 << 10
    #: The deepest nesting of arrays and objects in a schema.
    schema_depth: int = 64
    #: The largest number of subschemas in a schema.
    subschemas: int = 10_000
    #: The largest number of documents given along with a schema.
    documents: int = 256
    #: The size of all documents given along with a schema, in bytes.
    documents_bytes: int = 1 << 20
    #: The longest pattern, in characters.
    pattern_length: int = 1024
    #: The largest size of all patterns of a schema once compiled, in instructions.
    pattern_instructions: int = 100_000
    #: The largest number of steps that judging one payload may take (see `core.budget`);
    #: about a quarter of a second.
    steps: int = 10_000_000
    #: The largest number of steps that one payload may take in the event loop, about
    #: five milliseconds. What takes more is judged by a worker.
    inline_steps: int = 200_000
    #: The largest payload that is judged in the event loop, in bytes: decoding one
    #: cannot be interrupted.
    inline_bytes: int = 128 << 10
    #: The largest number of items in a batch that may need a worker.
    offloaded_items: int = 64
    #: The largest number of violations in a batch. After that, each verdict tells one.
    batch_violations: int = 10_000
    #: The largest text of the violations in a verdict or a batch, in characters: each
    #: may repeat a pointer as long as the payload. One violation is always told.
    verdict_characters: int = 1 << 20
    #: How long compiling one schema may take. The slowest of the known real schemas
    #: needs 40 ms.
    compile_seconds: int = 5
    #: How long a worker may judge one payload. The limit of steps ends nearly
    #: everything long before.
    validation_seconds: int = 2
    #: The address space of a worker, in bytes.
    worker_bytes: int = 400 << 20
    #: Whether patterns with look-around and back-references are run, by a worker and as
    #: long as it may judge: nothing else bounds them.
    allow_backtracking: bool = False
    #: The largest code generated for a schema, in characters.
    code_length: int = 2_000_000
    #: The largest source text that definitions are inferred from, in bytes. Parsing that
    #: many takes an eighth of a second at worst.
    source_bytes: int = 64 << 10


def exceeded(bound: str, limit: int, what: str, found: int | None = None) -> RequestError:
    """Return the refusal of *what*, which is beyond *bound*."""
    size = "" if found is None else f"{found:,}, "
    metadata = {"bound": bound, "limit": str(limit)}
    if found is not None:
        metadata["found"] = str(found)
    return RequestError(
        ErrorReason.LIMIT_EXCEEDED,
        f"{what}: {size}more than the limit of {limit:,} ({bound})",
        metadata,
    )
