"""Forms of logs, and the reader of each."""

from collections.abc import Callable
from dataclasses import dataclass

from sidecheck_server.cli.message_logs import claude_desktop, har, inspector, transcript, vscode
from sidecheck_server.cli.message_logs.messages import MessageLog
from sidecheck_server.core.limits import Limits

__all__ = ["FORMS", "TRANSCRIPT", "find_form"]


@dataclass(frozen=True, slots=True)
class LogForm:
    """Form of a log."""

    #: Reads a log.  Raises `NotThisFormError`.
    read: Callable[[bytes, Limits], MessageLog]
    #: Returns whether a text has the form.
    recognizes: Callable[[bytes], bool]


TRANSCRIPT = "transcript"
"""Form that texts have if they have no other."""

FORMS = {
    "har": LogForm(har.read, har.recognizes),
    "inspector": LogForm(inspector.read, inspector.recognizes),
    "claude-desktop": LogForm(claude_desktop.read, claude_desktop.recognizes),
    "vscode": LogForm(vscode.read, vscode.recognizes),
    TRANSCRIPT: LogForm(transcript.read, lambda _: True),
}
"""Forms by name, in the order in which they are recognized."""


def find_form(text: bytes) -> str:
    """Return the name of the form of *text*."""
    return next(name for name, form in FORMS.items() if form.recognizes(text))
