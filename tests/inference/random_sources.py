"""Random sources with a single tool."""

from hypothesis import strategies as st
from inference.random_types import TypeExpression, TypeWriter

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
Doc = "Described by a constant."
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
    "@tool(description='The description of the decorator.')",
    "@tool(title='A title', read_only=True, destructive=False)",
    "@tool(idempotent=True, open_world=False)",
    "@tool(inject_root=True)",
    "@tool(injected=['query'])",
)
# Parameters that cause errors or warnings.
_FAULTY_PARAMETERS = (
    "*rest: int",
    "first, /",
    "first: 'Unknown'",
    "first: list['Unknown']",
    "first: Optional['Unknown'] = None",
    "first",
    "first: int = None",
    "first: str = open",
    "first: Callable[[], int]",
    "first: type",
    "**rest",
    "**rest: int",
    "**rest: dict[str, Any]",
)


@st.composite
def sources(draw: st.DrawFn) -> str:
    """Return a source with a tool and the classes that it needs."""
    writer = TypeWriter(draw)
    names = list(dict.fromkeys(draw(st.lists(st.sampled_from(_NAMES), max_size=6))))
    parameters = [_parameter(writer, name) for name in names]
    fault = writer.choose(_FAULTY_PARAMETERS) if writer.chance(12) else ""
    required = [text for text, is_required in parameters if is_required]
    optional = [text for text, is_required in parameters if not is_required]
    signature = [*required, *optional]
    if fault.startswith("**"):
        signature.append(fault)
    elif fault.startswith("*") or fault.endswith("/"):
        signature.insert(0, fault)
    elif fault:
        signature.insert(len(required) if "=" in fault else 0, fault)
    if writer.chance(20) and not any(parameter.startswith("*") for parameter in signature):
        signature.insert(draw(st.integers(min("/" in fault, len(signature)), len(signature))), "*")
        if signature[-1] == "*":
            signature.pop()
    decorator = writer.choose(_DECORATORS) if writer.chance(50) else "@tool"
    if "inject_root" in decorator and "*" not in signature and not fault:
        signature.insert(0, "project_root: Path")
    returned = f" -> {writer.type().text}" if writer.chance(75) else ""
    kind = "async def" if writer.chance(15) else "def"
    body = [f"    '''{_docstring(writer, names)}'''"] if writer.chance(60) else []
    future = "from __future__ import annotations\n\n" if writer.chance(20) else ""
    head = f"{decorator}\n{kind} function({', '.join(signature)}){returned}:"
    function = "\n".join([head, *body, "    raise NotImplementedError"])
    return future + "\n\n".join([_IMPORTS, *writer.statements, function]) + "\n"


def _parameter(writer: TypeWriter, name: str) -> tuple[str, bool]:
    """Return a parameter, and whether it is required."""
    expression = writer.type()
    default = (
        writer.choose(expression.defaults) if expression.defaults and writer.chance(50) else ""
    )
    # Inference from text does not know which strings and numbers other types accept.
    if expression.kind in {"bool", "dict", "float", "int", "list", "str"} and writer.chance(10):
        default = writer.choose(("...", "'no such thing'", "-1.5", "[None]", "open"))
    if writer.chance(20):
        return _with_field(writer, name, expression, default)
    return f"{name}: {expression.text}{f' = {default}' if default else ''}", not default


def _with_field(
    writer: TypeWriter, name: str, expression: TypeExpression, default: str
) -> tuple[str, bool]:
    arguments = writer.field_arguments(expression.kind)
    if default and ("pattern" in arguments or "multiple_of" in arguments):
        # Inference from text does not check defaults against these.
        arguments = writer.field_arguments("")
    if default and writer.chance(50):
        return f"{name}: {expression.text} = Field(default={default}, {arguments})", False
    if default:
        return f"{name}: Annotated[{expression.text}, Field({arguments})] = {default}", False
    # In the syntax only, Field() is a default.
    return f"{name}: {expression.text} = Field({arguments})", False


_SECTIONS = {
    "google": ("    Args:\n", "        {name}: {text}\n", "\n    Returns:\n        Something.\n"),
    "numpy": (
        "    Parameters\n    ----------\n",
        "    {name} : int\n        {text}\n",
        "\n    Returns\n    -------\n    int\n        Something.\n",
    ),
    "sphinx": ("", "    :param {name}: {text}\n", "    :returns: Something.\n"),
}


def _docstring(writer: TypeWriter, names: list[str]) -> str:
    text = "Do the work.\n"
    if writer.chance(40):
        text += "\n    At length, and\n    on two lines.\n"
    described = [name for name in names if writer.chance(70)]
    if described:
        head, item, end = _SECTIONS[writer.choose(_SECTIONS)]
        lines = "".join(item.format(name=name, text=f"The {name}.") for name in described)
        text += f"\n{head}{lines}{end if writer.chance(40) else ''}"
    return text + "    " if "\n    " in text else text.strip()
