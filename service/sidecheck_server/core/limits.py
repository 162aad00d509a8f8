"""Limits on the size of requests, and budgets of steps for their work."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = [
    "DEFAULT_SESSION_BYTES",
    "DEFAULT_VIOLATIONS",
    "LONGEST_SEARCH",
    "STEPS_PER_SECOND",
    "Budget",
    "Exhausted",
    "Limits",
    "limit_exceeded_error",
    "not_reached_error",
    "recursion_depth_error",
    "spend",
]


DEFAULT_SESSION_BYTES = 64 << 20
"""Bytes of memory for all sessions together, unless a setting says otherwise."""

DEFAULT_VIOLATIONS = 20
"""Violations that a verdict lists, unless a request asks for another number."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on payloads, schemas, requests and the work that they cause.

    The defaults admit every valid tool of a sample of several thousand from public MCP
    servers. The largest schema in the sample has 71 KB, 12 levels of subschemas, 21 levels
    of JSON and 1,030 subschemas. The annotation of each limit is its description in help
    texts and in the documentation.
    """

    message_bytes: Annotated[int, "Largest gRPC message received, in bytes."] = 4 << 20
    batch_items: Annotated[int, "Most items in a batch, and most tools in a registration."] = 10_000
    violations: Annotated[int, "Most violations in a verdict."] = 1000
    payload_bytes: Annotated[
        int,
        "Largest payload, in bytes. Smaller than message_bytes, so that one oversized item of a "
        "batch fails alone.",
    ] = 1 << 20
    payload_depth: Annotated[
        int,
        "Deepest nesting of arrays and objects in a payload, in levels.",
    ] = 128
    schema_bytes: Annotated[
        int,
        "Largest schema, in bytes. A tool definition may have twice as many.",
    ] = 256 << 10
    schema_depth: Annotated[
        int,
        "Deepest nesting of arrays and objects in a schema, in levels.",
    ] = 64
    subschemas: Annotated[int, "Most subschemas in a schema."] = 10_000
    documents: Annotated[int, "Most documents sent along with a schema."] = 256
    documents_bytes: Annotated[
        int,
        "Largest size of all documents sent along with a schema, in bytes.",
    ] = 1 << 20
    pattern_length: Annotated[int, "Longest pattern, in characters."] = 1024
    pattern_repetitions: Annotated[
        int,
        "Most copies of a part that a pattern repeats, with nested repetitions multiplied. At "
        "most 100,000.",
    ] = 10_000
    pattern_instructions: Annotated[
        int,
        "Largest size of all patterns of a schema once compiled, in RE2 instructions.",
    ] = 100_000
    steps: Annotated[
        int,
        "Most work to validate one payload, in steps of about 25 nanoseconds. The default is "
        "about a quarter of a second.",
    ] = 10_000_000
    inline_steps: Annotated[
        int,
        "Most work on one payload in the event loop, in steps; the default is about five "
        "milliseconds. A worker process validates payloads that need more.",
    ] = 200_000
    inline_bytes: Annotated[
        int,
        "Largest payload validated in the event loop, in bytes: decoding cannot be interrupted. "
        "A worker process validates larger ones.",
    ] = 128 << 10
    request_steps: Annotated[
        int,
        "Most work that one request may cause, in the event loop and in workers, in steps; the "
        "default is about five seconds of a core. Items that are not reached have an error each, "
        "and may be sent again in another request.",
    ] = 200_000_000
    # Decision 0017: a batch has its own bounds, so that its size does not multiply work.
    offloaded_items: Annotated[
        int,
        "Most items of one batch that may be passed to a worker process.",
    ] = 64
    batch_violations: Annotated[
        int,
        "Most violations in a batch. Once they are reached, each further verdict has one.",
    ] = 10_000
    verdict_characters: Annotated[
        int,
        "Longest text of all violations in a verdict or a batch, in characters: each may repeat "
        "a pointer as long as the payload. The first violation is always reported.",
    ] = 1 << 20
    compile_seconds: Annotated[
        int,
        "Longest time to compile one schema, in seconds of a processor. The slowest known real "
        "schema takes 40 milliseconds. A compilation that makes no progress for ten "
        "times as long is ended too, and may be retried.",
    ] = 5
    validation_seconds: Annotated[
        int,
        "Longest time that a worker process may take for one payload, in seconds of a processor. "
        "The limit of steps ends nearly everything long before.",
    ] = 2
    worker_bytes: Annotated[
        int,
        "Address space of a worker process, in bytes. At least 128 MiB; a worker needs half of "
        "that to start.",
    ] = 400 << 20
    worker_wait_seconds: Annotated[
        int,
        "Longest time that a call waits for a worker process while none is alive, in seconds. "
        "Starting one takes about a second of a processor.",
    ] = 1
    allow_backtracking: Annotated[
        bool,
        "Whether patterns with look-around and back-references are run. Only validation_seconds "
        "bounds their time, so they always run in a worker process.",
    ] = False
    code_length: Annotated[int, "Longest code generated for a schema, in characters."] = 2_000_000
    source_bytes: Annotated[
        int,
        "Largest source text that tools are inferred from, in bytes. Many published servers have "
        "all tools in one file of more than 64 KiB. Reading the default takes two seconds and "
        "300 MiB at worst, in a worker process.",
    ] = 256 << 10


def limit_exceeded_error(
    bound: str, limit: int, subject: str, actual: int | None = None
) -> RequestError:
    """Return the error for a *subject* that exceeds the *limit* named *bound*.

    *actual* is its size, if known.
    """
    size = "" if actual is None else f"{actual:,}, "
    metadata = {"bound": bound, "limit": str(limit)}
    if actual is not None:
        metadata["found"] = str(actual)
    return RequestError(
        ErrorReason.LIMIT_EXCEEDED,
        f"{subject}: {size}more than the limit of {limit:,} ({bound})",
        metadata,
    )


# Decision 0050: a request has one budget; an item beyond it has this error instead of a verdict.
def not_reached_error(limit: int) -> RequestError:
    """Return the error for an item of a request that has spent its *limit* of steps."""
    return RequestError(
        ErrorReason.LIMIT_EXCEEDED,
        f"not reached: the items before it took all {limit:,} steps of the request "
        "(request_steps); send it again in another request",
        {"bound": "request_steps", "limit": str(limit)},
    )


def recursion_depth_error(subject: str) -> RequestError:
    """Return the error for nesting that exhausts the interpreter's stack.

    *subject* is the first part of the message, such as ``payload and schema nest too deeply
    to evaluate``.
    """
    return RequestError(
        ErrorReason.LIMIT_EXCEEDED,
        f"{subject} (limit: recursion depth)",
        {"bound": "recursion_depth"},
    )


STEPS_PER_SECOND = 40_000_000
"""Approximate number of steps in one second of an idle core."""

LONGEST_SEARCH = 300_000
"""Most steps charged for one search of a pattern.

Most searches are fifty times faster than the worst case. The value exceeds the budget of
the event loop, so a longer search runs in a worker, which can be killed.
"""
# Decision 0015: the worst case, up to this bound, decides where a search may run.

#: Remaining steps: a list with one item, which generated code decrements in place.
Budget: TypeAlias = list[int]


class Exhausted(Exception):
    """The budget is spent. Only the code that created the budget may catch it."""


def spend(budget: Budget, steps: int) -> None:
    """Subtract *steps* from *budget*, before the work is done.

    Raises:
        Exhausted: *budget* has fewer steps left.
    """
    budget[0] -= steps
    if budget[0] < 0:
        raise Exhausted
