"""`sidecheck healthcheck`: ask a server whether it is serving."""

from typing import Any

import click
import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from sidecheck_server.cli.options import examples, target_option, timeout_option

__all__ = ["healthcheck"]


@click.command(
    epilog=examples(
        "sidecheck healthcheck", "sidecheck healthcheck --target unix:/run/sidecheck.sock"
    )
)
@target_option
@timeout_option(2.0)
def healthcheck(target: str, timeout: float) -> None:
    """Exit with 0 if the server at TARGET is serving, with 1 otherwise."""
    try:
        target.encode()
    except UnicodeEncodeError:
        raise click.UsageError("the target is not UTF-8") from None
    # The server is local; an HTTP proxy could not reach it.
    with grpc.insecure_channel(target, [("grpc.enable_http_proxy", 0)]) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            response = stub.Check(health_pb2.HealthCheckRequest(), timeout=timeout)
        except grpc.RpcError as error:
            code = error.code().name if isinstance(error, grpc.Call) else "unreachable"
            raise click.ClickException(f"{target} does not respond: {code}") from None
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(response.status)
    if response.status != health_pb2.HealthCheckResponse.SERVING:
        raise click.ClickException(f"{target} is {status}")
    click.echo(f"{target} is {status}")
