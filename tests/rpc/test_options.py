"""The options of a validation, through a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from sidecheck.v1 import registry_service_pb2, target_pb2, validation_service_pb2
from sidecheck.v1.options_pb2 import ValidationOptions
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.wire import refusal_of

TOOL = {"name": "add", "inputSchema": {"type": "object", "required": ["n"]}}
SCHEMA: Any = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "limit": {"type": "integer", "default": 10},
        "mode": {"type": "integer", "default": "fast"},
    },
    "required": ["n"],
}


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The service of a server that only reports on the server named watched."""
    folder = tmp_path_factory.mktemp("options")
    running = RunningServer(folder, SIDECHECK_REPORT_ONLY='["watched"]')
    with grpc.insecure_channel(running.address) as channel:
        registry: Any = RegistryServiceStub(channel)
        for server in ("watched", "other"):
            registry.RegisterTools(
                registry_service_pb2.RegisterToolsRequest(
                    server=server, tools=[target_pb2.InlineTool(json=json.dumps(TOOL).encode())]
                )
            )
        yield ValidationServiceStub(channel)
    running.close()


def under(schema: Any) -> target_pb2.Target:
    return target_pb2.Target(
        inline_schema=target_pb2.InlineSchema(json=json.dumps(schema).encode())
    )


def named(server: str, name: str = "add", **pin: str) -> target_pb2.Target:
    tool = target_pb2.RegisteredTool(server=server, name=name, **pin)
    return target_pb2.Target(registered_tool=tool)


def verdict(stub: Any, target: target_pb2.Target, payload: Any, **options: Any) -> Any:
    """Return the verdict, in the names and values of JSON."""
    request = validation_service_pb2.ValidateRequest(
        target=target,
        subject=target_pb2.Subject(arguments=json.dumps(payload).encode()),
        options=ValidationOptions(**options),
    )
    return stub.Validate(request).verdict


@pytest.mark.parametrize(
    ("detail", "codes", "truncated", "text"),
    [
        pytest.param("DETAIL_ALL", ["TYPE", "TYPE"], False, True, id="all"),
        pytest.param("DETAIL_FIRST", ["TYPE"], True, True, id="first"),
        pytest.param("DETAIL_VERDICT_ONLY", [], True, False, id="verdict only"),
    ],
)
def test_a_verdict_tells_as_much_as_is_asked_for(
    stub: Any, detail: str, codes: list[str], truncated: bool, text: bool
) -> None:
    """It is the same verdict."""
    got = verdict(stub, under(SCHEMA), {"n": "x", "tags": 1}, detail=detail)

    assert (False, codes, truncated, text) == (
        got.valid,
        [found.code for found in got.violations],
        got.truncated,
        bool(got.tool_error_text),
    )
    assert verdict(stub, under(SCHEMA), {"n": 1}, detail=detail).valid


def test_repairs_come_beside_the_verdict_on_the_original(stub: Any) -> None:
    """Coerced, then stripped, then filled, and judged again."""
    got = verdict(
        stub,
        under(SCHEMA),
        {"n": "10", "tags": '["a"]', "zzz": 1},
        coercion="COERCION_SAFE_SCALARS",
        unknown_arguments="UNKNOWN_ARGUMENTS_STRIP",
        apply_defaults=True,
    )
    changes = [(change.instance_location, change.code) for change in got.repair.changes]

    assert (False, ["TYPE", "TYPE"]) == (got.valid, [found.code for found in got.violations])
    assert {"n": 10, "tags": ["a"], "limit": 10} == json.loads(got.repair.payload)
    assert (True, []) == (got.repair.valid, list(got.repair.violations))
    assert [
        ("/n", "STRING_TO_INTEGER"),
        ("/tags", "JSON_STRING_DECODED"),
        ("/zzz", "UNKNOWN_PROPERTY_REMOVED"),
        ("/limit", "DEFAULT_APPLIED"),
        ("/mode", "DEFAULT_SKIPPED"),
    ] == sorted(changes, key=lambda one: ["/n", "/tags", "/zzz", "/limit", "/mode"].index(one[0]))
    assert all(change.message for change in got.repair.changes)


def test_a_repair_says_what_is_still_wrong(stub: Any) -> None:
    """It need not be valid."""
    got = verdict(stub, under(SCHEMA), {"tags": "[1]"}, coercion="COERCION_JSON_STRINGS").repair

    assert {"tags": [1]} == json.loads(got.payload)
    assert (False, ["REQUIRED", "TYPE"]) == (
        got.valid,
        [found.code for found in got.violations],
    )


