"""Container of the application services, as transports and commands use them."""

from dataclasses import dataclass

from sidecheck_server.services.adaptation import ToolAdapter
from sidecheck_server.services.checks import SubjectChecker
from sidecheck_server.services.conversion import Converter
from sidecheck_server.services.inference import Inferrer
from sidecheck_server.services.model_calls import CallConverter
from sidecheck_server.services.normalization import Normalizer
from sidecheck_server.services.prepared_targets import PreparedTargets
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.registration import Registrar
from sidecheck_server.services.result_messages import ResultConverter
from sidecheck_server.services.tools import ToolsChecker

__all__ = ["Services"]


@dataclass(frozen=True, slots=True)
class Services:
    """The application services, which share caches and workers."""

    prepared_targets: PreparedTargets
    protocol_checker: ProtocolChecker
    subject_checker: SubjectChecker
    tools_checker: ToolsChecker
    registrar: Registrar
    converter: Converter
    call_converter: CallConverter
    result_converter: ResultConverter
    normalizer: Normalizer
    adapter: ToolAdapter
    inferrer: Inferrer
