"""Help on the settings of the server that have no flag: variable, default, description."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any, get_type_hints

import click

from sidecheck_server.core.limits import Limits
from sidecheck_server.settings import Settings

__all__ = ["describe_limits", "write_settings"]


def describe_limits() -> Mapping[str, str]:
    """Return the description of each limit, by its name."""
    hints = get_type_hints(Limits, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in fields(Limits)}


def write_settings(formatter: click.HelpFormatter, flags: Collection[str]) -> None:
    """Write the settings that are not among *flags*, and the limits, as sections of a help."""
    settings = [
        _entry(name, field.default, field.description or "")
        for name, field in Settings.model_fields.items()
        if name not in flags and name != "limits"
    ]
    defaults = Limits()
    limits = [
        _entry(f"limits__{name}", getattr(defaults, name), description)
        for name, description in describe_limits().items()
    ]
    with formatter.section("Settings without a flag, by their variables"):
        formatter.write_dl(settings)
    with formatter.section("Limits, by their variables"):
        formatter.write_dl(limits)


def _entry(name: str, default: Any, description: str) -> tuple[str, str]:
    # The first sentence is enough for help; the documentation has the others.
    sentence = description.partition(". ")[0].rstrip(".")
    return f"SIDECHECK_{name.upper()}", f"{sentence}.  [default: {_show(default)}]"


def _show(default: Any) -> str:
    if default == ():
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:,}" if isinstance(default, int) else str(default)
