"""Sources of settings and errors of invalid settings."""

import dataclasses
import os
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError
from sidecheck_server.config.policies import GatewayPolicies
from sidecheck_server.config.settings import (
    Settings,
    ToolsFile,
    UnusableSettingsError,
    read_settings,
)
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, VERSIONS
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.quotas import RegistryQuotas

DEFAULTS = {
    "listen": "127.0.0.1:50151",
    "unix_socket": None,
    "unix_socket_mode": "660",
    "admin_listen": "",
    "admin_open": False,
    "tls_certificate": None,
    "tls_key": None,
    "tls_client_ca": None,
    "tokens_file": None,
    "tokens_without_tls": False,
    "registry": None,
    "registry_history_seconds": 86_400.0,
    "tools": (),
    "protocol_version": "2025-11-25",
    "workers": 2,
    "processes": 1,
    "server": "grpc",
    "event_loop": "asyncio",
    "memory_bytes": 256 << 20,
    "report_only": (),
    "drain_seconds": 0.0,
    "grace_seconds": 10.0,
    "reflection": True,
    "inference": True,
    "gateways": (),
    "log_level": "info",
    "log_format": "auto",
    "transport": dataclasses.asdict(TransportLimits()),
    "gateway_policies": dataclasses.asdict(GatewayPolicies()),
    "registry_quotas": dataclasses.asdict(RegistryQuotas()),
    "limits": dataclasses.asdict(Limits()),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working directory; clear settings from the environment."""
    for name in os.environ:
        if name.upper().startswith("SIDECHECK_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_defaults_apply_without_settings() -> None:
    """The model has exactly the default values."""
    assert DEFAULTS == read_settings().model_dump()


def test_the_protocol_versions_match_the_core() -> None:
    """A type checker needs the versions as literals."""
    field = Settings.model_fields["protocol_version"]

    assert (VERSIONS, DEFAULT_VERSION) == (get_args(field.annotation), field.default)


@pytest.mark.parametrize(
    ("name", "file", "variable", "flag", "values"),
    [
        pytest.param("workers", "workers = 3", "4", 5, (2, 3, 4, 5), id="number"),
        pytest.param(
            "reflection", "reflection = false", "true", False, (True, False, True, False), id="bool"
        ),
        pytest.param(
            "log_level",
            'log_level = "debug"',
            "warning",
            "error",
            ("info", "debug", "warning", "error"),
            id="choice",
        ),
        pytest.param(
            "registry",
            'registry = "file.db"',
            "variable.db",
            Path("flag.db"),
            (None, Path("file.db"), Path("variable.db"), Path("flag.db")),
            id="path",
        ),
        pytest.param(
            "registry",
            'registry = "postgresql://db/tools"',
            " postgres://me:s3cret@db:5433/tools\n",
            PostgresLocation("postgresql:///other"),
            (
                None,
                PostgresLocation("postgresql://db/tools"),
                PostgresLocation("postgres://me:s3cret@db:5433/tools"),
                PostgresLocation("postgresql:///other"),
            ),
            id="database",
        ),
        pytest.param(
            "listen",
            'listen = "file:1"',
            "variable:1",
            "flag:1",
            ("127.0.0.1:50151", "file:1", "variable:1", "flag:1"),
            id="text",
        ),
    ],
)
def test_flags_override_the_environment_the_file_and_the_defaults(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    name: str,
    file: str,
    variable: str,
    flag: Any,
    values: tuple[Any, ...],
) -> None:
    """Precedence holds for every kind of value; a flag of None is unset."""
    config = folder / "settings.toml"
    config.write_text(file)
    results = [read_settings(), read_settings(config)]
    monkeypatch.setenv(f"SIDECHECK_{name.upper()}", variable)
    results += [read_settings(config, **{name: None}), read_settings(config, **{name: flag})]

    assert [{**DEFAULTS, name: value} for value in values] == [
        settings.model_dump() for settings in results
    ]


def test_limits_are_merged_from_all_sources(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """A limit in the environment leaves the limits of the file unchanged."""
    config = folder / "settings.toml"
    config.write_text("[limits]\nsteps = 5\nviolations = 7\n")
    monkeypatch.setenv("SIDECHECK_LIMITS__STEPS", "6")
    monkeypatch.setenv("SIDECHECK_LIMITS__BATCH_ITEMS", "8")

    assert Limits(steps=6, violations=7, batch_items=8) == read_settings(config).limits


def test_the_environment_may_name_the_file(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """The flag --config takes precedence over the variable."""
    (folder / "first.toml").write_text("workers = 3")
    (folder / "second.toml").write_text("workers = 4")
    monkeypatch.setenv("SIDECHECK_CONFIG", "first.toml")

    assert (3, 4) == (read_settings().workers, read_settings(Path("second.toml")).workers)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        pytest.param("wokers = 3", "wokers: Extra inputs are not permitted", id="unknown name"),
        pytest.param(
            "[limits]\nstep = 3", "limits.step: Unexpected keyword argument", id="unknown limit"
        ),
        pytest.param(
            "workers = 0", "workers: Input should be greater than or equal to 1", id="too small"
        ),
        pytest.param(
            'workers = "x"', "workers: Input should be a valid integer", id="not a number"
        ),
        pytest.param(
            'log_level = "loud"', "log_level: Input should be 'debug', 'info'", id="not a choice"
        ),
        pytest.param('unix_socket_mode = "668"', "unix_socket_mode: ", id="invalid mode"),
        pytest.param("unix_socket_mode = 660", "unix_socket_mode: ", id="decimal mode"),
        pytest.param(
            "[transport]\ncalls = 0",
            "transport.calls: Input should be greater than or equal to 1",
            id="zero limit of the transport",
        ),
        pytest.param("drain_seconds = -1", "drain_seconds: ", id="negative time"),
        pytest.param("drain_seconds = inf", "drain_seconds: ", id="infinite time"),
        pytest.param("grace_seconds = nan", "grace_seconds: ", id="NaN time"),
        pytest.param("[limits]\nsteps = 0", "limits: Value error, steps must be", id="zero limit"),
        pytest.param(
            "[registry_quotas]\nservers = 0",
            "registry_quotas: Value error, servers must be at least 1",
            id="zero quota",
        ),
        pytest.param(
            "[limits]\npayload_bytes = 4194304",
            "limits: Value error, payload_bytes must be below message_bytes",
            id="contradictory limits",
        ),
        pytest.param(
            "[limits]\npattern_repetitions = 100001",
            "limits: Value error, pattern_repetitions must be at most 100000",
            id="too many repetitions",
        ),
        pytest.param("limits = 3", "limits: ", id="limits that are not a table"),
        pytest.param('registry = ""', "registry: Value error, is empty;", id="empty registry"),
        pytest.param('listen = ""', "listen and unix_socket are both empty", id="no listener"),
        pytest.param("processes = 0", "processes: Input should be greater", id="no process"),
        pytest.param(
            'processes = 2\nunix_socket = "/run/s.sock"',
            "processes: several cannot listen on one unix socket; leave out unix_socket, or set "
            "processes to 1",
            id="processes with a unix socket",
        ),
        pytest.param(
            'event_loop = "trio"', "event_loop: Input should be 'asyncio' or 'uvloop'", id="loop"
        ),
        pytest.param("workers", "the settings cannot be read: Expected '='", id="not TOML"),
        pytest.param("workers = 0\nwokers = 3", "workers: ", id="the first of two faults"),
        pytest.param("workers = 0\nwokers = 3", "wokers: ", id="the second of two faults"),
    ],
)
def test_errors_name_the_setting(folder: Path, file: str, message: str) -> None:
    """Errors of a settings file contain the name and the fault."""
    (folder / "settings.toml").write_text(file)
    with pytest.raises(UnusableSettingsError) as raised:
        read_settings(Path("settings.toml"))

    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        pytest.param("WORKERS", "two", "workers: Input should be a valid integer", id="a value"),
        pytest.param("LIMITS__STEPS", "", "limits.steps: Input should be", id="an empty limit"),
        pytest.param("LIMITS__STEP", "1", "limits.step: Unexpected keyword", id="unknown limit"),
        pytest.param(
            "REPORT_ONLY",
            '["a"',
            "report_only: Value error, expected a JSON array, or items with commas between them",
            id="a broken list",
        ),
        pytest.param("LIMITS", "[", 'error parsing value for field "limits"', id="not JSON"),
        pytest.param(
            "CONFIG", "gone.toml", "the settings file gone.toml does not exist", id="file"
        ),
        pytest.param(
            "CONFIG", "/", "the settings file / is a folder; expected a regular", id="folder"
        ),
        pytest.param("CONFIG", "x" * 5000, "File name too long", id="too long a file name"),
    ],
)
def test_errors_name_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    """Errors of environment variables contain the name and the fault."""
    monkeypatch.setenv(f"SIDECHECK_{name}", value)
    with pytest.raises(UnusableSettingsError) as raised:
        read_settings()

    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("value", "servers"),
    [
        pytest.param("payments", ("payments",), id="one"),
        pytest.param("payments, mail,", ("payments", "mail"), id="commas"),
        pytest.param('["a,b", "c"]', ("a,b", "c"), id="JSON"),
        pytest.param("", (), id="none"),
        pytest.param("[]", (), id="no JSON"),
    ],
)
def test_a_list_in_the_environment_has_commas_or_is_json(
    monkeypatch: pytest.MonkeyPatch, value: str, servers: tuple[str, ...]
) -> None:
    """An item with a comma in it needs JSON."""
    monkeypatch.setenv("SIDECHECK_REPORT_ONLY", value)

    assert servers == read_settings().report_only


@pytest.mark.parametrize(
    "value",
    ["git.json,weather.json", '[{"file": "git.json"}, {"file": "weather.json", "server": ""}]'],
)
def test_files_of_tools_in_the_environment(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """Files are separated by commas; JSON may name the server too."""
    monkeypatch.setenv("SIDECHECK_TOOLS", value)

    expected = (ToolsFile(Path("git.json")), ToolsFile(Path("weather.json")))
    assert expected == read_settings().tools


def test_a_file_must_be_utf8(folder: Path) -> None:
    """TOML files are UTF-8 by specification."""
    (folder / "settings.toml").write_bytes(b'listen = "\xff"')
    with pytest.raises(UnusableSettingsError, match="the settings cannot be read"):
        read_settings(Path("settings.toml"))


def test_settings_are_immutable() -> None:
    """Settings and their limits cannot be assigned to."""
    settings: Any = read_settings()
    limits: Any = settings.limits
    with pytest.raises(ValidationError, match="frozen"):
        settings.workers = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        limits.steps = 3

    assert DEFAULTS == settings.model_dump()


def test_every_setting_has_a_description() -> None:
    """Descriptions are sentences, shown by the documentation and the help."""
    descriptions = {name: field.description for name, field in Settings.model_fields.items()}

    assert [] == [name for name, text in descriptions.items() if not (text or "").endswith(".")]
