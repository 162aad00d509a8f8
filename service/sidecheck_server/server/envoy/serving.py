"""ASGI application of a serving process that is Envoy, which names it in its configuration."""

import os
import shutil
import socket
from pathlib import Path

from sidecheck_server.config.settings import Settings
from sidecheck_server.observability.tracing.instrumentation import Carrier
from sidecheck_server.rpc.asgi.application import GrpcApplication
from sidecheck_server.rpc.asgi.context import Receive, Scope, Send
from sidecheck_server.rpc.tls import ServerCertificates
from sidecheck_server.server.components import ServingComponents
from sidecheck_server.server.envoy.admin import EnvoyAdmin
from sidecheck_server.server.envoy.launcher import ADMIN_VARIABLE, LINK_VARIABLE
from sidecheck_server.server.envoy.server import EnvoyServer
from sidecheck_server.server.serving import serve

__all__ = ["application"]


class _Process:
    """The application of the process, once it has started."""

    calls: GrpcApplication


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a call; with the scope "lifespan", serve until the process ends."""
    if scope["type"] == "http":
        await _Process.calls(scope, receive, send)
        return
    await receive()
    if LINK_VARIABLE not in os.environ:
        # Envoy only validates its configuration.
        await send({"type": "lifespan.startup.complete"})
        return

    async def report_started() -> None:
        # Envoy listens after this event.
        await send({"type": "lifespan.startup.complete"})

    link = socket.socket(fileno=int(os.environ[LINK_VARIABLE]))
    await serve(link, _create_server, report_started, _remove_folder)


def _remove_folder() -> None:
    """Remove the folder with the certificates, which the first process could not remove."""
    shutil.rmtree(Path(os.environ[ADMIN_VARIABLE]).parent, ignore_errors=True)


def _create_server(
    settings: Settings, components: ServingComponents
) -> tuple[EnvoyServer, ServerCertificates | None]:
    """Return the server; Envoy reads the certificates."""
    server = EnvoyServer(
        settings,
        components.served,
        components.metrics,
        components.authorizer,
        components.tracing.methods(Carrier.GRPC),
        EnvoyAdmin(Path(os.environ[ADMIN_VARIABLE])),
    )
    _Process.calls = server.application
    return server, None
