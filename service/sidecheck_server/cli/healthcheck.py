"""`sidecheck healthcheck`: check whether a server is serving."""

from typing import TYPE_CHECKING, Any

import click

from sidecheck_server.cli.health_probe import SERVING, probe
from sidecheck_server.cli.options import format_examples, target_option, timeout_option
from sidecheck_server.cli.tls_options import tls_options
from sidecheck_server.config.addresses import ClientTls

if TYPE_CHECKING:
    import grpc

__all__ = ["healthcheck"]

# The server is local; an HTTP proxy could not reach it.
_OPTIONS = [("grpc.enable_http_proxy", 0)]


@click.command(
    epilog=format_examples(
        "sidecheck healthcheck",
        "sidecheck healthcheck --target unix:/run/sidecheck.sock",
        "sidecheck healthcheck --tls-ca ca.crt --tls-server-name sidecheck.internal",
    )
)
@target_option
@timeout_option(2.0)
@tls_options("TARGET")
def healthcheck(target: str, timeout: float, tls: ClientTls | None) -> None:
    """Exit with 0 if the server at TARGET is serving, with 1 otherwise."""
    try:
        target.encode()
    except UnicodeEncodeError:
        raise click.UsageError("the target is not UTF-8") from None
    if tls is None and probe(target, timeout) == SERVING:
        click.echo(f"{target} is SERVING")
        return
    _call(target, timeout, tls)


def _call(target: str, timeout: float, tls: ClientTls | None) -> None:
    """Check the health with the client of gRPC, which names the causes of failures."""
    # Imported late, because the import takes ten times as long as a check in plain text.
    import grpc  # noqa: PLC0415
    from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: PLC0415

    with _channel(target, tls) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            response = stub.Check(health_pb2.HealthCheckRequest(), timeout=timeout)
        except grpc.RpcError as error:
            raise click.ClickException(_describe(error, target, tls)) from None
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(response.status)
    if response.status != health_pb2.HealthCheckResponse.SERVING:
        raise click.ClickException(f"{target} is {status}")
    click.echo(f"{target} is {status}")


def _describe(error: "grpc.RpcError", target: str, tls: ClientTls | None) -> str:
    from sidecheck import Unavailable  # noqa: PLC0415
    from sidecheck.wire.connection_failures import Peer  # noqa: PLC0415
    from sidecheck.wire.errors import decode_call_error  # noqa: PLC0415

    from sidecheck_server.cli.connection import describe_unavailable  # noqa: PLC0415
    from sidecheck_server.cli.rows import escape  # noqa: PLC0415

    has_tls = tls is not None and not target.startswith("unix:")
    server_name = tls.server_name if tls is not None else ""
    failure = decode_call_error(error, Peer(target, has_tls, server_name))
    if isinstance(failure, Unavailable):
        return escape(describe_unavailable(failure, target))
    return escape(f"{target} does not respond: {failure}")


def _channel(target: str, settings: ClientTls | None) -> "grpc.Channel":
    import grpc  # noqa: PLC0415

    if settings is None or target.startswith("unix:"):
        return grpc.insecure_channel(target, _OPTIONS)
    from sidecheck_server.cli.connection import make_tls, usage_errors  # noqa: PLC0415

    options: list[tuple[str, Any]] = [*_OPTIONS]
    if settings.server_name:
        options.append(("grpc.ssl_target_name_override", settings.server_name))
    with usage_errors():
        credentials = make_tls(settings).channel_credentials()
    return grpc.secure_channel(target, credentials, options)
