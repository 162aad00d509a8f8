"""`sidecheck healthcheck`: whether a server serves."""

from typing import Any

import click

__all__ = ["healthcheck"]


@click.command()
@click.option(
    "--target",
    default="127.0.0.1:50151",
    show_default=True,
    metavar="TARGET",
    envvar="SIDECHECK_LISTEN",
    help="The server: host:port, or unix:/path.",
)
@click.option("--timeout", default=2.0, show_default=True, help="Seconds to wait.")
def healthcheck(target: str, timeout: float) -> None:
    r"""Exit with 0 if the server at TARGET serves, with 1 if not.

    \b
    Examples:
      sidecheck healthcheck
      sidecheck healthcheck --target unix:/run/sidecheck.sock
    """
    import grpc  # noqa: PLC0415  (other commands start without gRPC)
    from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: PLC0415

    with grpc.insecure_channel(target) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=timeout)
        except grpc.RpcError as error:
            code = error.code().name if isinstance(error, grpc.Call) else "unreachable"
            raise click.ClickException(f"{target} does not answer: {code}") from None
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    if answer.status != health_pb2.HealthCheckResponse.SERVING:
        raise click.ClickException(f"{target} is {status}")
    click.echo(f"{target} is {status}")
