"""`sidecheck token`: make tokens for the callers of a server."""

import json

import click
from pydantic import TypeAdapter, ValidationError

from sidecheck_server.access.identity import Role
from sidecheck_server.access.tokens import TokenEntry, hash_of, new_token
from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.options import examples

__all__ = ["token"]


@click.group()
def token() -> None:
    """Make tokens for the callers of a server, offline."""


@token.command(
    epilog=examples(
        "sidecheck token new gateway --role validate --role register >> tokens.toml",
        "sidecheck token new ci --role register --server git --server weather >> tokens.toml",
    )
)
@click.argument("name")
@click.option(
    "--role",
    "roles",
    type=click.Choice([role.value for role in Role]),
    multiple=True,
    required=True,
    help="What the token is for. May be repeated.",
)
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="SERVER",
    help="Server whose tools it may use. May be repeated.  [default: all servers]",
)
def new(name: str, roles: tuple[str, ...], servers: tuple[str, ...]) -> None:
    """Write a new token to standard error, and its entry of the tokens file to standard output.

    The token is shown once, and stored nowhere: the entry has its SHA-256. Those who call with
    it need it as SIDECHECK_TOKEN. NAME is for the log of the server.
    """
    made = new_token()
    content: dict[str, object] = {"name": name, "sha256": hash_of(made), "roles": roles}
    if servers:
        content["servers"] = servers
    try:
        TypeAdapter(TokenEntry).validate_python(content)
    except ValidationError as error:
        fault = error.errors()[0]
        raise click.UsageError(f"{fault['loc'][0]}: {fault['msg']}") from None
    lines = [f"{key} = {_toml(value)}" for key, value in content.items()]
    write_output("\n".join(["[[tokens]]", *lines, ""]))
    write_output(f"Token of {name}, which is not shown again:\n{made}", aside=True)


def _toml(value: object) -> str:
    """Return *value*, a text or several, in TOML: as in JSON, but for two kinds of characters."""
    # TOML has no escapes of surrogates, and escapes DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
