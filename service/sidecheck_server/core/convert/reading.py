"""Reading: from the text of a schema to a graph of parts."""

from sidecheck_server.core.budget import spend
from sidecheck_server.core.compiler.admission import Admitted, admit
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.places import Place, Places, name_at
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.translation import Reading, translate
from sidecheck_server.core.convert.words import Action, Direction
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.schemas.references import Reference, Subschema
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import JsonValue

__all__ = ["read_parts"]

_PART = 100
"""Steps of reading one part."""

_UNREFERRED = "nothing refers to this definition"


def read_parts(source: SchemaSource, at: Place, record: Record, limits: Limits) -> Part:
    """Return the schema of *source*, which stands *at* that place of a definition.

    Whatever its dialects, the parts are of 2020-12. Definitions that nothing refers to are
    left out.

    Raises:
        Refusal: as `admission.admit`.
        Exhausted: the budget of *record* is spent.
    """
    return _Reader(admit(source, limits), at, record).read()


class _Reader(Reading):
    def __init__(self, admitted: Admitted, at: Place, record: Record) -> None:
        super().__init__(record)
        context = admitted.context
        self.schema = context.schema
        self.survey = admitted.survey
        self.places = Places(at, self.schema, context.documents)
        self.at = at
        self.parts: dict[int, Part] = {}
        self.pending: list[tuple[Part, Subschema]] = []
        if self.survey is not None:
            self._look_ahead([*self.survey.reached.values()])

    def _look_ahead(self, reached: list[Subschema]) -> None:
        assert self.survey is not None
        self.loose = any(not known.static for known in self.survey.references.values())
        self.hides_contains = any(
            here.dialect.draft is not Draft.DRAFT_2020_12 and "contains" in here.schema
            for here in reached
        ) and any("unevaluatedItems" in here.schema for here in reached)

    def read(self) -> Part:
        root = self.part(self.schema, self.at)
        read: list[tuple[Part, Subschema]] = []
        while self.pending:
            spend(self.record.budget, _PART)
            part, here = self.pending.pop()
            read.append((part, here))
            part.keywords = translate(part, here, self)
        for part, here in read:
            self._tell_unread(part, here)
        return root

    def part(self, schema: JsonValue, at: Place | None = None, uri: str = "") -> Part:
        if not isinstance(schema, dict):
            return Part(at or self.at, never=schema is False)
        known = self.parts.get(id(schema))
        if known is None:
            assert self.survey is not None
            known = self.parts[id(schema)] = Part(at or self.places.of(schema, uri))
            self.pending.append((known, self.survey.reached[id(schema)]))
        return known

    def followed(self, part: Part, here: Subschema, keyword: str) -> Part | None:
        assert self.survey is not None
        found: Reference = self.survey.references[id(here.schema), keyword]
        if not found.static:
            return None
        if not isinstance(found.target, dict):
            return Part(
                (*part.at, keyword), never=found.target is False, name=self._named(here, keyword)
            )
        target = self.part(found.target, uri=found.resource.uri)
        if target.at != self.at:
            target.name = name_at(target.at)
        return target

    @staticmethod
    def _named(here: Subschema, keyword: str) -> str:
        """Return the name of what *here* refers to, which is true or false."""
        return name_at((str(here.schema[keyword]),))

    def _tell_unread(self, part: Part, here: Subschema) -> None:
        """Tell of the definitions in *here* that nothing refers to."""
        for keyword in ("$defs", "definitions"):
            definitions = here.schema.get(keyword)
            if not isinstance(definitions, dict):
                continue
            for name, definition in definitions.items():
                if isinstance(definition, dict) and id(definition) not in self.parts:
                    unread = Part((*part.at, keyword, name))
                    self.record.tell(unread, "", Action.DROPPED, Direction.SAME, _UNREFERRED)
