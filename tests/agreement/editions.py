"""The five editions of JSON Schema, each with jsonschema-rs as its oracle."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema_rs
from jsonschema_specifications import REGISTRY as PUBLISHED
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.types import Draft

__all__ = ["EDITIONS", "Edition", "as_doubles", "edition_named"]


@dataclass(frozen=True, slots=True)
class Edition:
    """An edition of JSON Schema, with its oracle."""

    name: str
    uri: str
    draft: Draft
    _oracle: type[jsonschema_rs.Validator]

    @property
    def id_keyword(self) -> str:
        """The keyword of a schema's identifier."""
        return "id" if self.draft is Draft.DRAFT_04 else "$id"

    @property
    def definitions_keyword(self) -> str:
        """The keyword that holds definitions."""
        return "$defs" if self.since(Draft.DRAFT_2019_09) else "definitions"

    @property
    def reference_hides_siblings(self) -> bool:
        """Whether ``$ref`` disables the keywords beside it."""
        return not self.since(Draft.DRAFT_2019_09)

    def since(self, draft: Draft) -> bool:
        """Return whether the edition is *draft* or later."""
        return self.draft.value >= draft.value

    def until(self, draft: Draft) -> bool:
        """Return whether the edition is *draft* or earlier."""
        return self.draft.value <= draft.value

    def oracle(self, schema: Any, documents: Mapping[str, Any]) -> jsonschema_rs.Validator:
        """Return jsonschema-rs's validator of *schema*; it fetches nothing.

        Each of *documents* declares its edition.

        Raises:
            ValueError: jsonschema-rs rejects the schema.
        """
        registry = jsonschema_rs.Registry(documents.items())
        return self._oracle(
            as_doubles(schema), registry=registry, offline=True, validate_formats=False
        )

    def oracle_admits(self, schema: Any) -> bool:
        """Return whether *schema* is valid against its meta-schema, according to jsonschema-rs.

        The formats of the meta-schema are annotations. An embedded resource of another edition
        is validated against the meta-schema of that edition.
        """
        own_part, others = _without_other_editions(as_doubles(schema), self)
        return _meta_oracle(self).is_valid(own_part) and all(
            edition.oracle_admits(part) for part, edition in others
        )


def as_doubles(value: Any) -> Any:
    """Return *value* with doubles for exact numbers, as other libraries read it."""
    return json.loads(encode_json(value))


def _without_other_editions(
    schema: Any, edition: "Edition"
) -> tuple[Any, list[tuple[dict[str, Any], "Edition"]]]:
    """Return *schema* with ``{}`` for resources of other editions, and these resources."""
    others: list[tuple[dict[str, Any], Edition]] = []

    def copied(value: Any) -> Any:
        if isinstance(value, list):
            return [copied(item) for item in value]
        if not isinstance(value, dict):
            return value
        declared = _BY_URI.get(str(value.get("$schema")).rstrip("#"), edition)
        if declared is not edition and value is not schema and declared.id_keyword in value:
            others.append((value, declared))
            return {}
        return {name: copied(item) for name, item in value.items()}

    return copied(schema), others


@lru_cache
def _meta_oracle(edition: Edition) -> jsonschema_rs.Validator:
    return edition.oracle(PUBLISHED.contents(edition.uri.rstrip("#")), {})


_DRAFT = "http://json-schema.org/draft-0"
_YEAR = "https://json-schema.org/draft/"

EDITIONS = (
    Edition(
        "draft-04",
        f"{_DRAFT}4/schema#",
        Draft.DRAFT_04,
        jsonschema_rs.Draft4Validator,
    ),
    Edition(
        "draft-06",
        f"{_DRAFT}6/schema#",
        Draft.DRAFT_06,
        jsonschema_rs.Draft6Validator,
    ),
    Edition(
        "draft-07",
        f"{_DRAFT}7/schema#",
        Draft.DRAFT_07,
        jsonschema_rs.Draft7Validator,
    ),
    Edition(
        "2019-09",
        f"{_YEAR}2019-09/schema",
        Draft.DRAFT_2019_09,
        jsonschema_rs.Draft201909Validator,
    ),
    Edition(
        "2020-12",
        f"{_YEAR}2020-12/schema",
        Draft.DRAFT_2020_12,
        jsonschema_rs.Draft202012Validator,
    ),
)

_BY_URI = {edition.uri.rstrip("#"): edition for edition in EDITIONS}


def edition_named(name: str) -> Edition:
    """Return the edition called *name*.

    Raises:
        LookupError: there is no such edition.
    """
    for edition in EDITIONS:
        if edition.name == name:
            return edition
    raise LookupError(name)
