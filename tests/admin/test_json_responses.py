"""The JSON form of responses."""

import json

from sidecheck.v1 import protocol_service_pb2, validation_service_pb2, verdict_pb2
from sidecheck_server.admin.http_methods import write_response

_EXACT = b'{ "a":1.0,"a": 1e400 ,"n":123456789012345678901234567890}'


def test_a_response_has_all_properties() -> None:
    """Unset fields are null, "" or []; JSON values are unchanged byte for byte."""
    response = validation_service_pb2.ValidateResponse(
        verdict=verdict_pb2.Verdict(
            valid=False,
            violations=[verdict_pb2.Violation(code="TYPE", severity=verdict_pb2.SEVERITY_ERROR)],
            repair=verdict_pb2.Repair(payload=_EXACT),
        ),
        registry_revision=1 << 60,
    )
    text = write_response(response)

    assert b'"repair":{"payload":' + _EXACT + b"," in text
    assert text.endswith(b'"registry_revision":1152921504606846976}\n')
    verdict = json.loads(text)["verdict"]
    assert {field.name for field in verdict_pb2.Verdict.DESCRIPTOR.fields} == verdict.keys()
    assert ("error", "", None) == (
        verdict["violations"][0]["severity"],
        verdict["violations"][0]["keyword"],
        verdict["call_tool_result"],
    )


def test_a_oneof_has_only_its_set_field() -> None:
    """An item has a verdict or an error."""
    outcome = protocol_service_pb2.CheckOutcome(result=protocol_service_pb2.CheckResult())
    response = protocol_service_pb2.CheckBatchResponse(outcomes=[outcome])

    assert [{"result": {"verdict": None, "error_response": None}}] == json.loads(
        write_response(response)
    )["outcomes"]
