"""What the Python client says of source text, and makes of the answers, without any server."""

from typing import Any

import grpc
import pytest
from sidecheck import (
    Diagnostic,
    Inferred,
    InferredTool,
    JsonText,
    Severity,
    Unavailable,
)
from sidecheck.absence import OnUnavailable
from sidecheck.conversations import Call, Conversations
from sidecheck.inference_conversations import InferenceConversations
from sidecheck.inferred import Source
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.wire import inference_requests as requests
from sidecheck.wire import inference_responses as responses
from sidecheck.wire import rpcs
from support.conversations import hold

GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
SOURCE = Source(text="def f(): ...")


@pytest.mark.parametrize(("expected", "given"), [(2.0, None), (0.5, 0.5)])
def test_every_call_has_a_deadline(expected: float, given: float | None) -> None:
    """The client's own holds where the caller gives none."""
    talk = InferenceConversations(Conversations(2.0, "raise"))
    found, made = hold(talk.infer(SOURCE, given), inference_pb.InferToolsResponse())

    assert Inferred(tools=()) == found
    assert [Call(rpcs.INFER_TOOLS, requests.inference_request(SOURCE), expected)] == made


@pytest.mark.parametrize("policy", ["raise", "allow", "deny"])
def test_nobody_makes_up_a_definition(policy: OnUnavailable) -> None:
    """Whatever the client does without verdicts."""
    talk = InferenceConversations(Conversations(2.0, policy))
    with pytest.raises(Unavailable):
        hold(talk.infer(SOURCE, None), GONE)


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param({"source": "ö".encode()}, {"text": "ö"}, id="text"),
        pytest.param({"source": b"\xff"}, {"text": b"\xff"}, id="bytes as they are"),
        pytest.param({"source": b"", "functions": ["f"]}, {"functions": ("f",)}, id="functions"),
        pytest.param(
            {"source": b"", "on_unsupported": inference_pb.ON_UNSUPPORTED_ANY},
            {"on_unsupported": "any"},
            id="unsupported types",
        ),
        pytest.param(
            {"source": b"", "injected_types": ["A"], "injected_parameters": ["a", "b"]},
            {"injected_types": ["A"], "injected_parameters": ["a", "b"]},
            id="injected",
        ),
    ],
)
def test_everything_that_is_said_goes_along(expected: Any, given: dict[str, Any]) -> None:
    """As it is on the wire."""
    asked = {"on_unsupported": inference_pb.ON_UNSUPPORTED_ERROR, **expected}

    assert inference_pb.InferToolsRequest(**asked) == requests.inference_request(
        Source(**{"text": b"", **given})
    )


def test_what_was_found_is_translated_whole() -> None:
    """A severity of a later server is no error."""
    response = inference_pb.InferToolsResponse(
        tools=[
            inference_pb.InferredTool(
                json=b'{"name": "f"}', function="A.f", line=3, definition_digest="sha256:d"
            )
        ],
        diagnostics=[
            inference_pb.Diagnostic(
                code="C",
                severity="SEVERITY_ERROR",
                message="m",
                line=1,
                column=2,
                end_line=3,
                end_column=4,
                function="f",
                parameter="p",
            ),
            inference_pb.Diagnostic(code="D", severity="SEVERITY_WARNING"),
            inference_pb.Diagnostic(code="E", severity=9),  # type: ignore[arg-type]
        ],
    )
    found = responses.inferred(response)

    assert (
        Inferred(
            tools=(
                InferredTool(
                    json=JsonText(b'{"name": "f"}'), function="A.f", line=3, digest="sha256:d"
                ),
            ),
            diagnostics=(
                Diagnostic(
                    code="C",
                    message="m",
                    line=1,
                    column=2,
                    end_line=3,
                    end_column=4,
                    function="f",
                    parameter="p",
                ),
                Diagnostic(code="D", severity=Severity.WARNING),
                Diagnostic(code="E", severity=Severity.INFO),
            ),
        )
        == found
    )
    assert [{"name": "f"}] == [tool.definition for tool in found.tools]
