"""What Sidecheck answers to a question of validity."""

from dataclasses import dataclass

from sidecheck.repairs import Repair
from sidecheck.texts import NO_TEXT, JsonText
from sidecheck.violations import Severity, Violation

__all__ = ["InvalidPayload", "Verdict"]


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
    #: Whether to act on the verdict. False for a tool of a server that the service
    #: is told to report on only: its payloads go through, valid or not.
    enforced: bool = True
    #: What the payload becomes under the options that change payloads, or None if
    #: none of them was asked for or there was nothing to do. ``valid`` and
    #: ``violations`` here are about the payload as it was sent.
    repair: Repair | None = None
    #: If the verdict on the arguments or the result of a tool call is invalid: the
    #: ``CallToolResult`` to give in place of one, with ``isError: true``.
    call_tool_result: JsonText = NO_TEXT
    #: If what is wrong is a fault of the protocol, not of the tool: the ``error`` of the
    #: JSON-RPC response to give.
    json_rpc_error: JsonText = NO_TEXT

    def raise_for_invalid(self) -> None:
        """Do nothing if the verdict is valid, or if it is not enforced.

        A repair changes nothing here: `InvalidPayload` is about the payload as sent,
        and its ``verdict.repair`` may hold a valid one.

        Raises:
            InvalidPayload: The verdict is invalid and enforced.
        """
        if self.enforced and not self.valid:
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
