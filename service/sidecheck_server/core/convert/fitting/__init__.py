"""Fitting: from any schema to one that an API takes, with every difference told."""

from sidecheck_server.core.convert.fitting.fit import fit

__all__ = ["fit"]
