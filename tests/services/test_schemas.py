"""Cache of compiled schemas."""

import asyncio
import gc
import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document
from sidecheck_server.services.schemas import CompiledSchemas

LIMITS = Limits()
INVALID = RequestError(ErrorReason.INVALID_SCHEMA, "broken", {"place": "/x"})
FAILED = RequestError(ErrorReason.WORKER_CRASHED, "died")


class Compiler:
    """Compiles here, when it is let to, and remembers what."""

    def __init__(self, *outcomes: Exception, held: bool = False) -> None:
        self.compiled: list[bytes] = []
        self.outcomes = list(outcomes)
        self.go = asyncio.Event()
        if not held:
            self.go.set()

    async def __call__(self, source: SchemaSource, begun: Callable[[], None]) -> Artifact:
        begun()
        self.compiled.append(source.json)
        await self.go.wait()
        if self.outcomes:
            raise self.outcomes.pop(0)
        return compile_schema(source, LIMITS)


def cache(compiler: Compiler, registered: int = 10, inline: int = 10) -> CompiledSchemas:
    return CompiledSchemas(compiler, LIMITS, registered, inline)


def number(n: int) -> SchemaSource:
    """One schema of many."""
    return SchemaSource(b'{"const": %d}' % n)


async def turns(count: int = 10) -> None:
    """Let everything that can run do so."""
    for _ in range(count):
        await asyncio.sleep(0)


async def outcomes(*waiting: Any) -> Sequence[Any]:
    return await asyncio.gather(*waiting, return_exceptions=True)


async def test_concurrent_callers_compile_once() -> None:
    """And get the same compiled schema; so does whoever comes later."""
    compiler = Compiler(held=True)
    schemas = cache(compiler)
    callers = [asyncio.create_task(schemas.inline(number(1))) for _ in range(5)]
    await turns()
    compiler.go.set()
    results = [*await asyncio.gather(*callers), await schemas.inline(number(1))]

    assert [number(1).json] == compiler.compiled
    assert [results[0]] * 6 == results
    assert [True, False] == [
        evaluate(results[0], text, EvaluationOptions()).valid for text in (b"1", b"2")
    ]


