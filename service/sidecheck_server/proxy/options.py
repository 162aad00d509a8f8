"""How a proxy is run."""

from dataclasses import dataclass, field
from io import FileIO
from typing import Literal

from sidecheck_server.config.addresses import ClientTls
from sidecheck_server.config.policies import Policies
from sidecheck_server.proxy.http_limits import HttpLimits
from sidecheck_server.proxy.pins import PinnedTools

__all__ = ["ProxyOptions"]


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """How a proxy is run."""

    policies: Policies
    pins: PinnedTools
    #: Address of a running Sidecheck; None for the services of this process.
    service: str | None
    #: TLS of the connection to it; None for plain text.
    tls: ClientTls | None
    on_unavailable: Literal["error", "allow", "deny"]
    #: Files of findings and of messages.
    report: FileIO | None
    record: FileIO | None
    show_values: bool
    min_severity: str
    max_message_bytes: int
    #: Origins of browsers that may call over HTTP.
    origins: tuple[str, ...] = ()
    #: Other paths than that of the server that pass under enforcement.
    paths: tuple[str, ...] = ()
    http_limits: HttpLimits = field(default_factory=HttpLimits)

    @property
    def enforces(self) -> bool:
        """Whether what cannot be validated may not pass."""
        return self.policies.enforces_any or self.pins.active
