"""The calls of the Python client to InferenceService, without a server."""

from typing import Any

import grpc
import pytest
from sidecheck import (
    AdaptedTool,
    DefinitionDigest,
    Diagnostic,
    InferredTool,
    InferredTools,
    JsonText,
    OnUnavailable,
    Severity,
    Unavailable,
)
from sidecheck.definitions import Source
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import target_pb2 as target_pb
from sidecheck.wire import inference
from sidecheck.wire.decoders.inference import decode_inferred_tools
from support.scripted_calls import Call, replay, scripted_client

GONE = Unavailable("UNAVAILABLE", "nobody", {}, grpc.StatusCode.UNAVAILABLE)
SOURCE = Source(text="def f(): ...")


@pytest.mark.parametrize(("expected", "timeout"), [(2.0, None), (0.5, 0.5)])
def test_each_call_has_a_deadline(expected: float, timeout: float | None) -> None:
    """The default is the timeout of the client."""
    tools, calls = replay(
        scripted_client(),
        lambda client: client.inference.infer_tools("def f(): ...", timeout=timeout),
        inference_pb.InferToolsResponse(),
    )
    assert InferredTools(tools=()) == tools
    assert [Call(inference.encode_inference(SOURCE), expected)] == calls
    tool, calls = replay(
        scripted_client(),
        lambda client: client.inference.adapt_tool(b"{}", "2025-06-18", timeout=timeout),
        inference_pb.AdaptToolResponse(
            json=b"{}", wrapped_property="result", dropped_properties=["icons"]
        ),
    )
    expected_tool = AdaptedTool(
        json=JsonText(b"{}"), wrapped_property="result", dropped_properties=("icons",)
    )
    assert expected_tool == tool
    assert [Call(inference.encode_adaptation(b"{}", "2025-06-18"), expected)] == calls


@pytest.mark.parametrize("policy", ["error", "allow", "deny"])
def test_unavailable_is_raised_under_every_policy(policy: OnUnavailable) -> None:
    """A definition has no fallback."""
    with pytest.raises(Unavailable):
        replay(scripted_client(policy), lambda client: client.inference.infer_tools(""), GONE)
    with pytest.raises(Unavailable):
        replay(scripted_client(policy), lambda client: client.inference.adapt_tool(b"{}"), GONE)


def test_a_tool_to_adapt_may_be_a_target() -> None:
    """Definitions and targets are accepted."""
    assert inference_pb.AdaptToolRequest(
        tool=target_pb.Target(definition_digest="d"), protocol_version="v"
    ) == inference.encode_adaptation(DefinitionDigest("d"), "v")


@pytest.mark.parametrize(
    ("expected", "arguments"),
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
def test_all_arguments_are_sent(expected: Any, arguments: dict[str, Any]) -> None:
    """Every argument sets its field of the request."""
    fields = {"on_unsupported": inference_pb.ON_UNSUPPORTED_ERROR, **expected}

    assert inference_pb.InferToolsRequest(**fields) == inference.encode_inference(
        Source(**{"text": b"", **arguments})
    )


def test_results_are_decoded_completely() -> None:
    """An unknown severity is decoded to INFO."""
    response = inference_pb.InferToolsResponse(
        tools=[
            inference_pb.InferredTool(
                json=b'{"name": "f"}',
                function="A.f",
                line=3,
                definition_digest="sha256:d",
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
    inferred = decode_inferred_tools(response)

    assert (
        InferredTools(
            tools=(
                InferredTool(
                    json=JsonText(b'{"name": "f"}'),
                    function="A.f",
                    line=3,
                    definition_digest="sha256:d",
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
        == inferred
    )
    assert [{"name": "f"}] == [tool.definition for tool in inferred.tools]
