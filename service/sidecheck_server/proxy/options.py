"""Options of a proxy."""

from dataclasses import dataclass, field
from io import FileIO
from typing import Literal

from sidecheck_server.config.addresses import ClientTls
from sidecheck_server.config.policies import Policies, Policy, Repairs
from sidecheck_server.proxy.http_limits import HttpLimits
from sidecheck_server.proxy.rulings.pins import PinnedTools

__all__ = ["ProxyOptions"]


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """Options of a proxy."""

    policies: Policies
    pins: PinnedTools
    #: Address of a running Sidecheck; None to validate in this process.
    service: str | None
    #: TLS of the connection to the service; None for plain text.
    tls: ClientTls | None
    on_unavailable: Literal["error", "allow", "deny"]
    #: File for findings.
    report: FileIO | None
    #: File for messages.
    record: FileIO | None
    show_values: bool
    min_severity: str
    max_message_bytes: int
    #: Origins of web pages that may call over HTTP.
    origins: tuple[str, ...] = ()
    #: Paths, beyond that of the server, that pass under enforcement.
    paths: tuple[str, ...] = ()
    http_limits: HttpLimits = field(default_factory=HttpLimits)
    #: Targets whose clients get rewritten definitions, over stdio; none to rewrite nothing.
    portable_targets: tuple[str, ...] = ()
    #: Seconds for the validation of messages that have passed, after the end of a connection.
    finish_seconds: float = 10.0
    #: Whether the proxy opens a new session in place of one that the server over HTTP has ended.
    reconnect: bool = False
    #: Whether the proxy starts a server process again after it has ended.
    restart: bool = False
    #: Names of this proxy in the host header of callers over HTTP.
    hosts: tuple[str, ...] = ()
    #: URL under which clients call the proxy over HTTP, for authorization metadata; "" if unknown.
    public_url: str = ""
    #: Seconds without data after which a stream of events gets a comment; None for none.
    keep_alive: float | None = None
    #: Maximum seconds for the response to a request; None for no maximum.
    timeout: float | None = None

    @property
    def enforces(self) -> bool:
        """Whether the proxy rejects content that it cannot validate."""
        return self.policies.enforces_any or self.pins.is_active

    @property
    def lists_tools(self) -> bool:
        """Whether calls are validated by the tools that the server lists."""
        policies = self.policies
        return {policies.arguments, policies.results, policies.tools} != {Policy.OFF}

    @property
    def observes(self) -> bool:
        """Whether the proxy can neither stop nor change a message over stdio."""
        return (
            not self.enforces and self.policies.repair is Repairs.OFF and not self.portable_targets
        )
