"""Generation of the fast engine's code from schemas in canonical form."""

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
    """Return the code that validates against *lowered*; its entry point is ``d0``.

    Raises:
        CannotLowerError: the code is longer than the limit.
    """
    # fastjsonschema searches the schema for `$ref`, so it gets only the definitions, and
    # a reference to the first.
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
