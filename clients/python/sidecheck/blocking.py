"""The blocking client."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sidecheck.absence import OnUnavailable
from sidecheck.blocking_conversion import BlockingConversionClient
from sidecheck.blocking_inference import BlockingInferenceClient
from sidecheck.blocking_protocol import BlockingProtocolClient
from sidecheck.connections import BlockingConnection
from sidecheck.conversations import Conversations
from sidecheck.conversion_conversations import ConversionConversations
from sidecheck.exchanges import PAYLOADS
from sidecheck.inference_conversations import InferenceConversations
from sidecheck.info import ServerInfo
from sidecheck.items import Item
from sidecheck.options import Options
from sidecheck.protocol_conversations import ProtocolConversations
from sidecheck.streams import OUTSTANDING, BlockingStream
from sidecheck.targets import Target
from sidecheck.tool_functions import Registrable, listed
from sidecheck.tools import ChangePolicy, Deletion, Registration, Tool
from sidecheck.validators import BlockingValidator
from sidecheck.verdicts import Verdict
from sidecheck.wire.responses import Judgement

__all__ = ["BlockingClient"]


class BlockingClient(BlockingValidator):
    """Asks a server while the caller waits; in all else a `Client`.

    One client serves any number of threads. It must not be made before a fork.

    Raises:
        ValueError: An argument is none that `Client` takes.
    """

    def __init__(
        self, address: str, *, timeout: float = 2.0, on_unavailable: OnUnavailable = "raise"
    ) -> None:
        self._connection = BlockingConnection(address)
        self._conversations = Conversations(timeout, on_unavailable)

    @property
    def protocol(self) -> BlockingProtocolClient:
        """What checks by the rules of the protocol: names, tools, messages and others."""
        return BlockingProtocolClient(self._connection, ProtocolConversations(self._conversations))

    @property
    def conversion(self) -> BlockingConversionClient:
        """What turns tools, calls and results into the forms of providers' APIs, and back."""
        talk = ConversionConversations(self._conversations)
        return BlockingConversionClient(self._connection, talk)

    @property
    def inference(self) -> BlockingInferenceClient:
        """What infers definitions, and gives them the forms that protocol versions want."""
        return BlockingInferenceClient(
            self._connection, InferenceConversations(self._conversations)
        )

    def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> list[Judgement]:
        """Judge many payloads and answer in their order; see `Validator.validate_batch`."""
        return self._connection.hold(
            self._conversations.validate_batch(items, target, options, timeout)
        )

    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> BlockingStream[Item, Judgement]:
        """Return a stream, to be entered with ``with``; see `Client.stream`."""
        opening = self._conversations.stream(target, options, None)
        return self._connection.stream(PAYLOADS, opening, outstanding, timeout)

    def register(
        self,
        server: str,
        tools: Iterable[Registrable] | Callable[..., Any],
        *functions: Callable[..., Any],
        replace: bool = False,
        change_policy: ChangePolicy = "accept",
        validate_only: bool = False,
        protocol_version: str = "",
        timeout: float = 30.0,
    ) -> Registration:
        """Register the tools of *server*; see `Client.register`."""
        return self._connection.hold(
            self._conversations.register(
                server,
                listed(tools, functions),
                replace=replace,
                change_policy=change_policy,
                validate_only=validate_only,
                protocol_version=protocol_version,
                timeout=timeout,
            )
        )

    def get(self, server: str, name: str, *, timeout: float | None = None) -> Tool:
        """Return a registered tool; see `Client.get`."""
        return self._connection.hold(self._conversations.get(server, name, timeout))

    def delete(
        self, server: str, names: Iterable[str], *, timeout: float | None = None
    ) -> Deletion:
        """Remove the tools of *server* that are called *names*; see `Client.delete`."""
        return self._connection.hold(self._conversations.delete(server, names, timeout))

    def delete_all(self, server: str, *, timeout: float | None = None) -> Deletion:
        """Remove every tool of *server*; see `Client.delete_all`."""
        return self._connection.hold(self._conversations.delete(server, None, timeout))

    def info(self, *, timeout: float | None = None) -> ServerInfo:
        """Return what the server is and what it accepts; see `Client.info`."""
        return self._connection.hold(self._conversations.info(timeout))

    def list(self, server: str | None = None, *, timeout: float | None = None) -> Iterator[Tool]:
        """Yield the registered tools, of one server or of all; see `Client.list`."""
        for page in self._conversations.pages(server, timeout):
            yield from self._connection.hold(page)

    def close(self) -> None:
        """Close the connection; calls under way are cancelled."""
        self._connection.close()

    def _judge(self, item: Item, timeout: float | None) -> Verdict:
        return self._connection.hold(self._conversations.validate(item, timeout))
