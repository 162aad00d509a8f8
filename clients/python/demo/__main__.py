"""The entry of the demo.

Exit codes: 0 if everything was as expected, 1 if not, 130 and 143 if interrupted.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

from sidecheck import SidecheckError

# Run as a folder, Python finds the modules in it, but not the package that they are in.
# Last, so that an installed `sidecheck` comes before the one beside this package.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from demo.demonstration import demonstrate
from demo.mcp_servers import NoAnswer
from demo.service import NotReady

__all__ = ["main"]

_REPOSITORY = Path(__file__).resolve().parents[3]


def main() -> int:
    """Run the demo and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="demo", description="Sidecheck between a model and two published MCP servers."
    )
    parser.add_argument(
        "--mcp-environment",
        type=Path,
        default=_REPOSITORY / ".venv-demo",
        metavar="FOLDER",
        help="the Python environment that has the MCP servers (default: .venv-demo)",
    )
    given = parser.parse_args()
    # Shells and CI systems start background jobs with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _exit)
    try:
        with tempfile.TemporaryDirectory(prefix="sidecheck-demo-") as folder:
            return 0 if demonstrate(given.mcp_environment, Path(folder)) else 1
    except (NoAnswer, NotReady, SidecheckError, OSError, subprocess.SubprocessError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


def _exit(number: int, _frame: FrameType | None) -> None:
    # An exception, so that every child is terminated on the way out.
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
