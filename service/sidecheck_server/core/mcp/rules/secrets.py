"""Heuristics for names and texts of form fields that ask for secrets.

They favour precision over recall. The last words of a name determine its meaning:
``access_token`` is a token, ``token_count`` is a count.
"""

import re

from sidecheck_server.core.limits import Budget, spend

__all__ = ["asks_for_secret", "names_secret", "shows_link"]

_MAX_NAME_CHARACTERS = 100
_MAX_TEXT_CHARACTERS = 4000

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")

#: Words that do not change the meaning at the end of a name.
_SUFFIXES = frozenset({"value", "confirm", "confirmation", "again", "repeat", "text", "string"})

#: Last words of a name, in lower case.
_NAMES = (
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "api key",
    "apikey",
    "access key",
    "secret key",
    "private key",
    "signing key",
    "token",
    "seed phrase",
    "recovery phrase",
    "recovery code",
    "credit card",
    "credit card number",
    "debit card number",
    "card number",
    "cvv",
    "cvc",
    "cvv code",
    "cvc code",
    "security code",
    "otp",
    "one time code",
    "pin number",
    "card pin",
)

#: Names as lists of words, by last word.
_SECRETS: dict[str, list[list[str]]] = {}
for _name in _NAMES:
    _SECRETS.setdefault(_name.split(" ")[-1], []).append(_name.split(" "))

#: Words of names that end in "token" and are not secrets.
_HARMLESS_TOKENS = frozenset(
    {"page", "cursor", "continuation", "progress", "sync", "stop", "cancel", "cancellation"}
    | {"syntax", "design", "max", "eos", "bos", "first", "last", "lexer", "nft"}
)

_PHRASE = re.compile(
    r"\b(?:enter|provide|paste|type|supply|share|send|give|your)\b[^.!?\n]{0,40}?\b"
    r"(password|passphrase|api[ -]key|access[ -](?:token|key)|secret[ -]key|private[ -]key|"
    r"auth(?:entication)?[ -]token|personal access token|client secret|bearer token|"
    r"credit card(?: number| details)?|card number|cvv|cvc|seed phrase|recovery phrase)"
    r"(?=\s*(?:$|[.,;:!?)\n]|(?:for|to|of|from|so|and|or|here|below|again|in|with|that)\b))",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|without|no|cannot|instead of)\b|n't\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?\n]")

_LINK = re.compile(r"\bhttps?://[^\s<>\"']|\]\(\s*[a-z][a-z0-9+.-]*:", re.IGNORECASE)

#: Every phrase for a secret contains one of these parts, and every name matches the pattern
#: below. The search for them avoids the patterns above, which take ten times as long.
_PHRASE_PARTS = ("pass", "key", "token", "secret", "card", "cvv", "cvc", "phrase")
_NAME_PART = re.compile("|".join((*_PHRASE_PARTS, "pwd", "code", "otp", "pin")))


def names_secret(name: str, budget: Budget) -> str:
    """Return the secret that a field called *name* seems to contain, or "".

    Raises:
        Exhausted: *budget* is spent.
    """
    if len(name) > _MAX_NAME_CHARACTERS:
        return ""
    spend(budget, 40 + 4 * len(name))
    if _NAME_PART.search(name.casefold()) is None:
        return ""
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and (words[-1] in _SUFFIXES or words[-1].isdigit()):
        words.pop()
    if words[-1:] == ["token"] and _HARMLESS_TOKENS.intersection(words):
        return ""
    for secret in _SECRETS.get(words[-1], ()) if words else ():
        if words[-len(secret) :] == secret:
            return " ".join(secret)
    return ""


def asks_for_secret(text: str, budget: Budget) -> str:
    """Return the secret that *text* seems to ask for, or "".

    Raises:
        Exhausted: *budget* is spent.
    """
    start = text[:_MAX_TEXT_CHARACTERS]
    spend(budget, 40 + 4 * len(start))
    folded = start.casefold()
    if not any(part in folded for part in _PHRASE_PARTS):
        return ""
    for match in _PHRASE.finditer(start):
        sentence_start = _SENTENCE.split(start[: match.start()])[-1]
        if _NEGATION.search(sentence_start + match.group()) is None:
            return match.group(1).lower()
    return ""


def shows_link(text: str, budget: Budget) -> bool:
    """Return whether *text* contains a URL or a Markdown link.

    Raises:
        Exhausted: *budget* is spent.
    """
    start = text[:_MAX_TEXT_CHARACTERS]
    spend(budget, 20 + len(start) // 4)
    return ":" in start and _LINK.search(start) is not None
