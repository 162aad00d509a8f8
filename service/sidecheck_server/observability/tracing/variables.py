"""Environment variables of OpenTelemetry: the switch for tracing, and checks.

Their names and values are those of
https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/. The SDK reads
them itself, and replaces invalid values by defaults. An operator would notice that late, so an
invalid value is an error of the startup.
"""

import math
import os
from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import entry_points
from typing import Final
from urllib.parse import urlsplit

from sidecheck_server.config.settings import UnusableSettingsError

__all__ = ["EXPORTERS", "check_variables", "exporter_names", "otlp_protocol"]

EXPORTERS: Final = "opentelemetry_traces_exporter"
"""Group of the entry points that packages of exporters declare."""

_TRACES_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_TIMEOUTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
_BATCHES: Final = (
    "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_BSP_EXPORT_TIMEOUT",
    "OTEL_BSP_MAX_QUEUE_SIZE",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
)

_RATIO_SAMPLERS: Final = frozenset({"traceidratio", "parentbased_traceidratio"})
_SAMPLERS: Final = (
    *("always_on", "always_off", "traceidratio"),
    *("parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"),
)


def exporter_names(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the exporters that *environment* names; () if tracing is off.

    Tracing is on if ``OTEL_TRACES_EXPORTER`` names an exporter, or if it is unset and an OTLP
    endpoint is set. ``OTEL_SDK_DISABLED`` switches it off.
    """
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ()
    exporters = environment.get(_TRACES_EXPORTER, "").strip()
    if not exporters:
        return ("otlp",) if any(map(environment.get, _ENDPOINTS)) else ()
    names = dict.fromkeys(name.strip() for name in exporters.split(","))
    return () if set(names) == {"none"} else tuple(names)


def otlp_protocol(environment: Mapping[str, str] = os.environ) -> str:
    """Return the protocol of OTLP; the default is that of the SDK for Python."""
    return _first(_PROTOCOLS, environment) or "grpc"


def check_variables(environment: Mapping[str, str] = os.environ) -> None:
    """Check the variables of tracing.

    Raises:
        UnusableSettingsError: a variable has an invalid value.
    """
    for name in exporter_names(environment):
        # A missing package of an OTLP exporter is reported when it is loaded.
        if name != "otlp" and name not in _names(EXPORTERS):
            raise _unusable(_TRACES_EXPORTER, name, _one_of(("otlp", "console", "none")))
    for variable in _PROTOCOLS:
        _check_choice(environment.get(variable, ""), variable, ("grpc", "http/protobuf"))
    protocol = otlp_protocol(environment)
    for variables, is_valid, expected in (
        (_ENDPOINTS, lambda value: _is_endpoint(value, protocol), "an http or https URL"),
        (_TIMEOUTS, _is_positive, "a number of seconds above 0"),
        (_BATCHES, _is_count, "a whole number above 0"),
    ):
        for variable in variables:
            value = environment.get(variable, "")
            if value and not is_valid(value):
                raise _unusable(variable, value, expected)
    _check_sampler(environment)
    for name in environment.get("OTEL_PROPAGATORS", "").split(","):
        propagators = (*_names("opentelemetry_propagator"), "none")
        if name.strip() and name.strip() not in propagators:
            raise _unusable("OTEL_PROPAGATORS", name.strip(), _one_of(propagators))


def _check_sampler(environment: Mapping[str, str]) -> None:
    variable = "OTEL_TRACES_SAMPLER"
    sampler = environment.get(variable, "")
    _check_choice(sampler, variable, _SAMPLERS)
    if sampler.strip().lower() in _RATIO_SAMPLERS:
        argument = "OTEL_TRACES_SAMPLER_ARG"
        value = environment.get(argument, "")
        if not _is_ratio(value):
            raise _unusable(argument, value, f"a number from 0 to 1, for {sampler}")


def _check_choice(value: str, variable: str, choices: Collection[str]) -> None:
    if value.strip() and value.strip().lower() not in choices:
        raise _unusable(variable, value, _one_of(choices))


def _is_endpoint(value: str, protocol: str) -> bool:
    """Return whether *value* is an endpoint: a URL, or for gRPC any target."""
    if protocol == "grpc" and "://" not in value:
        return True
    try:
        url = urlsplit(value)
        _ = url.port
    except ValueError:
        return False
    return url.scheme in {"http", "https"} and bool(url.hostname)


def _is_positive(value: str) -> bool:
    try:
        return 0 < float(value) < math.inf
    except ValueError:
        return False


def _is_count(value: str) -> bool:
    try:
        return int(value) > 0
    except ValueError:
        return False


def _is_ratio(value: str) -> bool:
    try:
        return 0 <= float(value) <= 1
    except ValueError:
        return False


def _names(group: str) -> list[str]:
    return sorted({entry_point.name for entry_point in entry_points(group=group)})


def _first(variables: Iterable[str], environment: Mapping[str, str]) -> str:
    """Return the value of the first of *variables* that is set, or ""."""
    return next((value for name in variables if (value := environment.get(name, "").strip())), "")


def _one_of(choices: Iterable[str]) -> str:
    return f"one of {', '.join(choices)}"


def _unusable(variable: str, value: str, expected: str) -> UnusableSettingsError:
    return UnusableSettingsError(f'invalid {variable} "{value}"; expected {expected}')
