"""Registration: checks of single tools, change policies, transactions."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import Artifact, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Severity, Violation
from sidecheck_server.registry import Registry, RegistryUnusable
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


class Compiler:
    """Compiles here; fails with *failure* first."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.compiled = 0

    async def __call__(self, source: SchemaSource, begun: Callable[[], None]) -> Artifact:
        begun()
        self.compiled += 1
        failure, self.failure = self.failure, None
        if failure:
            raise failure
        return compile_schema(source, LIMITS)


def registrar(registry: Registry, failure: Exception | None = None) -> Registrar:
    schemas = CompiledSchemas(Compiler(failure), LIMITS, 1000, 10)
    return registrar_of(registry, schemas, LIMITS)


@pytest.fixture
def registry() -> Iterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


def tool(name: str = "a", size: int = 0, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "maxProperties": size}, **more}


def request_for(*tools: Any, **options: Any) -> Registration:
    texts = [entry if isinstance(entry, bytes) else json.dumps(entry).encode() for entry in tools]
    return Registration("s", tuple(map(InlineTool, texts)), **options)


def defined(entry: Any, *documents: Document) -> Definition:
    """The definition that registering *one* leads to."""
    output = entry.get("outputSchema")
    return Definition(
        digest=digest_of(entry, documents),
        name=entry["name"],
        json=json.dumps(entry).encode(),
        documents=documents,
        input_schema_digest=digest_of(entry["inputSchema"], documents),
        output_schema_digest=None if output is None else digest_of(output, documents),
    )


def outcome(
    entry: Any, action: Action | None, *problems: Violation, before: str = "", refused: bool = False
) -> Outcome:
    definition = defined(entry)
    kept = None if refused else definition
    return Outcome(entry["name"], action, problems, kept, definition.digest, before)


def names(registry: Registry) -> list[str]:
    return [entry.name for entry in registry.page("s", None, 9999, 1 << 30)[0]]


async def test_an_outcome_says_what_happened(registry: Registry) -> None:
    """Created, unchanged, changed; with both digests."""
    wide, narrow = tool(size=2, outputSchema={"type": "object"}), tool(size=1)
    entry = registrar(registry)
    results = [await entry.register(request_for(element)) for element in (wide, wide, narrow)]

    before = digest_of(wide)
    assert [
        RegistrationOutcomes((outcome(wide, Action.CREATED),), (), 1),
        RegistrationOutcomes((outcome(wide, Action.UNCHANGED, before=before),), (), 1),
        RegistrationOutcomes((outcome(narrow, Action.CHANGED, before=before),), (), 2),
    ] == results


async def test_documents_belong_to_the_definition(registry: Registry) -> None:
    """And to the digests."""
    entry = tool(outputSchema={"type": "object", "$ref": "urn:d"})
    document = Document("urn:d", b"{}")
    text = InlineTool(json.dumps(entry).encode(), (document,))
    results = await registrar(registry).register(Registration("s", (text,)))

    assert defined(entry, document) == results.outcomes[0].definition
    assert Binding("s", defined(entry, document), 1) == registry.bound_to(
        results.outcomes[0].digest
    )


@pytest.mark.parametrize(
    ("change_policy", "action", "problems", "kept"),
    [
        pytest.param(ChangePolicy.ACCEPT, Action.CHANGED, [], 2, id="accept"),
        pytest.param(
            ChangePolicy.REPORT, Action.CHANGED, [changed(Severity.WARNING)], 2, id="report"
        ),
        pytest.param(ChangePolicy.REJECT, None, [changed(Severity.ERROR)], 1, id="refuse"),
    ],
)
async def test_a_change_is_accepted_reported_or_rejected(
    registry: Registry,
    change_policy: ChangePolicy,
    action: Any,
    problems: list[Violation],
    kept: int,
) -> None:
    """The same by validate_only, which changes nothing."""
    first, second = tool(size=1), tool(size=2)
    await registrar(registry).register(request_for(first))
    tried = await registrar(registry).register(
        request_for(second, change_policy=change_policy, validate_only=True)
    )
    revision = registry.revision
    done = await registrar(registry).register(request_for(second, change_policy=change_policy))

    expected = outcome(
        second,
        action,
        *problems,
        before=digest_of(first),
        refused=change_policy is ChangePolicy.REJECT,
    )
    assert ((expected,), 1) == (tried.outcomes, revision)
    assert (expected,) == done.outcomes
    bound = registry.find("s", "a")
    assert bound is not None
    assert tool(size=kept) == json.loads(bound.definition.json)


