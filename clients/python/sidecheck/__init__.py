"""The Python client of Sidecheck, the validation sidecar for the Model Context Protocol.

`Client` is asynchronous and `BlockingClient` is not; both return a `Verdict` for
every payload, valid or not, and raise `SidecheckError` where none could be judged.
"""

from sidecheck.absence import OnUnavailable
from sidecheck.blocking import BlockingClient
from sidecheck.blocking_conversion import BlockingConversionClient
from sidecheck.blocking_inference import BlockingInferenceClient
from sidecheck.blocking_protocol import BlockingProtocolClient
from sidecheck.boxes import BoxMismatch, NoValue, unbox
from sidecheck.checks import (
    CheckItem,
    CheckOptions,
    Elicitation,
    ElicitationResult,
    ProtocolContext,
    ProtocolJson,
    ProtocolMessage,
    ResultProfile,
    Sampling,
    Sender,
    ToolResult,
)
from sidecheck.client import Client
from sidecheck.conversion import ConversionClient
from sidecheck.conversions import (
    Converted,
    ConvertedResult,
    ConvertedTools,
    Direction,
    Loss,
    LossAction,
    RestoredCall,
    ToolConversion,
)
from sidecheck.converter import ConversionError, ConversionFailure, MCPToOpenAIConverter
from sidecheck.converting import (
    ConversionOptions,
    Convertible,
    Mode,
    ModelApi,
    PlanJson,
    ServerPrefix,
    ToolToConvert,
)
from sidecheck.errors import SidecheckError, StreamEnded, StreamUnavailable, Unavailable
from sidecheck.findings import (
    CheckedNames,
    CheckedTools,
    CheckOutcome,
    CheckResult,
    Disposition,
    NameCollision,
    Rule,
    ToolNameOutcome,
    ToolOutcome,
)
from sidecheck.inference_client import InferenceClient
from sidecheck.inferred import Diagnostic, Inferred, InferredTool, OnUnsupported
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
from sidecheck.repairs import Change, Repair
from sidecheck.returned import AdaptedTool, NormalizedResult
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
from sidecheck.tools import Action, ChangePolicy, Deletion, Outcome, Registration, Tool
from sidecheck.validators import BlockingValidator, Validator
from sidecheck.verdicts import InvalidPayload, Verdict
from sidecheck.violations import Severity, Violation
from sidecheck.wire.responses import Judgement

__all__ = [
    "ABSENT",
    "Absent",
    "Action",
    "AdaptedTool",
    "Arguments",
    "BlockingClient",
    "BlockingConversionClient",
    "BlockingInferenceClient",
    "BlockingProtocolClient",
    "BlockingSession",
    "BlockingStream",
    "BlockingValidator",
    "BoxMismatch",
    "CallParams",
    "CallResult",
    "Change",
    "ChangePolicy",
    "CheckItem",
    "CheckOptions",
    "CheckOutcome",
    "CheckResult",
    "CheckedNames",
    "CheckedTools",
    "Client",
    "Coercion",
    "ConversionClient",
    "ConversionError",
    "ConversionFailure",
    "ConversionOptions",
    "Converted",
    "ConvertedResult",
    "ConvertedTools",
    "Convertible",
    "DefinitionDigest",
    "Deletion",
    "Detail",
    "Diagnostic",
    "Direction",
    "Disposition",
    "Document",
    "Elicitation",
    "ElicitationResult",
    "Engine",
    "InferenceClient",
    "Inferred",
    "InferredTool",
    "InvalidPayload",
    "Item",
    "JsonText",
    "Judgement",
    "Limits",
    "Loss",
    "LossAction",
    "MCPToOpenAIConverter",
    "Mode",
    "ModelApi",
    "NameCollision",
    "NoValue",
    "NormalizedResult",
    "OnUnavailable",
    "OnUnknownTool",
    "OnUnsupported",
    "Options",
    "Outcome",
    "Payload",
    "PlanJson",
    "ProtocolClient",
    "ProtocolContext",
    "ProtocolJson",
    "ProtocolMessage",
    "RegisteredTool",
    "Registration",
    "Repair",
    "RestoredCall",
    "ResultProfile",
    "Rule",
    "Sampling",
    "Schema",
    "SchemaDigest",
    "SchemaJson",
    "Sender",
    "ServerInfo",
    "ServerPrefix",
    "Session",
    "Severity",
    "SidecheckError",
    "Stream",
    "StreamEnded",
    "StreamUnavailable",
    "StructuredContent",
    "Subject",
    "Target",
    "Tool",
    "ToolConversion",
    "ToolDefinition",
    "ToolJson",
    "ToolNameOutcome",
    "ToolOutcome",
    "ToolResult",
    "ToolToConvert",
    "Unavailable",
    "UnknownArguments",
    "Validator",
    "Verdict",
    "Violation",
    "unbox",
]
