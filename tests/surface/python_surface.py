"""The public interface of the Python client as text, read by griffe."""

import re
from collections.abc import Iterator

import griffe
from support.shared_material import REPOSITORY

__all__ = ["render_python"]

#: Modules that programs import: those that the documentation names.
_MODULES = (
    "sidecheck",
    "sidecheck.elicitation",
    "sidecheck.inference",
    "sidecheck.json_values",
    "sidecheck.mcp",
    "sidecheck.mcp.fastmcp",
    "sidecheck.testing",
    "sidecheck.text_contract",
    "sidecheck.tool_results",
)


def render_python() -> str:
    """Return the names in `__all__` of each module, with signatures, members and bases."""
    package = griffe.load(
        "sidecheck",
        search_paths=[REPOSITORY / "clients" / "python"],
        allow_inspection=False,
        resolve_aliases=True,
    )
    lines: list[str] = []
    for path in _MODULES:
        module = package[path.partition(".")[2]] if "." in path else package
        lines.append(f"module {path}")
        for name in sorted(map(str, module.exports or ())):
            lines.extend(f"    {line}" for line in _declarations(name, module[name]))
        lines.append("")
    return "\n".join(lines)


def _declarations(name: str, item: griffe.Object | griffe.Alias) -> Iterator[str]:
    target = item.final_target if isinstance(item, griffe.Alias) else item
    if isinstance(target, griffe.Function):
        for function in target.overloads or [target]:
            yield _signature(name, function)
    elif isinstance(target, griffe.Class):
        yield f"class {name}({', '.join(map(str, target.bases))}):"
        for member, value in sorted(target.all_members.items()):
            if _is_public(member, value):
                yield from (f"    {line}" for line in _declarations(member, value))
    elif isinstance(target, griffe.Attribute):
        # Properties are attributes, with the annotation of what they return.
        annotation = f": {target.annotation}" if target.annotation else ""
        default = "" if target.value is None else re.sub(r"\s+", " ", f" = {target.value}")
        yield f"{name}{annotation}{default}"
    else:
        yield f"{target.kind.value} {name}"


def _is_public(name: str, member: griffe.Object | griffe.Alias) -> bool:
    return not name.startswith("_") or (name.startswith("__") and member.is_function)


def _signature(name: str, function: griffe.Function) -> str:
    kinds = [
        label for label in ("async", "classmethod", "staticmethod") if label in function.labels
    ]
    text = function.signature(return_type=True, name=name)
    return " ".join((*kinds, "def", re.sub(r"\s+", " ", text)))
