"""The client, with the calls of ValidationService, RegistryService and InfoService."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import Any, get_args

from google.protobuf.message import Message

from sidecheck._async.connection import Connection, split
from sidecheck._async.conversion import ConversionClient
from sidecheck._async.inference import InferenceClient
from sidecheck._async.protocol import ProtocolClient
from sidecheck._async.streams import Stream
from sidecheck._async.validator import Validator
from sidecheck._transport.tasks import Channel, Coalescer, Token, Transport
from sidecheck.errors import Unavailable
from sidecheck.info import ServerInfo
from sidecheck.registry import ChangePolicy, Deletion, OnRejected, Registration, Tool
from sidecheck.streams import OUTSTANDING, validation_kind
from sidecheck.targets import Target
from sidecheck.tls import Tls
from sidecheck.tool_functions import Registrable, definitions_of
from sidecheck.tool_lists import Definition, list_tools
from sidecheck.v1.validation_service_pb2 import ValidateItem
from sidecheck.validation import (
    Item,
    OnUnavailable,
    Options,
    ValidateOutcome,
    fill_item_version,
    fill_version,
)
from sidecheck.verdicts import Verdict
from sidecheck.wire import registry, validation
from sidecheck.wire.values import element_bytes, encode_inline_tools

__all__ = ["Client"]


class Client(Validator):
    """A client of a Sidecheck server.

    *address* is ``host:port``, ``dns:///host:port``, ``unix:/path`` or ``unix:path``; or a
    transport of another kind, such as `sidecheck_server.rpc.local.LocalTransport` to a service
    in the same process. Each call has a deadline of *timeout* seconds, within which
    ``UNAVAILABLE`` is retried up to four times. *on_unavailable* is the policy for
    validations that no server answers: raise `Unavailable` ("raise"), or return a verdict
    with a violation of the code ``SIDECHECK_UNAVAILABLE`` that is valid ("allow") or invalid
    ("deny").
    *protocol_version* is the MCP protocol version, for example ``2025-11-25``, of all
    requests whose options, context or parameters name none. With "" it is the version that
    the tool was registered under, or else the server's default.

    With *tls* the connection is encrypted and the server's certificate verified; without it,
    it is in plain text.

    With *token* each call carries it as a bearer token; if it is a function, that is called for
    each call, so that a token may be replaced, and must not wait. A client refuses to send one
    in plain text beyond this machine, unless *token_without_tls* says that the network is
    encrypted otherwise.

    With *coalesce*, validations of one payload that are awaited concurrently share batches:
    the same verdicts and errors for a fraction of the work of both sides. One that finds no
    other outstanding is sent at once; others wait at most 2 ms to be sent, and for the
    payloads before them in their batch. Only the asynchronous client has it.

    A client may be shared by tasks of one event loop: the one that runs at its first call.

    Raises:
        OSError: A file of *tls* cannot be read.
        TypeError: *address* or *protocol_version* is not a ``str``, *tls* is not a `Tls`, or
            *token* is neither a ``str`` nor a function.
        ValueError: An argument is invalid, or a certificate or key is not PEM; or *token* would
            pass a network in plain text.
    """

    def __init__(  # noqa: PLR0913  (keywords, one for each setting)
        self,
        address: str | Transport,
        *,
        timeout: float = 2.0,
        on_unavailable: OnUnavailable = "raise",
        protocol_version: str = "",
        tls: Tls | None = None,
        token: Token | None = None,
        token_without_tls: bool = False,
        coalesce: bool = False,
    ) -> None:
        transport = (
            Channel(address, tls, token, token_without_tls=token_without_tls)
            if isinstance(address, str)
            else address
        )
        if not isinstance(transport, Transport):
            raise TypeError(f"address must be a str, not {type(address).__name__}")
        if token is not None and transport is address:
            raise ValueError("token is for clients with an address; the transport has its own")
        self._connection = Connection(transport, timeout, on_unavailable, protocol_version)
        self._protocol_version = protocol_version
        self._coalescer = Coalescer(self._call, self._call_batch) if coalesce else None

    @property
    def on_unavailable(self) -> OnUnavailable:
        """Policy for validations that no server answers."""
        return self._connection.on_unavailable

    @property
    def protocol(self) -> ProtocolClient:
        """Checks of tool names, tools, messages and sessions against the MCP rules."""
        return ProtocolClient(self._connection)

    @property
    def conversion(self) -> ConversionClient:
        """Conversions of tools, calls and results for the APIs of model providers."""
        return ConversionClient(self._connection)

    @property
    def inference(self) -> InferenceClient:
        """Inference of definitions from source text, and their adaptation to versions."""
        return InferenceClient(self._connection)

    async def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> list[ValidateOutcome]:
        """Validate many payloads; see `Validator.validate_batch`."""
        version = self._protocol_version
        filled = fill_version(options, version)
        return await self._connection.call_in_parts(
            [validation.encode_item(fill_item_version(item, version)) for item in items],
            partial(validation.encode_batch, target=target, options=filled),
            validation.decode_batch,
            lambda verdict: verdict,
            timeout,
        )

    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> Stream[Item, ValidateOutcome]:
        """Return a stream of payloads; see `Validator.stream`."""
        version = self._protocol_version
        opening = validation.encode_stream_defaults(target, fill_version(options, version))
        return self._connection.stream(validation_kind(version), opening, outstanding, timeout)

    async def register(  # noqa: PLR0913  (the fields of the request)
        self,
        server: str,
        tools: Registrable | Definition | Iterable[Registrable | Definition],
        *functions: Callable[..., Any],
        replace: bool = False,
        change_policy: ChangePolicy = "accept",
        validate_only: bool = False,
        protocol_version: str = "",
        on_rejected: OnRejected = "raise",
        timeout: float = 30.0,
    ) -> Registration:
        """Register the tools of *server*, or with *validate_only* return what would happen.

        *tools* is one of these:

        * a ``tools/list`` result, on its own or in its JSON-RPC response: JSON text as
          ``bytes``, an object, or an object of an SDK;
        * one tool: a definition in any of these forms; a `ToolDefinition`, which may have
          documents; a `Tool`, `InferredTool` or `AdaptedTool`; or a function that is a tool
          (`sidecheck.inference.tool`);
        * an iterable of tools. Functions may also follow: ``register("s", add, subtract)``.

        Definitions are checked against the rules of *protocol_version*, "" is the client's
        own. Tools without an error are registered, whatever becomes of the others. If one is
        rejected, `ToolsRejected` is raised, or with *on_rejected* "return" the outcomes are
        returned.

        With *replace* they are the complete set: other tools of the server are deleted.
        Tools that do not fit in one message are sent in several, and *timeout* is the
        deadline of each; if one fails, the tools of earlier ones stay registered.

        Raises:
            ToolsRejected: Tools were rejected; the others are registered.
            SidecheckError: The registration as a whole failed.
            ValueError: *tools* is no list of tools, or a single page of several with
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
        )
        listed = tools if callable(tools) else list_tools(tools, whole=replace)
        messages = encode_inline_tools(definitions_of(listed, functions))
        limits = await self._connection.limits(timeout)
        room = limits.message_bytes - encode([]).ByteSize()
        registrations = []
        for part in split_tools(server, messages, room, replace=replace):
            request = encode(messages[part])
            decode = partial(registry.decode_registration, count=len(request.tools))
            registrations.append(await self._connection.call(request, decode, timeout))
        registration = join_registrations(registrations)
        if on_rejected == "raise":
            registration.raise_for_rejected()
        return registration

    async def get(
        self,
        server: str,
        name: str,
        *,
        adapt_to_version: str = "",
        timeout: float | None = None,
    ) -> Tool:
        """Return a registered tool, its definition in the form for *adapt_to_version* if given.

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

    async def info(self, *, timeout: float | None = None) -> ServerInfo:
        """Return the server's version, limits and capabilities.

        Raises:
            SidecheckError: The call failed.
        """
        return await self._connection.info(timeout)

    async def list(
        self,
        server: str | None = None,
        *,
        adapt_to_version: str = "",
        timeout: float | None = None,
    ) -> AsyncIterator[Tool]:
        """Yield the registered tools of one server or of all, by server and name.

        Their definitions are as registered, or in the form for *adapt_to_version*. They are
        fetched in pages, and *timeout* is the deadline of each.

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

    async def close(self) -> None:
        """Close the connection; pending calls are cancelled."""
        if self._coalescer is not None:
            self._coalescer.close()
        await self._connection.close()

    async def _validate(self, item: Item, timeout: float | None) -> Verdict:
        request, seconds = validation.encode_request(item), self._connection.seconds(timeout)
        validate = self._call if self._coalescer is None else self._coalescer.validate
        try:
            return await validate(request, seconds)
        except Unavailable as error:
            return self._connection.fall_back(error)

    async def _call(self, request: Message, timeout: float) -> Verdict:
        return await self._connection.call(request, validation.decode_response, timeout)

    async def _call_batch(
        self, items: Sequence[ValidateItem], timeout: float
    ) -> Sequence[ValidateOutcome]:
        return await self._connection.call_in_parts(
            items,
            validation.encode_joint_batch,
            validation.decode_batch,
            lambda verdict: verdict,
            timeout,
        )


def split_tools(server: str, tools: Sequence[Message], room: int, *, replace: bool) -> list[slice]:
    """Return slices of *tools* that fit in *room* bytes each; at least one slice.

    Raises:
        ValueError: A tool does not fit, or with *replace* all of them together do not.
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
        registry_revision=parts[-1].registry_revision,
    )
