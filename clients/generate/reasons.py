"""Reads the error reasons of the service, with their docstrings."""

import ast
from pathlib import Path

__all__ = ["read_reasons"]


def read_reasons(path: Path) -> dict[str, str]:
    """Return the comments of the members of ``ErrorReason`` in the module *path*, by reason.

    The module is read and not imported, so that the generator needs no service.

    Raises:
        ValueError: a member has no docstring, or another name than its value.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (members,) = (
        node.body
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "ErrorReason"
    )
    reasons: dict[str, str] = {}
    for node, following in zip(members, [*members[1:], None], strict=True):
        match node, following:
            case (
                ast.Assign(targets=[ast.Name(name)], value=ast.Constant(value)),
                ast.Expr(ast.Constant(str(doc))),
            ) if name == value:
                reasons[name] = " ".join(doc.replace("``", "`").split())
            case ast.Assign(), _:
                raise ValueError(f"{path}:{node.lineno}: a reason has its name and a docstring")
    return reasons
