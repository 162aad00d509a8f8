"""Words that ask for secrets: what somebody may mean by the name or the text of a field.

Guesses, made to be right where they speak. The name of a field says what it is with its
last words: ``access_token`` is a token, and ``token_count`` is a count.
"""

import re

from sidecheck_server.core.budget import Budget, spend

__all__ = ["asks_for_secret", "is_innocent", "names_secret", "shows_link"]

_LONGEST_NAME = 100
_LONGEST_TEXT = 4000

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")

#: Words after which a name still means the secret itself.
_TRAILING = frozenset({"value", "confirm", "confirmation", "again", "repeat", "text", "string"})

#: The last words of a name, spelled in small letters.
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

#: The same by their last words, each as its words.
_SECRETS: dict[str, list[list[str]]] = {}
for _name in _NAMES:
    _SECRETS.setdefault(_name.split(" ")[-1], []).append(_name.split(" "))

#: Words before "token" that make it something other than a secret.
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
_DENIED = re.compile(r"\b(?:not|never|without|no|cannot|instead of)\b|n't\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?\n]")

_LINK = re.compile(r"\bhttps?://[^\s<>\"']|\]\(\s*[a-z][a-z0-9+.-]*:", re.IGNORECASE)

#: In small letters, what each name of a secret has one of, and each phrase, and each link.
#: Folding the case of a text finds whatever ignoring it does, but for the letter i.
_PARTS: tuple[str, ...] = (
    "pass",
    "pwd",
    "secret",
    "key",
    "token",
    "phrase",
    "code",
    "card",
    "cvv",
    "cvc",
    "otp",
)
_PARTS += ("pin", "://", "](")


def is_innocent(text: str, budget: Budget) -> bool:
    """Return whether what is below finds nothing in *text*, nor in any of its lines.

    Raises:
        Exhausted: *budget* is spent.
    """
    spend(budget, 40 + len(text) // 2)
    folded = text.casefold()
    for part in _PARTS:  # noqa: SIM110  (`any` takes three times as long)
        if part in folded:
            return False
    return True


def names_secret(name: str, budget: Budget) -> str:
    """Return the secret that a field called *name* holds, or "" if it seems to hold none.

    Raises:
        Exhausted: *budget* is spent.
    """
    if len(name) > _LONGEST_NAME:
        return ""
    spend(budget, 40 + 4 * len(name))
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and (words[-1] in _TRAILING or words[-1].isdigit()):
        words.pop()
    if words[-1:] == ["token"] and _HARMLESS_TOKENS.intersection(words):
        return ""
    for secret in _SECRETS.get(words[-1], ()) if words else ():
        if words[-len(secret) :] == secret:
            return " ".join(secret)
    return ""


def asks_for_secret(text: str, budget: Budget) -> str:
    """Return the secret that *text* asks for, or "" if it seems to ask for none.

    Raises:
        Exhausted: *budget* is spent.
    """
    shown = text[:_LONGEST_TEXT]
    spend(budget, 40 + 4 * len(shown))
    for found in _PHRASE.finditer(shown):
        before = _SENTENCE.split(shown[: found.start()])[-1]
        if _DENIED.search(before + found.group()) is None:
            return found.group(1).lower()
    return ""


def shows_link(text: str, budget: Budget) -> bool:
    """Return whether *text* shows a URL.

    Raises:
        Exhausted: *budget* is spent.
    """
    shown = text[:_LONGEST_TEXT]
    spend(budget, 20 + len(shown) // 4)
    return _LINK.search(shown) is not None
