"""Options of `sidecheck proxy` for the limits of its HTTP server."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, get_type_hints

import click

from sidecheck_server.proxy.http_limits import HttpLimits

__all__ = ["HTTP_LIMIT_PARAMETERS", "http_limit_options"]

_COUNTS = {"connections", "peer_connections", "bytes_in_flight"}
_BYTES_PARAMETER = "max_bytes_in_flight"

_PARAMETERS = {
    field.name: f"max_{field.name}" if field.name in _COUNTS else field.name
    for field in fields(HttpLimits)
}
"""Parameters of the command, by name of the limit."""

HTTP_LIMIT_PARAMETERS = frozenset(_PARAMETERS.values())


def http_limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `HttpLimits` to *command*, as the parameter *http_limits*.

    The command must also have the parameter *max_message_bytes*.
    """

    @wraps(command)
    def run(*args: Any, max_message_bytes: int, **options: Any) -> Any:
        values = {name: options.pop(parameter) for name, parameter in _PARAMETERS.items()}
        minimum = 2 * max_message_bytes
        if values["bytes_in_flight"] is None:
            values["bytes_in_flight"] = max(HttpLimits().bytes_in_flight, minimum)
        elif values["bytes_in_flight"] < minimum:
            raise click.UsageError(
                f"--max-bytes-in-flight must be at least {minimum}, twice --max-message-bytes"
            )
        limits = HttpLimits(**values)
        return command(*args, max_message_bytes=max_message_bytes, http_limits=limits, **options)

    decorated: Callable[..., Any] = run
    for name in reversed(_PARAMETERS):
        decorated = _option(name)(decorated)
    return decorated


def _option(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    hints = get_type_hints(HttpLimits, include_extras=True)
    description, (minimum, maximum) = hints[name].__metadata__
    parameter = _PARAMETERS[name]
    default = getattr(HttpLimits(), name)
    help_ = f"With --listen: {description[0].lower()}{description[1:]}"
    if parameter == _BYTES_PARAMETER:
        default, help_ = None, f"{help_}  [default: {default}, or that minimum if it is larger]"
    return click.option(
        f"--{parameter.replace('_', '-')}",
        type=click.IntRange(minimum, maximum)
        if isinstance(minimum, int)
        else click.FloatRange(minimum, maximum),
        default=default,
        show_default=default is not None,
        help=help_,
    )
