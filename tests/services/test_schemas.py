"""Cache of compiled schemas."""

import asyncio
import gc
import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import pytest
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document
from sidecheck_server.services.cache import weigh_entry
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.workers.tasks import Task, ignore_begin
from support.recorded_tasks import RecordedTasks

Result = TypeVar("Result")

LIMITS = Limits()
INVALID = RequestError(ErrorReason.INVALID_SCHEMA, "broken", {"place": "/x"})
FAILED = RequestError(ErrorReason.WORKER_CRASHED, "died")


class Compiler(RecordedTasks):
    """Compiles in process once it is released, and records each source."""

    def __init__(self, *failures: Exception, blocked: bool = False) -> None:
        super().__init__(LIMITS, *failures)
        self.go = asyncio.Event()
        if not blocked:
            self.go.set()

    async def __call__(
        self, task: Task[Result], on_begin: Callable[[], None] = ignore_begin
    ) -> Result:
        on_begin()
        self.tasks.append(task)
        await self.go.wait()
        return self.execute(task)


def cache(compiler: Compiler, registered: int = 100, inline: int = 100) -> CompiledSchemas:
    """Return a cache for so many of the schemas that `number` returns."""
    return CompiledSchemas(compiler, LIMITS, registered * NUMBER_BYTES, inline * NUMBER_BYTES)


def weigh(source: SchemaSource) -> int:
    """Return the weight of *source*, compiled and cached."""
    return weigh_entry(source, None) + compile_schema(source, LIMITS).memory


def number(n: int) -> SchemaSource:
    """Return a schema that is distinct for each *n*."""
    return SchemaSource(b'{"const": %d}' % n)


NUMBER_BYTES = weigh(number(0))


async def run_ready_tasks(count: int = 10) -> None:
    """Let every task run that is ready."""
    for _ in range(count):
        await asyncio.sleep(0)


async def outcomes(*waiting: Any) -> Sequence[Any]:
    return await asyncio.gather(*waiting, return_exceptions=True)


async def test_concurrent_callers_compile_once() -> None:
    """Concurrent and later callers get the same compiled schema."""
    compiler = Compiler(blocked=True)
    schemas = cache(compiler)
    callers = [asyncio.create_task(schemas.inline(number(1))) for _ in range(5)]
    await run_ready_tasks()
    compiler.go.set()
    results = [*await asyncio.gather(*callers), await schemas.inline(number(1))]

    assert [number(1).json] == compiler.compiled
    assert [results[0]] * 6 == results
    assert [True, False] == [
        evaluate(results[0], text, EvaluationOptions()).valid for text in (b"1", b"2")
    ]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(SchemaSource(b'{"const":  1}'), id="another text"),
        pytest.param(SchemaSource(number(1).json, assert_formats=True), id="asserted formats"),
        pytest.param(
            SchemaSource(number(1).json, default_dialect="http://json-schema.org/draft-07/schema#"),
            id="another dialect",
        ),
        pytest.param(
            SchemaSource(number(1).json, (Document("urn:a", b"{}"),)), id="another document"
        ),
    ],
)
async def test_inline_schemas_are_keyed_by_compilation_input(source: SchemaSource) -> None:
    """Equal input has the same compiled schema."""
    compiler = Compiler()
    schemas = cache(compiler)
    first, second = await schemas.inline(number(1)), await schemas.inline(source)

    assert first is not second
    assert first is await schemas.inline(SchemaSource(bytes(number(1).json)))


async def test_registered_schemas_are_keyed_by_digest_and_formats() -> None:
    """The source is only built if the schema must be compiled."""
    compiler = Compiler()
    schemas = cache(compiler)
    builds = []

    def source() -> SchemaSource:
        builds.append(1)
        return number(1)

    first = await schemas.registered("a", source)
    again = await schemas.registered("a", source)
    asserting = await schemas.registered("a", source, assert_formats=True)
    second_schema = await schemas.registered("b", number(1))

    assert [first, first] == [first, again]
    assert 3 == len({first, asserting, second_schema})
    assert [1, 1] == builds


async def test_a_cancelled_caller_does_not_stop_the_compilation() -> None:
    """The other callers and the cache get the compiled schema."""
    compiler = Compiler(blocked=True)
    schemas = cache(compiler)
    first, second = (asyncio.create_task(schemas.inline(number(1))) for _ in range(2))
    await run_ready_tasks()
    first.cancel()
    await run_ready_tasks()
    compiler.go.set()
    cancelled, compiled = await outcomes(first, second)

    assert isinstance(cancelled, asyncio.CancelledError)
    assert compiled is await schemas.inline(number(1))
    assert [number(1).json] == compiler.compiled


@pytest.mark.slow
@pytest.mark.parametrize("failure", [INVALID, FAILED, ValueError("a part of a payload")])
async def test_an_unawaited_failure_is_not_printed(failure: Exception) -> None:
    """asyncio prints exceptions that were never retrieved, with their text."""
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    compiler = Compiler(failure, blocked=True)
    caller = asyncio.create_task(cache(compiler).inline(number(1)))
    await run_ready_tasks()
    caller.cancel()
    await outcomes(caller)
    compiler.go.set()
    await run_ready_tasks()
    del caller
    gc.collect()

    assert [] == reported


