"""Tool calls and results as subjects, with a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import registry_service_pb2, target_pb2
from sidecheck.v1 import validation_service_pb2 as v1
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.calling import (
    ADD,
    PING,
    codes,
    inline_target,
    params,
    registered_target,
    result,
    validate,
)
from support.running import RunningServer
from support.wire import error_info_of, info_of

ABSENT = target_pb2.Subject(absent_structured_content=target_pb2.AbsentContent())


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[grpc.Channel]:
    """Yield a channel to a server that does not enforce tools of the server watched."""
    running = RunningServer(tmp_path_factory.mktemp("calls"), SIDECHECK_REPORT_ONLY='["watched"]')
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(running.address, options) as channel:
        yield channel
    running.close()


@pytest.fixture(scope="module")
def stub(channel: grpc.Channel) -> Any:
    return ValidationServiceStub(channel)


@pytest.fixture(scope="module")
def registered(channel: grpc.Channel) -> dict[str, Any]:
    """Return the outcomes of registering the tools, by name."""
    registry: Any = RegistryServiceStub(channel)
    for server in ("s", "watched"):
        response = registry.RegisterTools(
            registry_service_pb2.RegisterToolsRequest(
                server=server,
                tools=[
                    target_pb2.InlineTool(json=json.dumps(definition).encode())
                    for definition in (ADD, PING)
                ],
            )
        )
    return {"add": response.outcomes[0], "ping": response.outcomes[1]}


def test_a_verdict_has_definition_and_schema_digests(stub: Any, registered: dict[str, Any]) -> None:
    """Without validation against a schema, the schema digest is empty."""
    add, ping = registered["add"], registered["ping"]
    results = [
        validate(stub, registered_target(), params("add", {"a": 1})),
        validate(stub, registered_target("add"), result({"sum": 3})),
        validate(stub, registered_target("add"), result(isError=True)),
        validate(stub, registered_target("ping"), result()),
        validate(stub, registered_target("ping"), ABSENT),
        validate(stub, registered_target("add"), ABSENT),
    ]

    assert [
        (True, add.definition_digest, add.input_schema_digest),
        (True, add.definition_digest, add.output_schema_digest),
        (True, add.definition_digest, ""),
        (True, ping.definition_digest, ""),
        (True, ping.definition_digest, ""),
        (False, add.definition_digest, add.output_schema_digest),
    ] == [(verdict.valid, verdict.definition_digest, verdict.schema_digest) for verdict in results]
    assert all(verdict.enforced for verdict in results)


def test_every_target_kind_has_the_same_verdict(stub: Any, registered: dict[str, Any]) -> None:
    """Targets are params, name, pinned name, digest and inline tool."""
    digest = registered["add"].definition_digest
    targets = [
        registered_target(),
        registered_target("add"),
        registered_target("add", definition_digest=digest),
        registered_target(definition_digest=digest),
        target_pb2.Target(definition_digest=digest),
        inline_target(ADD),
    ]
    results = [validate(stub, target, params("add", {"a": "x"})) for target in targets]

    assert [[("/arguments/a", "TYPE")]] * len(targets) == [codes(verdict) for verdict in results]
    assert 1 == len({verdict.SerializeToString() for verdict in results})


def test_the_name_in_the_params_selects_the_tool(stub: Any, registered: dict[str, Any]) -> None:
    """A target without a name applies to every tool of a server."""
    calls = [
        params("add", {}),
        params("ping", {}),
        params("add", {"a": 1}),
        params("ping", {"a": 1}),
    ]

    assert [False, True, True, True] == [
        validate(stub, registered_target(), subject).valid for subject in calls
    ]


@pytest.mark.parametrize(
    ("subject", "code"),
    [
        pytest.param(params(5), -32602, id="name is not a string"),
        pytest.param(target_pb2.Subject(call_params=b"{}"), -32602, id="no name"),
        pytest.param(target_pb2.Subject(call_params=b"[]"), -32602, id="not an object"),
        pytest.param(target_pb2.Subject(call_params=b'{"name":'), -32700, id="not JSON"),
        pytest.param(target_pb2.Subject(call_params=b"\xff"), -32700, id="not UTF-8"),
    ],
)
def test_params_without_a_tool_name_are_a_protocol_error(
    stub: Any, registered: dict[str, Any], subject: target_pb2.Subject, code: int
) -> None:
    """The response is a verdict, though no tool can be resolved."""
    verdict = validate(stub, registered_target(), subject)

    assert (False, "", b"", "") == (
        verdict.valid,
        verdict.definition_digest,
        verdict.call_tool_result,
        verdict.tool_error_text,
    )
    assert code == json.loads(verdict.json_rpc_error)["code"]


@pytest.mark.parametrize(
    ("target", "subject"),
    [
        pytest.param(registered_target("nobody"), params("nobody", {}), id="named by the target"),
        pytest.param(registered_target(), params("nobody", {}), id="named by the params"),
        pytest.param(
            registered_target("nobody"), target_pb2.Subject(arguments=b"{}"), id="arguments"
        ),
    ],
)
def test_an_unknown_tool_is_an_error(
    stub: Any, registered: dict[str, Any], target: target_pb2.Target, subject: target_pb2.Subject
) -> None:
    """The error has a JSON-RPC error; unknown tools can be skipped."""
    with pytest.raises(grpc.RpcError) as raised:
        validate(stub, target, subject)
    request_error = error_info_of(raised.value)
    skipped = validate(stub, target, subject, on_unknown_tool="ON_UNKNOWN_TOOL_SKIP")

    assert ("UNKNOWN_TOOL", "nobody") == (request_error.reason, request_error.metadata["tool"])
    error = {"code": -32602, "message": "Unknown tool: nobody"}
    assert error == json.loads(request_error.metadata["json_rpc_error"])
    assert (True, [("", "UNKNOWN_TOOL")]) == (skipped.valid, codes(skipped))


def test_a_result_of_an_unknown_tool_has_no_json_rpc_error(
    stub: Any, registered: dict[str, Any]
) -> None:
    """A result has no request that an error could respond to."""
    for subject in (result({}), ABSENT, target_pb2.Subject(structured_content=b"{}")):
        with pytest.raises(grpc.RpcError) as raised:
            validate(stub, registered_target("nobody"), subject)

        assert "UNKNOWN_TOOL" == error_info_of(raised.value).reason
        assert "json_rpc_error" not in error_info_of(raised.value).metadata


@pytest.mark.parametrize(
    "name",
    ["x" * 5000, "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 5000, '"\\' * 900, "\N{GRINNING FACE}" * 200],
)
def test_the_error_for_an_unknown_tool_truncates_its_name(
    stub: Any, registered: dict[str, Any], name: str
) -> None:
    """The size of a status is limited."""
    with pytest.raises(grpc.RpcError) as raised:
        validate(stub, registered_target(), params(name))
    error = json.loads(error_info_of(raised.value).metadata["json_rpc_error"])

    assert -32602 == error["code"]
    assert error["message"].startswith(f"Unknown tool: {name[:20]}")
    assert len(error["message"]) < 200


def test_the_name_of_an_unknown_tool_can_be_hidden(stub: Any, registered: dict[str, Any]) -> None:
    """hide_values applies to names in the payload."""
    options = {"hide_values": True}
    with pytest.raises(grpc.RpcError) as raised:
        validate(stub, registered_target(), params("hunter2"), **options)
    request_error = error_info_of(raised.value)
    skipped = validate(
        stub,
        registered_target(),
        params("hunter2"),
        on_unknown_tool="ON_UNKNOWN_TOOL_SKIP",
        **options,
    )

    assert "hunter2" not in f"{raised.value.details()}{request_error}{skipped}"
    assert "Unknown tool" == json.loads(request_error.metadata["json_rpc_error"])["message"]


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(params("add", {"a": "hunter2"}), id="arguments"),
        pytest.param(params("add", {"a": 1}, _meta="hunter2"), id="params"),
        pytest.param(params("hunter2", {"a": 1}), id="name"),
        pytest.param(result({"sum": "hunter2"}), id="structured content"),
        pytest.param(
            target_pb2.Subject(call_result=b'{"content": "hunter2"}'), id="a result's content"
        ),
        pytest.param(target_pb2.Subject(structured_content=b'{"sum": "hunter2"}'), id="content"),
        pytest.param(target_pb2.Subject(structured_content=b'"hunter2"'), id="not an object"),
    ],
)
def test_values_can_be_hidden(
    stub: Any, registered: dict[str, Any], subject: target_pb2.Subject
) -> None:
    """Messages and error responses hide values in each version."""
    for version in ("2025-06-18", "2025-11-25", "2026-07-28"):
        verdict = validate(
            stub, registered_target("add"), subject, hide_values=True, protocol_version=version
        )

        assert not verdict.valid
        assert b"hunter2" not in verdict.SerializeToString()


def test_a_repaired_call_has_all_params(stub: Any, registered: dict[str, Any]) -> None:
    """Other params are returned as they were written."""
    call = b'{"_meta": {"progressToken": 1e2}, "name": "add", "arguments": {"a": "1", "z": 0}}'
    repair = validate(
        stub,
        registered_target(),
        target_pb2.Subject(call_params=call),
        coercion="COERCION_SAFE_SCALARS",
        unknown_arguments="UNKNOWN_ARGUMENTS_STRIP",
    ).repair

    assert repair.valid
    expected = b'{"_meta":{"progressToken": 1e2},"name":"add","arguments":{"a":1}}'
    assert expected == repair.payload
    assert ["/arguments/a", "/arguments/z"] == [
        change.instance_location for change in repair.changes
    ]


def test_a_repair_keeps_other_violations_of_the_call(stub: Any, registered: dict[str, Any]) -> None:
    """Only the arguments are repaired."""
    repair = validate(
        stub, registered_target("add"), params("sub", {"a": "1"}), coercion="COERCION_SAFE_SCALARS"
    ).repair

    assert (False, ["TOOL_NAME_MISMATCH"]) == (
        repair.valid,
        [violation.code for violation in repair.violations],
    )
    assert {"name": "sub", "arguments": {"a": 1}} == json.loads(repair.payload)


SUBJECTS = [
    params("add", {"a": 1}),
    params("add", {"a": "x"}),
    params("nobody"),
    params(5),
    result({"sum": 1}),
    result(),
    ABSENT,
    target_pb2.Subject(structured_content=b"[]"),
]
OUTCOMES = [
    [],
    [("/arguments/a", "TYPE")],
    [("/name", "TOOL_NAME_MISMATCH"), ("/arguments", "REQUIRED")],
    [("/arguments", "REQUIRED"), ("/name", "TYPE")],
    [],
    [("", "OUTPUT_MISSING")],
    [("", "OUTPUT_MISSING")],
    [("", "TYPE")],
]


def test_batches_and_streams_agree_with_single_calls(stub: Any, registered: dict[str, Any]) -> None:
    """All kinds of subjects are sent in one batch and one stream."""
    items = [v1.ValidateItem(subject=subject) for subject in SUBJECTS]
    batch = stub.ValidateBatch(
        v1.ValidateBatchRequest(target=registered_target("add"), items=items)
    )
    requests = [
        v1.ValidateStreamRequest(defaults=v1.StreamDefaults(target=registered_target("add"))),
        *(v1.ValidateStreamRequest(item=v1.StreamItem(item=item)) for item in items),
    ]
    stream = [response.outcome for response in stub.ValidateStream(iter(requests))]
    single = [validate(stub, registered_target("add"), subject) for subject in SUBJECTS]

    assert [sorted(expected) for expected in OUTCOMES] == [
        sorted(codes(verdict)) for verdict in single
    ]
    assert single == [outcome.verdict for outcome in batch.outcomes]
    assert single == [outcome.verdict for outcome in stream]


def test_an_unknown_tool_does_not_affect_other_items(stub: Any, registered: dict[str, Any]) -> None:
    """The item's error has a JSON-RPC error."""
    items = [v1.ValidateItem(subject=params(name)) for name in ("nobody", "ping")]
    outcomes = stub.ValidateBatch(
        v1.ValidateBatchRequest(target=registered_target(), items=items)
    ).outcomes
    metadata = info_of(outcomes[0].error).metadata

    assert "Unknown tool: nobody" == json.loads(metadata["json_rpc_error"])["message"]
    assert outcomes[1].verdict.valid


