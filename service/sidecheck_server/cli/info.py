"""`sidecheck info`: show the version and limits of a server."""

from dataclasses import asdict

import click
from sidecheck import ServerInfo

from sidecheck_server.cli.connection import connect
from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.options import form_option, format_examples, target_option, timeout_option
from sidecheck_server.cli.reports import format_json
from sidecheck_server.cli.rows import fact_rows, write_rows
from sidecheck_server.cli.tls_options import tls_options
from sidecheck_server.config.addresses import ClientTls

__all__ = ["info"]


@click.command(
    epilog=format_examples(
        "sidecheck info", "sidecheck info --target unix:/run/sidecheck.sock --format json"
    )
)
@target_option
@timeout_option(2.0)
@tls_options("TARGET")
@form_option
def info(target: str, timeout: float, tls: ClientTls | None, form: str) -> None:
    """Show the version, limits and supported standards of the server at TARGET.

    Exits with 2 if it does not respond.
    """
    with connect(target, timeout, tls) as client:
        server = client.info()
    if form == "json":
        write_output(format_json(asdict(server)))
    else:
        write_rows(fact_rows(_properties(server)))


def _properties(server: ServerInfo) -> list[tuple[str, list[str]]]:
    default = server.default_protocol_version
    limits = asdict(server.limits)
    width = max(map(len, limits))
    return [
        ("version", [server.version]),
        (
            "dialects",
            [
                uri + (" (default)" if index == 0 else "")
                for index, uri in enumerate(server.dialects)
            ],
        ),
        (
            "protocol versions",
            [
                version + (" (default)" if version == default else "")
                for version in server.protocol_versions
            ],
        ),
        (
            "engines",
            [f"{engine.name}: {engine.library} {engine.version}" for engine in server.engines],
        ),
        ("limits", [f"{name:<{width}}  {value:>10,}" for name, value in limits.items()]),
        ("registry revision", [f"{server.registry_revision}"]),
    ]
