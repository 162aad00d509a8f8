"""Generation: from the canonical form to compiled code that can cross a process border."""

import ast
import marshal

from sidecheck_server.core.compiler.verdict_generator import VerdictGenerator
from sidecheck_server.core.engines.allowed_code import check_generated_code
from sidecheck_server.core.engines.fast import FastCode
from sidecheck_server.core.engines.weights import is_unbounded
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.canonical import CannotLowerError, Lowered

__all__ = ["generate_code"]


def generate_code(lowered: Lowered, limits: Limits) -> FastCode:
    """Return the code that judges by *lowered*; the function to call is ``d0``.

    Raises:
        CannotLowerError: the code would be longer than the limit.
    """
    # fastjsonschema finds `$ref`s by looking through the schema, so it is given the
    # definitions only, and starts at the first.
    schema = {"definitions": lowered.definitions, "$ref": "#/definitions/d0"}
    counted = any(map(is_unbounded, lowered.definitions.values()))
    generator = VerdictGenerator(schema, lowered.constants, counted=counted)
    source = generator.func_code
    if len(source) > limits.code_length:
        raise CannotLowerError("code longer than the limit")
    tree = ast.parse(source)
    check_generated_code(tree)
    return FastCode(
        marshal.dumps(compile(tree, "<schema>", "exec")),
        tuple(lowered.patterns),
        tuple(lowered.formats),
        tuple(lowered.constants),
        counted,
    )