def test_calls_of_report_only_servers_are_not_enforced(
    stub: Any, registered: dict[str, Any]
) -> None:
    """This holds for every kind of subject."""
    subjects = [params("add", {}), result(), ABSENT]

    assert [(False, False)] * 3 == [
        (verdict.valid, verdict.enforced)
        for verdict in (
            validate(stub, registered_target("add", "watched"), subject) for subject in subjects
        )
    ]


def test_formats_are_asserted_on_request(stub: Any) -> None:
    """The option applies to arguments of whole calls."""
    tool = {
        "name": "t",
        "inputSchema": {"type": "object", "properties": {"day": {"format": "date"}}},
    }
    target = target_pb2.Target(inline_tool=target_pb2.InlineTool(json=json.dumps(tool).encode()))
    subject = params("t", {"day": "soon"})

    assert validate(stub, target, subject).valid
    assert [("/arguments/day", "FORMAT")] == codes(
        validate(stub, target, subject, assert_formats=True)
    )


def test_unused_schemas_may_be_invalid(stub: Any) -> None:
    """Subjects that need no schema are checked although the schemas are invalid."""
    broken = {"name": "t", "inputSchema": {"type": "objekt"}, "outputSchema": {"pattern": "("}}
    malformed = params("t", [1])

    assert [("/arguments", "TYPE")] == codes(validate(stub, inline_target(broken), malformed))
    assert [] == codes(validate(stub, inline_target(broken), result(isError=True)))
    assert [("", "OUTPUT_MISSING")] == codes(validate(stub, inline_target(broken), result()))
    for subject in (params("t", {}), result({})):
        with pytest.raises(grpc.RpcError) as raised:
            validate(stub, inline_target(broken), subject)

        assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
