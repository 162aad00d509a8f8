"""Which protocol version applies: that of the request, of the registration, or the default."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sidecheck import (
    BlockingClient,
    Options,
    ProtocolContext,
    RegisteredTool,
    SidecheckError,
    ToolDefinition,
)
from support.running import RunningServer

LIST: Any = {
    "name": "primes",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "array", "items": {"type": "integer"}},
}
PLAIN, WRAPPED = (
    {"content": [], "structuredContent": [2]},
    {
        "content": [],
        "structuredContent": {"result": [2]},
    },
)
COMPLETE = {"resultType": "complete"}
OLD, NEW = "2025-11-25", "2026-07-28"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingClient]:
    """Yield a client of a server whose default is the newest version."""
    folder = tmp_path_factory.mktemp("server")
    running = RunningServer(folder, "--protocol-version", NEW)
    with BlockingClient(running.address, timeout=60) as client:
        for server, version in (("old", OLD), ("new", NEW), ("default", "")):
            client.register(server, LIST, protocol_version=version)
        yield client
    running.close()


def valid(client: BlockingClient, server: str, named: str) -> list[bool]:
    """Return whether the plain and the wrapped result of the tool are valid."""
    target = RegisteredTool(server, "primes")
    options = Options(protocol_version=named)
    return [
        client.validate_call_result(target, {**result, **COMPLETE}, options=options).valid
        for result in (PLAIN, WRAPPED)
    ]


@pytest.mark.parametrize(
    ("server", "named", "expected"),
    [
        ("old", "", [False, True]),
        ("old", NEW, [True, False]),
        ("new", "", [True, False]),
        ("new", OLD, [False, True]),
        ("default", "", [True, False]),
    ],
)
def test_results_are_validated_in_the_form_for_the_version(
    client: BlockingClient, server: str, named: str, expected: list[bool]
) -> None:
    """Before 2026-07-28 a list is wrapped; later it is not."""
    assert expected == valid(client, server, named)


@pytest.mark.parametrize(("server", "content"), [("old", {"result": [2]}), ("new", [2])])
def test_other_requests_about_a_tool_follow_its_registration(
    client: BlockingClient, server: str, content: Any
) -> None:
    """These are normalization, the check of a result, and adaptation."""
    target = RegisteredTool(server, "primes")
    normalized = client.protocol.normalize_tool_result([2], tool=target)
    checked = client.protocol.check_tool_result(normalized.result, tool=target)
    adapted = client.inference.adapt_tool(target)

    assert content == normalized.result.value["structuredContent"]
    assert (True, True) == (normalized.verdict.valid, checked.verdict.valid)
    assert bool(adapted.wrapped_property) == (server == "old")


def test_the_registry_remembers_the_version(client: BlockingClient) -> None:
    versions = {tool.server: tool.protocol_version for tool in client.list()}

    assert {"old": OLD, "new": NEW, "default": NEW} == versions
    assert NEW == client.info().default_protocol_version


def test_listed_tools_can_be_adapted(client: BlockingClient) -> None:
    """Without a version, the bytes are those of the registration."""
    listed = {
        version: json.loads(next(iter(client.list("new", adapt_to_version=version))).json)
        for version in ("", "2025-03-26", OLD, NEW)
    }
    got = client.get("new", "primes", adapt_to_version=OLD)

    assert LIST == listed[""] == listed[NEW]
    assert LIST["inputSchema"] == listed["2025-03-26"]["inputSchema"]
    assert "outputSchema" not in listed["2025-03-26"]
    assert LIST["outputSchema"] == listed[OLD]["outputSchema"]["properties"]["result"]
    assert listed[OLD] == json.loads(got.json)


def test_registering_under_another_version_is_a_change(client: BlockingClient) -> None:
    """The definition and its digest are the same."""
    outcomes = [
        client.register("changing", LIST, protocol_version=version).outcomes[0]
        for version in (OLD, OLD, NEW)
    ]

    assert ["created", "unchanged", "changed"] == [outcome.action for outcome in outcomes]
    assert outcomes[0].definition_digest == outcomes[2].previous_definition_digest
    client.delete_all("changing")


def test_an_unknown_version_of_a_listing_is_an_error(client: BlockingClient) -> None:
    with pytest.raises(SidecheckError) as raised:
        list(client.list(adapt_to_version="2025-01-01"))

    assert "UNKNOWN_PROTOCOL_VERSION" == raised.value.reason


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("prims", "no tool 'prims' is registered for the server 'old'; did you mean 'primes'?"),
        ("weather", "no tool 'weather' is registered for the server 'old'"),
    ],
)
def test_an_unknown_tool_is_answered_with_the_nearest_name(
    client: BlockingClient, name: str, message: str
) -> None:
    with pytest.raises(SidecheckError) as raised:
        client.validate(RegisteredTool("old", name), {})

    assert ("UNKNOWN_TOOL", message) == (raised.value.reason, raised.value.message)


def test_the_nearest_name_does_not_disclose_a_hidden_one(client: BlockingClient) -> None:
    with pytest.raises(SidecheckError) as raised:
        client.validate_call(
            RegisteredTool("old"), {"name": "prims"}, options=Options(hide_values=True)
        )

    assert "prim" not in str(raised.value.metadata) + raised.value.message


def test_a_context_names_the_version_of_a_check(client: BlockingClient) -> None:
    """It has precedence over that of the registration."""
    checked = client.protocol.check_tool_result(
        PLAIN, tool=RegisteredTool("new", "primes"), context=ProtocolContext(OLD)
    )

    assert not checked.verdict.valid


@pytest.mark.parametrize(
    ("output", "content", "message"),
    [
        (
            LIST["outputSchema"],
            {},
            '"result" is required and missing; expected an array of integers',
        ),
        (
            {"enum": ["low", "high"]},
            {"level": "low"},
            '"result" is required and missing; expected one of "low" or "high"',
        ),
        (LIST["outputSchema"], [2], "expected an object, found an array of 1 item"),
        (
            {"anyOf": [{"type": "object", "required": ["port"]}, {"type": "null"}]},
            {"prt": 1},
            '"port" is required and missing',
        ),
    ],
)
def test_a_value_that_fits_no_form_is_reported_for_an_allowed_form(
    client: BlockingClient, output: Any, content: Any, message: str
) -> None:
    """The form of the definition is used only if it may have objects."""
    target = ToolDefinition({**LIST, "outputSchema": output})
    options = Options(protocol_version=OLD)
    verdict = client.validate_structured_content(target, content, options=options)

    assert message in verdict.violations[0].message
