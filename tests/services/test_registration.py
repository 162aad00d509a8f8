"""Registration: checks of single tools, change policies, transactions."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.types import Document, Severity, Violation
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Action, Binding, Definition
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.registration import (
    ChangePolicy,
    Outcome,
    Registrar,
    Registration,
    RegistrationOutcomes,
)
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool
from support.checkers import registrar_of
from support.recorded_tasks import RecordedTasks

LIMITS = Limits()
DUPLICATE = Violation(
    "/name",
    "",
    "",
    "TOOL_NAME_DUPLICATE",
    "the request has several tools of this name; the last valid one is registered",
    Severity.WARNING,
    spec_url="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool",
)


def changed(severity: Severity) -> Violation:
    message = "the definition differs from the one that is registered under this name"
    return Violation("", "", "", "DEFINITION_CHANGED", message, severity)


def make_registrar(registry: Registry, failure: Exception | None = None) -> Registrar:
    failures = () if failure is None else (failure,)
    schemas = CompiledSchemas(RecordedTasks(LIMITS, *failures), LIMITS, 16 << 20, 1 << 20)
    return registrar_of(registry, schemas, LIMITS)


@pytest.fixture
def registry() -> Iterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


def tool(name: str = "a", size: int = 0, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "maxProperties": size}, **more}


def request_for(*tools: Any, **options: Any) -> Registration:
    texts = [
        definition if isinstance(definition, bytes) else json.dumps(definition).encode()
        for definition in tools
    ]
    return Registration("s", tuple(map(InlineTool, texts)), **options)


def definition_of(tool_json: Any, *documents: Document) -> Definition:
    """Return the definition that registering *tool_json* results in."""
    output = tool_json.get("outputSchema")
    return Definition(
        digest=digest_of(tool_json, documents),
        name=tool_json["name"],
        json=json.dumps(tool_json).encode(),
        documents=documents,
        input_schema_digest=digest_of(tool_json["inputSchema"], documents),
        output_schema_digest=None if output is None else digest_of(output, documents),
        protocol_version=DEFAULT_VERSION,
    )


def expected_outcome(
    tool_json: Any,
    action: Action | None,
    *violations: Violation,
    before: str = "",
    rejected: bool = False,
) -> Outcome:
    expected_definition = definition_of(tool_json)
    registered = None if rejected else expected_definition
    return Outcome(
        tool_json["name"], action, violations, registered, expected_definition.digest, before
    )


def names(registry: Registry) -> list[str]:
    return [binding.name for binding in registry.page("s", None, 9999, 1 << 30)[0]]


async def test_outcomes_have_the_action_and_digests(registry: Registry) -> None:
    """Actions are created, unchanged and changed, with both digests."""
    wide, narrow = tool(size=2, outputSchema={"type": "object"}), tool(size=1)
    registrar = make_registrar(registry)
    results = [
        await registrar.register(request_for(definition)) for definition in (wide, wide, narrow)
    ]

    before = digest_of(wide)
    assert [
        RegistrationOutcomes((expected_outcome(wide, Action.CREATED),), (), 1),
        RegistrationOutcomes((expected_outcome(wide, Action.UNCHANGED, before=before),), (), 1),
        RegistrationOutcomes((expected_outcome(narrow, Action.CHANGED, before=before),), (), 2),
    ] == results


async def test_documents_belong_to_the_definition(registry: Registry) -> None:
    """Documents are part of the definition and its digests."""
    definition = tool(outputSchema={"type": "object", "$ref": "urn:d"})
    document = Document("urn:d", b"{}")
    text = InlineTool(json.dumps(definition).encode(), (document,))
    results = await make_registrar(registry).register(Registration("s", (text,)))

    assert definition_of(definition, document) == results.outcomes[0].definition
    assert Binding("s", definition_of(definition, document), 1) == registry.bound_to(
        results.outcomes[0].digest
    )


@pytest.mark.parametrize(
    ("change_policy", "action", "violations", "bound_size"),
    [
        pytest.param(ChangePolicy.ACCEPT, Action.CHANGED, [], 2, id="accept"),
        pytest.param(
            ChangePolicy.REPORT, Action.CHANGED, [changed(Severity.WARNING)], 2, id="report"
        ),
        pytest.param(ChangePolicy.REJECT, None, [changed(Severity.ERROR)], 1, id="reject"),
    ],
)
async def test_a_change_is_accepted_reported_or_rejected(
    registry: Registry,
    change_policy: ChangePolicy,
    action: Any,
    violations: list[Violation],
    bound_size: int,
) -> None:
    """validate_only returns the same outcomes and changes nothing."""
    first, second = tool(size=1), tool(size=2)
    await make_registrar(registry).register(request_for(first))
    preview = await make_registrar(registry).register(
        request_for(second, change_policy=change_policy, validate_only=True)
    )
    revision = registry.revision
    result = await make_registrar(registry).register(
        request_for(second, change_policy=change_policy)
    )

    expected = expected_outcome(
        second,
        action,
        *violations,
        before=digest_of(first),
        rejected=change_policy is ChangePolicy.REJECT,
    )
    assert ((expected,), 1) == (preview.outcomes, revision)
    assert (expected,) == result.outcomes
    bound = registry.find("s", "a")
    assert bound is not None
    assert tool(size=bound_size) == json.loads(bound.definition.json)


async def test_only_one_of_concurrent_changes_is_accepted(
    registry: Registry,
) -> None:
    """A change is compared with the definition that it replaces, also by several servers."""
    tools = [tool(size=size) for size in range(8)]
    results = await asyncio.gather(
        *(
            make_registrar(registry).register(
                request_for(definition, change_policy=ChangePolicy.REJECT)
            )
            for definition in tools
        )
    )

    assert 1 == registry.revision
    assert [Action.CREATED, *[None] * 7] == sorted(
        (result.outcomes[0].action for result in results), key=lambda action: action is None
    )


WRAPPED = "OUTPUT_SCHEMA_WRAPPED"
FAULTY: Any = {"name": "a", "outputSchema": 3}


@pytest.mark.parametrize(
    ("text", "name", "digest", "codes"),
    [
        pytest.param(
            FAULTY,
            "a",
            digest_of(FAULTY),
            ["REQUIRED", "TYPE"],
            id="faults",
        ),
        pytest.param(tool(inputSchema={"type": "x"}), "a", None, ["CONST"], id="broken schema"),
        pytest.param(b"[1]", "", digest_of([1]), ["TYPE"], id="not an object"),
        pytest.param(b'{"name": "a"', "", "", ["PAYLOAD_NOT_JSON"], id="not JSON"),
        pytest.param(b'{"name": "a", "name": "a"}', "", "", ["DUPLICATE_KEY"], id="ambiguous"),
        pytest.param(b"[" * 99 + b"]" * 99, "", "", ["LIMIT_EXCEEDED"], id="too deep"),
        pytest.param(tool(description="x" * 600_000), "", "", ["LIMIT_EXCEEDED"], id="too large"),
    ],
)
async def test_a_faulty_definition_is_rejected_by_itself(
    registry: Registry, text: Any, name: str, digest: str | None, codes: list[str]
) -> None:
    """The outcome has the name and digests that can be read, and a violation per fault."""
    good = tool("b")
    results = await make_registrar(registry).register(request_for(text, good))
    rejected, created = results.outcomes

    assert (name, None, None) == (rejected.name, rejected.action, rejected.definition)
    assert (digest_of(text) if digest is None else digest) == rejected.digest
    assert codes == [violation.code for violation in rejected.violations]
    assert expected_outcome(good, Action.CREATED) == created


async def test_replacing_keeps_named_tools_that_are_faulty(registry: Registry) -> None:
    """The result lists removed names and the previous digests."""
    registrar = make_registrar(registry)
    await registrar.register(request_for(*map(tool, "abcd")))
    broken = {"name": "c", "inputSchema": {"type": "x"}}
    results = await registrar.register(request_for(FAULTY, broken, replace=True))

    assert (("b", "d"), ["a", "c"]) == (results.removed, names(registry))
    assert [digest_of(tool("a")), digest_of(tool("c"))] == [
        outcome.previous_digest for outcome in results.outcomes
    ]


async def test_the_last_definition_of_a_name_is_registered(registry: Registry) -> None:
    """Every outcome has a warning and the digest bound before."""
    old, first, last = (tool(size=size) for size in range(3))
    registrar = make_registrar(registry)
    await registrar.register(request_for(old))
    results = await registrar.register(request_for(first, FAULTY, last))

    assert [DUPLICATE] * 3 == [outcome.violations[-1] for outcome in results.outcomes]
    assert [Action.CHANGED, None, Action.CHANGED] == [
        outcome.action for outcome in results.outcomes
    ]
    assert [digest_of(old), digest_of(old), digest_of(first)] == [
        outcome.previous_digest for outcome in results.outcomes
    ]


async def test_a_crashed_worker_fails_only_its_tool(registry: Registry) -> None:
    """The tool can be registered by the next request."""
    registrar = make_registrar(registry, RequestError(ErrorReason.WORKER_CRASHED, "died"))
    first = await registrar.register(request_for(tool("a"), tool("b", size=1)))
    again = await registrar.register(request_for(tool("a")))

    violation = Violation("/inputSchema", "", "", "WORKER_CRASHED", "died")
    assert expected_outcome(tool("a"), None, violation, rejected=True) == first.outcomes[0]
    assert [Action.CREATED, Action.CREATED] == [first.outcomes[1].action, again.outcomes[0].action]


async def test_the_event_loop_runs_during_large_registrations(registry: Registry) -> None:
    """The event loop gets at least one turn per tool."""
    finished, turns = Event(), 0

    async def count_turns() -> None:
        nonlocal turns
        while not finished.is_set():
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    results = await make_registrar(registry).register(
        request_for(*(tool(f"t{n:03}") for n in range(200)))
    )
    finished.set()
    await counting

    assert [f"t{n:03}" for n in range(200)] == [outcome.name for outcome in results.outcomes]
    assert turns >= 200


@pytest.mark.parametrize("server", ["", "x" * 257])
async def test_an_invalid_server_name_is_rejected(registry: Registry, server: str) -> None:
    """The name is checked before any tool."""
    with pytest.raises(RequestError) as raised:
        await make_registrar(registry).register(Registration(server, ()))

    assert (ErrorReason.INVALID_REQUEST, {"field": "server"}) == (
        raised.value.reason,
        raised.value.metadata,
    )


@pytest.mark.slow
async def test_a_registration_is_atomic_when_the_registry_closes(
    tmp_path: Path,
) -> None:
    """Acknowledged registrations are in the file."""
    for wait in range(12):
        path = tmp_path / f"{wait}.db"
        opened = open_registry(path)
        under_way = asyncio.create_task(
            make_registrar(opened).register(request_for(*map(tool, "abc")))
        )
        for _ in range(wait):
            await asyncio.sleep(0)
        await asyncio.to_thread(opened.close)
        results = await asyncio.gather(under_way, return_exceptions=True)
        opened = open_registry(path)
        persisted = names(opened)
        opened.close()

        assert (
            ["a", "b", "c"] if isinstance(results[0], RegistrationOutcomes) else []
        ) == persisted
        if isinstance(results[0], RequestError):
            assert ErrorReason.REGISTRY_UNUSABLE == results[0].reason
        else:
            assert isinstance(results[0], RegistrationOutcomes)


async def test_replacing_removes_nothing_if_a_name_is_unreadable(registry: Registry) -> None:
    """The unreadable name may be that of any registered tool."""
    registrar = make_registrar(registry)
    await registrar.register(request_for(*map(tool, "ab")))
    unreadable = b'{"name": "b", "inputSchema": {"type": "object", "type": "object"}}'
    results = await registrar.register(request_for(tool("c"), unreadable, replace=True))

    assert (Action.CREATED, None) == tuple(outcome.action for outcome in results.outcomes)
    assert ((), ["a", "b", "c"]) == (results.removed, names(registry))


async def test_warnings_do_not_block_registration(registry: Registry) -> None:
    """Recommendations of model providers are not reported at registration."""
    definition = tool("a.b", inputSchema={"type": "object", "default": 1})
    results = await make_registrar(registry).register(request_for(definition))

    assert (Action.CREATED, [("DEFAULT_REFUSED", "/inputSchema/default")]) == (
        results.outcomes[0].action,
        [
            (violation.code, violation.instance_location)
            for violation in results.outcomes[0].violations
        ],
    )


async def test_rules_depend_on_the_protocol_version(registry: Registry) -> None:
    """Cached checks are keyed by protocol version."""
    registrar = make_registrar(registry)
    definition = tool("a", outputSchema={"type": "array"})
    results = [
        await registrar.register(
            request_for(definition, protocol_version=version, validate_only=True)
        )
        for version in ("2025-11-25", "2026-07-28", "2025-11-25", "")
    ]

    assert [[WRAPPED], [], [WRAPPED], [WRAPPED]] == [
        [violation.code for violation in result.outcomes[0].violations] for result in results
    ]


async def test_output_schemas_are_checked_in_every_version(
    registry: Registry,
) -> None:
    """Registered schemas must compile in any protocol version."""
    broken = tool("a", outputSchema={"$ref": "#/gone", "not": {"pattern": "("}})
    results = await make_registrar(registry).register(
        request_for(broken, protocol_version="2024-11-05")
    )

    assert [
        ("UNRESOLVABLE_REFERENCE", "/outputSchema/$ref"),
        ("INVALID_PATTERN", "/outputSchema/not/pattern"),
    ] == [
        (violation.code, violation.instance_location)
        for violation in results.outcomes[0].violations
    ]


@pytest.mark.parametrize("version", ["", "2024-11-05"])
async def test_every_fault_of_both_schemas_is_reported(registry: Registry, version: str) -> None:
    """One response has all of them with their locations."""
    dangling = {"type": "object", "properties": {"a": {"$ref": "#/x"}, "b": {"$ref": "#/y"}}}
    broken = tool("a", outputSchema={**dangling, "required": ["a", 7]})
    broken["inputSchema"] = {**dangling, "patternProperties": {"(": {}}}
    results = await make_registrar(registry).register(request_for(broken, protocol_version=version))

    assert [
        ("/inputSchema/patternProperties/(", "INVALID_PATTERN"),
        ("/inputSchema/properties/a/$ref", "UNRESOLVABLE_REFERENCE"),
        ("/inputSchema/properties/b/$ref", "UNRESOLVABLE_REFERENCE"),
        ("/outputSchema/properties/a/$ref", "UNRESOLVABLE_REFERENCE"),
        ("/outputSchema/properties/b/$ref", "UNRESOLVABLE_REFERENCE"),
        ("/outputSchema/required/1", "TYPE"),
    ] == [
        (violation.instance_location, violation.code)
        for violation in results.outcomes[0].violations
    ]


async def test_checked_definitions_are_cached(registry: Registry) -> None:
    """Their schemas are not compiled again; white space does not matter."""
    compiler = RecordedTasks(LIMITS)
    schemas = CompiledSchemas(compiler, LIMITS, 0, 0)
    registrar = registrar_of(registry, schemas, LIMITS)
    spaced = json.dumps(tool("a"), indent=1).encode()
    results = [
        await registrar.register(request_for(text)) for text in (tool("a"), tool("a"), spaced)
    ]

    assert [Action.CREATED, Action.UNCHANGED, Action.UNCHANGED] == [
        result.outcomes[0].action for result in results
    ]
    assert 1 == len(compiler.compiled)
