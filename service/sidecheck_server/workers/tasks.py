"""Tasks of worker processes. Request errors are returned rather than raised, as results."""

import os
import resource
import signal
import time
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from cachetools import LRUCache

from sidecheck_server.core.compat.changes import ToolComparison
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import STEPS_PER_SECOND, Limits
from sidecheck_server.core.mcp.check import CheckReport, check
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, compile_protocol_schemas
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, read_tool
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Verdict

__all__ = [
    "check_task",
    "compare_task",
    "compile_task",
    "convert_task",
    "infer_task",
    "prepare_process",
    "validate_task",
]

_NICENESS = 10
"""Workers yield to the event loop of the server, which all calls wait for."""


_COMPILED: LRUCache[SchemaSource, CompiledSchema] = LRUCache(
    32 << 20, getsizeof=lambda compiled: compiled.artifact.memory
)
"""The schemas that this worker validated against last, by their memory in bytes."""


def prepare_process(memory: int) -> None:
    """Limit the address space of this process to *memory* bytes, and lower its priority."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory if hard == resource.RLIM_INFINITY else min(hard, memory)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.nice(_NICENESS)
    # A process that is killed while it searches a text does not get to run a handler.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def compile_task(source: SchemaSource, limits: Limits) -> Artifact | RequestError:
    """Compile *source*."""
    try:
        return compile_schema(source, limits)
    except RequestError as error:
        return error


def validate_task(
    source: SchemaSource,
    artifact: Artifact,
    limits: Limits,
    payload: bytes,
    options: EvaluationOptions,
) -> Verdict | RequestError:
    """Validate *payload* against the schema *source*, which was compiled to *artifact*."""
    compiled = _COMPILED.get(source)
    if compiled is None:
        compiled = CompiledSchema(source, artifact, limits)
        with suppress(ValueError):  # larger than the cache
            _COMPILED[source] = compiled
    try:
        try:
            return evaluate(compiled, payload, options)
        except MemoryError:
            # The memory that cached schemas use must not affect the result.
            _COMPILED.clear()
            return evaluate(CompiledSchema(source, artifact, limits), payload, options)
    except RequestError as error:
        return error


def check_task(request: CheckRequest, limits: Limits) -> CheckReport | RequestError:
    """Check the subject of *request*, without the deferred checks."""
    try:
        return check(request, limits, _protocol_schemas(limits))
    except RequestError as error:
        return error


def convert_task(
    text: bytes,
    documents: tuple[Document, ...],
    api: ModelApi,
    options: ConversionOptions,
    limits: Limits,
) -> ToolForm | RequestError:
    """Convert the tool definition *text*; the result has no name yet."""
    try:
        return convert_definition(
            read_tool(text, documents, limits), PROVIDERS[api], options, limits
        )
    except RequestError as error:
        return error


def infer_task(
    source: bytes, options: InferenceOptions, limits: Limits
) -> InferenceResult | RequestError:
    """Infer the definitions of the tools in *source*."""
    try:
        return infer_tools(source, options, limits)
    except RequestError as error:
        return error


def compare_task(
    old: ToolDefinition, new: ToolDefinition, undecided: str, limits: Limits
) -> ToolComparison | RequestError:
    """Compare two definitions, or with *undecided* only find what changed.

    The proof has no bound in steps, so it is charged by the time that it takes.
    """
    # Its library is large, and few workers ever compare.
    from sidecheck_server.core.compat.compare import compare_definitions  # noqa: PLC0415

    begun = time.process_time()
    comparison = compare_definitions(old, new, limits, undecided)
    seconds = time.process_time() - begun
    return replace(comparison, steps=int(seconds * STEPS_PER_SECOND))


@lru_cache(maxsize=1)
def _protocol_schemas(limits: Limits) -> SchemaLookup:
    """Return the protocol's schemas, compiled once in each worker."""
    return compile_protocol_schemas(limits)
