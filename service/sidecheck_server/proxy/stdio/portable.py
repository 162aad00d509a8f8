"""Rewrites listed tools for clients and model APIs, and converts their calls back."""

import asyncio
from collections.abc import Iterable, Sequence

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, VERSIONS
from sidecheck_server.proxy.messages import (
    Message,
    Received,
    join_array,
    join_object,
    parse_received,
    read_items,
    read_object,
    string_value,
)
from sidecheck_server.proxy.report import Action, Finding, Findings

__all__ = ["PortableTools"]

_LIST, _CALL = "tools/list", "tools/call"
_MAX_LISTS = 1_000
"""Pending requests for a list that are remembered."""
_MAX_TOOLS = 10_000
"""Rewritten tools whose mappings are kept."""


class PortableTools:
    """Translation between a client and a session that validates by the original definitions.

    The client sees definitions that *targets* take as they are, under the names of the server.
    A tool that cannot be rewritten keeps its definition. Batches pass as they are.
    """

    def __init__(self, targets: Iterable[str], report: Findings) -> None:
        self._targets = tuple(targets)
        self._report = report
        self._version = DEFAULT_VERSION
        #: Ids of pending requests for a list, the oldest first.
        self._lists: dict[object, None] = {}
        #: Mapping and original definition of each rewritten tool, by its name.
        self._tools: dict[str, tuple[bytes, bytes]] = {}

    async def from_client(self, received: Received) -> Received:
        """Return what a client sent, with the call of a rewritten tool converted back."""
        request = received.content
        if not isinstance(request, Message) or not request.is_request:
            return received
        if request.method == _LIST:
            if len(self._lists) == _MAX_LISTS:
                del self._lists[next(iter(self._lists))]
            self._lists[request.id] = None
            return received
        if request.method != _CALL:
            return received
        tool = self._tools.get(string_value(request.params.get("name")))
        if tool is None:
            return received
        return parse_received(await asyncio.to_thread(_restore_call, request, *tool))

    async def to_client(self, text: bytes) -> bytes:
        """Return *text* for the client, with the tools of a list rewritten."""
        response = parse_received(text).content
        if not isinstance(response, Message) or not response.is_response:
            return text
        if response.result is not None and "protocolVersion" in response.result:
            version = string_value(response.result["protocolVersion"])
            self._version = version if version in VERSIONS else DEFAULT_VERSION
        if response.id not in self._lists:
            return text
        del self._lists[response.id]
        page = response.result
        definitions = read_items((page or {}).get("tools", b""))
        if page is None or not definitions:
            return text
        rewritten = await asyncio.to_thread(self._rewrite, definitions)
        if rewritten == definitions:
            return text
        result = join_object({**page, "tools": join_array(rewritten)})
        return response.with_property("result", result)

    def _rewrite(self, definitions: Sequence[bytes]) -> list[bytes]:
        """Return *definitions*, rewritten where that is possible."""
        # Imported late: conversion is large, and few proxies rewrite tools.
        from sidecheck_server.core.functions import make_portable  # noqa: PLC0415

        outcomes = make_portable(definitions, self._targets, self._version, keep_names=True)
        rewritten = []
        for definition, outcome in zip(definitions, outcomes, strict=True):
            name = string_value((read_object(definition) or {}).get("name"))
            # A call follows the definition that the client got last.
            self._tools.pop(name, None)
            if isinstance(outcome, RequestError):
                self._keep(name, outcome.reason.value, outcome.message)
                rewritten.append(definition)
            elif len(self._tools) == _MAX_TOOLS:
                self._keep(name, "LIMIT_EXCEEDED", f"{_MAX_TOOLS:,} tools are rewritten already")
                rewritten.append(definition)
            else:
                self._tools[name] = (outcome.mapping, definition)
                rewritten.append(outcome.json)
        return rewritten

    def _keep(self, tool: str, code: str, reason: str) -> None:
        """Report that *tool* keeps its definition for *reason*."""
        note = f"not made portable: {reason}"
        self._report.add(
            Finding(
                sender="server",
                method=_LIST,
                tool=tool,
                code=code,
                action=Action.PASSED,
                note=note,
            )
        )


def _restore_call(request: Message, mapping: bytes, definition: bytes) -> bytes:
    """Return the text of *request* with the arguments that the original definition describes.

    Arguments that cannot be converted stay as they are; validation reports them.
    """
    from sidecheck_server.core.functions import convert_call  # noqa: PLC0415

    params = request.params
    call = join_object({"name": params["name"], "arguments": params.get("arguments", b"{}")})
    try:
        converted = convert_call(call, [mapping], definition)
    except RequestError:
        return request.text
    if not converted.arguments or not converted.changes:
        return request.text
    return request.with_property(
        "params", join_object({**params, "arguments": converted.arguments})
    )
