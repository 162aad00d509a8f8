"""Processes for work that holds the interpreter, or that nothing but killing can end."""

from sidecheck_server.workers.turns import CALLER
from sidecheck_server.workers.workers import Workers

__all__ = ["CALLER", "Workers"]