@pytest.mark.parametrize(
    ("payload", "options"),
    [
        pytest.param({"n": 1}, {}, id="nothing was asked for"),
        pytest.param({"n": 1}, {"coercion": "COERCION_SAFE_SCALARS"}, id="it is valid"),
        pytest.param({"n": 1}, {"unknown_arguments": "UNKNOWN_ARGUMENTS_STRIP"}, id="all known"),
        pytest.param({"n": []}, {"coercion": "COERCION_SAFE_SCALARS"}, id="nothing is safe"),
    ],
)
def test_without_a_change_there_is_no_repair(
    stub: Any, payload: Any, options: dict[str, Any]
) -> None:
    """And none without a report."""
    assert not verdict(stub, under(SCHEMA), payload, **options).HasField("repair")


@pytest.mark.parametrize(
    ("unknown", "valid", "severity"),
    [
        pytest.param("UNKNOWN_ARGUMENTS_REJECT", False, "SEVERITY_ERROR", id="refused"),
        pytest.param("UNKNOWN_ARGUMENTS_REPORT", True, "SEVERITY_WARNING", id="reported"),
    ],
)
def test_unknown_arguments_are_violations_if_asked_for(
    stub: Any, unknown: str, valid: bool, severity: str
) -> None:
    """At every depth, with the nearest known name."""
    schema: Any = {"properties": {"where": {"properties": {"path": {}}}}}
    got = verdict(stub, under(schema), {"where": {"pth": 1}}, unknown_arguments=unknown)

    assert valid is got.valid
    assert [
        {
            "instanceLocation": "/where/pth",
            "keywordLocation": "/properties/where/properties",
            "keyword": "properties",
            "code": "UNKNOWN_PROPERTY",
            "severity": severity,
            "message": got.violations[0].message,
            "suggestion": "path",
        }
    ] == [MessageToDict(found) for found in got.violations]


def test_a_tool_that_is_not_known_may_be_skipped(stub: Any) -> None:
    """Valid, with a warning that says that nothing was judged."""
    target = named("other", "nothing")
    got = verdict(stub, target, {}, on_unknown_tool="ON_UNKNOWN_TOOL_SKIP")
    with pytest.raises(grpc.RpcError) as caught:
        verdict(stub, target, {}, on_unknown_tool="ON_UNKNOWN_TOOL_ERROR")

    assert (True, True, ["UNKNOWN_TOOL"]) == (
        got.valid,
        got.enforced,
        [found.code for found in got.violations],
    )
    assert "UNKNOWN_TOOL" == refusal_of(caught.value).reason


@pytest.mark.parametrize(("server", "enforced"), [("watched", False), ("other", True)])
@pytest.mark.parametrize("payload", [{}, {"n": 1}])
def test_tools_of_some_servers_are_only_reported_on(
    stub: Any, server: str, enforced: bool, payload: Any
) -> None:
    """The verdict is the same, and says that nobody should act on it."""
    got = verdict(stub, named(server), payload)

    assert (payload == {"n": 1}, enforced) == (got.valid, got.enforced)


def test_a_tool_that_changed_is_told_in_the_same_call(stub: Any) -> None:
    """By the digest that the caller pinned, and the one that is registered."""
    now = verdict(stub, named("other"), {"n": 1}).definition_digest
    with pytest.raises(grpc.RpcError) as caught:
        verdict(stub, named("other", definition_digest="sha256:00"), {"n": 1})
    refusal = refusal_of(caught.value)

    assert verdict(stub, named("other", definition_digest=now), {"n": 1}).valid
    assert ("DEFINITION_MISMATCH", {"pinned": "sha256:00", "registered": now}) == (
        refusal.reason,
        dict(refusal.metadata),
    )


def test_a_repaired_payload_is_held_to_the_same_options(stub: Any) -> None:
    """What is refused in the original is refused in what becomes of it."""
    got = verdict(
        stub,
        under({"properties": {"n": {"type": "integer"}}}),
        {"n": "1", "zzz": 2},
        coercion="COERCION_SAFE_SCALARS",
        unknown_arguments="UNKNOWN_ARGUMENTS_REJECT",
    )

    assert {"n": 1, "zzz": 2} == json.loads(got.repair.payload)
    assert (False, ["UNKNOWN_PROPERTY"]) == (
        got.repair.valid,
        [found.code for found in got.repair.violations],
    )
