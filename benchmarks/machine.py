"""Machine and software versions of a measurement."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["machine"]

_PACKAGES = (
    "fastjsonschema",
    "fastmcp",
    "google-re2",
    "grpcio",
    "jsonschema",
    "jsonschema-rs",
    "mcp",
    "msgspec",
    "openai-agents",
    "protobuf",
    "pydantic",
)


def machine() -> list[str]:
    """Return the conditions of the figures, one per line."""
    return [
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        f"{platform.python_implementation()} {platform.python_version()}",
        ", ".join(f"{name} {_version(name)}" for name in _PACKAGES),
    ]


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    if known.exists():
        for line in known.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "an unknown processor"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
