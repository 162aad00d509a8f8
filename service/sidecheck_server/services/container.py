"""Container of the application services, which share caches and workers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sidecheck_server.core.limits import Limits
from sidecheck_server.registry import Registry
from sidecheck_server.services.cache import Cache, MemoryShares
from sidecheck_server.services.calls import CallValidator
from sidecheck_server.services.change_log import ChangeLog
from sidecheck_server.services.check_services import (
    DEFAULT_CLASSES,
    ServiceClasses,
    ServiceOptions,
    create_check_services,
)
from sidecheck_server.services.checks import SubjectChecker
from sidecheck_server.services.comparison import ToolComparer, ToolSetComparer
from sidecheck_server.services.conversion import ConversionCache, Converter
from sidecheck_server.services.definitions import DefinitionChecker
from sidecheck_server.services.model_calls import CallConverter, ResultConverter
from sidecheck_server.services.normalization import Inferrer, Normalizer
from sidecheck_server.services.portability import PortabilityProver, PortableAdapter
from sidecheck_server.services.prepared_targets import PreparedTargets
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.registration import Registrar, RegistryWriter, ReportRegistry
from sidecheck_server.services.resolution import TargetResolver, ToolAdapter
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.tools import ToolsChecker
from sidecheck_server.services.validation import Validator
from sidecheck_server.workers.tasks import RunTask

__all__ = ["ServiceClasses", "ServiceOptions", "Services", "create_services"]

_HISTORY_BYTES: Final = 32 << 20
"""Maximum memory of the change log of the registry, in bytes."""


@dataclass(frozen=True, slots=True)
class Services:
    """The application services."""

    registry: Registry
    schemas: CompiledSchemas
    resolver: TargetResolver
    validator: Validator
    call_validator: CallValidator
    prepared_targets: PreparedTargets
    protocol_checker: ProtocolChecker
    subject_checker: SubjectChecker
    tools_checker: ToolsChecker
    registrar: Registrar
    registry_writer: RegistryWriter
    converter: Converter
    call_converter: CallConverter
    result_converter: ResultConverter
    normalizer: Normalizer
    adapter: ToolAdapter
    portable_adapter: PortableAdapter
    prover: PortabilityProver
    inferrer: Inferrer
    comparer: ToolComparer
    tool_sets: ToolSetComparer
    changes: ChangeLog
    #: Caches by their names in metrics.
    caches: Mapping[str, Cache[Any, Any]]


def create_services(
    registry: Registry,
    run: RunTask,
    limits: Limits,
    options: ServiceOptions,
    report_registry: ReportRegistry = lambda _: None,
    classes: ServiceClasses = DEFAULT_CLASSES,
) -> Services:
    """Create the services of *classes* on *registry*; *run* executes tasks of workers.

    *report_registry* is called when the registry cannot be written, and when it can again.
    """
    shares = MemoryShares(options.memory_bytes)
    changes = ChangeLog(registry, options.history_seconds, _HISTORY_BYTES)
    checks = create_check_services(registry, run, limits, options, classes)
    run_charged, schemas, resolver = checks.run_charged, checks.schemas, checks.resolver
    checker, adapter, validator = checks.protocol_checker, checks.adapter, checks.validator
    calls, results = checks.call_validator, checks.results
    writer = RegistryWriter(registry, report_registry)
    conversions = ConversionCache(run_charged, limits, shares.conversions)
    definitions = DefinitionChecker(schemas, checker, limits, shares.findings)
    comparer = ToolComparer(run_charged, limits)
    prover = PortabilityProver(adapter, comparer, limits)
    return Services(
        registry=registry,
        schemas=schemas,
        resolver=resolver,
        validator=validator,
        call_validator=calls,
        prepared_targets=PreparedTargets(resolver, validator, calls, registry, schemas),
        protocol_checker=checker,
        subject_checker=SubjectChecker(resolver, checker, results),
        tools_checker=checks.tools_checker,
        registrar=Registrar(registry, writer, definitions, comparer, options.protocol_version),
        registry_writer=writer,
        converter=Converter(resolver, registry, conversions, limits),
        call_converter=CallConverter(resolver, validator, registry, limits),
        result_converter=ResultConverter(resolver, results, limits),
        normalizer=Normalizer(resolver, adapter, results, limits),
        adapter=adapter,
        portable_adapter=PortableAdapter(conversions, adapter, prover, limits),
        prover=prover,
        inferrer=Inferrer(run_charged, limits, enabled=options.inference),
        comparer=comparer,
        tool_sets=ToolSetComparer(registry, comparer, limits),
        changes=changes,
        caches={
            **schemas.caches,
            "protocol_schemas": checks.protocol_schemas.cache,
            "inline_tools": resolver.cache,
            "adapted_tools": adapter.cache,
            "conversions": conversions.cache,
            "findings": definitions.cache,
        },
    )
