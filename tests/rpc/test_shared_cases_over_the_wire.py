"""Shared cases of validation, with a real server."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck.v1 import options_pb2, target_pb2, validation_service_pb2, verdict_pb2
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.shared_cases import CALLS, VALIDATE, matches
from support.wire import error_info_of, error_violations_of


@pytest.fixture(scope="module")
def stub(shared_server: RunningServer) -> Iterator[ValidationServiceStub]:
    with grpc.insecure_channel(shared_server.address) as channel:
        yield ValidationServiceStub(channel)


@pytest.mark.parametrize("case", [*VALIDATE, *CALLS])
def test_a_shared_case(case: dict[str, Any], stub: ValidationServiceStub) -> None:
    """Verdicts are in the response, errors in the status."""
    try:
        response = stub.Validate(_request(case), timeout=120)
    except grpc.RpcError as error:
        actual: dict[str, Any] = {
            "refusal": error_info_of(error).reason,
            "violations": error_violations_of(error),
        }
    else:
        actual = _verdict(response.verdict)

    want = dict(case["want"])
    if "refusal" in want and "violations" in want:
        # A status has room for some of the violations.
        assert actual["violations"]
        want["violations"] = want["violations"][: len(actual["violations"])]
    assert want == matches(want, actual)


def _request(case: dict[str, Any]) -> validation_service_pb2.ValidateRequest:
    return validation_service_pb2.ValidateRequest(
        target=_target(case),
        subject=_subject(case),
        options=options_pb2.ValidationOptions(**case.get("options", {})),
    )


def _target(case: dict[str, Any]) -> target_pb2.Target:
    if "tool" in case:
        return target_pb2.Target(inline_tool=target_pb2.InlineTool(json=case["tool"].encode()))
    schema = target_pb2.InlineSchema(
        json=case["schema"].encode(),
        documents=[
            target_pb2.Document(uri=document["uri"], json=document["json"].encode())
            for document in case.get("documents", ())
        ],
        default_dialect=case.get("default_dialect", ""),
    )
    return target_pb2.Target(inline_schema=schema)


def _subject(case: dict[str, Any]) -> target_pb2.Subject:
    name = case.get("subject", "arguments")
    if name == "absent_structured_content":
        return target_pb2.Subject(absent_structured_content=target_pb2.AbsentContent())
    return target_pb2.Subject(**{name: case["payload"].encode()})


def _verdict(verdict: verdict_pb2.Verdict) -> dict[str, Any]:
    names = ("instance_location", "keyword_location", "keyword", "code", "message")
    return {
        "valid": verdict.valid,
        "truncated": verdict.truncated,
        "violations": [
            {name: getattr(violation, name) for name in names} for violation in verdict.violations
        ],
        "tool_error_text": verdict.tool_error_text,
        "call_tool_result": json.loads(verdict.call_tool_result or b"null"),
        "json_rpc_error": json.loads(verdict.json_rpc_error or b"null"),
        "repair": _repair(verdict.repair) if verdict.HasField("repair") else None,
    }


def _repair(repair: verdict_pb2.Repair) -> dict[str, Any]:
    return {
        "payload": json.loads(repair.payload),
        "valid": repair.valid,
        "changes": [
            {"instance_location": change.instance_location, "code": change.code}
            for change in repair.changes
        ],
    }
