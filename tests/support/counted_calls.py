"""Cost of Python code in function calls, which does not depend on the machine's load."""

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["count_calls"]


def count_calls(run: Callable[[], object]) -> int:
    """Return the number of function calls of *run*, including C functions; it may raise."""
    calls = 0

    def profile(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(before)
    return calls
