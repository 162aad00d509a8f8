"""Random source texts of one tool each."""

from hypothesis import strategies as st
from inference.types_of import Writer, Written

__all__ = ["sources"]

_IMPORTS = """\
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum, auto
from pathlib import Path
from typing import Annotated, Any, Dict, List, Literal, NewType, Optional, Union
from uuid import UUID

from annotated_types import Ge, Interval, Len, Lt, MaxLen, MinLen, MultipleOf
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, HttpUrl
from sidecheck.inference import tool
from typing_extensions import NotRequired, Required, TypedDict

A_TEXT = "a constant"
A_NUMBER = 42
Doc = "Told by a constant."
"""
_NAMES = (
    "title",
    "type",
    "properties",
    "default",
    "required",
    "schema",
    "json",
    "copy",
    "model_config",
    "_x",
    "query",
    "limit",
    "größe",
)
_DECORATORS = (
    "@tool",
    "@tool()",
    "@tool(name='another-name')",
    "@tool(description='What the decorator says.')",
    "@tool(title='A title', read_only=True, destructive=False)",
    "@tool(idempotent=True, open_world=False)",
    "@tool(inject_root=True)",
    "@tool(injected=['query'])",
)
# What makes a function no tool, or a parameter one that is warned of.
_FAULTS = (
    "*things: int",
    "first, /",
    "one: 'Unknown'",
    "one: list['Unknown']",
    "one: Optional['Unknown'] = None",
    "one",
    "one: int = None",
    "one: str = open",
    "one: Callable[[], int]",
    "one: type",
    "**rest",
    "**rest: int",
    "**rest: dict[str, Any]",
)


@st.composite
def sources(draw: st.DrawFn) -> str:
    """Write a text with one tool in it, and with the classes that it needs."""
    writer = Writer(draw)
    names = list(dict.fromkeys(draw(st.lists(st.sampled_from(_NAMES), max_size=6))))
    parameters = [_parameter(writer, name) for name in names]
    fault = writer.one_of(_FAULTS) if writer.chance(12) else ""
    positional = [text for text, needed in parameters if needed]
    named = [text for text, needed in parameters if not needed]
    listed = [*positional, *named]
    if fault.startswith("**"):
        listed.append(fault)
    elif fault.startswith("*") or fault.endswith("/"):
        listed.insert(0, fault)
    elif fault:
        listed.insert(len(positional) if "=" in fault else 0, fault)
    if writer.chance(20) and not any(one.startswith("*") for one in listed):
        listed.insert(draw(st.integers(min("/" in fault, len(listed)), len(listed))), "*")
        if listed[-1] == "*":
            listed.pop()
    decorator = writer.one_of(_DECORATORS) if writer.chance(50) else "@tool"
    if "inject_root" in decorator and "*" not in listed and not fault:
        listed.insert(0, "project_root: Path")
    returned = f" -> {writer.type().text}" if writer.chance(75) else ""
    kind = "async def" if writer.chance(15) else "def"
    body = [f"    '''{_docstring(writer, names)}'''"] if writer.chance(60) else []
    future = "from __future__ import annotations\n\n" if writer.chance(20) else ""
    head = f"{decorator}\n{kind} function({', '.join(listed)}){returned}:"
    function = "\n".join([head, *body, "    raise NotImplementedError"])
    return future + "\n\n".join([_IMPORTS, *writer.statements, function]) + "\n"


def _parameter(writer: Writer, name: str) -> tuple[str, bool]:
    """Return a parameter, and whether it has no default."""
    found = writer.type()
    default = writer.one_of(found.defaults) if found.defaults and writer.chance(50) else ""
    # Of other types, the text route does not find out what texts and numbers they take.
    if found.kind in {"bool", "dict", "float", "int", "list", "str"} and writer.chance(10):
        default = writer.one_of(("...", "'no such thing'", "-1.5", "[None]", "open"))
    if writer.chance(20):
        return _with_field(writer, name, found, default)
    return f"{name}: {found.text}{f' = {default}' if default else ''}", not default


def _with_field(writer: Writer, name: str, found: Written, default: str) -> tuple[str, bool]:
    words = writer.field_words(found.kind)
    if default and ("pattern" in words or "multiple_of" in words):
        # Whether a default conforms to these, the text route does not find out.
        words = writer.field_words("")
    if default and writer.chance(50):
        return f"{name}: {found.text} = Field(default={default}, {words})", False
    if default:
        return f"{name}: Annotated[{found.text}, Field({words})] = {default}", False
    # Field() without a default is one to the syntax alone.
    return f"{name}: {found.text} = Field({words})", False


_SECTIONS = {
    "google": ("    Args:\n", "        {name}: {text}\n", "\n    Returns:\n        Something.\n"),
    "numpy": (
        "    Parameters\n    ----------\n",
        "    {name} : int\n        {text}\n",
        "\n    Returns\n    -------\n    int\n        Something.\n",
    ),
    "sphinx": ("", "    :param {name}: {text}\n", "    :returns: Something.\n"),
}


def _docstring(writer: Writer, names: list[str]) -> str:
    text = "Do what is asked.\n"
    if writer.chance(40):
        text += "\n    At length, and\n    on two lines.\n"
    told = [name for name in names if writer.chance(70)]
    if told:
        head, each, end = _SECTIONS[writer.one_of(_SECTIONS)]
        lines = "".join(each.format(name=name, text=f"What {name} is.") for name in told)
        text += f"\n{head}{lines}{end if writer.chance(40) else ''}"
    return text + "    " if "\n    " in text else text.strip()
