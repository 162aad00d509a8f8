"""Whole calls and results of tools, through a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import registry_service_pb2, target_pb2
from sidecheck.v1 import validation_service_pb2 as v1
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.calling import ADD, PING, codes, named, params, result, sent, validate
from support.running import RunningServer
from support.wire import info_of, refusal_of

ABSENT = target_pb2.Subject(absent_structured_content=target_pb2.AbsentContent())


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[grpc.Channel]:
    """A server that only reports on the server named watched."""
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
    """The outcomes of registering the tools, by name."""
    registry: Any = RegistryServiceStub(channel)
    for server in ("s", "watched"):
        response = registry.RegisterTools(
            registry_service_pb2.RegisterToolsRequest(
                server=server,
                tools=[target_pb2.InlineTool(json=json.dumps(one).encode()) for one in (ADD, PING)],
            )
        )
    return {"add": response.outcomes[0], "ping": response.outcomes[1]}


def test_a_verdict_names_the_tool_and_the_schema_that_judged(
    stub: Any, registered: dict[str, Any]
) -> None:
    """No schema where none judged: in a result that is an error, or whose tool has none."""
    add, ping = registered["add"], registered["ping"]
    got = [
        validate(stub, named(), params("add", {"a": 1})),
        validate(stub, named("add"), result({"sum": 3})),
        validate(stub, named("add"), result(isError=True)),
        validate(stub, named("ping"), result()),
        validate(stub, named("ping"), ABSENT),
        validate(stub, named("add"), ABSENT),
    ]

    assert [
        (True, add.definition_digest, add.input_schema_digest),
        (True, add.definition_digest, add.output_schema_digest),
        (True, add.definition_digest, ""),
        (True, ping.definition_digest, ""),
        (True, ping.definition_digest, ""),
        (False, add.definition_digest, add.output_schema_digest),
    ] == [(one.valid, one.definition_digest, one.schema_digest) for one in got]
    assert all(one.enforced for one in got)


def test_every_way_to_name_a_tool_gives_the_same_verdict(
    stub: Any, registered: dict[str, Any]
) -> None:
    """By the name in the params, by name, pinned, by digest, and sent along."""
    digest = registered["add"].definition_digest
    targets = [
        named(),
        named("add"),
        named("add", definition_digest=digest),
        named(definition_digest=digest),
        target_pb2.Target(definition_digest=digest),
        sent(ADD),
    ]
    got = [validate(stub, target, params("add", {"a": "x"})) for target in targets]

    assert [[("/arguments/a", "TYPE")]] * len(targets) == [codes(one) for one in got]
    assert 1 == len({one.SerializeToString() for one in got})


def test_the_name_in_the_params_decides_each_time(stub: Any, registered: dict[str, Any]) -> None:
    """One target without a name serves every tool of a server."""
    calls = [
        params("add", {}),
        params("ping", {}),
        params("add", {"a": 1}),
        params("ping", {"a": 1}),
    ]

    assert [False, True, True, True] == [validate(stub, named(), one).valid for one in calls]


@pytest.mark.parametrize(
    ("subject", "code"),
    [
        pytest.param(params(5), -32602, id="a name that is no string"),
        pytest.param(target_pb2.Subject(call_params=b"{}"), -32602, id="no name"),
        pytest.param(target_pb2.Subject(call_params=b"[]"), -32602, id="no object"),
        pytest.param(target_pb2.Subject(call_params=b'{"name":'), -32700, id="not JSON"),
        pytest.param(target_pb2.Subject(call_params=b"\xff"), -32700, id="not UTF-8"),
    ],
)
def test_params_that_name_no_tool_are_a_fault_of_the_protocol(
    stub: Any, registered: dict[str, Any], subject: target_pb2.Subject, code: int
) -> None:
    """A verdict, not a refusal, though no tool can be looked up."""
    verdict = validate(stub, named(), subject)

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
        pytest.param(named("nobody"), params("nobody", {}), id="named by the target"),
        pytest.param(named(), params("nobody", {}), id="named by the params"),
        pytest.param(named("nobody"), target_pb2.Subject(arguments=b"{}"), id="arguments"),
    ],
)
def test_an_unknown_tool_is_not_an_invalid_input(
    stub: Any, registered: dict[str, Any], target: target_pb2.Target, subject: target_pb2.Subject
) -> None:
    """A refusal with the JSON-RPC error to give, or a verdict if unknown tools are skipped."""
    with pytest.raises(grpc.RpcError) as caught:
        validate(stub, target, subject)
    refusal = refusal_of(caught.value)
    skipped = validate(stub, target, subject, on_unknown_tool="ON_UNKNOWN_TOOL_SKIP")

    assert ("UNKNOWN_TOOL", "nobody") == (refusal.reason, refusal.metadata["tool"])
    error = {"code": -32602, "message": "Unknown tool: nobody"}
    assert error == json.loads(refusal.metadata["json_rpc_error"])
    assert (True, [("", "UNKNOWN_TOOL")]) == (skipped.valid, codes(skipped))


def test_the_result_of_an_unknown_tool_is_nobodys_to_answer(
    stub: Any, registered: dict[str, Any]
) -> None:
    """There is no request that an error would answer."""
    for subject in (result({}), ABSENT, target_pb2.Subject(structured_content=b"{}")):
        with pytest.raises(grpc.RpcError) as caught:
            validate(stub, named("nobody"), subject)

        assert "UNKNOWN_TOOL" == refusal_of(caught.value).reason
        assert "json_rpc_error" not in refusal_of(caught.value).metadata


@pytest.mark.parametrize(
    "name",
    ["x" * 5000, "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 5000, '"\\' * 900, "\N{GRINNING FACE}" * 200],
)
def test_the_error_for_an_unknown_tool_is_whole_however_long_the_name(
    stub: Any, registered: dict[str, Any], name: str
) -> None:
    """It travels in a status, which is bounded."""
    with pytest.raises(grpc.RpcError) as caught:
        validate(stub, named(), params(name))
    error = json.loads(refusal_of(caught.value).metadata["json_rpc_error"])

    assert -32602 == error["code"]
    assert error["message"].startswith(f"Unknown tool: {name[:20]}")
    assert len(error["message"]) < 200


def test_the_name_of_an_unknown_tool_can_be_hidden(stub: Any, registered: dict[str, Any]) -> None:
    """Where it stands in the payload."""
    options = {"hide_values": True}
    with pytest.raises(grpc.RpcError) as caught:
        validate(stub, named(), params("hunter2"), **options)
    refusal = refusal_of(caught.value)
    skipped = validate(
        stub, named(), params("hunter2"), on_unknown_tool="ON_UNKNOWN_TOOL_SKIP", **options
    )

    assert "hunter2" not in f"{caught.value.details()}{refusal}{skipped}"
    assert "Unknown tool" == json.loads(refusal.metadata["json_rpc_error"])["message"]


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
        pytest.param(target_pb2.Subject(structured_content=b'"hunter2"'), id="no object"),
    ],
)
def test_values_can_be_left_out_of_the_whole_answer(
    stub: Any, registered: dict[str, Any], subject: target_pb2.Subject
) -> None:
    """Of messages and of replies, in each version."""
    for version in ("2025-06-18", "2025-11-25", "2026-07-28"):
        verdict = validate(stub, named("add"), subject, hide_values=True, protocol_version=version)

        assert not verdict.valid
        assert b"hunter2" not in verdict.SerializeToString()


def test_a_repaired_call_is_whole(stub: Any, registered: dict[str, Any]) -> None:
    """The rest of the params stays as it was written."""
    call = b'{"_meta": {"progressToken": 1e2}, "name": "add", "arguments": {"a": "1", "z": 0}}'
    repair = validate(
        stub,
        named(),
        target_pb2.Subject(call_params=call),
        coercion="COERCION_SAFE_SCALARS",
        unknown_arguments="UNKNOWN_ARGUMENTS_STRIP",
    ).repair

    assert repair.valid
    expected = b'{"_meta":{"progressToken": 1e2},"name":"add","arguments":{"a":1}}'
    assert expected == repair.payload
    assert ["/arguments/a", "/arguments/z"] == [one.instance_location for one in repair.changes]


def test_a_repair_does_not_hide_what_is_wrong_with_the_call(
    stub: Any, registered: dict[str, Any]
) -> None:
    """Only the arguments are repaired."""
    repair = validate(
        stub, named("add"), params("sub", {"a": "1"}), coercion="COERCION_SAFE_SCALARS"
    ).repair

    assert (False, ["TOOL_NAME_MISMATCH"]) == (
        repair.valid,
        [one.code for one in repair.violations],
    )
    assert {"name": "sub", "arguments": {"a": 1}} == json.loads(repair.payload)


MANY = [
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


def test_a_batch_and_a_stream_answer_as_single_calls_do(
    stub: Any, registered: dict[str, Any]
) -> None:
    """All subjects in one, in order."""
    items = [v1.ValidateItem(subject=subject) for subject in MANY]
    batch = stub.ValidateBatch(v1.ValidateBatchRequest(target=named("add"), items=items))
    requests = [
        v1.ValidateStreamRequest(defaults=v1.StreamDefaults(target=named("add"))),
        *(v1.ValidateStreamRequest(item=v1.StreamItem(item=item)) for item in items),
    ]
    stream = [response.outcome for response in stub.ValidateStream(iter(requests))]
    single = [validate(stub, named("add"), subject) for subject in MANY]

    assert [sorted(each) for each in OUTCOMES] == [sorted(codes(one)) for one in single]
    assert single == [outcome.verdict for outcome in batch.outcomes]
    assert single == [outcome.verdict for outcome in stream]


def test_an_unknown_tool_costs_the_other_items_nothing(
    stub: Any, registered: dict[str, Any]
) -> None:
    """And its refusal has the error to give."""
    items = [v1.ValidateItem(subject=params(name)) for name in ("nobody", "ping")]
    outcomes = stub.ValidateBatch(v1.ValidateBatchRequest(target=named(), items=items)).outcomes
    metadata = info_of(outcomes[0].refusal).metadata

    assert "Unknown tool: nobody" == json.loads(metadata["json_rpc_error"])["message"]
    assert outcomes[1].verdict.valid


def test_calls_of_some_servers_are_only_reported_on(stub: Any, registered: dict[str, Any]) -> None:
    """Whatever the subject."""
    subjects = [params("add", {}), result(), ABSENT]

    assert [(False, False)] * 3 == [
        (one.valid, one.enforced)
        for one in (validate(stub, named("add", "watched"), subject) for subject in subjects)
    ]


def test_formats_are_asserted_if_asked_for(stub: Any) -> None:
    """In the arguments of whole calls too."""
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


def test_a_schema_that_is_not_asked_need_not_be_sound(stub: Any) -> None:
    """What no schema judges is told whatever state the schemas are in."""
    broken = {"name": "t", "inputSchema": {"type": "objekt"}, "outputSchema": {"pattern": "("}}
    malformed = params("t", [1])

    assert [("/arguments", "TYPE")] == codes(validate(stub, sent(broken), malformed))
    assert [] == codes(validate(stub, sent(broken), result(isError=True)))
    assert [("", "OUTPUT_MISSING")] == codes(validate(stub, sent(broken), result()))
    for subject in (params("t", {}), result({})):
        with pytest.raises(grpc.RpcError) as caught:
            validate(stub, sent(broken), subject)

        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
