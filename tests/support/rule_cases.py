"""The cases of the rules: `tests/cases/rules/*.json`, a file for each group of rules.

A ``session`` is a list of messages with who they are ``from``; a pointer of ``at`` begins
with the place of the message in it.

Each case has the ``code`` of a rule, a ``description``, what to ``check`` and ``at``, the
instance pointers of the violations with that code: none where the rule is kept. What is
checked stands under the name of its kind (see `_SUBJECTS`) as JSON, or as ``text``, byte
for byte. The rest is context: ``version``, ``sender``, ``client_capabilities``,
``server_capabilities``, ``answers``, ``request``, ``profile``, and ``output_schema``, which
the tool has whose result it is.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, Context, Sender
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import (
    CheckRequest,
    Elicitation,
    ElicitationResult,
    ProtocolMessage,
    ReportLimits,
    ResultProfile,
    Sampling,
    Subject,
    ToolJson,
    ToolResult,
)
from sidecheck_server.core.types import Verdict
from support.session_checks import record, resolve_all_deferred

FILES = Path(__file__).parents[1] / "cases" / "rules"
LIMITS = Limits()
PROTOCOL_SCHEMAS = compile_protocol_schemas(LIMITS)


@dataclass(frozen=True)
class RuleCase:
    file: str
    fields: dict[str, Any]

    @property
    def code(self) -> str:
        return str(self.fields["code"])

    @property
    def at(self) -> list[str]:
        return list(self.fields["at"])

    @property
    def kind(self) -> str:
        """The kind of subject: the only key of ``check``, for example ``tool``."""
        return str(next(iter(self.fields["check"])))

    @property
    def value(self) -> Any:
        return self.fields["check"][self.kind]

    @property
    def text(self) -> bytes:
        """The JSON text of the subject."""
        if "text" in self.fields:
            return str(self.fields["text"]).encode()
        return json.dumps(self.value).encode()

    @property
    def version(self) -> str:
        return str(self.fields.get("version", DEFAULT_VERSION))

    @property
    def context(self) -> Context:
        sender = self.fields.get("sender")
        return Context(
            version=self.version,
            sender=None if sender is None else Sender(sender),
            client_capabilities=self.fields.get("client_capabilities"),
            server_capabilities=self.fields.get("server_capabilities"),
        )

    @property
    def subject(self) -> Subject:
        request = self.fields.get("request")
        request_json = b"" if request is None else json.dumps(request).encode()
        match self.kind:
            case "tool":
                return ToolJson(self.text)
            case "definition":
                return ToolJson(self.text, canonical=True)
            case "elicitation":
                return Elicitation(self.text)
            case "elicitation_result":
                return ElicitationResult(self.text, request_json)
            case "sampling":
                return Sampling(self.text)
            case "tool_result":
                return ToolResult(
                    self.text,
                    ResultProfile(self.fields.get("profile", "specification")),
                    has_output_schema="output_schema" in self.fields,
                )
            case "message":
                return ProtocolMessage(self.text, self.fields.get("answers", ""), request_json)
            case other:
                raise ValueError(f"{self.file}: unknown kind of subject: {other}")

    def __str__(self) -> str:
        return f"{self.code}: {self.fields['description']}"


def rule_cases(*kinds: str) -> Iterator[RuleCase]:
    """Yield the cases that check one of *kinds*, or all."""
    for path in sorted(FILES.glob("*.json")):
        for fields in json.loads(path.read_text()):
            case = RuleCase(path.stem, fields)
            if not kinds or case.kind in kinds:
                yield case


def verdict_of(case: RuleCase) -> Verdict:
    """Return the verdict of the core, including deferred checks."""
    checked = check(
        CheckRequest(case.subject, case.context, ReportLimits(max_violations=1000)),
        LIMITS,
        PROTOCOL_SCHEMAS,
    )
    resolve_all_deferred(checked, LIMITS, EvaluationOptions(max_violations=1000))
    return checked.findings.verdict()


def session_messages(case: RuleCase) -> list[tuple[Sender, bytes]]:
    """Return the messages of the session of *case*, with their senders."""
    return [(Sender(entry["from"]), json.dumps(entry["message"]).encode()) for entry in case.value]


def session_verdicts(case: RuleCase) -> list[Verdict]:
    """Return the verdicts of the core on the messages of the session of *case*."""
    session = Session(case.context)
    verdicts = []
    for sender, text in session_messages(case):
        check_request = session.check_request(
            ProtocolMessage(text), sender, ReportLimits(max_violations=1000)
        )
        checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
        record(session, check_request, checked)
        resolve_all_deferred(checked, LIMITS, EvaluationOptions(max_violations=1000))
        verdicts.append(checked.findings.verdict())
    return verdicts
