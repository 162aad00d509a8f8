"""What workers do. Refusals are returned, not raised: they are answers."""

import os
import resource
import signal
from contextlib import suppress
from functools import lru_cache

from cachetools import LRUCache

from sidecheck_server.core.compiler.compilation import Artifact, compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import Checked, check
from sidecheck_server.core.mcp.protocol_schemas import Surfaces, compile_protocol_schemas
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tools.definitions import read_tool
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document, Verdict

__all__ = ["check_here", "compile_here", "convert_here", "infer_here", "judge_here", "prepare"]

_NICENESS = 10
"""The server goes first: what it does itself takes a moment, and many wait for it."""


def _weight(compiled: CompiledSchema) -> int:
    fast = compiled.artifact.fast
    return 8 + (0 if fast is None else len(fast.patterns))


_COMPILED: LRUCache[SchemaSource, CompiledSchema] = LRUCache(128, getsizeof=_weight)
"""The schemas that this worker judged under last. A pattern of one may hold a megabyte."""


def prepare(memory: int) -> None:
    """Bound the address space of this process to *memory* bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = memory if hard == resource.RLIM_INFINITY else min(hard, memory)
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    os.nice(_NICENESS)
    # Who is to be killed while it searches a text would not come to run a handler.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def compile_here(source: SchemaSource, limits: Limits) -> Artifact | RequestError:
    """Compile *source*."""
    try:
        return compile_source(source, limits)
    except RequestError as refusal:
        return refusal


def judge_here(
    source: SchemaSource, artifact: Artifact, limits: Limits, payload: bytes, how: EvaluationOptions
) -> Verdict | RequestError:
    """Judge *payload* under the schema that was compiled to *artifact*."""
    compiled = _COMPILED.get(source)
    if compiled is None:
        compiled = CompiledSchema(source, artifact, limits)
        with suppress(ValueError):  # it is larger than all that is kept
            _COMPILED[source] = compiled
    try:
        try:
            return judge(compiled, payload, how)
        except MemoryError:
            # What earlier schemas hold must not decide about this one.
            _COMPILED.clear()
            return judge(CompiledSchema(source, artifact, limits), payload, how)
    except RequestError as refusal:
        return refusal


def check_here(asked: CheckRequest, limits: Limits) -> Checked | RequestError:
    """Check the subject of *asked*; the questions of the rules are left."""
    try:
        return check(asked, limits, _surfaces(limits))
    except RequestError as refusal:
        return refusal


def convert_here(
    text: bytes,
    documents: tuple[Document, ...],
    api: ModelApi,
    options: ConversionOptions,
    limits: Limits,
) -> ToolForm | RequestError:
    """Convert the tool definition of that *text*; the form has no name as yet."""
    try:
        return convert_definition(
            read_tool(text, documents, limits), PROVIDERS[api], options, limits
        )
    except RequestError as refusal:
        return refusal


def infer_here(
    source: bytes, options: InferenceOptions, limits: Limits
) -> InferenceResult | RequestError:
    """Infer the definitions of the tools in *source*."""
    try:
        return infer_tools(source, options, limits)
    except RequestError as refusal:
        return refusal


@lru_cache(maxsize=1)
def _surfaces(limits: Limits) -> Surfaces:
    """Return the surfaces of this worker, which stay once they are compiled."""
    return compile_protocol_schemas(limits)
