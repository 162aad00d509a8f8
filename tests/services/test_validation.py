"""Resolution of targets and validation of payloads."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.registry import Registry
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.registration import Registration
from sidecheck_server.services.resolution import TargetResolver, ToolAdapter
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import (
    DefinitionDigest,
    InlineTool,
    RegisteredTool,
    SchemaDigest,
    Side,
    Target,
)
from sidecheck_server.services.validation import Validator
from support.checkers import registrar_of, run_in_process
from support.recorded_tasks import RecordedTasks

LIMITS = Limits()
VALIDATOR = Validator(run_in_process)
INPUT: Any = {
    "type": "object",
    "properties": {"day": {"format": "date"}},
    "required": ["day"],
}
OUTPUT: Any = {"$ref": "urn:answer"}
ANSWER = Document("urn:answer", b'{"type": "integer"}')
TOOL: Any = {"name": "t", "inputSchema": INPUT, "outputSchema": OUTPUT}
BARE: Any = {"name": "bare", "inputSchema": {"type": "object"}}
#: First protocol version in which an output need not be an object.
VERSION = "2026-07-28"
DIGEST = digest_of(TOOL, (ANSWER,))
INPUT_DIGEST = digest_of(INPUT, (ANSWER,))
OUTPUT_DIGEST = digest_of(OUTPUT, (ANSWER,))


def inline(tool: Any, *documents: Document) -> InlineTool:
    return InlineTool(json.dumps(tool).encode(), documents)


@pytest.fixture
def compiler() -> RecordedTasks:
    return RecordedTasks(LIMITS)


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


@pytest.fixture
async def resolver(compiler: RecordedTasks, registry: Registry) -> TargetResolver:
    """Return a resolver with both tools of the server "s"."""
    schemas = CompiledSchemas(compiler, LIMITS, 1 << 20, 1 << 20)
    registrar = registrar_of(registry, schemas, LIMITS)
    await registrar.register(
        Registration("s", (inline(TOOL, ANSWER), inline(BARE)), protocol_version=VERSION)
    )
    return TargetResolver(registry, schemas, ToolAdapter(LIMITS), LIMITS, frozenset({"watched"}))


async def codes(
    resolver: TargetResolver, target: Target, payload: bytes, *, assert_formats: bool = False
) -> list[str]:
    resolved = await resolver.resolve_schema(
        target, Side.INPUT, VERSION, assert_formats=assert_formats
    )
    verdict = await VALIDATOR.validate_offloaded(resolved.compiled, payload, EvaluationOptions())
    return [violation.code for violation in verdict.violations]


NAMED = RegisteredTool("s", "t")
SENT = inline(TOOL, ANSWER)


@pytest.mark.parametrize(
    ("target", "side", "payload", "expected"),
    [
        pytest.param(NAMED, Side.INPUT, {"day": 1}, (DIGEST, INPUT_DIGEST, "t"), id="name"),
        pytest.param(NAMED, Side.OUTPUT, 1, (DIGEST, OUTPUT_DIGEST, "t"), id="name, output"),
        pytest.param(
            replace(NAMED, pinned=DIGEST), Side.OUTPUT, 1, (DIGEST, OUTPUT_DIGEST, "t"), id="pinned"
        ),
        pytest.param(
            DefinitionDigest(DIGEST), Side.OUTPUT, 1, (DIGEST, OUTPUT_DIGEST, "t"), id="definition"
        ),
        pytest.param(
            SchemaDigest(OUTPUT_DIGEST), Side.INPUT, 1, ("", OUTPUT_DIGEST, ""), id="schema"
        ),
        pytest.param(SENT, Side.OUTPUT, 1, (DIGEST, OUTPUT_DIGEST, "t"), id="sent tool"),
        pytest.param(
            SchemaSource(json.dumps(OUTPUT).encode(), (ANSWER,)),
            Side.OUTPUT,
            1,
            ("", OUTPUT_DIGEST, ""),
            id="sent schema",
        ),
    ],
)
async def test_every_target_resolves_to_its_schema(
    resolver: TargetResolver,
    target: Target,
    side: Side,
    payload: Any,
    expected: tuple[str, str, str],
) -> None:
    """Definition digest and tool are empty for targets without a tool."""
    resolved = await resolver.resolve_schema(target, side, VERSION, assert_formats=False)
    verdict = await VALIDATOR.validate_offloaded(
        resolved.compiled, json.dumps(payload).encode(), EvaluationOptions()
    )

    assert (*expected, True) == (
        resolved.definition_digest,
        resolved.compiled.digest,
        resolved.tool,
        resolved.enforced,
    )
    assert Verdict() == verdict


async def test_tools_of_report_only_servers_are_not_enforced(
    resolver: TargetResolver, registry: Registry, compiler: RecordedTasks
) -> None:
    """The server of the target decides; a digest has no server."""
    schemas = CompiledSchemas(compiler, LIMITS, 1 << 20, 1 << 20)
    registrar = registrar_of(registry, schemas, LIMITS)
    await registrar.register(Registration("watched", (inline(BARE),)))
    targets: list[Target] = [RegisteredTool("watched", "bare"), RegisteredTool("s", "bare")]
    targets.append(DefinitionDigest(digest_of(BARE)))
    resolved_schemas = [
        await resolver.resolve_schema(target, Side.INPUT, VERSION, assert_formats=False)
        for target in targets
    ]

    assert [False, True, True] == [schema.enforced for schema in resolved_schemas]


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(NAMED, id="name"),
        pytest.param(DefinitionDigest(DIGEST), id="definition"),
        pytest.param(SchemaDigest(INPUT_DIGEST), id="schema"),
        pytest.param(SENT, id="sent tool"),
        pytest.param(SchemaSource(json.dumps(INPUT).encode()), id="sent schema"),
    ],
)
async def test_formats_are_asserted_on_request(resolver: TargetResolver, target: Target) -> None:
    """The option applies to every target, and only to its own call."""
    results = [
        await codes(resolver, target, b'{"day": "x"}', assert_formats=asserted)
        for asserted in (False, True, False)
    ]

    assert [[], ["FORMAT"], []] == results


@pytest.mark.parametrize(
    ("target", "side", "error"),
    [
        pytest.param(
            RegisteredTool("s", "u"),
            Side.INPUT,
            RequestError(
                ErrorReason.UNKNOWN_TOOL,
                "no tool 'u' is registered for the server 's'",
                {"server": "s", "tool": "u"},
            ),
            id="unknown tool",
        ),
        pytest.param(
            RegisteredTool("S", "t"),
            Side.INPUT,
            RequestError(
                ErrorReason.UNKNOWN_TOOL,
                "no tool 't' is registered for the server 'S', which has no tools",
                {"server": "S", "tool": "t"},
            ),
            id="unknown server",
        ),
        pytest.param(
            replace(NAMED, pinned="sha256:0"),
            Side.INPUT,
            RequestError(
                ErrorReason.DEFINITION_MISMATCH,
                "the registered definition of the tool 't' is not the pinned one",
                {"pinned": "sha256:0", "registered": DIGEST},
            ),
            id="another definition",
        ),
        pytest.param(
            DefinitionDigest("sha256:0"),
            Side.INPUT,
            RequestError(
                ErrorReason.UNKNOWN_DEFINITION,
                "no registered definition has the digest 'sha256:0'",
                {"digest": "sha256:0"},
            ),
            id="unknown definition",
        ),
        pytest.param(
            SchemaDigest(DIGEST),
            Side.INPUT,
            RequestError(
                ErrorReason.UNKNOWN_SCHEMA,
                f"no registered schema has the digest '{DIGEST}'",
                {"digest": DIGEST},
            ),
            id="a definition's digest for a schema's",
        ),
        *(
            pytest.param(
                target,
                Side.OUTPUT,
                RequestError(
                    ErrorReason.NO_OUTPUT_SCHEMA,
                    "the tool 'bare' has no output schema to validate structured content against",
                    {"tool": "bare"},
                ),
                id=f"no output schema: {name}",
            )
            for name, target in {
                "name": RegisteredTool("s", "bare"),
                "definition": DefinitionDigest(digest_of(BARE)),
                "sent": inline(BARE),
            }.items()
        ),
    ],
)
async def test_unresolvable_targets_are_rejected(
    resolver: TargetResolver, target: Target, side: Side, error: RequestError
) -> None:
    """The error is raised before the payload is read."""
    with pytest.raises(RequestError) as raised:
        await resolver.resolve_schema(target, side, VERSION, assert_formats=False)

    assert error == raised.value


async def test_long_names_are_truncated_in_errors(resolver: TargetResolver) -> None:
    """Trailers are limited in size."""
    with pytest.raises(RequestError) as raised:
        await codes(resolver, RegisteredTool("x" * 9999, "y" * 9999), b"{}")

    assert {"server": "x" * 128, "tool": "y" * 128} == raised.value.metadata
    assert len(raised.value.message) < 400


async def test_validation_reuses_schemas_compiled_by_registration(
    resolver: TargetResolver, compiler: RecordedTasks
) -> None:
    """A schema is recompiled only if formats are asserted."""
    before = compiler.compiled.copy()
    await codes(resolver, NAMED, b"{}")
    await codes(resolver, SchemaDigest(INPUT_DIGEST), b"{}")
    same = compiler.compiled.copy()
    for _ in range(2):
        await codes(resolver, NAMED, b"{}", assert_formats=True)

    assert before == same
    assert [json.dumps(INPUT, separators=(",", ":")).encode()] == compiler.compiled[len(before) :]


async def test_changed_definitions_apply_to_the_next_call(
    resolver: TargetResolver, registry: Registry, compiler: RecordedTasks
) -> None:
    """Resolution reads the current state of the registry."""
    schemas = CompiledSchemas(compiler, LIMITS, 1 << 20, 1 << 20)
    registrar = registrar_of(registry, schemas, LIMITS)
    results = [await codes(resolver, RegisteredTool("s", "bare"), b"{}")]
    changed = {**BARE, "inputSchema": {"type": "object", "minProperties": 1}}
    await registrar.register(Registration("s", (inline(changed),)))
    results.append(await codes(resolver, RegisteredTool("s", "bare"), b"{}"))

    assert [[], ["MIN_PROPERTIES"]] == results


async def test_an_invalid_tool_is_rejected_by_each_call(resolver: TargetResolver) -> None:
    """Each call raises its own copy of the same error."""
    results = []
    for _ in range(3):
        with pytest.raises(RequestError) as raised:
            await codes(resolver, inline({"name": "x"}), b"{}")
        results.append(raised.value)

    assert [results[0]] * 3 == results
    assert ErrorReason.INVALID_TOOL is results[0].reason
    assert 3 == len({id(error) for error in results})
