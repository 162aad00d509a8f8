"""Validation options, with a real server."""

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
from support.wire import error_info_of

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
    """Yield a stub of a server that does not enforce tools of the server watched."""
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


def inline_schema(schema: Any) -> target_pb2.Target:
    return target_pb2.Target(
        inline_schema=target_pb2.InlineSchema(json=json.dumps(schema).encode())
    )


def named(server: str, name: str = "add", **pin: str) -> target_pb2.Target:
    tool = target_pb2.RegisteredTool(server=server, name=name, **pin)
    return target_pb2.Target(registered_tool=tool)


def validate(stub: Any, target: target_pb2.Target, payload: Any, **options: Any) -> Any:
    """Return the verdict on *payload*, which is encoded as JSON."""
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
def test_the_detail_limits_the_verdict(
    stub: Any, detail: str, codes: list[str], truncated: bool, text: bool
) -> None:
    """Validity does not depend on the detail."""
    verdict = validate(stub, inline_schema(SCHEMA), {"n": "x", "tags": 1}, detail=detail)

    assert (False, codes, truncated, text) == (
        verdict.valid,
        [violation.code for violation in verdict.violations],
        verdict.truncated,
        bool(verdict.tool_error_text),
    )
    assert validate(stub, inline_schema(SCHEMA), {"n": 1}, detail=detail).valid


def test_a_repair_is_returned_with_the_original_verdict(stub: Any) -> None:
    """Coercion, stripping and defaults are applied in order, then validated."""
    verdict = validate(
        stub,
        inline_schema(SCHEMA),
        {"n": "10", "tags": '["a"]', "zzz": 1},
        coercion="COERCION_SAFE_SCALARS",
        unknown_arguments="UNKNOWN_ARGUMENTS_STRIP",
        apply_defaults=True,
    )
    changes = [(change.instance_location, change.code) for change in verdict.repair.changes]

    assert (False, ["TYPE", "TYPE"]) == (
        verdict.valid,
        [violation.code for violation in verdict.violations],
    )
    assert {"n": 10, "tags": ["a"], "limit": 10} == json.loads(verdict.repair.payload)
    assert (True, []) == (verdict.repair.valid, list(verdict.repair.violations))
    assert [
        ("/n", "STRING_TO_INTEGER"),
        ("/tags", "JSON_STRING_DECODED"),
        ("/zzz", "UNKNOWN_PROPERTY_REMOVED"),
        ("/limit", "DEFAULT_APPLIED"),
        ("/mode", "DEFAULT_SKIPPED"),
    ] == sorted(
        changes,
        key=lambda location_and_code: ["/n", "/tags", "/zzz", "/limit", "/mode"].index(
            location_and_code[0]
        ),
    )
    assert all(change.message for change in verdict.repair.changes)


def test_a_repair_has_the_remaining_violations(stub: Any) -> None:
    """A repaired payload may be invalid."""
    repair = validate(
        stub, inline_schema(SCHEMA), {"tags": "[1]"}, coercion="COERCION_JSON_STRINGS"
    ).repair

    assert {"tags": [1]} == json.loads(repair.payload)
    assert (False, ["REQUIRED", "TYPE"]) == (
        repair.valid,
        [violation.code for violation in repair.violations],
    )


@pytest.mark.parametrize(
    ("payload", "options"),
    [
        pytest.param({"n": 1}, {}, id="no repair requested"),
        pytest.param({"n": 1}, {"coercion": "COERCION_SAFE_SCALARS"}, id="already valid"),
        pytest.param(
            {"n": 1}, {"unknown_arguments": "UNKNOWN_ARGUMENTS_STRIP"}, id="no unknown arguments"
        ),
        pytest.param({"n": []}, {"coercion": "COERCION_SAFE_SCALARS"}, id="no safe coercion"),
    ],
)
def test_an_unchanged_payload_has_no_repair(
    stub: Any, payload: Any, options: dict[str, Any]
) -> None:
    """The response has no repair without changes."""
    assert not validate(stub, inline_schema(SCHEMA), payload, **options).HasField("repair")


@pytest.mark.parametrize(
    ("unknown", "valid", "severity"),
    [
        pytest.param("UNKNOWN_ARGUMENTS_REJECT", False, "SEVERITY_ERROR", id="rejected"),
        pytest.param("UNKNOWN_ARGUMENTS_REPORT", True, "SEVERITY_WARNING", id="reported"),
    ],
)
def test_unknown_arguments_can_be_violations(
    stub: Any, unknown: str, valid: bool, severity: str
) -> None:
    """Unknown arguments at any depth suggest the nearest known name."""
    schema: Any = {"properties": {"where": {"properties": {"path": {}}}}}
    verdict = validate(
        stub, inline_schema(schema), {"where": {"pth": 1}}, unknown_arguments=unknown
    )

    assert valid is verdict.valid
    assert [
        {
            "instanceLocation": "/where/pth",
            "keywordLocation": "/properties/where/properties",
            "keyword": "properties",
            "code": "UNKNOWN_PROPERTY",
            "severity": severity,
            "message": verdict.violations[0].message,
            "suggestion": "path",
        }
    ] == [MessageToDict(violation) for violation in verdict.violations]


def test_an_unknown_tool_can_be_skipped(stub: Any) -> None:
    """The verdict is valid, with a warning that nothing was validated."""
    target = named("other", "nothing")
    verdict = validate(stub, target, {}, on_unknown_tool="ON_UNKNOWN_TOOL_SKIP")
    with pytest.raises(grpc.RpcError) as raised:
        validate(stub, target, {}, on_unknown_tool="ON_UNKNOWN_TOOL_ERROR")

    assert (True, True, ["UNKNOWN_TOOL"]) == (
        verdict.valid,
        verdict.enforced,
        [violation.code for violation in verdict.violations],
    )
    assert "UNKNOWN_TOOL" == error_info_of(raised.value).reason


@pytest.mark.parametrize(("server", "enforced"), [("watched", False), ("other", True)])
@pytest.mark.parametrize("payload", [{}, {"n": 1}])
def test_tools_of_report_only_servers_are_not_enforced(
    stub: Any, server: str, enforced: bool, payload: Any
) -> None:
    """Validity is the same; enforced is false."""
    verdict = validate(stub, named(server), payload)

    assert (payload == {"n": 1}, enforced) == (verdict.valid, verdict.enforced)


def test_a_changed_tool_is_detected_by_its_pinned_digest(stub: Any) -> None:
    """The error has the pinned and the registered digest."""
    current = validate(stub, named("other"), {"n": 1}).definition_digest
    with pytest.raises(grpc.RpcError) as raised:
        validate(stub, named("other", definition_digest="sha256:00"), {"n": 1})
    error = error_info_of(raised.value)

    assert validate(stub, named("other", definition_digest=current), {"n": 1}).valid
    assert ("DEFINITION_MISMATCH", {"pinned": "sha256:00", "registered": current}) == (
        error.reason,
        dict(error.metadata),
    )


def test_a_repaired_payload_is_validated_with_the_same_options(stub: Any) -> None:
    """Unknown arguments are violations in the repaired payload too."""
    verdict = validate(
        stub,
        inline_schema({"properties": {"n": {"type": "integer"}}}),
        {"n": "1", "zzz": 2},
        coercion="COERCION_SAFE_SCALARS",
        unknown_arguments="UNKNOWN_ARGUMENTS_REJECT",
    )

    assert {"n": 1, "zzz": 2} == json.loads(verdict.repair.payload)
    assert (False, ["UNKNOWN_PROPERTY"]) == (
        verdict.repair.valid,
        [violation.code for violation in verdict.repair.violations],
    )
