"""Checking a value of one of the protocol's types: its shape, and every rule for its parts."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.rules.rule import Clause, Path
from sidecheck_server.core.mcp.surfaces import Surfaces, visitors_of
from sidecheck_server.core.words import Violation, as_pointer

__all__ = ["check_value"]


def check_value(
    value: Any, type_: str, findings: Findings, surfaces: Surfaces, path: Path = ()
) -> None:
    """Add to *findings* what is wrong with *value*, at *path*, as a value of the type *type_*.

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of the type is not there yet.
    """
    context = findings.context
    compiled = surfaces(context.version, type_)
    visit = visitors_of(context.version).of(type_)
    if visit is not None:
        visit(value, path, context, findings.tell)
    if compiled.fast is None or not compiled.fast.is_valid(value, context.budget):
        prefix = as_pointer(path)
        clause = Clause("schema", type_.lower()).at(context.version)
        for violation in _misshapen(compiled, value, context):
            found = replace(
                violation, instance_pointer=prefix + violation.instance_pointer, clause=clause
            )
            if not findings.add(found):
                return


def _misshapen(compiled: CompiledSchema, value: Any, context: Context) -> Iterator[Violation]:
    """Yield where *value* breaks the published schema of its type."""
    faults = compiled.complete.faults(value, context.budget)
    yield from explain(faults, hide_values=context.hide_values)
