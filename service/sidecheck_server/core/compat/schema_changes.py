"""What changed between two schemas: a walk over both, keyword by keyword.

Subschemas are paired by their place, those of ``anyOf``, ``oneOf`` and ``allOf`` by equal
text first and then by position. References are followed, so moving a subschema into
``$defs`` is no change. What each change alters is said as far as the change alone tells;
whether it breaks callers is for `core.compat.verdicts`.
"""

from sidecheck_server.core.compat.branch_changes import compare_branches, compare_wrapped
from sidecheck_server.core.compat.keyword_changes import KeywordChange
from sidecheck_server.core.compat.object_changes import compare_objects
from sidecheck_server.core.compat.schema_nodes import SchemaNode, SchemaTree
from sidecheck_server.core.compat.single_keywords import compare_keywords
from sidecheck_server.core.compat.subschema_changes import compare_subschemas
from sidecheck_server.core.compat.walk import SchemaChange, Sign, Walk
from sidecheck_server.core.compiler.admission import AdmittedSchema
from sidecheck_server.core.limits import Budget

__all__ = ["SchemaChange", "find_schema_changes"]


def find_schema_changes(
    old: AdmittedSchema, new: AdmittedSchema, location: str, budget: Budget
) -> list[SchemaChange]:
    """Return the changes from *old* to *new*, which stand at *location* of their definitions.

    Raises:
        Exhausted: *budget* is spent.
    """
    walk = Walk(SchemaTree(old, location), SchemaTree(new, location), (_compare,), budget)
    roots = walk.old.root, walk.new.root
    names = [schema.context.dialect.name for schema in (old, new)]
    if old.context.dialect.uri != new.context.dialect.uri:
        message = f"the dialect changed from {names[0]} to {names[1]}"
        walk.add(KeywordChange("DIALECT_CHANGED", message, *names), roots, "$schema", Sign.SAME)
    walk.compare(*roots, Sign.SAME)
    return walk.changes


def _compare(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    if compare_wrapped(walk, old, new, sign):
        return
    for compare in (compare_keywords, compare_objects, compare_subschemas, compare_branches):
        compare(walk, old, new, sign)
