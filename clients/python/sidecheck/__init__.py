"""The Python client of Sidecheck, the validation sidecar for the Model Context Protocol.

`Client` is asynchronous and `BlockingClient` is not; both return a `Verdict` for
every payload, valid or not, and raise `Refused` where none could be judged.
"""

from sidecheck.absence import OnUnavailable
from sidecheck.blocking import BlockingClient
from sidecheck.blocking_protocol import BlockingProtocolClient
from sidecheck.checks import (
    CheckItem,
    CheckOptions,
    Elicitation,
    ElicitationResult,
    Peers,
    ProtocolJson,
    ProtocolMessage,
    ResultProfile,
    Sampling,
    Sender,
    ToolResult,
)
from sidecheck.client import Client
from sidecheck.converter import ConversionError, ConversionFailure, MCPToOpenAIConverter
from sidecheck.findings import (
    CheckAnswer,
    CheckedNames,
    CheckedTools,
    CheckOutcome,
    NameCollision,
    Rule,
    ToolNameOutcome,
    ToolOutcome,
    Treatment,
)
from sidecheck.info import Engine, Limits, ServerInfo
from sidecheck.items import (
    ABSENT,
    Absent,
    Arguments,
    CallParams,
    CallResult,
    Item,
    Payload,
    StructuredContent,
    Subject,
)
from sidecheck.options import Coercion, Detail, OnUnknownTool, Options, UnknownArguments
from sidecheck.protocol import ProtocolClient
from sidecheck.refusals import Refused, StreamEnded, StreamUnavailable, Unavailable
from sidecheck.repairs import Change, Repair
from sidecheck.sessions import BlockingSession, Session
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
from sidecheck.texts import JsonText
from sidecheck.tools import Action, Deletion, OnChange, Outcome, Registration, Tool
from sidecheck.validators import BlockingValidator, Validator
from sidecheck.verdicts import InvalidPayload, Verdict
from sidecheck.violations import Severity, Violation
from sidecheck.wire.responses import Judgement

__all__ = [
    "ABSENT",
    "Absent",
    "Action",
    "Arguments",
    "BlockingClient",
    "BlockingProtocolClient",
    "BlockingSession",
    "BlockingStream",
    "BlockingValidator",
    "CallParams",
    "CallResult",
    "Change",
    "CheckAnswer",
    "CheckItem",
    "CheckOptions",
    "CheckOutcome",
    "CheckedNames",
    "CheckedTools",
    "Client",
    "Coercion",
    "ConversionError",
    "ConversionFailure",
    "DefinitionDigest",
    "Deletion",
    "Detail",
    "Document",
    "Elicitation",
    "ElicitationResult",
    "Engine",
    "InvalidPayload",
    "Item",
    "JsonText",
    "Judgement",
    "Limits",
    "MCPToOpenAIConverter",
    "NameCollision",
    "OnChange",
    "OnUnavailable",
    "OnUnknownTool",
    "Options",
    "Outcome",
    "Payload",
    "Peers",
    "ProtocolClient",
    "ProtocolJson",
    "ProtocolMessage",
    "Refused",
    "RegisteredTool",
    "Registration",
    "Repair",
    "ResultProfile",
    "Rule",
    "Sampling",
    "Schema",
    "SchemaDigest",
    "SchemaJson",
    "Sender",
    "ServerInfo",
    "Session",
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
    "ToolNameOutcome",
    "ToolOutcome",
    "ToolResult",
    "Treatment",
    "Unavailable",
    "UnknownArguments",
    "Validator",
    "Verdict",
    "Violation",
]
