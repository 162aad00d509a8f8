"""Activation of tracing, failed starts, and the export at the end."""

import json
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import Mock

import grpc
import pytest
from sidecheck.v1 import validation_service_pb2 as validation
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest
from sidecheck.v1.info_service_pb2_grpc import InfoServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from sidecheck_server.config.settings import UnusableSettingsError
from sidecheck_server.observability.tracing.instrumentation import Carrier, Instrumentation
from sidecheck_server.observability.tracing.variables import check_variables, exporter_names
from sidecheck_server.services.container import ServiceClasses
from sidecheck_server.services.resolution import TargetResolver
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.validation import Validator
from support.collector import Collector
from support.running import RunningServer
from support.traced_server import Caller, arguments, inline_schema

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
EXPORTER = "OTEL_TRACES_EXPORTER"


def serve(**environment: str) -> subprocess.CompletedProcess[str]:
    """Run a server that is expected to fail to start."""
    return subprocess.run(
        [sys.executable, "-m", "sidecheck_server", "serve", "--listen", "127.0.0.1:0"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.parametrize(
    ("environment", "exporters"),
    [
        pytest.param({}, (), id="nothing"),
        pytest.param({"OTEL_SERVICE_NAME": "x"}, (), id="other variables"),
        pytest.param({EXPORTER: "none", ENDPOINT: "http://c"}, (), id="none"),
        pytest.param({EXPORTER: "", ENDPOINT: ""}, (), id="empty"),
        pytest.param({EXPORTER: "otlp"}, ("otlp",), id="exporter"),
        pytest.param({EXPORTER: "console, otlp"}, ("console", "otlp"), id="two exporters"),
        pytest.param({ENDPOINT: "http://c"}, ("otlp",), id="endpoint"),
        pytest.param({TRACES_ENDPOINT: "http://c"}, ("otlp",), id="endpoint of traces"),
        pytest.param({ENDPOINT: "http://c", "OTEL_SDK_DISABLED": "TRUE"}, (), id="disabled"),
    ],
)
def test_settings_that_enable_tracing(
    environment: dict[str, str], exporters: tuple[str, ...]
) -> None:
    """An exporter or an endpoint enables it."""
    assert exporters == exporter_names(environment)


SAMPLERS = (
    "one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, "
    "parentbased_traceidratio"
)


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        (EXPORTER, "zipkin", "one of otlp, console, none"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "one of grpc, http/protobuf"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "udp", "one of grpc, http/protobuf"),
        (ENDPOINT, "ftp://collector", "an http or https URL"),
        (TRACES_ENDPOINT, "http://collector:port", "an http or https URL"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", "a number of seconds above 0"),
        ("OTEL_BSP_SCHEDULE_DELAY", "0", "a whole number above 0"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "many", "a whole number above 0"),
        ("OTEL_TRACES_SAMPLER", "sometimes", SAMPLERS),
        ("OTEL_PROPAGATORS", "b3", "one of baggage, tracecontext, none"),
    ],
)
def test_a_variable_that_cannot_be_used(variable: str, value: str, expected: str) -> None:
    """The error names it and what would be right."""
    with pytest.raises(UnusableSettingsError) as raised:
        check_variables({EXPORTER: "otlp", variable: value})

    assert f'invalid {variable} "{value}"; expected {expected}' == str(raised.value)


def test_a_ratio() -> None:
    """A sampler by ratio needs one."""
    environment = {EXPORTER: "otlp", "OTEL_TRACES_SAMPLER": "traceidratio"}
    check_variables({**environment, "OTEL_TRACES_SAMPLER_ARG": "0.25"})
    for value in ("", "2", "x"):
        with pytest.raises(UnusableSettingsError, match="a number from 0 to 1, for traceidratio"):
            check_variables({**environment, "OTEL_TRACES_SAMPLER_ARG": value})


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        pytest.param(
            {EXPORTER: "jaeger"},
            'invalid OTEL_TRACES_EXPORTER "jaeger"; expected one of otlp, console, none',
            id="exporter",
        ),
        # What the SDK and the exporters check by themselves.
        pytest.param(
            {EXPORTER: "otlp", "OTEL_EXPORTER_OTLP_COMPRESSION": "zip"},
            'tracing cannot start: Invalid value "zip" for compression envvar '
            "OTEL_EXPORTER_OTLP_COMPRESSION",
            id="compression",
        ),
        pytest.param(
            {EXPORTER: "otlp", "OTEL_BSP_MAX_QUEUE_SIZE": "1"},
            "tracing cannot start: max_export_batch_size must be less than or equal to "
            "max_queue_size.",
            id="batches",
        ),
        pytest.param(
            {
                EXPORTER: "otlp",
                ENDPOINT: "https://collector",
                "OTEL_EXPORTER_OTLP_CERTIFICATE": "/no/such/file",
            },
            "tracing cannot start: Failed to read file: /no/such/file. Please check if the file "
            "exists and is accessible.",
            id="certificate",
        ),
    ],
)
def test_the_start_fails(environment: dict[str, str], message: str) -> None:
    """The error is one sentence, as for other settings."""
    process = serve(**environment)

    assert (2, f"Error: {message}") == (process.returncode, process.stderr.strip())


