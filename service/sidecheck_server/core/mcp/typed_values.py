"""Checking a value of one of the protocol's types: its shape, and every rule for its parts."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.explain.values import listed
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS
from sidecheck_server.core.mcp.protocol_schemas import Surfaces, visitors_of
from sidecheck_server.core.mcp.rules.methods import NOT_IN_VERSION
from sidecheck_server.core.mcp.rules.rule import Fault, Path, of_type
from sidecheck_server.core.mcp.types.tables import TYPES
from sidecheck_server.core.mcp.types.visitors import Visit
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.types import Violation, as_pointer

__all__ = ["check_value", "is_known"]

#: What a type is of, for a person who never heard its name.
_METHODS = {
    type_: asked.name for asked in INPUT_REQUESTS.values() for type_ in (asked.params, asked.result)
}


def check_value(
    value: Any, type_: str, findings: Findings, surfaces: Surfaces, path: Path = ()
) -> None:
    """Add to *findings* what is wrong with *value*, at *path*, as a value of the type *type_*.

    If the version has no such type, that is all that is told.

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of the type is not there yet.
    """
    context = findings.context
    known, visit = _known_visit(context.version, type_)
    if not known:
        _tell_unknown(type_, findings, path)
        return
    compiled = surfaces(context.version, type_)
    if visit is not None:
        visit(value, path, context, findings.tell)
    fast = compiled.fast
    if fast is None or not fast.is_valid(value, context.budget):
        prefix = as_pointer(path)
        # The data of an error stand on the page below the error.
        clause = of_type(type_.replace("ErrorData", "Error")).at(context.version)
        for violation in _misshapen(compiled, value, context):
            found = replace(
                violation, instance_location=prefix + violation.instance_location, clause=clause
            )
            if not findings.add(found):
                return


@lru_cache(maxsize=1024)  # There are fewer types and versions.
def _known_visit(version: str, type_: str) -> tuple[bool, Visit | None]:
    """Return whether *version* has the type *type_*, and what visits its values, if any."""
    if not is_known(type_, version):
        return False, None
    return True, visitors_of(version).of(type_)


def is_known(type_: str, version: str) -> bool:
    """Return whether *version* has the type *type_*."""
    found = TYPES[type_]
    return found.since <= version <= found.until


def _tell_unknown(type_: str, findings: Findings, path: Path) -> None:
    version = findings.context.version
    having = [each for each in VERSIONS if is_known(type_, each)]
    said = f"{version} has no {_METHODS.get(type_, type_)}; {listed(having, 'and')} have it"
    findings.tell(NOT_IN_VERSION, path, Fault((), said))


def _misshapen(compiled: CompiledSchema, value: Any, context: Context) -> Iterator[Violation]:
    """Yield where *value* breaks the published schema of its type."""
    faults = compiled.complete.faults(value, context.budget)
    yield from explain(faults, hide_values=context.hide_values)
