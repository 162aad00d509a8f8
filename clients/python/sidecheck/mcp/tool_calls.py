"""Validation of tool calls and their results on behalf of an MCP server."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from sidecheck._async.client import Client
from sidecheck.errors import SidecheckError, Unavailable
from sidecheck.mcp.registrar import (
    Definition,
    ListTools,
    RegisteredTools,
    RegisteringValidator,
    ToolRegistrar,
)
from sidecheck.mcp.sdk import INTERNAL_ERROR, CallToolResult, json_rpc_error
from sidecheck.targets import RegisteredTool
from sidecheck.validation import (
    SIDECHECK_UNAVAILABLE,
    OnUnknownTool,
    Options,
    fallback_verdict,
)
from sidecheck.values.error_reasons import ErrorReason
from sidecheck.values.verdict import Verdict
from sidecheck.wire.errors import not_encodable

__all__ = ["OnError", "OnReport", "ToolCall", "ToolCallValidator"]

#: Called with an error that prevented a validation, or with `ToolsRejected`.
OnError: TypeAlias = Callable[[SidecheckError], None]

#: Called with the name of a tool and a verdict without effect: an invalid verdict that is not
#: enforced, or the verdict of the policy for a server that did not answer.
OnReport: TypeAlias = Callable[[str, Verdict], None]

#: Deadline in seconds of a registration: the server compiles the schemas of all tools.
REGISTRATION_TIMEOUT: Final = 10.0

logger: Final = logging.getLogger("sidecheck.mcp")


@dataclass(slots=True)
class ToolCall:
    """One ``tools/call`` request."""

    #: The complete params.
    params: Mapping[str, Any]
    #: Protocol version that applies; "" if unknown.
    version: str
    list_tools: ListTools
    #: Calls the handler, with repaired params if not None.
    run: Callable[[Mapping[str, Any] | None], Awaitable[Any]]
    #: Whether the tools were registered again for this call.
    is_renewed: bool = field(default=False, init=False)

    @property
    def tool(self) -> str:
        """Name of the tool."""
        return str(self.params["name"])


class ToolCallValidator:
    """Validates the tool calls of one MCP server and the results of its handler."""

    def __init__(
        self,
        client: RegisteringValidator | str,
        server: str,
        options: Options | None = None,
        on_error: OnError | None = None,
        on_report: OnReport | None = None,
    ) -> None:
        self._client: RegisteringValidator = Client(client) if isinstance(client, str) else client
        self._server = server
        # All tools of the server are registered, so an unknown tool is an error.
        self._options = replace(options or Options(), on_unknown_tool=OnUnknownTool.ERROR)
        self._on_error = on_error or log_error
        self._on_report = on_report or log_report
        self._registrar = ToolRegistrar(self._client, server, REGISTRATION_TIMEOUT, self._on_error)

    def observe(self, definitions: list[Definition]) -> None:
        """Record the tools of a ``tools/list`` result."""
        self._registrar.observe(definitions)

    async def handle(self, call: ToolCall) -> Any:
        """Return the handler's result, or the `CallToolResult` that replaces it.

        Raises:
            Exception: The SDK's exception for a JSON-RPC error: the call is a protocol error, or
                it could not be validated.
        """
        call = replace(call, version=self._options.protocol_version or call.version)
        options = replace(self._options, protocol_version=call.version)
        target = RegisteredTool(self._server)
        validate_params = partial(self._client.validate_call, target, call.params, options=options)
        verdict = await self._verdict(call, validate_params)
        repair = verdict.repair if verdict.enforced else None
        if repair is not None and repair.valid:
            result = await call.run(json.loads(repair.payload))
        elif verdict.enforced and not verdict.valid:
            return replacement_result(verdict)
        else:
            result = await call.run(None)
        if is_fallback(verdict) or not isinstance(result, CallToolResult):
            return result
        target = RegisteredTool(self._server, call.tool)
        # Without the options for repairs, which are for arguments only.
        validate_result = partial(
            self._client.validate_call_result,
            target,
            result,
            options=Options(
                protocol_version=call.version,
                assert_formats=options.assert_formats,
                hide_values=options.hide_values,
            ),
        )
        verdict = await self._verdict(call, validate_result)
        return result if verdict.valid or not verdict.enforced else replacement_result(verdict)

    async def _verdict(self, call: ToolCall, validate: Callable[[], Awaitable[Verdict]]) -> Verdict:
        """Return the verdict of *validate*, with the client's policy applied.

        Raises:
            Exception: A JSON-RPC error of the SDK. There is no verdict, or the tool was rejected.
        """
        try:
            verdict = await self._validate_registered(call, validate)
        except Unavailable as error:
            self._on_error(error)
            if self._client.on_unavailable == "error":
                text = f"Sidecheck is unavailable: {error.reason}"
                raise json_rpc_error(INTERNAL_ERROR, text) from error
            verdict = fallback_verdict(error, self._client.on_unavailable)
        except SidecheckError as error:
            if error.json_rpc_error is not None:
                raise protocol_error(error.json_rpc_error) from error
            self._on_error(error)
            text = f"Sidecheck could not validate the call: {error.reason}"
            raise json_rpc_error(INTERNAL_ERROR, text) from error
        if is_fallback(verdict) or not (verdict.valid or verdict.enforced):
            self._on_report(call.tool, verdict)
        return verdict

    async def _validate_registered(
        self, call: ToolCall, validate: Callable[[], Awaitable[Verdict]]
    ) -> Verdict:
        """Return the verdict of *validate*, with the tools registered.

        Sidecheck may have lost them by a restart with an empty registry. So an unknown tool
        that the server lists is registered again, once per call.
        """
        registered = await self._registrar.register(call.version, call.list_tools)
        raise_for_rejected(call.tool, registered)
        try:
            return await validate()
        except SidecheckError as error:
            if error.reason not in {ErrorReason.UNKNOWN_TOOL, "NOT_FOUND"} or call.is_renewed:
                raise
            call.is_renewed = True
            renewed = await self._registrar.register_again(
                call.version, call.list_tools, call.tool, registered
            )
            if renewed is None:
                raise
            raise_for_rejected(call.tool, renewed)
            return await validate()
        except ValueError as error:
            raise not_encodable(error) from error


def raise_for_rejected(tool: str, registered: RegisteredTools) -> None:
    """Raise if the definition of *tool* was rejected.

    Raises:
        Exception: A JSON-RPC error of the SDK. The definition was rejected.
    """
    violation = registered.rejected.get(tool)
    if violation is not None:
        text = f"Sidecheck rejected the definition of tool {tool!r}: {violation}"
        raise json_rpc_error(INTERNAL_ERROR, text)


def is_fallback(verdict: Verdict) -> bool:
    """Return whether *verdict* is that of the client's policy, without a server."""
    return any(violation.code == SIDECHECK_UNAVAILABLE for violation in verdict.violations)