def test_the_start_fails_without_the_sdk(tmp_path: Path) -> None:
    """The error has the command that installs the packages."""
    (tmp_path / "sitecustomize.py").write_text(
        textwrap.dedent(
            """
            import sys

            sys.modules["opentelemetry.sdk"] = None
            """
        )
    )
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    process = serve(PYTHONPATH=path, OTEL_TRACES_EXPORTER="otlp")

    message = (
        "Error: tracing is switched on (exporter otlp) and needs other packages: "
        "pip install 'opentelemetry-sdk>=1.45,<2' "
        "'opentelemetry-exporter-otlp-proto-grpc>=1.45,<2' "
        "'opentelemetry-exporter-otlp-proto-http>=1.45,<2', or set OTEL_SDK_DISABLED to true"
    )
    assert (2, message) == (process.returncode, process.stderr.strip())


@contextmanager
def server(folder: Path, **environment: str) -> Iterator[RunningServer]:
    running = RunningServer(folder, **environment)
    try:
        yield running
    finally:
        running.close()


def validate(running: RunningServer, caller: Caller | None = None) -> None:
    request = validation.ValidateRequest(target=inline_schema(b"true"), subject=arguments(b"{}"))
    metadata = () if caller is None else caller.metadata
    with grpc.insecure_channel(running.address) as channel:
        ValidationServiceStub(channel).Validate(request, metadata=metadata)


def test_the_last_spans_are_exported(tmp_path: Path) -> None:
    """The end of the server exports them at once."""
    with closing(Collector()) as collector:
        variables = {ENDPOINT: collector.endpoint, "OTEL_BSP_SCHEDULE_DELAY": "3600000"}
        with server(tmp_path, **variables) as running:
            caller = Caller.new()
            validate(running, caller)
            assert not collector.spans()
            assert 0 == running.terminate()
            log = running.log_text()
        [call] = [span for span in collector.spans() if span.parent_span_id.hex() == caller.span_id]

    assert "sidecheck.v1.ValidationService/Validate" == call.name
    assert "tracing." not in log


@contextmanager
def silent_listener() -> Iterator[str]:
    """Yield the URL of an address that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_a_collector_that_does_not_answer(tmp_path: Path, protocol: str) -> None:
    """Neither calls nor the end wait for it; the log reports it at the end."""
    with silent_listener() as endpoint:
        variables = {
            ENDPOINT: endpoint,
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_EXPORTER_OTLP_TIMEOUT": "3600",
        }
        with server(tmp_path, **variables) as running:
            validate(running)
            assert 0 == running.terminate()
            log = running.log_text()

    assert 1 == log.count('"tracing.unfinished"')
    assert "server.stopped" in log


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_an_absent_collector(tmp_path: Path, protocol: str) -> None:
    """The log reports it, without the error text of the network."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
    variables = {
        ENDPOINT: endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_BSP_SCHEDULE_DELAY": "50",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "0.5",
    }
    with server(tmp_path, **variables) as running:
        validate(running)
        event = running.wait_for("tracing.export_failed")
        assert 0 == running.terminate()
        log = running.log_text()

    assert 1 == event["failures"]
    assert "export" in event["detail"].lower()
    assert endpoint not in log
    assert "library.logged" not in log


def test_spans_on_the_console(tmp_path: Path) -> None:
    """They are written to the standard output."""
    code = "import sys; from sidecheck_server.__main__ import main; main()"
    with (tmp_path / "spans").open("wb") as spans:
        process = subprocess.Popen(
            [sys.executable, "-c", code, "serve", "--listen", "127.0.0.1:0"],
            stdout=spans,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, EXPORTER: "console", "SIDECHECK_LOG_FORMAT": "json"},
        )
        assert process.stderr is not None
        ready = next(event for line in process.stderr if "addresses" in (event := json.loads(line)))
        with grpc.insecure_channel(ready["addresses"][0]) as channel:
            InfoServiceStub(channel).GetServerInfo(GetServerInfoRequest())
        process.terminate()
        process.communicate(timeout=180)

    span = json.loads((tmp_path / "spans").read_text())
    assert "sidecheck.v1.InfoService/GetServerInfo" == span["name"]


OFF = """
import asyncio, sys
import grpc
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest
from sidecheck.v1.info_service_pb2_grpc import InfoServiceStub
from sidecheck_server.server.service import running_service
from sidecheck_server.config.settings import Settings

async def main():
    async with running_service(Settings(listen="127.0.0.1:0", workers=1)) as server:
        async with grpc.aio.insecure_channel(server.addresses[0]) as channel:
            await InfoServiceStub(channel).GetServerInfo(GetServerInfoRequest())
    print([name for name in sys.modules if "opentelemetry" in name])

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_opentelemetry_is_not_imported_when_tracing_is_off(tmp_path: Path) -> None:
    """The OpenTelemetry API is not imported either."""
    script = tmp_path / "off.py"
    script.write_text(OFF)
    process = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, check=True
    )

    assert "[]" == process.stdout.splitlines()[-1]


def test_services_are_not_wrapped_when_tracing_is_off() -> None:
    """The parts of the service are the same objects."""
    off = Instrumentation()
    methods, workers = [Mock(), Mock()], Mock()

    for carrier in Carrier:
        assert off.methods(carrier)(methods) is methods
    assert off.tasks(workers) is workers
    assert ServiceClasses() == off.classes
    assert ServiceClasses(CompiledSchemas, TargetResolver, Validator) == off.classes
