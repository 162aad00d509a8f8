"""Cache of prepared targets: it holds no compiled schemas that the cache of these dropped."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.registry import Registry
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.cache import weigh_entry
from sidecheck_server.services.prepared_targets import PreparedTargets
from sidecheck_server.services.registration import Registration
from sidecheck_server.services.resolution import TargetResolver, ToolAdapter
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, RegisteredTool
from sidecheck_server.services.validation import ValidationOptions, Validator
from support.checkers import registrar_of, run_in_process

LIMITS = Limits()
MARK = "a schema of this test"
OPTIONS = ValidationOptions(EvaluationOptions(), DEFAULT_VERSION)


def schema_of(number: int) -> dict[str, Any]:
    return {"type": "object", "title": f"{MARK} {number:04}"}


WEIGHT = (
    weigh_entry(("sha256:" + "0" * 64, False), None)
    + compile_schema(SchemaSource(json.dumps(schema_of(0)).encode()), LIMITS).memory
)


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    """Yield a registry of 20 tools."""
    opened = open_registry(None)
    tools = tuple(
        InlineTool(json.dumps({"name": f"t{n}", "inputSchema": schema_of(n)}).encode())
        for n in range(20)
    )
    schemas = CompiledSchemas(run_in_process, LIMITS, 0, 0)
    registrar = registrar_of(opened, schemas, LIMITS)
    await registrar.register(Registration("s", tools, protocol_version=DEFAULT_VERSION))
    yield opened
    opened.close()


def live_schemas() -> int:
    """Return how many compiled schemas of this test there are."""
    gc.collect()
    return sum(
        isinstance(value, CompiledSchema) and MARK.encode() in value.source.json
        for value in gc.get_objects()
    )


@pytest.mark.parametrize(
    ("memory", "most"),
    [
        pytest.param(0, 0, id="none fits"),
        pytest.param(5 * WEIGHT + WEIGHT // 2, 5, id="five fit"),
        pytest.param(100 * WEIGHT, 20, id="all fit"),
    ],
)
async def test_prepared_targets_keep_no_more_schemas_than_the_cache(
    registry: Registry, memory: int, most: int
) -> None:
    """An evicted or uncached schema is prepared again."""
    schemas = CompiledSchemas(run_in_process, LIMITS, memory, 0)
    resolver = TargetResolver(registry, schemas, ToolAdapter(LIMITS), LIMITS)
    unused: Any = None
    targets = PreparedTargets(resolver, Validator(run_in_process), unused, registry, schemas)
    for n in [*range(20), *range(20)]:
        key = (b"t%d" % n, b"")
        prepared = targets.find(key) or targets.add(key, RegisteredTool("s", f"t{n}"), OPTIONS)
        outcome = await prepared.validate("arguments", b"{}")
        assert outcome.verdict.valid
    del prepared
    targets.find((b"", b""))
    await asyncio.sleep(0)  # the last computation is forgotten

    assert most == live_schemas()
