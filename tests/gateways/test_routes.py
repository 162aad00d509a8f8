"""Metadata of a route in Envoy's configuration: its namespace, and its policies."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from support.gateway import ENFORCE, Gateway, running_gateway
from support.http_mcp_server import SESSION, TOOL, HttpMcpServer
from support.running import RunningServer
from support.running_envoy import Configuration

OTHER = {**TOOL, "inputSchema": {"type": "object", "properties": {"do": {"type": "integer"}}}}

#: Metadata of routes, by their paths.
ROUTES = {
    "/audit": {"server": "policies"},
    "/arguments": {"server": "policies", "arguments": "enforce"},
    "/results": {"server": "policies", "results": "enforce"},
    "/off": {"server": "policies", **dict.fromkeys(ENFORCE, "off")},
    "/other": {"server": "other", **ENFORCE},
    "/unknown": {"server": "policies", "arguments": "maybe"},
    "/nameless": ENFORCE,
}


@pytest.fixture(scope="module")
def routes(
    sidecheck: RunningServer, scripted: HttpMcpServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    """Return an Envoy with all routes, whose tools are listed."""

    def change(configuration: Configuration) -> None:
        for path, metadata in ROUTES.items():
            configuration.add_route(path, metadata)

    folder = tmp_path_factory.mktemp("envoy")
    with running_gateway(folder, scripted, sidecheck, change=change) as running:
        running.begin("/audit")
        scripted.tools = [OTHER]
        assert [OTHER] == running.post("tools/list", path="/other").json()["result"]["tools"]
        scripted.tools = [TOOL]
        running.received()
        running.envoy.entries(4)
        yield running


@pytest.mark.parametrize(
    ("path", "arguments", "reaches", "is_error", "verdict"),
    [
        ("/audit", {"do": 3}, True, False, "invalid"),
        ("/audit", {"do": "break"}, True, False, "invalid"),
        ("/arguments", {"do": 3}, False, True, "rejected"),
        ("/arguments", {"do": "break"}, True, False, "invalid"),
        ("/results", {"do": 3}, True, False, "invalid"),
        ("/results", {"do": "break"}, True, True, "rejected"),
        ("/off", {"do": 3}, True, False, "valid"),
        ("/off", {"do": "break"}, True, False, "valid"),
        # The definition that was listed there.
        ("/other", {"do": 3}, True, False, "valid"),
        ("/other", {"do": "x"}, False, True, "rejected"),
    ],
)
def test_policies_and_namespaces_of_routes(
    routes: Gateway, path: str, arguments: Any, reaches: bool, is_error: bool, verdict: str
) -> None:
    """A route has its own."""
    result = routes.call(path, **arguments).json()["result"]

    assert reaches is bool(routes.received())
    assert is_error is result.get("isError", False)
    [entry] = routes.envoy.entries(1)
    assert verdict == entry["verdict"]


def words(details: str) -> str:
    """Return *details*, of a response of Envoy, with the spaces that it replaces."""
    assert details.startswith("ext_proc_error_gRPC_error_3{")
    return details.replace("_", " ")


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/unknown", "unknown policy for arguments from the gateway; expected one of enforce,"),
        ("/nameless", "the gateway must name the server, in 1 to 256 characters"),
    ],
)
def test_a_route_with_invalid_metadata(routes: Gateway, path: str, detail: str) -> None:
    """The request is rejected, and Envoy's log has the reason."""
    response = routes.call(path)

    assert (500, b"") == (response.status_code, response.content)
    assert [] == routes.received()
    [entry] = routes.envoy.entries(1)
    assert detail in words(entry["details"])


def streamed_requests(configuration: Configuration) -> None:
    configuration.processor["processing_mode"]["request_body_mode"] = "STREAMED"


def partial_requests(configuration: Configuration) -> None:
    configuration.processor["processing_mode"]["request_body_mode"] = "BUFFERED_PARTIAL"


def duplex_responses(configuration: Configuration) -> None:
    modes = configuration.processor["processing_mode"]
    modes["response_body_mode"] = "FULL_DUPLEX_STREAMED"
    modes["response_trailer_mode"] = "SEND"


def unsent_responses(configuration: Configuration) -> None:
    configuration.processor["processing_mode"]["response_body_mode"] = "NONE"


def unsent_request_headers(configuration: Configuration) -> None:
    configuration.processor["processing_mode"]["request_header_mode"] = "SKIP"


def unsent_response_headers(configuration: Configuration) -> None:
    configuration.processor["processing_mode"]["response_header_mode"] = "SKIP"


MODES: list[tuple[Callable[[Configuration], None], str]] = [
    (streamed_requests, "request_body_mode must be BUFFERED in Envoy's processing_mode"),
    (partial_requests, "request_body_mode must be BUFFERED in Envoy's processing_mode"),
    (duplex_responses, "response_body_mode must be BUFFERED in Envoy's processing_mode"),
    (unsent_responses, "response_body_mode must be BUFFERED in Envoy's processing_mode"),
    (unsent_request_headers, "request_header_mode must be SEND in Envoy's processing_mode"),
    (unsent_response_headers, "response_header_mode must be SEND in Envoy's processing_mode"),
]


@pytest.mark.parametrize(("change", "detail"), MODES)
def test_modes_that_would_let_messages_pass(
    sidecheck: RunningServer,
    scripted: HttpMcpServer,
    tmp_path: Any,
    change: Callable[[Configuration], None],
    detail: str,
) -> None:
    """No message passes, and Envoy's log has the reason."""
    with running_gateway(tmp_path, scripted, sidecheck, change=change) as gateway:
        gateway.client.headers["mcp-session-id"] = SESSION
        try:
            outcome = gateway.post("tools/list").status_code
        except httpx.RemoteProtocolError:
            # The headers of the response had passed.
            outcome = 0
        [entry] = gateway.envoy.entries(1)

    assert outcome == (0 if change is unsent_response_headers else 500)
    assert detail.replace("_", " ") in words(entry["details"])


def test_metadata_of_other_filters(
    sidecheck: RunningServer, scripted: HttpMcpServer, tmp_path: Any
) -> None:
    """It takes precedence over that of the route."""
    kind = "type.googleapis.com/envoy.extensions.filters.http.set_metadata.v3.Config"
    policy = {"metadata_namespace": "sidecheck", "value": {"arguments": "off"}}
    other = {
        "name": "envoy.filters.http.set_metadata",
        "typed_config": {"@type": kind, "metadata": [policy]},
    }

    def change(configuration: Configuration) -> None:
        configuration.http["http_filters"].insert(0, other)

    with running_gateway(tmp_path, scripted, sidecheck, change=change) as gateway:
        gateway.begin()
        responses = [gateway.call(do=3), gateway.call(do="break")]

    assert [False, True] == ["isError" in response.json()["result"] for response in responses]


def test_without_overrides_of_the_mode(
    sidecheck: RunningServer, scripted: HttpMcpServer, tmp_path: Any
) -> None:
    """Streams come as a whole, once they have ended."""

    def change(configuration: Configuration) -> None:
        configuration.processor["allow_mode_override"] = False

    with running_gateway(tmp_path, scripted, sidecheck, change=change) as gateway:
        gateway.begin()
        responses = [gateway.call(do="stream"), gateway.call(do="break")]

    assert "text/event-stream" in responses[0].headers["content-type"]
    assert '"structuredContent": {"n": 1}' in responses[0].text
    assert responses[1].json()["result"]["isError"]
