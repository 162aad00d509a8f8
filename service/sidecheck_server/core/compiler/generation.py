"""Generation: from the canonical form to compiled code that can cross a process border."""

import ast
import marshal
from dataclasses import dataclass

from sidecheck_server.core.compiler.verdict_generator import VerdictGenerator
from sidecheck_server.core.engines.allowed_code import refuse_foreign_code
from sidecheck_server.core.engines.weights import is_unbounded
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.canonical import CannotLowerError, Lowered
from sidecheck_server.core.types import JsonValue

__all__ = ["FastCode", "generate"]


@dataclass(frozen=True, slots=True)
class FastCode:
    """Code for the fast engine, in a form that can cross a process border."""

    #: A code object, marshalled: only for the same release of CPython.
    code: bytes
    #: What the names P0, P1… of the code stand for: sources of patterns.
    patterns: tuple[str, ...]
    #: What F0, F1… stand for: names of formats.
    formats: tuple[str, ...]
    #: What C0, C1… stand for.
    constants: tuple[JsonValue, ...]
    #: Whether its functions take a budget, and count it down.
    counted: bool


def generate(lowered: Lowered, limits: Limits) -> FastCode:
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
    refuse_foreign_code(tree)
    return FastCode(
        marshal.dumps(compile(tree, "<schema>", "exec")),
        tuple(lowered.patterns),
        tuple(lowered.formats),
        tuple(lowered.constants),
        counted,
    )
