"""The Python client of Sidecheck, the validation sidecar for the Model Context Protocol.

`Client` is asynchronous and `BlockingClient` is not; both return a `Verdict` for
every payload, valid or not, and raise `Refused` where none could be judged.
"""

from sidecheck.blocking import BlockingClient
from sidecheck.client import Client
from sidecheck.conversations import OnUnavailable
from sidecheck.info import Engine, Limits, ServerInfo
from sidecheck.items import Arguments, Item, Payload, StructuredContent, Subject
from sidecheck.options import Coercion, Detail, OnUnknownTool, Options, UnknownArguments
from sidecheck.refusals import Refused, StreamEnded, StreamUnavailable, Unavailable
from sidecheck.repairs import Change, Repair
from sidecheck.streams import BlockingStream, Stream
from sidecheck.targets import (
    DefinitionDigest,
    Document,
    RegisteredTool,
    Schema,
    SchemaDigest,
    SchemaJson,
    Target,
    ToolDefinition,
    ToolJson,
)
from sidecheck.tools import Action, Deletion, OnChange, Outcome, Registration, Tool
from sidecheck.validators import BlockingValidator, Validator
from sidecheck.verdicts import InvalidPayload, Verdict
from sidecheck.violations import Severity, Violation
from sidecheck.wire.responses import Judgement

__all__ = [
    "Action",
    "Arguments",
    "BlockingClient",
    "BlockingStream",
    "BlockingValidator",
    "Change",
    "Client",
    "Coercion",
    "DefinitionDigest",
    "Deletion",
    "Detail",
    "Document",
    "Engine",
    "InvalidPayload",
    "Item",
    "Judgement",
    "Limits",
    "OnChange",
    "OnUnavailable",
    "OnUnknownTool",
    "Options",
    "Outcome",
    "Payload",
    "Refused",
    "RegisteredTool",
    "Registration",
    "Repair",
    "Schema",
    "SchemaDigest",
    "SchemaJson",
    "ServerInfo",
    "Severity",
    "Stream",
    "StreamEnded",
    "StreamUnavailable",
    "StructuredContent",
    "Subject",
    "Target",
    "Tool",
    "ToolDefinition",
    "ToolJson",
    "Unavailable",
    "UnknownArguments",
    "Validator",
    "Verdict",
    "Violation",
]