@pytest.mark.parametrize(
    "other",
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
async def test_what_compilation_depends_on_tells_inline_schemas_apart(other: SchemaSource) -> None:
    """Everything else does not."""
    compiler = Compiler()
    schemas = cache(compiler)
    entry, two = await schemas.inline(number(1)), await schemas.inline(other)

    assert entry is not two
    assert entry is await schemas.inline(SchemaSource(bytes(number(1).json)))


async def test_registered_schemas_are_known_by_digest_and_formats() -> None:
    """Their source is made only if it must be compiled."""
    compiler = Compiler()
    schemas = cache(compiler)
    made = []

    def source() -> SchemaSource:
        made.append(1)
        return number(1)

    first = await schemas.registered("a", source)
    again = await schemas.registered("a", source)
    asserting = await schemas.registered("a", source, assert_formats=True)
    other = await schemas.registered("b", number(1))

    assert [first, first] == [first, again]
    assert 3 == len({first, asserting, other})
    assert [1, 1] == made


async def test_a_caller_who_goes_away_does_not_stop_the_compilation() -> None:
    """The others get it, and so does the cache."""
    compiler = Compiler(held=True)
    schemas = cache(compiler)
    first, second = (asyncio.create_task(schemas.inline(number(1))) for _ in range(2))
    await turns()
    first.cancel()
    await turns()
    compiler.go.set()
    gone, stayed = await outcomes(first, second)

    assert isinstance(gone, asyncio.CancelledError)
    assert stayed is await schemas.inline(number(1))
    assert [number(1).json] == compiler.compiled


@pytest.mark.slow
@pytest.mark.parametrize("failure", [INVALID, FAILED, ValueError("a part of a payload")])
async def test_a_failure_that_nobody_waits_for_is_not_printed(failure: Exception) -> None:
    """asyncio prints what was never retrieved, with all its text."""
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    compiler = Compiler(failure, held=True)
    caller = asyncio.create_task(cache(compiler).inline(number(1)))
    await turns()
    caller.cancel()
    await outcomes(caller)
    compiler.go.set()
    await turns()
    del caller
    gc.collect()

    assert [] == reported


async def test_a_deterministic_error_is_kept() -> None:
    """Equal for those who wait and those who come later; nothing is compiled again."""
    compiler = Compiler(INVALID, held=True)
    schemas = cache(compiler)
    waiting = [asyncio.create_task(schemas.registered("a", number(1))) for _ in range(3)]
    await turns()
    compiler.go.set()
    results = [*await outcomes(*waiting), *await outcomes(schemas.registered("a", number(1)))]

    assert [INVALID] * 4 == results
    assert 1 == len(compiler.compiled)


@pytest.mark.parametrize("failure", [FAILED, ValueError("unexpected")])
async def test_a_failure_that_says_nothing_of_the_schema_is_not_kept(failure: Exception) -> None:
    """The next caller compiles again."""
    compiler = Compiler(failure)
    schemas = cache(compiler)
    first, second = [*await outcomes(schemas.inline(number(1)))], await schemas.inline(number(1))

    assert [failure] == first
    assert isinstance(second, CompiledSchema)
    assert 2 == len(compiler.compiled)


async def test_a_kept_error_holds_nothing_of_its_callers() -> None:
    """Its traceback would hold their frames, and these their requests, and grow."""
    schemas = cache(Compiler(INVALID))

    async def rejected() -> RequestError:
        with pytest.raises(RequestError) as raised:
            await schemas.inline(number(1))
        return raised.value

    results = [await rejected() for _ in range(20)]
    lengths = [len(traceback.extract_tb(entry.__traceback__)) for entry in results]

    assert 20 == len({id(entry) for entry in results})
    assert lengths[1:] == lengths[1:2] * 19


async def test_no_more_schemas_are_kept_than_allowed() -> None:
    """The least recently used goes first."""
    compiler = Compiler()
    schemas = cache(compiler, inline=2)
    for n in (1, 2, 1, 3, 1, 2):
        await schemas.inline(number(n))

    assert [number(n).json for n in (1, 2, 3, 2)] == compiler.compiled


async def test_a_large_schema_counts_as_several() -> None:
    """So that the cache bounds memory, not only numbers; documents count too."""
    compiler = Compiler()
    schemas = cache(compiler, inline=5)
    text = b'{"title": "%s"}' % (b"x" * 40_000)
    three, other_three = SchemaSource(text), SchemaSource(b"{}", (Document("urn:a", text),))
    for source in (number(1), number(2), three, number(1), number(2), number(3), three):
        await schemas.inline(source)
    for source in (other_three, three, other_three):
        await schemas.inline(source)

    assert [number(1).json, number(2).json, text, number(3).json, text] == compiler.compiled[:5]
    assert [b"{}", text, b"{}"] == compiler.compiled[5:]


async def test_what_is_larger_than_the_cache_is_compiled_each_time() -> None:
    """And serves all the same."""
    compiler = Compiler()
    schemas = cache(compiler, inline=1)
    large = SchemaSource(b'{"const": 1, "title": "%s"}' % (b"x" * 20_000))
    results = [await schemas.inline(large) for _ in range(2)]

    assert [True, True] == [evaluate(entry, b"1", EvaluationOptions()).valid for entry in results]
    assert 2 == len(compiler.compiled)


async def test_inline_schemas_never_push_out_registered_ones() -> None:
    """Nor the other way."""
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


@pytest.mark.slow
async def test_other_calls_have_their_turn_while_patterns_are_made_ready() -> None:
    """Each takes about a millisecond, there may be thousands, and few are remembered."""
    patterns = {f"p{n}": {"pattern": f"^(?:[a-z]{{1,50}}-){{1,9}}{n}$"} for n in range(1500)}
    source = SchemaSource(json.dumps({"properties": patterns}).encode())
    limits = replace(LIMITS, pattern_instructions=10_000_000)
    artifact = compile_schema(source, limits)

    async def made(_source: SchemaSource, begun: Callable[[], None]) -> Artifact:
        begun()
        return artifact

    loading = asyncio.create_task(CompiledSchemas(made, limits, 1, 10_000_000).inline(source))
    turns_taken = 0
    while not loading.done():
        await asyncio.sleep(0)
        turns_taken += 1

    assert evaluate(await loading, b'{"p7": "a-7"}', EvaluationOptions()).valid
    # In one piece it would be the four that the tasks themselves take.
    assert turns_taken > 8
