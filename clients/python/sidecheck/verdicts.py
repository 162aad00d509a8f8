"""What Sidecheck answers: verdicts and the violations that they list."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["InvalidPayload", "Severity", "Verdict", "Violation"]


class Severity(StrEnum):
    """How grave a violation is. Only an error makes a verdict invalid."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One place where a payload or a definition breaks a rule."""

    #: The stable code of the rule in upper snake case. Programs decide by it.
    code: str
    #: Where, as a JSON Pointer (RFC 6901) into what was judged; "" is the whole.
    #: A missing property is reported at the object that lacks it, an unknown one
    #: at itself.
    instance_pointer: str = ""
    #: Which part of the schema was broken, as a JSON Pointer along the path of
    #: evaluation: it passes through ``$ref``. "" where no schema is involved.
    schema_pointer: str = ""
    #: The JSON Schema keyword that failed, or "" where none is involved.
    keyword: str = ""
    #: How grave it is.
    severity: Severity = Severity.ERROR
    #: What was expected and what was found, for a person.
    message: str = ""
    #: The nearest known name or value, or "" where none is near.
    suggestion: str = ""
    #: The clause of the specification that the rule comes from, or "" where the
    #: rule is one of the schema's own.
    clause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to a question of validity.

    An invalid payload is an answer and is returned; `raise_for_invalid` is for
    callers who would rather have it raised.
    """

    #: Whether no violation of severity error was found.
    valid: bool
    #: What was found, ordered by instance pointer, schema pointer and code.
    violations: tuple[Violation, ...] = ()
    #: Whether more violations may exist than are listed.
    truncated: bool = False
    #: The digest of the tool definition judged under, or "" for a bare schema.
    definition_digest: str = ""
    #: The digest of the schema that judged.
    schema_digest: str = ""
    #: A text for the model whose arguments were invalid, ready for a
    #: ``CallToolResult`` with ``isError: true``. "" if the verdict is valid.
    tool_error_text: str = ""
    #: The revision of the registry that the target was looked up in.
    registry_revision: int = 0

    def raise_for_invalid(self) -> None:
        """Do nothing if the verdict is valid.

        Raises:
            InvalidPayload: The verdict is invalid.
        """
        if not self.valid:
            raise InvalidPayload(self)


class InvalidPayload(Exception):
    """A payload was judged and is invalid. Only `Verdict.raise_for_invalid` raises it.

    Its text names the codes of the errors and nothing out of the payload, so that
    it may be logged.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict)
        self.verdict = verdict

    def __str__(self) -> str:
        errors = [found for found in self.verdict.violations if found.severity is Severity.ERROR]
        codes = ", ".join(dict.fromkeys(found.code for found in errors))
        return f"the payload is invalid: {codes}" if codes else "the payload is invalid"
