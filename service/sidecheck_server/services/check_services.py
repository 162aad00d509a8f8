"""Services that check messages, calls and tools; they need none of the others."""

from collections.abc import Callable
from dataclasses import dataclass

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.registry import Registry
from sidecheck_server.registry.location import HISTORY_SECONDS
from sidecheck_server.services.cache import MemoryShares
from sidecheck_server.services.calls import CallValidator, ResultChecker
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.request_work import charge_tasks
from sidecheck_server.services.resolution import TargetResolver, ToolAdapter
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas
from sidecheck_server.services.tools import ToolsChecker
from sidecheck_server.services.validation import Validator
from sidecheck_server.workers.tasks import RunTask

__all__ = [
    "DEFAULT_CLASSES",
    "CheckServices",
    "ServiceClasses",
    "ServiceOptions",
    "create_check_services",
]


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Settings of the services other than their limits."""

    #: Maximum memory of all caches together, in bytes.
    memory_bytes: int
    #: Servers whose tools get verdicts that are not enforced.
    report_only: frozenset[str] = frozenset()
    inference: bool = True
    #: The protocol version of requests and registrations that name none.
    protocol_version: str = DEFAULT_VERSION
    #: Seconds for which the change log keeps a change of the registry.
    history_seconds: float = HISTORY_SECONDS


@dataclass(frozen=True, slots=True)
class ServiceClasses:
    """Classes of services that tracing replaces by subclasses."""

    schemas: Callable[..., CompiledSchemas] = CompiledSchemas
    resolver: Callable[..., TargetResolver] = TargetResolver
    validator: Callable[..., Validator] = Validator


DEFAULT_CLASSES = ServiceClasses()
"""The classes without tracing."""


@dataclass(frozen=True, slots=True)
class CheckServices:
    """The services, and what they share."""

    #: Runs the tasks of a request, and charges them to its budget.
    run_charged: RunTask
    schemas: CompiledSchemas
    protocol_schemas: ProtocolSchemas
    adapter: ToolAdapter
    resolver: TargetResolver
    validator: Validator
    results: ResultChecker
    call_validator: CallValidator
    protocol_checker: ProtocolChecker
    tools_checker: ToolsChecker


def create_check_services(
    registry: Registry,
    run: RunTask,
    limits: Limits,
    options: ServiceOptions,
    classes: ServiceClasses = DEFAULT_CLASSES,
    run_for_protocol: RunTask | None = None,
) -> CheckServices:
    """Create the services of *classes* on *registry*; *run* executes tasks of workers.

    *run_for_protocol* compiles the schemas of the protocol in place of *run*.
    """
    shares = MemoryShares(options.memory_bytes)
    run_charged = charge_tasks(run, limits)
    schemas = classes.schemas(run_charged, limits, shares.registered_schemas, shares.inline_schemas)
    # All requests share the schemas of the protocol, so that none is charged for them.
    protocol_schemas = ProtocolSchemas(run_for_protocol or run, limits)
    checker = ProtocolChecker(protocol_schemas, schemas, run_charged, limits)
    adapter = ToolAdapter(limits, shares.adapted_tools)
    resolver = classes.resolver(
        registry,
        schemas,
        adapter,
        limits,
        options.report_only,
        options.protocol_version,
        shares.inline_tools,
    )
    validator = classes.validator(run_charged)
    return CheckServices(
        run_charged=run_charged,
        schemas=schemas,
        protocol_schemas=protocol_schemas,
        adapter=adapter,
        resolver=resolver,
        validator=validator,
        results=ResultChecker(resolver, validator, checker),
        call_validator=CallValidator(resolver, validator, checker, limits),
        protocol_checker=checker,
        tools_checker=ToolsChecker(checker, limits),
    )
