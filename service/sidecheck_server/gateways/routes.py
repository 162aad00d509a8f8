"""Routes of gateways: the server of each route, its policies and its sessions."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import structlog

from sidecheck_server.access.identity import check_server
from sidecheck_server.config.exemptions import Exemptions
from sidecheck_server.config.policies import GatewayPolicies, Policies
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.gateways.outcomes import GatewayFindings, Outcome
from sidecheck_server.gateways.registered_tools import RegisteredTools
from sidecheck_server.proxy.checks import RegistryChecks
from sidecheck_server.proxy.http.connections import HttpConnections
from sidecheck_server.proxy.rulings.pins import LockFileError, open_pins
from sidecheck_server.proxy.rulings.session import ProxySession
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.handler import status_of

__all__ = [
    "Route",
    "Routes",
    "record_failure",
]

_log = structlog.get_logger("sidecheck.gateways")


def record_failure(error: Exception, method: str, call: Call, outcome: Outcome) -> CallFailed:
    """Log, count and return the failure of *call*, of *method*, because of *error*.

    *outcome* of the exchange is marked as failed. The log has the details, because gateways
    show their operators no more than the gRPC code.
    """
    if isinstance(error, LockFileError):
        _log.error("gateway.pins_unusable", detail=str(error))
        error = RequestError(
            ErrorReason.REGISTRY_UNUSABLE, "the lock file of pinned tools cannot be used"
        )
    elif isinstance(error, RequestError):
        _log.warning(
            "gateway.failed", method=method, reason=error.reason.value, detail=error.message
        )
    call.observe_error(error.reason if isinstance(error, RequestError) else None)
    outcome.fail(error)
    return CallFailed(status_of(error, method))


_MAX_ROUTES = 1_000
_MAX_NAME_CHARACTERS = 256
"""Maximum length of a namespace of the registry."""


@dataclass(frozen=True, slots=True)
class SharedTools:
    """Source of the same tools for all clients: those of one server."""

    tools: RegisteredTools

    def find_tools(self, _headers: Mapping[str, str]) -> RegisteredTools:
        """Return the tools."""
        return self.tools

    def create_tools(self) -> RegisteredTools:
        """Return the tools."""
        return self.tools


@dataclass(frozen=True, slots=True)
class Route:
    """A server behind a gateway, and the policies for its traffic."""

    policies: Policies
    tools: RegisteredTools
    make_session: Callable[..., ProxySession]
    connections: HttpConnections


class Routes:
    """Cache of routes, keyed by the namespace of the server and its policies.

    *policies* are the defaults.
    """

    def __init__(
        self, checks: RegistryChecks, policies: GatewayPolicies, findings: GatewayFindings
    ) -> None:
        self._checks = checks
        self._pinning = policies.pins
        self._pins_folder = Path(policies.pins_folder)
        self._policies = Policies(**{f.name: getattr(policies, f.name) for f in fields(Policies)})
        self._findings = findings
        self._routes: OrderedDict[tuple[str, Policies], Route] = OrderedDict()

    async def find(self, server: str, overrides: Mapping[str, str]) -> Route:
        """Return the route to *server*, with the default policies updated by *overrides*.

        Raises:
            RequestError: INVALID_REQUEST if *server* is not a namespace, or a policy is unknown;
                PERMISSION_DENIED if the gateway's token does not include the server.
            LockFileError: the lock file of the server cannot be used.
        """
        if not 0 < len(server) <= _MAX_NAME_CHARACTERS:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                f"the gateway must name the server, in 1 to {_MAX_NAME_CHARACTERS} characters",
                {"field": "server"},
            )
        # Decision 0065: a route caches definitions, which bypass the check of the registry.
        check_server(server)
        policies = _override(self._policies, overrides)
        key = (server, policies)
        route = self._routes.get(key)
        if route is not None:
            self._routes.move_to_end(key)
        else:
            route = self._routes[key] = self._create_route(server, policies)
            if len(self._routes) > _MAX_ROUTES:
                _, oldest = self._routes.popitem(last=False)
                await oldest.connections.close()
        return route

    async def close(self) -> None:
        """End all sessions."""
        for route in self._routes.values():
            await route.connections.close()

    def _create_route(self, server: str, policies: Policies) -> Route:
        pins = open_pins(self._pinning, self._pins_folder / f"{quote(server, safe='')}.json")
        tools = RegisteredTools(
            self._checks, server, policies.tools, pins, self._findings, policies.allow
        )
        make_session = partial(ProxySession, self._checks, policies, self._findings)
        connections = HttpConnections(SharedTools(tools), make_session)
        return Route(policies, tools, make_session, connections)


def _override(policies: Policies, overrides: Mapping[str, str]) -> Policies:
    """Return *policies* updated by *overrides*, which are keyed by name of the policy.

    Raises:
        RequestError: INVALID_REQUEST if a value is unknown.
    """
    changes = {}
    for field in fields(policies):
        value = overrides.get(field.name)
        if value is None:
            continue
        try:
            changes[field.name] = _read_override(type(field.default), value)
        except ValueError as error:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                f"unknown policy for {field.name} from the gateway; {error}",
                {"field": field.name},
            ) from None
    return replace(policies, **changes)


_BOOLEANS = {"true": True, "false": False}


def _read_override(kind: Any, value: str) -> Any:
    """Return *value* as a policy of *kind*.

    Raises:
        ValueError: it is unknown; the message says what is expected.
    """
    if kind is Exemptions:
        return Exemptions.parse(text.strip() for text in value.split(",") if text.strip())
    values = _BOOLEANS if kind is bool else {policy.value: policy for policy in kind}
    if value not in values:
        raise ValueError(f"expected one of {', '.join(values)}")
    return values[value]