async def test_deterministic_errors_are_cached() -> None:
    """Waiting and later callers get equal errors; nothing is recompiled."""
    compiler = Compiler(INVALID, blocked=True)
    schemas = cache(compiler)
    waiting = [asyncio.create_task(schemas.registered("a", number(1))) for _ in range(3)]
    await run_ready_tasks()
    compiler.go.set()
    results = [*await outcomes(*waiting), *await outcomes(schemas.registered("a", number(1)))]

    assert [INVALID] * 4 == results
    assert 1 == len(compiler.compiled)


@pytest.mark.parametrize("failure", [FAILED, ValueError("unexpected")])
async def test_transient_failures_are_not_cached(failure: Exception) -> None:
    """The next caller compiles again."""
    compiler = Compiler(failure)
    schemas = cache(compiler)
    first, second = [*await outcomes(schemas.inline(number(1)))], await schemas.inline(number(1))

    assert [failure] == first
    assert isinstance(second, CompiledSchema)
    assert 2 == len(compiler.compiled)


async def test_cached_errors_do_not_retain_frames() -> None:
    """A shared traceback would grow and retain the frames and requests of callers."""
    schemas = cache(Compiler(INVALID))

    async def rejected() -> RequestError:
        with pytest.raises(RequestError) as raised:
            await schemas.inline(number(1))
        return raised.value

    results = [await rejected() for _ in range(20)]
    lengths = [len(traceback.extract_tb(error.__traceback__)) for error in results]

    assert 20 == len({id(error) for error in results})
    assert lengths[1:] == lengths[1:2] * 19


async def test_the_least_recently_used_schema_is_dropped() -> None:
    """The capacity is in bytes."""
    compiler = Compiler()
    schemas = cache(compiler, inline=2)
    for n in (1, 2, 1, 3, 1, 2):
        await schemas.inline(number(n))

    assert [number(n).json for n in (1, 2, 3, 2)] == compiler.compiled


async def test_a_large_schema_counts_as_several() -> None:
    """The cache bounds memory, so weight grows with size; documents count too."""
    compiler = Compiler()
    text = b'{"title": "%s"}' % (b"x" * 40_000)
    large, large_document = SchemaSource(text), SchemaSource(b"{}", (Document("urn:a", text),))
    assert weigh(large) > 80_000
    schemas = CompiledSchemas(compiler, LIMITS, 0, weigh(large) + 2 * NUMBER_BYTES)
    for source in (number(1), number(2), large, number(1), number(2), number(3), large):
        await schemas.inline(source)
    for source in (large_document, large, large_document):
        await schemas.inline(source)

    assert [number(1).json, number(2).json, text, number(3).json, text] == compiler.compiled[:5]
    assert [b"{}", text, b"{}"] == compiler.compiled[5:]


async def test_schemas_larger_than_the_cache_are_not_cached() -> None:
    """They are compiled for each call."""
    compiler = Compiler()
    schemas = cache(compiler, inline=1)
    large = SchemaSource(b'{"const": 1, "title": "%s"}' % (b"x" * NUMBER_BYTES))
    results = [await schemas.inline(large) for _ in range(2)]

    assert [True, True] == [
        evaluate(compiled, b"1", EvaluationOptions()).valid for compiled in results
    ]
    assert 2 == len(compiler.compiled)


async def test_inline_schemas_do_not_evict_registered_schemas() -> None:
    """The two caches have separate capacities; `dropped` counts registered schemas alone."""
    compiler = Compiler()
    schemas = cache(compiler, registered=1, inline=1)
    await schemas.registered("a", number(0))
    await schemas.inline(number(1))
    for n in range(2, 20):
        await schemas.inline(number(n))
    await schemas.registered("a", number(0))
    await schemas.registered("b", number(20))
    await schemas.inline(number(19))

    assert [number(n).json for n in range(21)] == compiler.compiled
    assert 1 == schemas.dropped


@pytest.mark.slow
async def test_the_event_loop_runs_while_patterns_are_prepared() -> None:
    """A pattern takes about a millisecond, and a schema may have thousands."""
    patterns = {f"p{n}": {"pattern": f"^(?:[a-z]{{1,50}}-){{1,9}}{n}$"} for n in range(1500)}
    source = SchemaSource(json.dumps({"properties": patterns}).encode())
    limits = replace(LIMITS, pattern_instructions=10_000_000)
    artifact = compile_schema(source, limits)

    async def precompiled(
        task: Task[Result], on_begin: Callable[[], None] = ignore_begin
    ) -> Result:
        on_begin()
        return cast("Result", artifact)

    loading = asyncio.create_task(CompiledSchemas(precompiled, limits, 0, 1 << 30).inline(source))
    turns = 0
    while not loading.done():
        await asyncio.sleep(0)
        turns += 1

    assert evaluate(await loading, b'{"p7": "a-7"}', EvaluationOptions()).valid
    # Without yielding there would be four turns, which the tasks themselves take.
    assert turns > 8