async def test_of_changes_concurrently_that_are_to_be_rejected_one_stands(
    registry: Registry,
) -> None:
    """What is compared is still registered when it is replaced."""
    entry = registrar(registry)
    tools = [tool(size=size) for size in range(8)]
    results = await asyncio.gather(
        *(
            entry.register(request_for(element, change_policy=ChangePolicy.REJECT))
            for element in tools
        )
    )

    assert 1 == registry.revision
    assert [Action.CREATED, *[None] * 7] == sorted(
        (element.outcomes[0].action for element in results), key=lambda action: action is None
    )


EMPTY = ["TOOL_NAME_EMPTY", "TOOL_NAME_MISSING"]
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
        pytest.param(tool(""), "", digest_of(tool("")), EMPTY, id="an empty name"),
        pytest.param(b"[1]", "", digest_of([1]), ["TYPE"], id="no object"),
        pytest.param(b'{"name": "a"', "", "", ["PAYLOAD_NOT_JSON"], id="not JSON"),
        pytest.param(b'{"name": "a", "name": "a"}', "", "", ["DUPLICATE_KEY"], id="ambiguous"),
        pytest.param(b"[" * 99 + b"]" * 99, "", "", ["LIMIT_EXCEEDED"], id="too deep"),
        pytest.param(tool(description="x" * 600_000), "", "", ["LIMIT_EXCEEDED"], id="too large"),
    ],
)
async def test_a_faulty_definition_is_rejected_by_itself(
    registry: Registry, text: Any, name: str, digest: str | None, codes: list[str]
) -> None:
    """With its name and digest where it has them, and a problem for each fault."""
    good = tool("b")
    results = await registrar(registry).register(request_for(text, good))
    refused, created = results.outcomes

    assert (name, None, None) == (refused.name, refused.action, refused.definition)
    assert (digest_of(text) if digest is None else digest) == refused.digest
    assert codes == [entry.code for entry in refused.violations]
    assert outcome(good, Action.CREATED) == created


async def test_replacing_keeps_what_is_named_however_faulty(registry: Registry) -> None:
    """And tells what is removed, and what the names are bound to."""
    entry = registrar(registry)
    await entry.register(request_for(*map(tool, "abcd")))
    broken = {"name": "c", "inputSchema": {"type": "x"}}
    results = await entry.register(request_for(FAULTY, broken, replace=True))

    assert (("b", "d"), ["a", "c"]) == (results.removed, names(registry))
    assert [digest_of(tool("a")), digest_of(tool("c"))] == [
        element.previous_digest for element in results.outcomes
    ]


async def test_of_a_name_twice_the_last_counts(registry: Registry) -> None:
    """Both are told, and told what was bound before."""
    old, first, last = (tool(size=size) for size in range(3))
    entry = registrar(registry)
    await entry.register(request_for(old))
    results = await entry.register(request_for(first, FAULTY, last))

    assert [DUPLICATE] * 3 == [element.violations[-1] for element in results.outcomes]
    assert [Action.CHANGED, None, Action.CHANGED] == [
        element.action for element in results.outcomes
    ]
    assert [digest_of(old), digest_of(old), digest_of(first)] == [
        element.previous_digest for element in results.outcomes
    ]


async def test_a_worker_that_dies_costs_only_its_tool(registry: Registry) -> None:
    """Which can be registered the next time."""
    entry = registrar(registry, RequestError(ErrorReason.WORKER_CRASHED, "died"))
    first = await entry.register(request_for(tool("a"), tool("b", size=1)))
    again = await entry.register(request_for(tool("a")))

    problem = Violation("/inputSchema", "", "", "WORKER_CRASHED", "died")
    assert outcome(tool("a"), None, problem, refused=True) == first.outcomes[0]
    assert [Action.CREATED, Action.CREATED] == [first.outcomes[1].action, again.outcomes[0].action]


