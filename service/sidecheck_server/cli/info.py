"""`sidecheck info`: what a server is and what it accepts."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.options import examples, form_option, target_option, timeout_option

if TYPE_CHECKING:
    from sidecheck import ServerInfo

__all__ = ["info"]


@click.command(
    epilog=examples(
        "sidecheck info", "sidecheck info --target unix:/run/sidecheck.sock --format json"
    )
)
@target_option
@timeout_option(2.0)
@form_option
def info(target: str, timeout: float, form: str) -> None:
    """Tell what the server at TARGET is, and what it accepts.

    Exits with 2 if it does not answer.
    """
    from sidecheck_server.cli.asking import asking  # noqa: PLC0415  (waits for gRPC)
    from sidecheck_server.cli.reports import in_json  # noqa: PLC0415
    from sidecheck_server.cli.rows import write_rows  # noqa: PLC0415
    from sidecheck_server.cli.tables import facts  # noqa: PLC0415

    with asking(target, timeout) as client:
        told = client.info()
    if form == "json":
        write_output(in_json(asdict(told)))
    else:
        write_rows(facts(_facts(told)))


def _facts(told: "ServerInfo") -> list[tuple[str, list[str]]]:
    default = told.default_protocol_version
    limits = asdict(told.limits)
    width = max(map(len, limits))
    return [
        ("version", [told.version]),
        (
            "dialects",
            [uri + (" (default)" if index == 0 else "") for index, uri in enumerate(told.dialects)],
        ),
        (
            "protocol versions",
            [one + (" (default)" if one == default else "") for one in told.protocol_versions],
        ),
        ("engines", [f"{one.name}: {one.library} {one.version}" for one in told.engines]),
        ("limits", [f"{name:<{width}}  {value:>10,}" for name, value in limits.items()]),
        ("registry revision", [f"{told.registry_revision}"]),
    ]
