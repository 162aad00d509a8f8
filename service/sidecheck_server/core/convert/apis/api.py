"""What an API takes: the words in which its facts are told.

A fact has a source and a date; where the provider's own pages were not at hand, the source
says who quotes them. What could not be sourced says so.
"""

from dataclasses import dataclass, field
from enum import Enum

from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.mcp.name_grammars import NameGrammar

__all__ = [
    "Api",
    "Patterns",
    "References",
    "RequestLimits",
    "SchemaLimits",
    "Source",
    "Subset",
]


@dataclass(frozen=True, slots=True)
class Source:
    """Where facts come from."""

    #: Which facts.
    facts: str
    #: A page, a file of a published package, or a report.
    where: str
    #: When it was read, ``YYYY-MM-DD``; "" for what could not be sourced.
    read: str


class References(Enum):
    """How ``$ref`` may stand."""

    #: Nowhere; what it leads to is written in its place.
    NOWHERE = "nowhere"
    #: Without neighbours.
    ALONE = "alone"
    #: With neighbours.
    ANYWHERE = "anywhere"


class Patterns(Enum):
    """Which regular expressions ``pattern`` and ``patternProperties`` may have."""

    #: Those that Python's ``re`` compiles.
    PYTHON = "python"
    #: Of those, the ones without look-around, back-references and word boundaries.
    REGULAR = "regular"


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """How large one schema may be; None is no limit."""

    #: Declared members, of all objects together.
    properties: int | None = None
    #: Objects and arrays on the way to a member, the root counted.
    depth: int | None = None
    #: Characters of names of members and definitions and of values of enum and const.
    text: int | None = None
    #: Values of all enums together.
    enum_values: int | None = None
    #: Characters of the values of one enum of strings with more than 250 of them.
    enum_text: int | None = None


@dataclass(frozen=True, slots=True)
class Subset:
    """The JSON Schema that an API takes; what is not allowed here is not sent."""

    #: The keywords, by their names in 2020-12 (annotations too); None is all of the
    #: assertions and applicators of 2020-12 and its annotations (`vocabulary.EVERYTHING`).
    #: ``$ref`` and ``$defs`` are the business of `references`.
    keywords: frozenset[str] | None = None
    #: Keywords that may not stand at the root though they may below.
    not_at_root: frozenset[str] = frozenset()
    references: References = References.ANYWHERE
    #: Whether a reference may lead back to where it stands.
    recursion: bool = True
    #: Whether ``true`` and ``false`` are schemas.
    boolean_schemas: bool = True
    #: Whether ``type`` may be a list.
    type_lists: bool = True
    #: Whether null is admitted by ``nullable: true`` (OpenAPI 3.0), not by a type.
    nullable: bool = False
    #: Whether types are written in capitals.
    upper_case_types: bool = False
    #: Whether every schema must say its type, by ``type``, ``anyOf``, ``enum`` or ``$ref``.
    typed: bool = False
    #: Whether the root must have ``properties``.
    properties_at_root: bool = False
    #: Whether every array must have ``items``.
    items: bool = False
    #: Whether an object below the root may declare no members.
    empty_objects: bool = True
    #: Whether ``enum`` has strings only, of one character or more.
    enum_of_strings: bool = False
    #: Whether a keyword about one type may only stand beside that type.
    keywords_by_type: bool = False
    #: Whether ``anyOf`` may have no neighbours, not even ``type`` or ``description``.
    any_of_alone: bool = False
    #: The values of ``format``; None is any.
    formats: frozenset[str] | None = None
    #: The values of ``minItems``; None is any.
    min_items: frozenset[int] | None = None
    patterns: Patterns = Patterns.PYTHON
    #: Whether the objects of a union must begin with members of different names, or of
    #: different values if each can have but one.
    first_members_differ: bool = False
    #: Whether every object must have ``additionalProperties: false``.
    closed: bool = False
    #: Whether every member must be required.
    all_required: bool = False
    limits: SchemaLimits = field(default_factory=SchemaLimits)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What all tools of one request may have together; None is no limit."""

    tools: int | None = None
    #: Tools that are strict.
    strict_tools: int | None = None
    #: Optional members, of all strict tools.
    strict_optional: int | None = None
    #: Members whose type is a union, of all strict tools.
    strict_unions: int | None = None


@dataclass(frozen=True, slots=True)
class Api:
    """One API: a row of facts for everything that conversion asks."""

    key: ModelApi
    #: As in "OpenAI's Chat Completions".
    in_words: str
    names: NameGrammar
    #: Which names members of objects may have; None is any.
    members: NameGrammar | None
    compatible: Subset
    #: None if the API has no field that asks for strictness.
    strict: Subset | None
    request: RequestLimits
    sources: tuple[Source, ...]
    #: The longest description of a tool, in characters; None is no limit.
    description_length: int | None = None
    #: Whether a tool may go along with its output schema.
    output_schema: bool = False
    #: Whether a tool that takes nothing goes without a schema.
    omits_no_parameters: bool = False
    #: Whether arguments come as JSON text rather than as an object.
    arguments_as_text: bool = False
    #: Whether a call may come without arguments, which means none.
    arguments_may_lack: bool = False
    #: Whether the answer to a call must name its id, and its tool.
    answer_has_id: bool = True
    answer_has_name: bool = False
    #: Whether an answer has a field for failure; if not, its text says it.
    answer_has_failure: bool = False
    #: The longest id of a call, in characters; None is no limit.
    call_id_length: int | None = None
    #: The longest text of an answer, in characters; None is no limit.
    answer_length: int | None = None
