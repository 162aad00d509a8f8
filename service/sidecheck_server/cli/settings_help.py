"""Help on the settings of the server that have no flag: variable, default, description."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import click

from sidecheck_server.config.settings import Settings

__all__ = ["describe_fields", "setting_groups", "write_settings"]


def setting_groups() -> Iterator[tuple[str, Any]]:
    """Yield the name and the default of each setting that is a group of settings."""
    for name, field in Settings.model_fields.items():
        if is_dataclass(field.default):
            yield name, field.default


def describe_fields(group: type[Any]) -> Mapping[str, str]:
    """Return the description of each field of a *group* of settings, by its name."""
    hints = get_type_hints(group, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in fields(group)}


def write_settings(formatter: click.HelpFormatter, flags: Collection[str]) -> None:
    """Write the settings that are not among *flags*, and each group, as sections of a help."""
    groups = dict(setting_groups())
    settings = [
        _entry(name, field.default, field.description or "")
        for name, field in Settings.model_fields.items()
        if name not in flags and name not in groups
    ]
    with formatter.section("Settings without a flag, by their variables"):
        formatter.write_dl(settings)
    for group, defaults in groups.items():
        entries = [
            _entry(f"{group}__{name}", getattr(defaults, name), description)
            for name, description in describe_fields(type(defaults)).items()
        ]
        with formatter.section(f"{group.replace('_', ' ').capitalize()}, by their variables"):
            formatter.write_dl(entries)


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
