"""`sidecheck token`: create tokens for the callers of a server."""

import json

import click
from pydantic import TypeAdapter, ValidationError

from sidecheck_server.access.identity import Role
from sidecheck_server.access.tokens import TokenEntry, hash_of, new_token
from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.options import format_examples

__all__ = ["token"]


@click.group()
def token() -> None:
    """Create tokens for the callers of a server, offline."""


@token.command(
    epilog=format_examples(
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
    help="Role of the callers with the token. May be repeated.",
)
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="SERVER",
    help="Server whose tools they may use. May be repeated.  [default: all servers]",
)
def new(name: str, roles: tuple[str, ...], servers: tuple[str, ...]) -> None:
    """Write a new token to standard error, and its entry of the tokens file to standard output.

    The token is shown once and not stored: the entry has its SHA-256. Callers set it as
    SIDECHECK_TOKEN. NAME identifies the token in the log of the server.
    """
    secret = new_token()
    content: dict[str, object] = {"name": name, "sha256": hash_of(secret), "roles": roles}
    if servers:
        content["servers"] = servers
    try:
        TypeAdapter(TokenEntry).validate_python(content)
    except ValidationError as error:
        fault = error.errors()[0]
        raise click.UsageError(f"{fault['loc'][0]}: {fault['msg']}") from None
    lines = [f"{key} = {_toml(value)}" for key, value in content.items()]
    write_output("\n".join(["[[tokens]]", *lines, ""]))
    write_output(f"Token of {name}, which is not shown again:\n{secret}", to_stderr=True)


def _toml(value: object) -> str:
    """Return *value*, a string or several, as TOML."""
    # JSON is TOML here, except that TOML forbids escapes of surrogates and requires that of DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
