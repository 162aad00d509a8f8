"""Grammars of names that more than one API has."""

from sidecheck_server.core.mcp.name_grammars import NameGrammar

__all__ = ["LETTERS_TO_DASH_64", "LETTERS_TO_DASH_128", "LETTERS_TO_DOT_64"]

_LETTERS_TO_DASH = ("A-Za-z0-9_-", 'ASCII letters, digits, "_" and "-"')

LETTERS_TO_DASH_64 = NameGrammar(64, *_LETTERS_TO_DASH)
LETTERS_TO_DASH_128 = NameGrammar(128, *_LETTERS_TO_DASH)
LETTERS_TO_DOT_64 = NameGrammar(64, "A-Za-z0-9_.-", 'ASCII letters, digits, "_", "." and "-"')
