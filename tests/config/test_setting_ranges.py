"""Extreme values of every setting: a start, or an error of one line."""

import dataclasses
import json
import os
import stat
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sidecheck_server.cli import sidecheck
from sidecheck_server.cli.serve import setting_groups
from sidecheck_server.config.settings import Settings, UnusableSettingsError, read_settings
from support.running import RunningServer

EXTREMES = [
    *("0", "-1", "1", "nan", "inf", "-inf", "1e308", "true", "", " ", "null", "[]", "[1]", "{}"),
    *(str(number) for number in (2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64)),
    *("-" + str(2**63), "9" * 5000, "x" * 5000, "\n", "a\nb", "\x1b[31m", "é" * 60),
]
GROUPS = dict(setting_groups())
LIMITS = [
    f"{group.upper()}__{field.name.upper()}"
    for group, default in GROUPS.items()
    for field in dataclasses.fields(default)
]
VARIABLES = [*(name.upper() for name in Settings.model_fields), *LIMITS]


def outcome_of(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Return the error of a *value* in the environment, or None if it is accepted."""
    monkeypatch.setenv(f"SIDECHECK_{variable}", value)
    try:
        read_settings()
    except UnusableSettingsError as error:
        return str(error)
    finally:
        monkeypatch.delenv(f"SIDECHECK_{variable}")
    return None


@pytest.mark.parametrize("variable", VARIABLES)
def test_extreme_values_are_accepted_or_an_error_of_the_setting(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the setting, or the limit."""
    errors = [outcome_of(variable, value, monkeypatch) for value in EXTREMES]
    name = variable.rpartition("__")[2].lower()

    assert [] == [error for error in errors if error is not None and name not in error]


def extreme_limits(monkeypatch: pytest.MonkeyPatch, *, largest: bool) -> dict[str, str]:
    """Return the variables of all limits at the largest, or least, value that is accepted."""
    numbers = sorted(
        {1, 2, 4, 128 << 20, 86_400, 100_000, 299_999, 2**31 - 2, 2**31 - 1, 2**53}, reverse=largest
    )
    chosen = {}
    for variable in LIMITS:
        group, _, name = variable.lower().partition("__")
        if isinstance(getattr(GROUPS[group], name), bool):
            continue
        # Alone, a limit is bounded by the defaults of others.
        for number in numbers:
            trial = {variable: str(number), **({} if name != "payload_bytes" else MOST_MESSAGE)}
            with monkeypatch.context() as patch:
                for key, value in trial.items():
                    patch.setenv(f"SIDECHECK_{key}", value)
                try:
                    read_settings()
                except UnusableSettingsError:
                    continue
            chosen[f"SIDECHECK_{variable}"] = str(number)
            break
    return chosen


MOST_MESSAGE = {"LIMITS__MESSAGE_BYTES": str(2**31 - 1)}


@pytest.mark.server
@pytest.mark.parametrize("largest", [True, False])
def test_a_server_starts_with_extreme_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, largest: bool
) -> None:
    """All limits are extreme at once; the server stops in order."""
    limits = extreme_limits(monkeypatch, largest=largest)
    if not largest:
        limits["SIDECHECK_LIMITS__MESSAGE_BYTES"] = "2"
        # A busy machine takes more than a second for anything.
        limits = {name: value for name, value in limits.items() if not name.endswith("_SECONDS")}
    running = RunningServer(tmp_path, **limits)
    code = running.terminate()
    running.close()

    assert len(limits) > 20
    assert 0 == code


def special_file(folder: Path, kind: str) -> str:
    """Return the path of a file of *kind*."""
    path = folder / kind
    match kind:
        case "FIFO":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "socket":
            os.mknod(path, stat.S_IFSOCK | 0o600)
        case "device":
            return "/dev/zero"
        case _:
            with path.open("wb") as file:
                file.truncate(1 << 40)
    return str(path)


@pytest.mark.parametrize(
    ("flag", "kind"),
    [
        *product(["--tools", "--config", "--registry"], ["FIFO", "folder", "socket", "device"]),
        # A registry may be as large as it likes.
        *product(["--tools", "--config"], ["large file"]),
    ],
)
def test_a_special_or_oversized_file_is_an_error(tmp_path: Path, flag: str, kind: str) -> None:
    """Reading it would block, or not end."""
    arguments = ["serve", flag, special_file(tmp_path, kind)]
    result = CliRunner().invoke(sidecheck, arguments, catch_exceptions=False)
    fault = f"is a {kind}; expected a regular file"
    if kind == "large file":
        fault = "has 1,099,511,627,776 bytes, more than the limit of"

    assert (2, "", 1) == (result.exit_code, result.stdout, result.stderr.count("\n"))
    assert fault in result.stderr


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        pytest.param(["--listen", "here"], {}, 'listen: Value error, expected "host:port"', id="a"),
        pytest.param(["--listen", "a:65536"], {}, "a port of at most 65535", id="port"),
        pytest.param(["--listen", "a:" + "9" * 5000], {}, "a port of at most 65535", id="digits"),
        pytest.param(["--unix-socket", "x" * 108], {}, "has at most 107 bytes", id="socket"),
        pytest.param(["--grace-seconds", "1e308"], {}, "grace_seconds: ", id="grace"),
        pytest.param(["--drain-seconds", "nan"], {}, "drain_seconds: ", id="drain"),
        pytest.param(
            [],
            {"SIDECHECK_LIMITS__MESSAGE_BYTES": str(2**31)},
            "message_bytes must be at most 2147483647",
            id="message_bytes",
        ),
        pytest.param(
            [],
            {"SIDECHECK_LIMITS__WORKER_BYTES": "60000000"},
            "worker_bytes must be at least 134217728",
            id="worker_bytes",
        ),
        pytest.param(["--tools", "a\nb"], {}, "a\\nb: not usable as a server name", id="newline"),
        pytest.param(
            [],
            {"SIDECHECK_TOOLS": json.dumps([{"file": "a\0", "server": "s"}])},
            "a\\u0000 has a null character in its name",
            id="null",
        ),
    ],
)
def test_a_wrong_setting_ends_in_a_line(
    arguments: list[str], environment: dict[str, Any], message: str
) -> None:
    """The exit code is 2, and the server does not start."""
    result = CliRunner(env=environment).invoke(
        sidecheck, ["serve", *arguments], catch_exceptions=False
    )

    assert (2, "", 1) == (result.exit_code, result.stdout, result.stderr.count("\n"))
    assert message in result.stderr
