"""Limits on the size of a request, and budgets of steps for the work that it causes."""

from dataclasses import dataclass
from typing import TypeAlias

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = [
    "LONGEST_SEARCH",
    "Budget",
    "Exhausted",
    "Limits",
    "limit_exceeded_error",
    "recursion_depth_error",
    "spend",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on payloads, schemas, requests and the work that they cause.

    The defaults admit every valid tool among several thousand that public MCP
    servers offer. The largest schema among them has 71 KB, 12 levels of subschemas,
    21 levels of JSON and 1,030 subschemas.
    """

    #: Largest gRPC message received, in bytes.
    message_bytes: int = 4 << 20
    #: Most items in a batch, and most tools in a registration.
    batch_items: int = 10_000
    #: Most violations in a verdict.
    violations: int = 1000
    #: Largest payload, in bytes. Smaller than message_bytes, so that one oversized item
    #: of a batch fails alone.
    payload_bytes: int = 1 << 20
    #: Deepest nesting of arrays and objects in a payload, in levels.
    payload_depth: int = 128
    #: Largest schema, in bytes. A tool definition may have twice as many.
    schema_bytes: int = 256 << 10
    #: Deepest nesting of arrays and objects in a schema, in levels.
    schema_depth: int = 64
    #: Most subschemas in a schema.
    subschemas: int = 10_000
    #: Most documents sent along with a schema.
    documents: int = 256
    #: Largest size of all documents sent along with a schema, in bytes.
    documents_bytes: int = 1 << 20
    #: Longest pattern, in characters.
    pattern_length: int = 1024
    #: Most copies of a part that a pattern repeats, with nested repetitions multiplied. At
    #: most 100,000.
    pattern_repetitions: int = 10_000
    #: Largest size of all patterns of a schema once compiled, in RE2 instructions.
    pattern_instructions: int = 100_000
    #: Most work to validate one payload, in steps of about 25 nanoseconds. The default is
    #: about a quarter of a second.
    steps: int = 10_000_000
    #: Most work on one payload in the event loop, in steps; the default is about five
    #: milliseconds. A worker process validates what takes more.
    inline_steps: int = 200_000
    #: Largest payload validated in the event loop, in bytes: decoding cannot be
    #: interrupted. A worker process validates larger ones.
    inline_bytes: int = 128 << 10
    #: Most items of one batch that may be passed to a worker process.
    offloaded_items: int = 64
    #: Most violations in a batch. Once they are reached, each further verdict has one.
    batch_violations: int = 10_000
    #: Longest text of all violations in a verdict or a batch, in characters: each may
    #: repeat a pointer as long as the payload. The first violation is always reported.
    verdict_characters: int = 1 << 20
    #: Longest time to compile one schema, in seconds. The slowest known real schema
    #: takes 40 milliseconds.
    compile_seconds: int = 5
    #: Longest time that a worker process may take for one payload, in seconds. The limit
    #: of steps ends nearly everything long before.
    validation_seconds: int = 2
    #: Address space of a worker process, in bytes.
    worker_bytes: int = 400 << 20
    #: Whether patterns with look-around and back-references are run. Only
    #: validation_seconds bounds their time, so they always run in a worker process.
    allow_backtracking: bool = False
    #: Longest code generated for a schema, in characters.
    code_length: int = 2_000_000
    #: Largest source text that tools are inferred from, in bytes. Parsing the default
    #: takes an eighth of a second at worst.
    source_bytes: int = 64 << 10


def limit_exceeded_error(
    bound: str, limit: int, subject: str, actual: int | None = None
) -> RequestError:
    """Return the error of *subject*, which exceeds the *limit* named *bound*.

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


def recursion_depth_error(subject: str) -> RequestError:
    """Return the error of *subject*, whose nesting exhausts the interpreter's stack.

    *subject* says what nests too deeply for what, as in ``payload and schema nest too
    deeply to evaluate``.
    """
    return RequestError(
        ErrorReason.LIMIT_EXCEEDED,
        f"{subject} (limit: recursion depth)",
        {"bound": "recursion_depth"},
    )


LONGEST_SEARCH = 300_000
"""The most steps charged for one search of a pattern.

Most searches are fifty times faster than the worst case. This is more than the event
loop's budget, and a worker that searches for too long is killed.
"""

#: The steps that are left: the one item of a list, so that generated code can count
#: it down in place.
Budget: TypeAlias = list[int]


class Exhausted(Exception):
    """The budget is spent. Only the code that made the budget may catch it."""


def spend(budget: Budget, steps: int) -> None:
    """Subtract *steps* from *budget*.

    Raises:
        Exhausted: *budget* has fewer steps left.
    """
    budget[0] -= steps
    if budget[0] < 0:
        raise Exhausted
