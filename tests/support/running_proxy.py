"""A proxy session with services in this process, and its findings."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, fields
from typing import Any

from sidecheck import Client
from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.config.exemptions import Exemptions
from sidecheck_server.config.policies import Policies, Policy, Repairs
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.types import Severity
from sidecheck_server.proxy.checks.local import LocalChecks
from sidecheck_server.proxy.messages import Direction, Message, read_message
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.rulings.listings import Listings
from sidecheck_server.proxy.rulings.pins import PinnedTools
from sidecheck_server.proxy.rulings.session import ProxySession
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.rpc.local import LocalTransport
from sidecheck_server.services.container import ServiceOptions, Services, create_services

__all__ = [
    "Proxied",
    "local_checks",
    "local_client",
    "policies_of",
    "proxied",
    "shake_hands",
    "text_of",
]

_HANDSHAKE: list[tuple[Direction, Any]] = [
    (
        "client",
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "client", "version": "1"},
            },
        },
    ),
    (
        "server",
        {
            "id": 1,
            "result": {
                "protocolVersion": "2025-11-25",
                "capabilities": {
                    "tools": {"listChanged": True},
                    "prompts": {},
                    "resources": {},
                    "logging": {},
                    "tasks": {"requests": {"tools": {"call": {}}}},
                },
                "serverInfo": {"name": "server", "version": "1"},
            },
        },
    ),
    ("client", {"method": "notifications/initialized"}),
]


@contextmanager
def _services() -> Iterator[Services]:
    limits = Limits()
    with closing(open_registry(None, RegistryQuotas())) as registry:
        yield create_services(
            registry, InProcessWorker(limits).run, limits, ServiceOptions(memory_bytes=64 << 20)
        )


@asynccontextmanager
async def local_client() -> AsyncIterator[Client]:
    """Yield a client of services in this process."""
    with _services() as services:
        transport = LocalTransport(services, services.registry, Limits())
        async with Client(transport, timeout=300) as client:
            yield client


@contextmanager
def local_checks(*, hide_values: bool = False) -> Iterator[LocalChecks]:
    """Yield the checks of services in this process."""
    with _services() as services:
        yield LocalChecks(services, Limits(), hide_values=hide_values)


def policies_of(values: Mapping[str, Any]) -> Policies:
    """Return the policies with *values*; the other policies have their defaults."""
    kinds: dict[str, Any] = {field.name: Policy for field in fields(Policies)}
    kinds |= {"repair": Repairs, "assert_formats": bool, "allow": Exemptions.parse}
    return Policies(**{name: kinds[name](value) for name, value in values.items()})


@dataclass(slots=True)
class Proxied:
    """A session, and its findings so far, one line each."""

    session: ProxySession
    findings: list[str]


@asynccontextmanager
async def proxied(
    tools: Any, policies: Policies, pins: PinnedTools | None = None
) -> AsyncIterator[Proxied]:
    """Yield a session with a server that lists *tools*."""
    findings: list[str] = []

    def write(line: bytes) -> None:
        finding = json.loads(line)
        sender = finding["direction"].partition("->")[0]
        names = ("method", "tool", "code", "location", "severity", "action")
        findings.append(" ".join([sender, *(finding.get(name, "") for name in names)]))

    async def list_tools(_params: Mapping[str, bytes]) -> Message:
        response = json.dumps({"jsonrpc": "2.0", "id": 0, "result": {"tools": tools}})
        message = read_message(response.encode())
        assert isinstance(message, Message)
        return message

    report = Report(lambda _: None, write, minimum=Severity.WARNING)
    with local_checks() as checks:
        listings = Listings(
            checks, policies.tools, pins or PinnedTools(), report, list_tools, policies.allow
        )
        async with ProxySession(checks, policies, report, listings) as session:
            yield Proxied(session, findings)


async def shake_hands(proxy: Proxied) -> None:
    """Initialize the session of *proxy*."""
    for side, message in _HANDSHAKE:
        await proxy.session.handle(text_of(message), side)


def text_of(message: Any) -> bytes:
    """Return the text of *message*: bytes, a batch, or an object without its version."""
    if isinstance(message, bytes):
        return message
    if isinstance(message, list):
        return b"[" + b",".join(map(text_of, message)) + b"]"
    return json.dumps({"jsonrpc": "2.0", **message}).encode()
