"""The attacks, read from the files of ``tests/cases/hostile``, a family each.

A case has a ``name``, says ``why`` it is hostile, asks something of a server in one of
these forms, and says what is right to ``expect``. All texts are written as `building` says.

- ``schema`` or ``tool``, with ``payload``: one validation. Also ``documents`` (``uri``,
  ``json``, perhaps ``times``), ``default_dialect``, ``options``, and ``side``.
- ``items``: a batch of such validations, each perhaps ``times`` many.
- ``register``: definitions (``tool``, perhaps ``documents`` and ``times``) for ``server``.
- ``convert``: definitions (as with ``register``, each perhaps of a ``server``) for an ``api``,
  perhaps with ``servers`` and, as ``how``, options.
- ``restore``: a ``call`` of a ``tool`` by ``plans`` (``plan``, perhaps ``times``), in which
  ``<digest>`` stands for the tool's.
- ``tell``: a ``result`` for an ``api``, perhaps of a ``tool`` or with a ``profile``.
- ``infer``: a source text, perhaps with fields of the request as ``how``.
- ``project``: a ``tool`` for a ``version``.
- ``normalize``: a ``value``, ``content``, ``result`` or ``error``, perhaps of a ``tool``, for a
  ``version`` and with a ``profile``.
- ``call`` of a method, with ``message``: the bytes of a request that need not be one.

What stands in a list ``times`` many has its turn as ``<n>`` in its texts.

A family may have ``strings`` and ``positions`` instead of cases: every string is tried
in every position, where ``<text>`` stands for it as JSON text writes it, ``<step>`` for it as
a step of a JSON Pointer in a URI, and ``<pattern>`` for a pattern of it.
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
    """One attack, and the right answer to it."""

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
        """Whether nothing ends it but that its worker is killed."""
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
    """Return the text that *form* is with *string* in its place, in hexadecimal digits.

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
