"""What inference and calls of tools tell: diagnostics, and the errors that end them."""

from dataclasses import dataclass

from sidecheck.verdicts import Severity

__all__ = ["ArgumentViolation", "Diagnostic", "InferenceError", "InvalidArguments"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that was found in a function."""

    #: The stable code in upper snake case, for example ``IMPLICIT_OPTIONAL``.
    code: str
    severity: Severity
    #: What is wrong, and what would be right.
    message: str
    function: str
    #: The parameter that it is about, ``return`` for the result, or "".
    parameter: str
    #: The file of the function, or "" if it has none.
    file: str
    #: The line in it, from 1, or 0.
    line: int


class InferenceError(TypeError):
    """A function is no tool as it stands; ``diagnostic`` says why, and where."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic)

    @property
    def code(self) -> str:
        """The stable code in upper snake case, for example ``UNRESOLVED_NAME``."""
        return self.diagnostic.code

    @property
    def function(self) -> str:
        """The function, by its qualified name."""
        return self.diagnostic.function

    @property
    def parameter(self) -> str:
        """The parameter, ``return`` for the result, or ""."""
        return self.diagnostic.parameter

    @property
    def file(self) -> str:
        """The file of the function, or "" if it has none."""
        return self.diagnostic.file

    @property
    def line(self) -> int:
        """The line in the file, from 1, or 0."""
        return self.diagnostic.line

    def __str__(self) -> str:
        one = self.diagnostic
        about = f"{one.function}, parameter {one.parameter}" if one.parameter else one.function
        if one.parameter == "return":
            about = f"{one.function}, result"
        return f"{one.file or '?'}:{one.line}: {about}: {one.message} ({one.code})"


@dataclass(frozen=True, slots=True)
class ArgumentViolation:
    """One fault of a call's arguments."""

    #: Where it is, as a JSON Pointer (RFC 6901); what is missing, at what lacks it.
    pointer: str
    #: What is wrong; it never tells the value.
    message: str


class InvalidArguments(ValueError):
    """The arguments of a call are not what the tool takes; ``violations`` says why."""

    def __init__(self, tool: str, violations: tuple[ArgumentViolation, ...]) -> None:
        self.tool = tool
        self.violations = violations
        super().__init__(tool, violations)

    def __str__(self) -> str:
        """Return the text for the model: what is wrong, line by line, and where."""
        lines = [f"Invalid arguments for tool {self.tool!r}:"]
        lines += [f"- {one.pointer or 'arguments'}: {one.message}" for one in self.violations]
        return "\n".join(lines)
