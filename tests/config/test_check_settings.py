"""Settings of the checks in a proxy, which are read without pydantic if none is set."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from sidecheck_server.config.check_settings import CheckSettings, read_check_settings
from sidecheck_server.config.setting_names import (
    SETTING_NAMES,
    UnusableSettingsError,
    has_settings,
)
from sidecheck_server.config.settings import Settings, read_settings
from sidecheck_server.core.limits import Limits

MESSAGE_BYTES = 1 << 20


@pytest.fixture(autouse=True)
def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove settings from the environment."""
    for name in SETTING_NAMES:
        monkeypatch.delenv(f"SIDECHECK_{name.upper()}", raising=False)


def test_each_setting_is_named() -> None:
    """Otherwise a proxy would ignore the variable of the setting."""
    assert {*Settings.model_fields, "config"} == SETTING_NAMES


def test_defaults_are_those_of_the_service() -> None:
    """Only the limits that the proxy sets itself differ."""
    settings, defaults = read_check_settings(MESSAGE_BYTES), read_settings(log_level="warning")
    limits = Limits(
        payload_bytes=MESSAGE_BYTES,
        message_bytes=MESSAGE_BYTES + (1 << 20),
        worker_wait_seconds=settings.limits.worker_wait_seconds,
    )

    assert settings == CheckSettings(
        limits,
        defaults.memory_bytes,
        defaults.protocol_version,
        defaults.log_format,
        defaults.log_level,
    )


@pytest.mark.parametrize(
    ("variables", "is_setting"),
    [
        pytest.param({"SIDECHECK_TOKEN": "x"}, False, id="a token"),
        pytest.param({"SIDECHECK_LIMIT": "1"}, False, id="an unknown name"),
        pytest.param({"LIMITS__STEPS": "1"}, False, id="without the prefix"),
        pytest.param({"SIDECHECK_LIMITS__STEPS": "1"}, True, id="a limit"),
        pytest.param({"sidecheck_log_format": "json"}, True, id="lower case"),
        pytest.param({"SIDECHECK_CONFIG": "x.toml"}, True, id="a file"),
    ],
)
def test_variables_of_settings(
    monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str], is_setting: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert is_setting == has_settings()


def test_variables_and_files_apply(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('protocol_version = "2024-11-05"\n[limits]\nsteps = 7\n')
    monkeypatch.setenv("SIDECHECK_CONFIG", str(file))
    monkeypatch.setenv("SIDECHECK_MEMORY_BYTES", str(1 << 21))
    settings = read_check_settings(MESSAGE_BYTES)

    assert ("2024-11-05", 7, 1 << 21, MESSAGE_BYTES) == (
        settings.protocol_version,
        settings.limits.steps,
        settings.memory_bytes,
        settings.limits.payload_bytes,
    )


def test_an_invalid_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIDECHECK_MEMORY_BYTES", "much")

    with pytest.raises(UnusableSettingsError, match="memory_bytes"):
        read_check_settings(MESSAGE_BYTES)
