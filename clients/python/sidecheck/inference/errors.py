"""Diagnostics and errors of inference and of tool calls."""

from dataclasses import dataclass

from sidecheck.values.verdict import Severity

__all__ = ["ArgumentViolation", "Diagnostic", "InferenceError", "InvalidArguments"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Error or warning about a function."""

    #: Stable code in upper snake case, for example ``IMPLICIT_OPTIONAL``.
    code: str
    severity: Severity
    #: The fault and its remedy.
    message: str
    #: Qualified name of the function.
    function: str
    #: Name of the parameter concerned, ``return`` for the result, or "".
    parameter: str
    #: File of the function, or "" if it has none.
    file: str
    #: Line in the file, from 1; 0 if it is unknown.
    line: int


class InferenceError(TypeError):
    """No tool can be inferred for a function; ``diagnostic`` has the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic)

    @property
    def code(self) -> str:
        """Stable code in upper snake case, for example ``UNRESOLVED_NAME``."""
        return self.diagnostic.code

    @property
    def function(self) -> str:
        """Qualified name of the function."""
        return self.diagnostic.function

    @property
    def parameter(self) -> str:
        """Name of the parameter concerned, ``return`` for the result, or ""."""
        return self.diagnostic.parameter

    @property
    def file(self) -> str:
        """File of the function, or "" if it has none."""
        return self.diagnostic.file

    @property
    def line(self) -> int:
        """Line in the file, from 1; 0 if it is unknown."""
        return self.diagnostic.line

    def __str__(self) -> str:
        diagnostic = self.diagnostic
        subject = diagnostic.function
        if diagnostic.parameter == "return":
            subject += ", result"
        elif diagnostic.parameter:
            subject += f", parameter {diagnostic.parameter}"
        location = f"{diagnostic.file or '?'}:{diagnostic.line}"
        return f"{location}: {subject}: {diagnostic.message} ({diagnostic.code})"


@dataclass(frozen=True, slots=True)
class ArgumentViolation:
    """Violation of the input schema by the arguments of a call."""

    #: JSON Pointer (RFC 6901) into the arguments; for a missing property, its parent.
    instance_location: str
    #: The fault, without the value.
    message: str


class InvalidArguments(ValueError):
    """The arguments of a call violate the input schema of the tool."""

    def __init__(self, tool: str, violations: tuple[ArgumentViolation, ...]) -> None:
        self.tool = tool
        self.violations = violations
        super().__init__(tool, violations)

    def __str__(self) -> str:
        """Return the text for the model: a line for each violation."""
        lines = [f"Invalid arguments for tool {self.tool!r}:"]
        lines += [
            f"- {violation.instance_location or 'arguments'}: {violation.message}"
            for violation in self.violations
        ]
        return "\n".join(lines)
