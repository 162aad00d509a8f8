"""Container of the application services, which share caches and workers."""

from dataclasses import dataclass

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.registry import Registry
from sidecheck_server.services.adaptation import ToolAdapter
from sidecheck_server.services.calls import CallValidator, ResultChecker
from sidecheck_server.services.charged_tasks import ChargedTasks
from sidecheck_server.services.checks import SubjectChecker
from sidecheck_server.services.conversion import Converter
from sidecheck_server.services.conversion_cache import ConversionCache
from sidecheck_server.services.definitions import DefinitionChecker
from sidecheck_server.services.inference import Inferrer
from sidecheck_server.services.model_calls import CallConverter
from sidecheck_server.services.normalization import Normalizer
from sidecheck_server.services.prepared_targets import PreparedTargets
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.registration import Registrar
from sidecheck_server.services.resolution import TargetResolver
from sidecheck_server.services.result_messages import ResultConverter
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas
from sidecheck_server.services.task_runner import TaskRunner
from sidecheck_server.services.tools import ToolsChecker
from sidecheck_server.services.validation import Validator

__all__ = ["ServiceOptions", "Services", "create_services"]


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Settings of the services beside their limits."""

    #: How many small schemas of registered tools, and of requests, are cached.
    registered_schemas: int
    inline_schemas: int
    #: Servers whose tools get verdicts that are not enforced.
    report_only: frozenset[str] = frozenset()
    inference: bool = True
    #: The protocol version of requests and registrations that name none.
    protocol_version: str = DEFAULT_VERSION


@dataclass(frozen=True, slots=True)
class Services:
    """The application services."""

    registry: Registry
    resolver: TargetResolver
    validator: Validator
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


def create_services(
    registry: Registry, runner: TaskRunner, limits: Limits, options: ServiceOptions
) -> Services:
    """Return services that use *registry*, and *runner* for what takes long."""
    tasks = ChargedTasks(runner, limits)
    schemas = CompiledSchemas(
        tasks.compile, limits, options.registered_schemas, options.inline_schemas
    )
    protocol_schemas = ProtocolSchemas(runner.compile, limits)
    checker = ProtocolChecker(protocol_schemas, schemas, tasks.check, tasks.validate, limits)
    adapter = ToolAdapter(limits)
    version = options.protocol_version
    resolver = TargetResolver(registry, schemas, adapter, limits, options.report_only, version)
    validator = Validator(tasks.validate)
    calls = CallValidator(resolver, validator, checker, limits)
    results = ResultChecker(resolver, validator, checker)
    conversions = ConversionCache(tasks.convert, limits)
    return Services(
        registry=registry,
        resolver=resolver,
        validator=validator,
        prepared_targets=PreparedTargets(resolver, validator, calls, registry),
        protocol_checker=checker,
        subject_checker=SubjectChecker(resolver, checker, results),
        tools_checker=ToolsChecker(checker, limits),
        registrar=Registrar(registry, DefinitionChecker(schemas, checker, limits), version),
        converter=Converter(resolver, registry, conversions, limits),
        call_converter=CallConverter(resolver, validator, registry, limits),
        result_converter=ResultConverter(resolver, results, limits),
        normalizer=Normalizer(resolver, adapter, results, limits),
        adapter=adapter,
        inferrer=Inferrer(runner.infer, limits, enabled=options.inference),
    )
