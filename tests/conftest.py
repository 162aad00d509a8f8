"""Fixtures, markers and settings for all tests."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest
import structlog
from conformance.matrix import Outcomes, format_matrix
from support.registry_replicas import Replicas
from support.running import RunningServer
from support.running_postgres import RunningPostgres, installed_binaries

_TESTS = Path(__file__).resolve().parent

#: The markers of whole folders and files; single tests carry their own.
_MARKERS = {
    "admin": ("server", "slow"),
    "agreement/test_agreement.py": ("slow", "fuzz", "long"),
    "attacks/differential": ("server", "slow", "fuzz", "long"),
    "attacks/test_disguises.py": ("server", "slow"),
    "attacks/test_paths.py": ("server", "slow"),
    "attacks/test_requests.py": ("server", "slow"),
    "attacks/test_responses.py": ("server", "slow"),
    "benchmarks": ("slow", "long"),
    "cli/test_registry.py": ("slow",),
    "cli/test_registry_beside_servers.py": ("server", "slow", "long"),
    "cli/test_registry_exchange.py": ("slow",),
    "cli/test_registry_failures.py": ("slow",),
    "cli/test_serve.py": ("server",),
    "cli/test_serve_tools.py": ("server",),
    "cli/test_terminal.py": ("slow", "long"),
    "cli/test_tls.py": ("server",),
    "cli/test_token.py": ("server",),
    "comparisons": ("slow", "long"),
    "conformance": ("server", "slow"),
    "conformance/test_languages.py": ("slow", "long"),
    "core/compat/test_hostile.py": ("slow",),
    "core/compat/test_library_form.py": ("slow",),
    "core/convert/test_decoding_invariants.py": ("slow",),
    "core/convert/test_schema_reader_invariants.py": ("slow",),
    "core/convert/test_structure_invariants.py": ("slow",),
    "core/convert/test_transforms_invariants.py": ("slow",),
    "core/infer/test_agreement.py": ("pinned",),
    "core/mcp/test_session_bounds.py": ("slow", "long"),
    "corpus": ("slow", "corpus"),
    "deploy/test_running.py": ("server", "slow"),
    "docs/test_snippets.py": ("server", "slow", "long"),
    "e2e": ("server", "slow"),
    "e2e/test_conformance_suite.py": ("slow", "long"),
    "e2e/test_killed_server.py": ("slow", "long"),
    "e2e/test_proxied_servers.py": ("slow", "long"),
    "e2e/test_second_typescript_sdk.py": ("slow", "long"),
    "e2e/test_validated_servers.py": ("slow", "long"),
    "fuzz/test_fuzz.py": ("server", "slow", "fuzz", "long"),
    "gateways": ("server", "slow", "long"),
    "hostile/test_beside.py": ("server", "slow", "long"),
    "hostile/test_hostile.py": ("server", "slow", "long"),
    "image/test_distributions.py": ("slow", "long"),
    "image/test_image.py": ("server", "slow", "long"),
    "image/test_sbom.py": ("slow", "long"),
    "installation": ("slow", "long"),
    "matrix": ("server", "slow", "long"),
    "observability/tracing": ("server", "slow"),
    "observability/tracing/test_starts_and_stops.py": ("long",),
    "packages": ("server", "slow", "long"),
    "page": ("server", "slow", "long"),
    "proxy/test_faults.py": ("slow", "long"),
    "proxy/test_http.py": ("server", "slow"),
    "proxy/test_http_bodies.py": ("server", "slow"),
    "proxy/test_http_exchange.py": ("server", "slow"),
    "proxy/test_http_faults.py": ("server", "slow", "long"),
    "proxy/test_http_sessions.py": ("server", "slow"),
    "proxy/test_http_streams.py": ("server", "slow"),
    "proxy/test_stdio.py": ("server", "slow"),
    "proxy/test_wrong_options.py": ("server", "slow"),
    "registry/postgres": ("slow",),
    "registry/postgres/test_servers.py": ("server", "slow", "long"),
    "registry/postgres/test_serving.py": ("server", "slow", "long"),
    "resilience": ("server", "slow", "long"),
    "rpc": ("server",),
    "server/processes/test_processes.py": ("server", "slow", "long"),
    "services/test_compatibility.py": ("slow",),
    "services/test_prepared_targets.py": ("slow",),
    "surface": ("slow", "long"),
    "windows/test_stubbed.py": ("slow",),
    "windows/test_stubbed_proxy.py": ("server", "slow"),
}

#: The longest files, in the order in which the processes of a run begin them, before all others:
#: one that begins late leaves the other processes without work. The first builds the clients of all
#: languages; other files that need them come last, so that none waits for a build.
_LONGEST = (
    "conformance/test_languages.py",
    "benchmarks/test_report.py",
    "image/test_image.py",
    "matrix/test_stdio.py",
    "registry/postgres/test_servers.py",
    "hostile/test_hostile.py",
    "fuzz/test_fuzz.py",
    "resilience/test_caches.py",
    "matrix/test_http.py",
    "installation/test_later_releases.py",
    "server/processes/test_processes.py",
    "e2e/test_validated_servers.py",
    "docs/test_snippets.py",
    "e2e/test_second_typescript_sdk.py",
    "e2e/test_conformance_suite.py",
    "agreement/test_agreement.py",
)

#: Names that start a server, in its own process or in that of the test.
_SERVER_FIXTURES = {"server", "shared_server", "chain_server", "served", "emptied"}

# The same examples in every run, so that none fails by chance; `--hypothesis-profile=search` tries
# others. Data is generated more slowly while the machine does other work.
_SEARCH = hypothesis.settings(
    deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile("search", _SEARCH)
hypothesis.settings.register_profile("sidecheck", _SEARCH, derandomize=True)
hypothesis.settings.load_profile("sidecheck")


def pytest_configure() -> None:
    """Let tests be interrupted, and start their children with the default handlers.

    Shells and CI systems start background jobs with SIGINT ignored, and nohup starts them with
    SIGHUP ignored, which every child would inherit.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their folder, their file and their fixtures; move the longest files first."""
    listed = (*_MARKERS, *_LONGEST)
    if moved := [path for path in listed if not (_TESTS / path).exists()]:
        raise pytest.UsageError(f"tests/conftest.py names what is not there: {', '.join(moved)}")
    for item in items:
        path = item.path.relative_to(_TESTS)
        places = {path.as_posix(), *(parent.as_posix() for parent in path.parents)}
        for place in places & _MARKERS.keys():
            for name in _MARKERS[place]:
                item.add_marker(name)
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        fixtures = set(getattr(item, "fixturenames", ())) - parameters.keys()
        if not _SERVER_FIXTURES.isdisjoint(fixtures):
            item.add_marker("server")
    ranks = {_TESTS / path: rank for rank, path in enumerate(_LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the shared cases by client, where clients have run them."""
    recorded = [
        dict(report.user_properties)
        for status in ("passed", "failed")
        for report in terminalreporter.getreports(status)
        if report.when == "call"
    ]
    clients = {
        properties["client"]: Outcomes(**properties["outcomes"])
        for properties in recorded
        if "client" in properties
    }
    if clients:
        terminalreporter.section("shared cases by client")
        terminalreporter.write_line(format_matrix(clients))


@pytest.fixture(autouse=True)
def _log_configuration() -> Iterator[None]:
    """Undo how a command that ran in the process of the test has configured the log."""
    before = structlog.get_config()
    levels = {name: logging.getLogger(name).level for name in (None, "sidecheck")}
    handlers = list(logging.getLogger().handlers)
    yield
    if structlog.get_config() == before:
        return
    structlog.configure(**before)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    logging.getLogger().handlers[:] = handlers


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server that all tests of a process share, for what leaves nothing behind in it."""
    folder = tmp_path_factory.mktemp("server")
    running = RunningServer(folder, SIDECHECK_ADMIN_LISTEN="127.0.0.1:0")
    yield running
    running.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """Return a server of the test's own, with an empty registry."""
    running = RunningServer(tmp_path)
    yield running
    running.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[RunningPostgres]:
    """Return a PostgreSQL server that all tests of a process share, each with its own database."""
    running = RunningPostgres(installed_binaries()["wheel"])
    yield running
    running.close()


@pytest.fixture
def replicas(postgres: RunningPostgres) -> Iterator[Replicas]:
    """Return a database without tools, and the means to open registries on it."""
    with ExitStack() as stack:
        yield Replicas(postgres, stack)
