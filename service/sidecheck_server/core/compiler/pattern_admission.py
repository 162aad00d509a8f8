"""The patterns of a schema: whether they can be run, and how large they are together."""

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.patterns import (
    UNBOUNDED,
    PatternFault,
    PatternRefused,
    compile_pattern,
)
from sidecheck_server.core.schemas.references import Subschema
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = ["Patterns"]


class Patterns:
    """The patterns that were admitted so far."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: set[str] = set()
        self._instructions = 0
        #: Whether one of them needs backtracking.
        self.backtracking = False

    def admit(self, here: Subschema) -> None:
        """Admit the patterns that stand in one subschema.

        Raises:
            Refusal: INVALID_PATTERN, UNSUPPORTED_PATTERN or LIMIT_EXCEEDED.
        """
        if "$ref" in here.schema and here.dialect.reference_hides_siblings:
            return
        in_force = here.dialect.keywords
        members = here.schema.get("patternProperties")
        found: list[tuple[JsonValue, tuple[str, ...]]] = []
        if "pattern" in in_force and "pattern" in here.schema:
            found.append((here.schema["pattern"], ("pattern",)))
        if "patternProperties" in in_force and isinstance(members, dict):
            found += [(source, ("patternProperties", source)) for source in members]
        for source, path in found:
            if source not in self._known:
                self._known.add(str(source))
                self._admit(str(source), here.place + as_pointer(path))

    def _admit(self, source: str, place: str) -> None:
        limits = self._limits
        try:
            pattern = compile_pattern(
                source,
                max_length=limits.pattern_length,
                backtracking=limits.allow_backtracking,
            )
        except PatternRefused as refused:
            reason, said = _REASONS[refused.fault]
            metadata = {"place": place, "offset": str(refused.offset)}
            if reason is ErrorReason.LIMIT_EXCEEDED:
                metadata |= {"bound": "pattern_length", "limit": str(limits.pattern_length)}
            said = f"the pattern at {place} {said}: {refused.message}"
            raise RequestError(reason, said, metadata) from None
        if pattern.cost >= UNBOUNDED:
            self.backtracking = True
            return
        self._instructions += pattern.cost
        if self._instructions > limits.pattern_instructions:
            what = "the patterns of the schema are too large together once compiled"
            raise exceeded("pattern_instructions", limits.pattern_instructions, what)


_REASONS = {
    PatternFault.SYNTAX: (ErrorReason.INVALID_PATTERN, "is not a regular expression of ECMA-262"),
    PatternFault.NOT_LINEAR: (ErrorReason.UNSUPPORTED_PATTERN, "cannot be matched in linear time"),
    PatternFault.TOO_LARGE: (ErrorReason.LIMIT_EXCEEDED, "is too large"),
}
