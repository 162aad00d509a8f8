"""Registration: each tool is checked by itself, and the good ones are bound."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import Artifact, compile_source
from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.source import SchemaSource
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
from support.checkers import checker_of

LIMITS = Limits()
DUPLICATE = Violation(
    "/name",
    "",
    "",
    "TOOL_NAME_DUPLICATE",
    "the request has several tools of this name; the last good one counts",
    Severity.WARNING,
    clause="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool",
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
        return compile_source(source, LIMITS)


def registrar(registry: Registry, failure: Exception | None = None) -> Registrar:
    schemas = CompiledSchemas(Compiler(failure), LIMITS, 1000, 10)
    return Registrar(registry, schemas, checker_of(schemas), LIMITS)


@pytest.fixture
def registry() -> Iterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


def tool(name: str = "a", size: int = 0, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "maxProperties": size}, **more}


def asked(*tools: Any, **options: Any) -> Registration:
    texts = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in tools]
    return Registration("s", tuple(map(InlineTool, texts)), **options)


def defined(one: Any, *documents: Document) -> Definition:
    """The definition that registering *one* leads to."""
    output = one.get("outputSchema")
    return Definition(
        digest=digest_of(one, documents),
        name=one["name"],
        json=json.dumps(one).encode(),
        documents=documents,
        input_schema_digest=digest_of(one["inputSchema"], documents),
        output_schema_digest=None if output is None else digest_of(output, documents),
    )


def outcome(
    one: Any, action: Action | None, *problems: Violation, before: str = "", refused: bool = False
) -> Outcome:
    definition = defined(one)
    kept = None if refused else definition
    return Outcome(one["name"], action, problems, kept, definition.digest, before)


def names(registry: Registry) -> list[str]:
    return [one.name for one in registry.page("s", None, 9999, 1 << 30)[0]]


async def test_an_outcome_says_what_happened(registry: Registry) -> None:
    """Created, unchanged, changed; with both digests."""
    wide, narrow = tool(size=2, outputSchema={"type": "object"}), tool(size=1)
    one = registrar(registry)
    got = [await one.register(asked(each)) for each in (wide, wide, narrow)]

    before = digest_of(wide)
    assert [
        RegistrationOutcomes((outcome(wide, Action.CREATED),), (), 1),
        RegistrationOutcomes((outcome(wide, Action.UNCHANGED, before=before),), (), 1),
        RegistrationOutcomes((outcome(narrow, Action.CHANGED, before=before),), (), 2),
    ] == got


async def test_documents_belong_to_the_definition(registry: Registry) -> None:
    """And to the digests."""
    one = tool(outputSchema={"type": "object", "$ref": "urn:d"})
    document = Document("urn:d", b"{}")
    text = InlineTool(json.dumps(one).encode(), (document,))
    got = await registrar(registry).register(Registration("s", (text,)))

    assert defined(one, document) == got.outcomes[0].definition
    assert Binding("s", defined(one, document), 1) == registry.bound_to(got.outcomes[0].digest)


@pytest.mark.parametrize(
    ("change_policy", "action", "problems", "kept"),
    [
        pytest.param(ChangePolicy.ACCEPT, Action.CHANGED, [], 2, id="accept"),
        pytest.param(
            ChangePolicy.REPORT, Action.CHANGED, [changed(Severity.WARNING)], 2, id="report"
        ),
        pytest.param(ChangePolicy.REFUSE, None, [changed(Severity.ERROR)], 1, id="refuse"),
    ],
)
async def test_a_change_is_accepted_reported_or_refused(
    registry: Registry,
    change_policy: ChangePolicy,
    action: Any,
    problems: list[Violation],
    kept: int,
) -> None:
    """The same by validate_only, which changes nothing."""
    first, second = tool(size=1), tool(size=2)
    await registrar(registry).register(asked(first))
    tried = await registrar(registry).register(
        asked(second, change_policy=change_policy, validate_only=True)
    )
    revision = registry.revision
    done = await registrar(registry).register(asked(second, change_policy=change_policy))

    expected = outcome(
        second,
        action,
        *problems,
        before=digest_of(first),
        refused=change_policy is ChangePolicy.REFUSE,
    )
    assert ((expected,), 1) == (tried.outcomes, revision)
    assert (expected,) == done.outcomes
    bound = registry.find("s", "a")
    assert bound is not None
    assert tool(size=kept) == json.loads(bound.definition.json)


async def test_of_changes_at_once_that_are_to_be_refused_one_stands(registry: Registry) -> None:
    """What is compared is still registered when it is replaced."""
    one = registrar(registry)
    tools = [tool(size=size) for size in range(8)]
    got = await asyncio.gather(
        *(one.register(asked(each, change_policy=ChangePolicy.REFUSE)) for each in tools)
    )

    assert 1 == registry.revision
    assert [Action.CREATED, *[None] * 7] == sorted(
        (each.outcomes[0].action for each in got), key=lambda action: action is None
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
async def test_a_faulty_definition_is_refused_by_itself(
    registry: Registry, text: Any, name: str, digest: str | None, codes: list[str]
) -> None:
    """With its name and digest where it has them, and a problem for each fault."""
    good = tool("b")
    got = await registrar(registry).register(asked(text, good))
    refused, created = got.outcomes

    assert (name, None, None) == (refused.name, refused.action, refused.definition)
    assert (digest_of(text) if digest is None else digest) == refused.digest
    assert codes == [one.code for one in refused.violations]
    assert outcome(good, Action.CREATED) == created


async def test_replacing_keeps_what_is_named_however_faulty(registry: Registry) -> None:
    """And tells what is removed, and what the names are bound to."""
    one = registrar(registry)
    await one.register(asked(*map(tool, "abcd")))
    broken = {"name": "c", "inputSchema": {"type": "x"}}
    got = await one.register(asked(FAULTY, broken, replace=True))

    assert (("b", "d"), ["a", "c"]) == (got.removed, names(registry))
    assert [digest_of(tool("a")), digest_of(tool("c"))] == [
        each.previous_digest for each in got.outcomes
    ]


async def test_of_a_name_twice_the_last_counts(registry: Registry) -> None:
    """Both are told, and told what was bound before."""
    old, first, last = (tool(size=size) for size in range(3))
    one = registrar(registry)
    await one.register(asked(old))
    got = await one.register(asked(first, FAULTY, last))

    assert [DUPLICATE] * 3 == [each.violations[-1] for each in got.outcomes]
    assert [Action.CHANGED, None, Action.CHANGED] == [each.action for each in got.outcomes]
    assert [digest_of(old), digest_of(old), digest_of(first)] == [
        each.previous_digest for each in got.outcomes
    ]


async def test_a_worker_that_dies_costs_only_its_tool(registry: Registry) -> None:
    """Which can be registered the next time."""
    one = registrar(registry, RequestError(ErrorReason.WORKER_CRASHED, "died"))
    first = await one.register(asked(tool("a"), tool("b", size=1)))
    again = await one.register(asked(tool("a")))

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
    got = await registrar(registry).register(asked(*(tool(f"t{n:03}") for n in range(200))))
    over.set()
    await others

    assert [f"t{n:03}" for n in range(200)] == [one.name for one in got.outcomes]
    assert turns >= 200


@pytest.mark.parametrize("server", ["", "x" * 257])
async def test_a_server_without_a_fit_name_is_refused(registry: Registry, server: str) -> None:
    """Before any tool is looked at."""
    with pytest.raises(RequestError) as caught:
        await registrar(registry).register(Registration(server, ()))

    assert (ErrorReason.INVALID_REQUEST, {"field": "server"}) == (
        caught.value.reason,
        caught.value.metadata,
    )


@pytest.mark.slow
async def test_a_registration_under_way_when_the_registry_closes_is_whole_or_not_at_all(
    tmp_path: Path,
) -> None:
    """And says so: what was answered is in the file."""
    for wait in range(12):
        path = tmp_path / f"{wait}.db"
        opened = open_registry(path)
        under_way = asyncio.create_task(registrar(opened).register(asked(*map(tool, "abc"))))
        for _ in range(wait):
            await asyncio.sleep(0)
        await asyncio.to_thread(opened.close)
        got = await asyncio.gather(under_way, return_exceptions=True)
        opened = open_registry(path)
        kept = names(opened)
        opened.close()

        assert (["a", "b", "c"] if isinstance(got[0], RegistrationOutcomes) else []) == kept
        assert isinstance(got[0], RegistrationOutcomes | RegistryUnusable)


async def test_nothing_is_removed_where_a_name_cannot_be_read(registry: Registry) -> None:
    """It may be that of any tool that is registered."""
    one = registrar(registry)
    await one.register(asked(*map(tool, "ab")))
    unreadable = b'{"name": "b", "inputSchema": {"type": "object", "type": "object"}}'
    got = await one.register(asked(tool("c"), unreadable, replace=True))

    assert (Action.CREATED, None) == tuple(each.action for each in got.outcomes)
    assert ((), ["a", "b", "c"]) == (got.removed, names(registry))


async def test_warnings_are_told_and_block_nothing(registry: Registry) -> None:
    """What providers advise is no problem of a registration."""
    one = tool("a.b", inputSchema={"type": "object", "default": 1})
    got = await registrar(registry).register(asked(one))

    assert (Action.CREATED, [("DEFAULT_REFUSED", "/inputSchema/default")]) == (
        got.outcomes[0].action,
        [(found.code, found.instance_location) for found in got.outcomes[0].violations],
    )


async def test_the_rules_of_the_version_hold(registry: Registry) -> None:
    """What is found under one is not what is found under another."""
    one = registrar(registry)
    listing = tool("a", outputSchema={"type": "array"})
    got = [
        await one.register(asked(listing, protocol_version=version, validate_only=True))
        for version in ("2025-11-25", "2026-07-28", "2025-11-25", "")
    ]

    assert [["CONST"], [], ["CONST"], ["CONST"]] == [
        [found.code for found in each.outcomes[0].violations] for each in got
    ]


async def test_an_output_schema_must_be_sound_in_versions_that_have_none(
    registry: Registry,
) -> None:
    """What is registered must be able to judge."""
    broken = tool("a", outputSchema={"$ref": "#/gone"})
    got = await registrar(registry).register(asked(broken, protocol_version="2024-11-05"))

    assert [("UNRESOLVABLE_REFERENCE", "/outputSchema")] == [
        (found.code, found.instance_location) for found in got.outcomes[0].violations
    ]


async def test_what_is_found_of_a_definition_is_remembered(registry: Registry) -> None:
    """Nothing is compiled again; another layout is the same definition."""
    compiler = Compiler()
    schemas = CompiledSchemas(compiler, LIMITS, 0, 0)
    one = Registrar(registry, schemas, checker_of(schemas), LIMITS)
    spaced = json.dumps(tool("a"), indent=1).encode()
    got = [await one.register(asked(each)) for each in (tool("a"), tool("a"), spaced)]

    assert [Action.CREATED, Action.UNCHANGED, Action.UNCHANGED] == [
        each.outcomes[0].action for each in got
    ]
    assert 1 == compiler.compiled
