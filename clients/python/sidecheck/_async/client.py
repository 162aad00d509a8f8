"""The client: ValidationService, RegistryService and InfoService."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import Iterable, Sequence
from functools import partial

from google.protobuf.message import Message

from sidecheck._async.connection import Connection
from sidecheck._async.conversion import ConversionClient
from sidecheck._async.inference import InferenceClient
from sidecheck._async.protocol import ProtocolClient
from sidecheck._async.registry import RegistryMethods
from sidecheck._async.streams import Stream
from sidecheck._async.validator import Validator
from sidecheck._transport.tasks import Channel, Coalescer, Token, Transport
from sidecheck.errors import Unavailable
from sidecheck.streams import OUTSTANDING, validation_kind
from sidecheck.targets import Target
from sidecheck.tls import Tls
from sidecheck.v1.validation_service_pb2 import ValidateItem
from sidecheck.validation import (
    Item,
    OnUnavailable,
    Options,
    ValidateOutcome,
    fill_item_version,
    fill_version,
)
from sidecheck.values.info import ServerInfo
from sidecheck.values.verdict import Verdict
from sidecheck.wire import validation

__all__ = ["Client"]


class Client(RegistryMethods, Validator):
    """A client of a Sidecheck server.

    *address* is ``host:port``, ``dns:///host:port``, ``unix:/path`` or ``unix:path``; or
    another transport, such as `sidecheck_server.rpc.local.LocalTransport` to a service in the
    same process. Each call has a deadline of *timeout* seconds, within which
    ``UNAVAILABLE`` is retried up to four times. *on_unavailable* is the policy for
    validations that no server answers: raise `Unavailable` ("error"), or return a verdict
    with a violation of the code ``SIDECHECK_UNAVAILABLE`` that is valid ("allow") or invalid
    ("deny").
    *protocol_version* is the MCP protocol version, for example ``2025-11-25``, of all
    requests whose options, context or parameters name none. With "" it is the version under
    which the tool was registered, or else the server's default.

    With *tls* the connection is encrypted and the server's certificate verified; without *tls*
    the connection is in plain text.

    With *token* each call carries a bearer token. A function is called for each call, so that
    it may return a renewed token; it must not block. A client refuses to send a token in plain
    text beyond this machine, unless *token_without_tls* states that the network is encrypted
    otherwise.

    With *coalesce*, concurrent validations of one payload share batches: they have the same
    verdicts and errors, for a fraction of the work of both sides. A validation is sent at once
    if no other is outstanding; otherwise it waits at most 2 ms to be sent, and for the payloads
    before it in its batch. Only the asynchronous client has this option.

    A client may be shared by tasks of one event loop: the one that runs at its first call.

    Raises:
        OSError: A file of *tls* cannot be read.
        TypeError: *address* or *protocol_version* is not a ``str``, *tls* is not a `Tls`, or
            *token* is neither a ``str`` nor a function.
        ValueError: An argument is invalid, or a certificate or key is not PEM; or *token* would
            cross a network in plain text.
    """

    def __init__(  # noqa: PLR0913  (keywords, one for each setting)
        self,
        address: str | Transport,
        *,
        timeout: float = 2.0,
        on_unavailable: OnUnavailable = "error",
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
    def min_revision(self) -> int:
        """Minimum revision of the registry to read; 0, the default, is any.

        Several servers may share a registry. Set the revision that a registration or deletion
        by any client returned, and a request waits until its server has that revision. The
        error ``REVISION_NOT_REACHED`` means that the server did not reach it within some
        seconds. A registry in memory starts at 0 with its server.
        """
        return self._connection.min_revision

    @min_revision.setter
    def min_revision(self, revision: int) -> None:
        self._connection.min_revision = revision

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
        options = fill_version(options, version)
        return await self._connection.call_in_parts(
            [validation.encode_item(fill_item_version(item, version)) for item in items],
            partial(validation.encode_batch, target=target, options=options),
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

    async def info(self, *, timeout: float | None = None) -> ServerInfo:
        """Return the server's version, limits and capabilities.

        Raises:
            SidecheckError: The call failed.
        """
        return await self._connection.info(timeout)

    async def close(self) -> None:
        """Close the connection; pending calls are cancelled."""
        if self._coalescer is not None:
            self._coalescer.close()
        await self._connection.close()

    async def _validate(self, item: Item, timeout: float | None) -> Verdict:
        request = validation.encode_request(item)
        seconds = self._connection.resolve_timeout(timeout)
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
