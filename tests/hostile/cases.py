"""Hostile cases of ``tests/cases/hostile``, one family per file.

A case has a ``name``, the reason ``why`` it is hostile, a request in one of these forms, and
the summary of the response to ``expect``. `building` describes the form of all texts.

- ``schema`` or ``tool``, with ``payload``: one validation. Also ``documents`` (``uri``,
  ``json``, perhaps ``times``), ``default_dialect``, ``options``, and ``side``.
- ``items``: a batch of such validations, each with optional ``times``.
- ``register``: definitions (``tool``, optional ``documents`` and ``times``) for ``server``.
- ``convert``: definitions (as with ``register``, with optional ``server``) for an ``api``,
  with optional ``servers`` and, as ``how``, options.
- ``restore``: a ``call`` of a ``tool`` with ``mappings`` (``mapping``, optional ``times``), in
  which ``<digest>`` stands for the tool's digest.
- ``tell``: a ``result`` for an ``api``, with optional ``tool`` and ``profile``.
- ``infer``: a source text, with optional fields of the request as ``how``.
- ``project``: a ``tool`` to adapt to a ``version``.
- ``normalize``: a ``value``, ``content``, ``result`` or ``error``, with optional ``tool``, for a
  ``version`` and with a ``profile``.
- ``call`` of a method, with ``message``: bytes that may be an invalid request.

``<n>`` in the texts of an element with ``times`` is the index of the repetition.

A family may have ``strings`` and ``positions`` instead of cases: every string is inserted at
every position. ``<text>`` stands for the string as JSON text, ``<step>`` for the string as a
reference token of a JSON Pointer in a URI, and ``<pattern>`` for a pattern that matches it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from support.shared_material import REPOSITORY

__all__ = ["CASES", "Case", "families"]

_FOLDER = REPOSITORY / "tests" / "cases" / "hostile"


@dataclass(frozen=True, slots=True)
class Case:
    """An attack and the summary of the expected response."""

    family: str
    name: str
    why: str
    asks: Mapping[str, Any]
    expect: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The family and the name."""
        return f"{self.family}: {self.name}"

    @property
    def is_killed(self) -> bool:
        """Whether the server must kill a worker to end it."""
        return str(self.expect.get("bound", "")).endswith("_seconds")


def families() -> list[str]:
    """Return the names of the families."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def _read(family: str) -> Iterator[Case]:
    document = json.loads((_FOLDER / f"{family}.json").read_text())
    for case in document.get("cases", ()):
        metadata_keys = ("name", "why", "expect")
        asks = {key: value for key, value in case.items() if key not in metadata_keys}
        yield Case(family, case["name"], case["why"], asks, case["expect"])
    for position in document.get("positions", ()):
        yield Case(
            family,
            position["name"],
            position["why"],
            {"items": list(_crossed(position, document["strings"]))},
            position["expect"],
        )


def _crossed(position: Mapping[str, Any], strings: list[str]) -> Iterator[dict[str, Any]]:
    for string in strings:
        for payload in position["payloads"]:
            yield {
                **{key: position[key] for key in ("options", "default_dialect") if key in position},
                "schema": _filled(position["schema"], string),
                "payload": _filled(payload, string),
            }


def _filled(form: str, string: str) -> dict[str, str]:
    """Return *form* with *string* in place of its placeholders, in hexadecimal digits.

    A string may look like a placeholder itself, and a lone surrogate has no UTF-8.
    """
    plain = string.encode("utf-8", "replace").decode()
    forms = {
        "<text>": json.dumps(string),
        "<step>": json.dumps(quote(plain.replace("~", "~0").replace("/", "~1")))[1:-1],
        "<pattern>": json.dumps(re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", string)),
    }
    filled = re.sub("|".join(forms), lambda match: forms[match[0]], form)
    return {"hex": filled.encode().hex()}


CASES = [case for family in families() for case in _read(family)]
