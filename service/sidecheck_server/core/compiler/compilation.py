"""Compilation: from the bytes of a schema to what can judge.

It takes about a millisecond, or a hundred for a large schema, and holds the
interpreter, so a worker process does it and hands back the `Artifact`, which loads
quickly. What it refuses, it refuses for the same bytes always.
"""

from dataclasses import dataclass

from sidecheck_server.core.compiler.admission import Admitted, admit
from sidecheck_server.core.compiler.generation import FastCode, generate
from sidecheck_server.core.compiler.lowering import lower
from sidecheck_server.core.compiler.schema_warnings import SchemaWarning, schema_warnings
from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.formats import format_checker
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.canonical import CannotLowerError, Lowered
from sidecheck_server.core.schemas.dialects import STANDARD, Dialect
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["Artifact", "compile_source"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """What compilation makes; it can cross a process border."""

    #: The digest of the schema.
    digest: str
    #: The name of the supported dialect that the schema's own is, or builds on.
    dialect: str
    #: Code for the fast engine; None if only the complete engine may judge.
    fast: FastCode | None
    #: Why only the complete engine may judge, or "".
    why_complete: str = ""
    #: Whether it has a pattern whose time nothing bounds.
    backtracking: bool = False
    #: What is odd about the schema.
    remarks: tuple[SchemaWarning, ...] = ()


def compile_source(source: SchemaSource, limits: Limits) -> Artifact:
    """Return what judges under the schema of *source*.

    Raises:
        Refusal: the schema was not admitted; see `admit`.
    """
    admitted = admit(source, limits)
    context = admitted.context
    digest = digest_of(context.schema, source.documents)
    fast: FastCode | None
    dialect = STANDARD[context.dialect.draft].name
    try:
        fast, why = _fast_code(admitted, source, limits), ""
    except CannotLowerError as error:
        fast, why = None, error.reason
    remarks = schema_warnings(admitted, source, limits)
    return Artifact(digest, dialect, fast, why, admitted.backtracking, remarks)


def _fast_code(admitted: Admitted, source: SchemaSource, limits: Limits) -> FastCode:
    if admitted.survey is None:
        schema = admitted.context.schema
        accept = Lowered({"d0": {} if schema is True else {"not": {}}})
        return generate(accept, limits)

    own = STANDARD[admitted.context.dialect.draft].name

    def asserted(dialect: Dialect, name: str) -> bool:
        if not (source.assert_formats or dialect.asserts_format):
            return False
        standard = STANDARD[dialect.draft].name
        if format_checker(name, standard) is None:
            return False
        if standard != own:
            # The code names a format without saying as whose.
            raise CannotLowerError("a format of another dialect")
        return True

    return generate(lower(admitted.survey, asserted), limits)