def replacement_result(verdict: Verdict) -> Any:
    """Return the result that replaces an invalid call or result.

    Raises:
        Exception: A JSON-RPC error of the SDK. The fault is a protocol error.
    """
    if verdict.call_tool_result:
        return CallToolResult.model_validate_json(verdict.call_tool_result)
    if verdict.json_rpc_error:
        raise protocol_error(verdict.json_rpc_error.value)
    content = [{"type": "text", "text": verdict.tool_error_text}]
    return CallToolResult.model_validate({"content": content, "isError": True})


def protocol_error(error: Mapping[str, Any]) -> Exception:
    """Return the exception for the ``error`` of a JSON-RPC response."""
    return json_rpc_error(error["code"], error["message"], error.get("data"))


def log_error(error: SidecheckError) -> None:
    """Log the reason of *error*, with the message only if this client wrote it.

    The message of a server may have values of the payload.
    """
    text = str(error) if is_own_message(error) else error.reason
    logger.warning("Sidecheck did not validate a call: %s", text)


def is_own_message(error: SidecheckError) -> bool:
    """Return whether the client wrote the message of *error*: the cause of a failed connection."""
    return isinstance(error, Unavailable) and "cause" in error.metadata


def log_report(tool: str, verdict: Verdict) -> None:
    """Log the codes of a verdict without effect."""
    codes = ", ".join(sorted({violation.code for violation in verdict.violations}))
    logger.warning("Sidecheck verdict not enforced for a call of %s: %s", tool, codes)