async def test_other_calls_have_their_turn_while_many_tools_are_read(registry: Registry) -> None:
    """At least one for each tool."""
    over, turns = Event(), 0

    async def other() -> None:
        nonlocal turns
        while not over.is_set():
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.create_task(other())
    results = await registrar(registry).register(
        request_for(*(tool(f"t{n:03}") for n in range(200)))
    )
    over.set()
    await others

    assert [f"t{n:03}" for n in range(200)] == [entry.name for entry in results.outcomes]
    assert turns >= 200


@pytest.mark.parametrize("server", ["", "x" * 257])
async def test_a_server_without_a_fit_name_is_rejected(registry: Registry, server: str) -> None:
    """Before any tool is looked at."""
    with pytest.raises(RequestError) as raised:
        await registrar(registry).register(Registration(server, ()))

    assert (ErrorReason.INVALID_REQUEST, {"field": "server"}) == (
        raised.value.reason,
        raised.value.metadata,
    )


@pytest.mark.slow
async def test_a_registration_under_way_when_the_registry_closes_is_whole_or_not_at_all(
    tmp_path: Path,
) -> None:
    """And says so: what was answered is in the file."""
    for wait in range(12):
        path = tmp_path / f"{wait}.db"
        opened = open_registry(path)
        under_way = asyncio.create_task(registrar(opened).register(request_for(*map(tool, "abc"))))
        for _ in range(wait):
            await asyncio.sleep(0)
        await asyncio.to_thread(opened.close)
        results = await asyncio.gather(under_way, return_exceptions=True)
        opened = open_registry(path)
        kept = names(opened)
        opened.close()

        assert (["a", "b", "c"] if isinstance(results[0], RegistrationOutcomes) else []) == kept
        assert isinstance(results[0], RegistrationOutcomes | RegistryUnusable)


async def test_nothing_is_removed_where_a_name_cannot_be_read(registry: Registry) -> None:
    """It may be that of any tool that is registered."""
    entry = registrar(registry)
    await entry.register(request_for(*map(tool, "ab")))
    unreadable = b'{"name": "b", "inputSchema": {"type": "object", "type": "object"}}'
    results = await entry.register(request_for(tool("c"), unreadable, replace=True))

    assert (Action.CREATED, None) == tuple(element.action for element in results.outcomes)
    assert ((), ["a", "b", "c"]) == (results.removed, names(registry))


async def test_warnings_are_told_and_block_nothing(registry: Registry) -> None:
    """What providers advise is no problem of a registration."""
    entry = tool("a.b", inputSchema={"type": "object", "default": 1})
    results = await registrar(registry).register(request_for(entry))

    assert (Action.CREATED, [("DEFAULT_REFUSED", "/inputSchema/default")]) == (
        results.outcomes[0].action,
        [(found.code, found.instance_location) for found in results.outcomes[0].violations],
    )


async def test_the_rules_of_the_version_hold(registry: Registry) -> None:
    """What is found under one is not what is found under another."""
    entry = registrar(registry)
    listing = tool("a", outputSchema={"type": "array"})
    results = [
        await entry.register(request_for(listing, protocol_version=version, validate_only=True))
        for version in ("2025-11-25", "2026-07-28", "2025-11-25", "")
    ]

    assert [["CONST"], [], ["CONST"], ["CONST"]] == [
        [found.code for found in element.outcomes[0].violations] for element in results
    ]


async def test_an_output_schema_must_be_sound_in_versions_that_have_none(
    registry: Registry,
) -> None:
    """What is registered must be able to validate."""
    broken = tool("a", outputSchema={"$ref": "#/gone"})
    results = await registrar(registry).register(request_for(broken, protocol_version="2024-11-05"))

    assert [("UNRESOLVABLE_REFERENCE", "/outputSchema")] == [
        (found.code, found.instance_location) for found in results.outcomes[0].violations
    ]


async def test_what_is_found_of_a_definition_is_remembered(registry: Registry) -> None:
    """Nothing is compiled again; another layout is the same definition."""
    compiler = Compiler()
    schemas = CompiledSchemas(compiler, LIMITS, 0, 0)
    entry = registrar_of(registry, schemas, LIMITS)
    spaced = json.dumps(tool("a"), indent=1).encode()
    results = [
        await entry.register(request_for(element)) for element in (tool("a"), tool("a"), spaced)
    ]

    assert [Action.CREATED, Action.UNCHANGED, Action.UNCHANGED] == [
        element.outcomes[0].action for element in results
    ]
    assert 1 == compiler.compiled
