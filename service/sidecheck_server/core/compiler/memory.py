"""Estimation of the memory that a compiled schema takes, by measuring its parts."""

import marshal
from types import CodeType

from sidecheck_server.core.compiler.admission import AdmittedSchema
from sidecheck_server.core.engines.fast import FastCode
from sidecheck_server.core.memory import measure_memory
from sidecheck_server.core.schemas.dialects import SchemaSource

__all__ = ["estimate_memory"]

# What the parts that only use creates take, in bytes, by experiment
# (tests/core/test_memory.py): the objects of a schema and of its two engines, a function of
# the generated code, a subschema and a keyword that the complete engine prepared, and an
# entry of its index of resources.
_SCHEMA = 2_500
_FUNCTION = 200
_SUBSCHEMA = 190
_KEYWORD = 95
_RESOURCE = 500


def estimate_memory(
    source: SchemaSource, admitted: AdmittedSchema, fast: FastCode | None, warnings: object
) -> int:
    """Return about how many bytes the compiled schema takes once all of it has been used.

    That is source, artifact, the fast engine, the complete engine and the states of
    patterns. Engines grow while they are used, so the sum is what they grow to.
    """
    context = admitted.context
    memory = _SCHEMA + admitted.pattern_memory
    memory += measure_memory(source, warnings, context.schema, context.documents)
    if fast is not None:
        # The artifact crosses to another process: its constants are copies.
        memory += measure_memory(fast)
        body: CodeType = marshal.loads(fast.code)  # noqa: S302  (it was generated here)
        memory += measure_memory(body)
        memory += _FUNCTION * sum(type(constant) is CodeType for constant in body.co_consts)
    if admitted.survey is not None:
        resources = set()
        for subschema in admitted.survey.reached.values():
            memory += _SUBSCHEMA + _KEYWORD * len(subschema.schema)
            resources.add(id(subschema.resource))
        memory += _RESOURCE * len(resources)
    return memory
