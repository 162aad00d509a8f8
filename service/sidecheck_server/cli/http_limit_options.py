"""Options for the limits of the proxy over HTTP."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, get_type_hints

import click

from sidecheck_server.proxy.http_limits import HttpLimits

__all__ = ["HTTP_LIMIT_PARAMETERS", "http_limit_options"]

_COUNTS = {"connections", "peer_connections", "bytes_in_flight"}
_BYTES = "max_bytes_in_flight"

_PARAMETERS = {
    field.name: f"max_{field.name}" if field.name in _COUNTS else field.name
    for field in fields(HttpLimits)
}
"""Parameters of the command by the names of the limits."""

HTTP_LIMIT_PARAMETERS = frozenset(_PARAMETERS.values())


def http_limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give *command*, which has ``max_message_bytes``, the options; it gets *http_limits*."""

    @wraps(command)
    def run(*args: Any, max_message_bytes: int, **options: Any) -> Any:
        values = {name: options.pop(parameter) for name, parameter in _PARAMETERS.items()}
        needed = 2 * max_message_bytes
        if values["bytes_in_flight"] is None:
            values["bytes_in_flight"] = max(HttpLimits().bytes_in_flight, needed)
        elif values["bytes_in_flight"] < needed:
            raise click.UsageError(
                f"--max-bytes-in-flight must be at least {needed}, twice --max-message-bytes"
            )
        limits = HttpLimits(**values)
        return command(*args, max_message_bytes=max_message_bytes, http_limits=limits, **options)

    decorated: Callable[..., Any] = run
    for name in reversed(_PARAMETERS):
        decorated = _option(name)(decorated)
    return decorated


def _option(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    description, (least, most) = get_type_hints(HttpLimits, include_extras=True)[name].__metadata__
    parameter = _PARAMETERS[name]
    default = getattr(HttpLimits(), name)
    help_ = f"With --upstream: {description[0].lower()}{description[1:]}"
    if parameter == _BYTES:
        default, help_ = None, f"{help_}  [default: {default}, or as many as that]"
    return click.option(
        f"--{parameter.replace('_', '-')}",
        type=click.IntRange(least, most)
        if isinstance(least, int)
        else click.FloatRange(least, most),
        default=default,
        show_default=default is not None,
        help=help_,
    )
