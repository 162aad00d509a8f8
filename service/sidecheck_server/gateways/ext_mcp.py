"""agentgateway's ExtMcp protocol: validates single MCP requests and results.

The gateway sends ``params`` or ``result`` without an id, and a result without its request. So
the response to a request carries metadata, which the configuration of the gateway sends back
with the result.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import msgspec
from google.protobuf.json_format import MessageToDict

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.types import JsonValue
from sidecheck_server.gateways.generated.ext_mcp_pb2 import (
    DESCRIPTOR,
    AuthorizationError,
    McpRequest,
    McpRequestResult,
    McpResponse,
    McpResponseResult,
)
from sidecheck_server.gateways.outcomes import GatewayFindings, Outcome
from sidecheck_server.gateways.registered_tools import RegisteredTools
from sidecheck_server.gateways.routes import Route, Routes, record_failure
from sidecheck_server.proxy.messages import (
    INTERNAL_ERROR,
    Message,
    join_array,
    join_object,
    read_items,
    read_list,
    read_message,
    read_object,
    result_response,
    string_value,
)
from sidecheck_server.proxy.rulings.definition_checks import not_listed
from sidecheck_server.proxy.rulings.pending import Request
from sidecheck_server.proxy.rulings.ruling import Ruling
from sidecheck_server.proxy.rulings.session import ProxySession
from sidecheck_server.rpc.calls import Call
from sidecheck_server.rpc.method_table import raise_if_unreadable
from sidecheck_server.services.targets import RegisteredTool

__all__ = [
    "EXT_MCP",
    "ExtMcp",
    "MultiplexedTools",
]

_DELIMITER = "_"


class MultiplexedTools:
    """Tools of several *servers*, keyed by namespace, which a gateway lists as one.

    In a list, the gateway prefixes the name of a tool with that of its server and ``_``. If it
    adds no prefix, the server of a tool is unknown, and the tool is registered for each server.
    """

    def __init__(self, servers: Mapping[str, RegisteredTools]) -> None:
        self._servers = servers

    @property
    def checks_lists(self) -> bool:
        """Whether listed tools are checked, so that they may be reported or dropped."""
        return any(tools.checks_lists for tools in self._servers.values())

    @property
    def uses_pins(self) -> bool:
        """Whether clients may call only the tools of a lock file."""
        return any(tools.uses_pins for tools in self._servers.values())

    def expire(self) -> None:
        """Do nothing: the registry is read for each call."""

    def is_dropped(self, _name: str) -> bool:
        """Return False: a call has a single server."""
        return False

    def input_schema(self, _call: Message) -> JsonValue:
        """Return None: a call has a single server."""
        return None

    async def find(self, _name: str, _params: Mapping[str, bytes]) -> RegisteredTool | None:
        """Reject a call, whose server is ambiguous.

        Raises:
            NotCheckedError: ``TOOLS_NOT_LISTED``.
        """
        raise not_listed("the gateway must name one server for a call")

    async def rule_result(self, response: Message, request: Request) -> Ruling:
        """Return the ruling on *response*, a page of the tools of all servers."""
        page = response.result or {}
        definitions = read_items(page.get("tools", b""))
        if definitions is None:
            return Ruling(response.text)
        dropped: set[int] = set()
        for server, server_tools in self._by_server(definitions):
            server_page = join_object({**page, "tools": join_array(server_tools.values())})
            message = read_message(result_response(response.properties["id"], server_page))
            assert isinstance(message, Message)
            ruling = await self._servers[server].rule_result(message, request)
            passed_tools = _read_tools(ruling.forward)
            if passed_tools is None:
                return ruling
            dropped |= {
                index
                for index, definition in server_tools.items()
                if definition not in passed_tools
            }
        if not dropped:
            return Ruling(response.text)
        remaining = [text for index, text in enumerate(definitions) if index not in dropped]
        result = join_object({**page, "tools": join_array(remaining)})
        return Ruling(response.with_property("result", result))

    def _by_server(self, definitions: list[bytes]) -> Iterator[tuple[str, dict[int, bytes]]]:
        """Yield the tools of each server, keyed by index, under their unprefixed names."""
        names = [string_value((read_object(text) or {}).get("name")) for text in definitions]
        owners = [self._owners(name) for name in names]
        for server in self._servers:
            yield (
                server,
                {
                    index: _rename(definitions[index], names[index].removeprefix(prefix))
                    for index, prefixes in enumerate(owners)
                    if (prefix := prefixes.get(server)) is not None
                },
            )

    def _owners(self, name: str) -> dict[str, str]:
        """Return the possible servers of the tool *name*, with the prefix of each."""
        prefixes = {server: f"{server}{_DELIMITER}" for server in self._servers}
        matching = [server for server, prefix in prefixes.items() if name.startswith(prefix)]
        if not matching:
            return dict.fromkeys(self._servers, "")
        # The gateway ends the name of the server at the first delimiter.
        owner = min(matching, key=len)
        return {owner: prefixes[owner]}


def _rename(definition: bytes, name: str) -> bytes:
    """Return *definition* with *name*, unchanged if it has that name already."""
    properties = read_object(definition)
    if properties is None or string_value(properties.get("name")) == name:
        return definition
    return join_object({**properties, "name": msgspec.json.encode(name)})


def _read_tools(response: bytes | None) -> set[bytes] | None:
    """Return the definitions in *response*, None if it is an error."""
    result = read_object((read_object(response or b"") or {}).get("result", b""))
    return None if result is None else set(read_items(result.get("tools", b"")) or [])


EXT_MCP: Final = DESCRIPTOR.services_by_name["ExtMcp"]

_ID: Final = b"1"
_CALL: Final = "tools/call"
_VERSION_HEADER: Final = "mcp-protocol-version"

# Keys of the metadata in the response to a request. The configuration of the gateway sends the
# first two back with the result, without their prefix.
_TOOL: Final = "tool"
_VERSION: Final = "protocol_version"
_PREFIX: Final = "sidecheck_"


_Result = TypeVar("_Result", McpRequestResult, McpResponseResult)


class ExtMcp:
    """Servicer of the ExtMcp protocol."""

    def __init__(self, routes: Routes, findings: GatewayFindings) -> None:
        self._routes = routes
        self._findings = findings

    async def CheckRequest(  # noqa: N802
        self, request: Any, call: Call
    ) -> McpRequestResult:
        """Return the decision on a request."""
        with self._exchange() as outcome:
            try:
                raise_if_unreadable(request)
                return await self._check_request(request, outcome)
            except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the gateway)
                raise record_failure(error, "CheckRequest", call, outcome) from None

    async def CheckResponse(  # noqa: N802
        self, request: Any, call: Call
    ) -> McpResponseResult:
        """Return the decision on a result."""
        with self._exchange() as outcome:
            try:
                raise_if_unreadable(request)
                return await self._check_response(request)
            except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the gateway)
                raise record_failure(error, "CheckResponse", call, outcome) from None

    @contextmanager
    def _exchange(self) -> Iterator[Outcome]:
        outcome = self._findings.begin()
        try:
            yield outcome
        finally:
            outcome.finish("ext_mcp")

    async def _check_request(self, request: McpRequest, outcome: Outcome) -> McpRequestResult:
        options = _strings(request)
        headers = {header.key.lower(): header.value for header in request.headers}
        version = headers.get(_VERSION_HEADER, b"").decode("latin-1") or options.get(_VERSION, "")
        params = request.mcp_request if request.HasField("mcp_request") else None
        if params is not None and read_object(params) is None:
            return McpRequestResult(error=_invalid("params must be a JSON object"))
        text = _request_text(request.method, params)
        routes = await self._find_routes(request.service_names, options)
        async with _open_session(routes, version) as session:
            ruling = await session.handle(text, "client")
        if ruling.forward is None:
            return McpRequestResult(error=_error_of(ruling.exchange_reply or ruling.reply))
        if ruling.forward is text:
            result = _mark_passed(McpRequestResult())
        else:
            result = McpRequestResult(mutated=_property(ruling.forward, "params"))
        name = string_value((read_object(params or b"{}") or {}).get("name"))
        metadata = {_VERSION: version, **outcome.metadata()}
        if request.method == _CALL:
            metadata[_TOOL] = name
        result.metadata.update({_PREFIX + key: value for key, value in metadata.items()})
        return result

    async def _check_response(self, response: McpResponse) -> McpResponseResult:
        if read_object(response.mcp_response) is None:
            return McpResponseResult(error=_invalid("the result must be a JSON object"))
        options = _strings(response)
        version = options.get(_VERSION, "")
        params = None
        if response.method == _CALL:
            if not options.get(_TOOL):
                raise RequestError(
                    ErrorReason.INVALID_REQUEST,
                    "the metadata of the gateway's processor must have tool: "
                    "mcpGuardrails.sidecheck_tool",
                    {"field": "metadata_context"},
                )
            params = join_object({"name": msgspec.json.encode(options[_TOOL])})
        request = read_message(_request_text(response.method, params))
        assert isinstance(request, Message)
        text = join_object({"jsonrpc": b'"2.0"', "id": _ID, "result": response.mcp_response})
        routes = await self._find_routes(response.service_names, options)
        async with _open_session(routes, version) as session:
            await session.expect(request)
            ruling = await session.handle(text, "server")
        if ruling.forward is None or "result" not in (read_object(ruling.forward) or {}):
            return McpResponseResult(error=_error_of(ruling.forward))
        if ruling.forward is text:
            return _mark_passed(McpResponseResult())
        return McpResponseResult(mutated=_property(ruling.forward, "result"))

    async def _find_routes(
        self, services: Sequence[str], options: Mapping[str, str]
    ) -> dict[str, Route]:
        """Return the routes to *services*, keyed by name.

        Raises:
            RequestError: INVALID_REQUEST if there is none, or *options* have an unknown policy.
            LockFileError: the lock file of a server cannot be used.
        """
        return {service: await self._routes.find(service, options) for service in services or [""]}


def _mark_passed(result: _Result) -> _Result:
    """Return *result* with the decision ``pass`` set."""
    # The name of the field is a keyword of Python.
    getattr(result, "pass").SetInParent()
    return result


def _open_session(routes: Mapping[str, Route], version: str) -> ProxySession:
    """Return a session, joined mid-session, with the servers of *routes*."""
    first = next(iter(routes.values()))
    tools = {service: route.tools for service, route in routes.items()}
    return first.make_session(
        first.tools if len(tools) == 1 else MultiplexedTools(tools),
        from_beginning=False,
        protocol_version=version if version in VERSIONS else "",
    )


def _strings(message: McpRequest | McpResponse) -> dict[str, str]:
    """Return the string values in the metadata context of *message*."""
    values = MessageToDict(message.metadata_context)
    return {name: value for name, value in values.items() if isinstance(value, str)}


def _request_text(method: str, params: bytes | None) -> bytes:
    """Return the JSON-RPC request of *method* with *params*."""
    properties = {"jsonrpc": b'"2.0"', "id": _ID, "method": msgspec.json.encode(method)}
    return join_object(properties if params is None else {**properties, "params": params})


def _property(text: bytes, name: str) -> bytes:
    """Return the JSON text of the property *name* of the message *text*."""
    return (read_object(text) or {}).get(name, b"{}")


def _error_of(reply: bytes | None) -> AuthorizationError:
    """Return *reply*, a JSON-RPC error or the result of a failed tool, as an error."""
    response = read_object(reply or b"") or {}
    error = read_object(response.get("error", b"")) or {}
    if not error:
        # The gateway cannot respond with a tool result, so only its text is returned.
        return _invalid(_text_of(response.get("result", b"")))
    is_internal = error.get("code") == str(INTERNAL_ERROR).encode()
    return AuthorizationError(
        code=AuthorizationError.UNKNOWN if is_internal else AuthorizationError.INVALID,
        reason=string_value(error.get("message")),
        mcp_error=error.get("data"),
    )


def _text_of(result: bytes) -> str:
    """Return the text blocks of the tool result *result*, joined by line feeds."""
    blocks = read_list((read_object(result) or {}).get("content", b"")) or []
    texts = (string_value((read_object(block) or {}).get("text")) for block in blocks)
    return "\n".join(filter(None, texts))


def _invalid(reason: str) -> AuthorizationError:
    return AuthorizationError(code=AuthorizationError.INVALID, reason=reason)
