"""Harness of the benchmarks: measurement, reports, servers, load and subjects."""

import sys
from importlib.util import find_spec

_REQUIRED = ("agents", "fastmcp", "fastjsonschema", "jsonschema_rs", "matplotlib", "mcp", "psutil")

_absent = [name for name in _REQUIRED if find_spec(name) is None]
if _absent:
    # Before any script imports them.
    print(
        f"missing modules: {', '.join(_absent)}; install the dependency group bench of "
        "pyproject.toml",
        file=sys.stderr,
    )
    raise SystemExit(2)
