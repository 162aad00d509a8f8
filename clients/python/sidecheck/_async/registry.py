"""Methods of the client for registered tools."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import Any, get_args

from google.protobuf.message import Message

from sidecheck._async.connection import Connection, split
from sidecheck.comparison import ServerTools
from sidecheck.registry import OnRejected, Tool
from sidecheck.tool_functions import Registrable, definitions_of
from sidecheck.tool_lists import Definition, list_tools
from sidecheck.v1.registry_service_pb2 import ToolSet
from sidecheck.values.comparison import (
    Comparison,
    SchemaReading,
)
from sidecheck.values.registration_options import ChangePolicy, CompatibilityPolicy
from sidecheck.values.registry import Deletion, Registration
from sidecheck.watching import Checkpoint, WatchEvent
from sidecheck.wire import comparison, registry
from sidecheck.wire.values import element_bytes, encode_inline_tools

__all__ = ["RegistryMethods"]


class RegistryMethods:
    """Methods of a client that register, compare, watch, list and delete tools."""

    _connection: Connection
    _protocol_version: str

    async def register(  # noqa: PLR0913  (the fields of the request)
        self,
        server: str,
        tools: Registrable | Definition | Iterable[Registrable | Definition],
        *functions: Callable[..., Any],
        replace: bool = False,
        change_policy: ChangePolicy = "accept",
        validate_only: bool = False,
        protocol_version: str = "",
        compatibility: CompatibilityPolicy = "ignore",
        reading: SchemaReading = "assume-closed",
        on_rejected: OnRejected = "error",
        timeout: float = 30.0,
    ) -> Registration:
        """Register the tools of *server*; with *validate_only*, only return the outcomes.

        *tools* is one of these:

        * a ``tools/list`` result, on its own or in its JSON-RPC response: JSON text as
          ``bytes``, an object, or an object of an SDK;
        * one tool: a definition in any of these forms; a `ToolDefinition`, which may have
          documents; a `Tool`, `InferredTool` or `AdaptedTool`; or a function that is a tool
          (`sidecheck.inference.tool`);
        * an iterable of tools. Functions may also follow: ``register("s", add, subtract)``.

        Definitions are checked against the rules of *protocol_version*; "" is the client's
        version. Tools without an error are registered, even if others are rejected. If a tool is
        rejected, `ToolsRejected` is raised; with *on_rejected* "return", the outcomes are
        returned instead.

        With *compatibility* each definition is compared with the one that it would replace, in
        the *reading* of open objects, and its outcome has the `ToolComparison`. "report" warns of
        changes that break callers, "reject-breaking" rejects them, and "reject-undecided" also
        rejects changes for which that is undecided.

        With *replace*, *tools* are the complete set: other tools of the server are deleted,
        unless *compatibility* rejects changes that break callers. Tools that do not fit in one
        message are sent in several, and *timeout* is the deadline of each message; if one fails,
        the tools of earlier messages stay registered.

        Raises:
            ToolsRejected: Tools were rejected; the others are registered.
            SidecheckError: The registration as a whole failed.
            ValueError: *tools* is not a list of tools, or a single page of several with
                *replace*; a tool, or a replacement as a whole, does not fit in a message;
                JSON cannot express a value. Nothing was sent.
            TypeError: *tools* or one of them is a ``str``, or a function is not a tool.
        """
        if on_rejected not in get_args(OnRejected):
            expected = ", ".join(map(repr, get_args(OnRejected)))
            raise ValueError(f"invalid on_rejected {on_rejected!r}; expected {expected}")
        encode = partial(
            registry.encode_registration,
            server,
            replace=replace,
            change_policy=change_policy,
            validate_only=validate_only,
            protocol_version=protocol_version or self._protocol_version,
            compatibility=compatibility,
            reading=reading,
        )
        tools_or_function = tools if callable(tools) else list_tools(tools, whole=replace)
        messages = encode_inline_tools(definitions_of(tools_or_function, functions))
        limits = await self._connection.limits(timeout)
        room = limits.message_bytes - encode([]).ByteSize()
        registrations = []
        for part in split_tools(server, messages, room, replace=replace):
            request = encode(messages[part])
            decode = partial(registry.decode_registration, count=len(request.tools))
            registrations.append(await self._connection.call(request, decode, timeout))
        registration = join_registrations(registrations)
        if on_rejected == "error":
            registration.raise_for_rejected()
        return registration

    async def compare(
        self,
        old: ServerTools | Registrable | Definition | Iterable[Registrable | Definition],
        new: ServerTools | Registrable | Definition | Iterable[Registrable | Definition],
        *,
        reading: SchemaReading = "assume-closed",
        timeout: float | None = None,
    ) -> Comparison:
        """Return the changes from *old* to *new*, and whether they break callers.

        Each set is `ServerTools`, for registered tools, or tools in the forms of `register`. The
        level of the result is the level in *reading*; the tools have the levels of both
        readings.

        Raises:
            SidecheckError: There are no such registered tools, or the call failed.
            ValueError: *old* or *new* is not a list of tools, or *reading* is unknown.
            TypeError: *old*, *new* or a tool of them is a ``str``, or a function is not a tool.
        """
        request = comparison.encode_comparison(tool_set(old), tool_set(new), reading)
        return await self._connection.call(request, comparison.decode_comparison, timeout)

    def watch(
        self, *servers: str, after: Checkpoint | None = None, patience: float = 60.0
    ) -> AsyncGenerator[WatchEvent, None]:
        """Yield the changes of registered tools of *servers*, or of all, as they happen.

        A `ToolsChange` is the change of one revision. Changes are in the order of revisions, and
        each is yielded at least once. A `Checkpoint` states that there are no further changes up
        to a revision. It is the first event if *after* is None, follows when all changes were
        sent, and is repeated every few seconds. With *after*, the position of an earlier event,
        the watch starts after that position.

        After a lost connection the watch reconnects and resumes. Leave it with
        `contextlib.aclosing`, or close the client.

        To mirror the registry: read the first checkpoint, list the tools, and apply the changes
        that follow.

        Raises:
            Unavailable: No server was reached for *patience* seconds.
            SidecheckError: The reason is ``COMPACTED`` if changes after *after* are not kept, or
                the registry was replaced: mirror it again. Other reasons are those of any call.
            ValueError: *patience* is not positive.
        """
        return self._connection.watch(servers, after, patience)

    async def get(
        self,
        server: str,
        name: str,
        *,
        adapt_to_version: str = "",
        timeout: float | None = None,
    ) -> Tool:
        """Return a registered tool; *adapt_to_version* adapts its definition to a version.

        Raises:
            SidecheckError: There is no such tool, or the call failed.
        """
        request = registry.encode_get(server, name, adapt_to_version)
        return await self._connection.call(request, registry.decode_tool, timeout)

    async def delete(
        self, server: str, names: Iterable[str], *, timeout: float | None = None
    ) -> Deletion:
        """Delete the tools of *server* called *names*, at least one.

        Raises:
            SidecheckError: Nothing was deleted.
            TypeError: *names* is a single string.
        """
        if isinstance(names, str):
            raise TypeError("names must be an iterable of strings, not a single string")
        request = registry.encode_deletion(server, names)
        decode = partial(registry.decode_deletion, named=bool(request.names))
        return await self._connection.call(request, decode, timeout)

    async def delete_all(self, server: str, *, timeout: float | None = None) -> Deletion:
        """Delete all tools of *server*.

        Raises:
            SidecheckError: Nothing was deleted.
        """
        request = registry.encode_deletion(server, None)
        decode = partial(registry.decode_deletion, named=False)
        return await self._connection.call(request, decode, timeout)

    async def list(
        self,
        server: str | None = None,
        *,
        adapt_to_version: str = "",
        timeout: float | None = None,
    ) -> AsyncIterator[Tool]:
        """Yield the registered tools of one server or of all, by server and name.

        Definitions are as registered, or adapted to *adapt_to_version*. The tools are fetched
        in pages, and *timeout* is the deadline of each page.

        Raises:
            SidecheckError: A call failed.
        """
        token, more = "", True
        while more:
            request = registry.encode_list(server or "", adapt_to_version, token)
            tools, token = await self._connection.call(request, registry.decode_page, timeout)
            more = token != ""
            for tool in tools:
                yield tool


def tool_set(
    tools: ServerTools | Registrable | Definition | Iterable[Registrable | Definition],
) -> ToolSet:
    """Return the message for a set of tools to compare."""
    if isinstance(tools, ServerTools):
        return comparison.encode_tool_set(tools)
    if isinstance(tools, str):
        raise TypeError(
            "tools must not be a str; pass bytes for JSON text, as in text.encode(),"
            " or the decoded value; ServerTools(name) are the tools of a server"
        )
    tools_or_function = tools if callable(tools) else list_tools(tools, whole=True)
    return comparison.encode_tool_set(encode_inline_tools(definitions_of(tools_or_function, ())))


def split_tools(server: str, tools: Sequence[Message], room: int, *, replace: bool) -> list[slice]:
    """Return slices of *tools* that fit in *room* bytes each; at least one slice.

    Raises:
        ValueError: A tool does not fit, or with *replace*, all tools together do not fit.
    """
    sizes = [element_bytes(tool) for tool in tools]
    slices = [*split(sizes, max_bytes=room, max_items=len(sizes))] or [slice(0, 0)]
    if replace and len(slices) > 1:
        raise ValueError(
            f"the tools of {server!r} take {sum(sizes)} bytes and one message holds {room};"
            " a replacement cannot be split: register without replace, then delete"
        )
    if max(sizes, default=0) > room:
        raise ValueError(
            f"tool {sizes.index(max(sizes))} takes {max(sizes)} bytes and one message holds {room}"
        )
    return slices


def join_registrations(parts: Sequence[Registration]) -> Registration:
    """Return the result of a registration that was sent in *parts*."""
    return Registration(
        outcomes=tuple(outcome for part in parts for outcome in part.outcomes),
        removed=tuple(name for part in parts for name in part.removed),
        kept=tuple(name for part in parts for name in part.kept),
        registry_revision=parts[-1].registry_revision,
    )
