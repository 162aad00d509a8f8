"""Tools: the definition of one function."""

import json
from typing import Any

from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.infer.annotations import Types
from sidecheck_server.core.infer.complaints import Code, Complaint, Complaints
from sidecheck_server.core.infer.decorators import Said, read_decorator
from sidecheck_server.core.infer.docstrings import Described, read_docstring
from sidecheck_server.core.infer.forms import IsContent
from sidecheck_server.core.infer.functions import Found
from sidecheck_server.core.infer.literals import Literals
from sidecheck_server.core.infer.parameters import Parameters
from sidecheck_server.core.infer.words import InferenceOptions, InferredTool, OnUnsupported
from sidecheck_server.core.types import Severity

__all__ = ["Tools"]


class Tools:
    """Reads the tools of one text."""

    def __init__(
        self, options: InferenceOptions, literals: Literals, complaints: Complaints
    ) -> None:
        self._options = options
        self._literals = literals
        self._complaints = complaints
        self._meter = literals.meter
        self._read = Types(self._meter, literals, complaints, written=False)
        self._written = Types(self._meter, literals, complaints, written=True)
        self._names: set[str] = set()
        self._bytes = 0

    def infer(self, found: Found) -> InferredTool | None:
        """Return the tool that *found* is; None if a complaint says why it is none."""
        before = self._complaints.errors
        bounds = self._meter.bounds
        self._complaints.function = found.name[: bounds.name_length]
        self._complaints.parameter = ""
        self._meter.begin()
        try:
            self._check_size(found)
            definition = self._definition(found)
            if self._complaints.errors > before:
                return None
            return self._tool(found, definition)
        except Complaint as complaint:
            self._complaints.add(complaint)
        except Exhausted:
            self._complaints.add(
                Complaint(
                    Code.TOO_LARGE,
                    f"more than {self._meter.bounds.nodes:,} parts of types, classes and defaults "
                    "are read for this function, or too many for all of the text",
                    found.node,
                )
            )
        except RecursionError:
            self._complaints.add(
                Complaint(Code.TOO_DEEP, "the types of this function are too deep", found.node)
            )
        return None

    def _tool(self, found: Found, definition: dict[str, Any]) -> InferredTool:
        name = definition["name"]
        if name in self._names:
            raise Complaint(
                Code.DUPLICATE_TOOL,
                f"another tool of the text is called {name} already",
                found.node,
            )
        text = json.dumps(definition, ensure_ascii=False, separators=(",", ":")).encode()
        self._bytes += len(text)
        self._check_size(found)
        self._names.add(name)
        return InferredTool(text, found.name, found.node.lineno, digest_of(definition))

    def _check_size(self, found: Found) -> None:
        longest = self._meter.bounds.name_length
        if len(found.name) > longest:
            raise Complaint(
                Code.TOO_LARGE, f"a name of more than {longest:,} characters", found.node
            )
        if self._bytes > self._meter.bounds.definitions_bytes:
            raise Complaint(
                Code.TOO_LARGE,
                f"the definitions of the text have more than "
                f"{self._meter.bounds.definitions_bytes:,} bytes together",
                found.node,
            )

    def _definition(self, found: Found) -> dict[str, Any]:
        said = self._said(found)
        parameters = Parameters(found, said, self._options, self._read, self._complaints)
        described = self._described(found, parameters)
        input_schema = said.input_schema
        if input_schema is None:
            input_schema = parameters.schema(described)
        output_schema = said.output_schema
        if output_schema is None and said.structured:
            output_schema = self._output(found)
        definition: dict[str, Any] = {"name": said.name or found.node.name}
        if said.title:
            definition["title"] = said.title
        description = described.text if said.description is None else said.description
        if description:
            definition["description"] = description
        definition["inputSchema"] = input_schema
        if output_schema is not None:
            definition["outputSchema"] = output_schema
        if said.annotations:
            definition["annotations"] = said.annotations
        return definition

    def _said(self, found: Found) -> Said:
        decorator = found.decorator
        if decorator is None:
            return Said()
        return read_decorator(decorator, found.scope, self._literals, self._complaints)

    def _described(self, found: Found, parameters: Parameters) -> Described:
        text = self._literals.docstring(found.node)
        return read_docstring(text, parameters.names, self._meter.bounds.docstring_length)

    def _output(self, found: Found) -> dict[str, Any] | None:
        """Return the natural output schema; None if the type says nothing, or holds content."""
        node = found.node.returns
        if node is None:
            return None
        self._written.classes.referred = set()
        try:
            form, info = self._written.field(node, found.scope)
            definitions = self._written.classes.needed(self._written.classes.referred)
        except IsContent:
            return None
        except Complaint as complaint:
            if self._options.on_unsupported is OnUnsupported.REFUSE:
                self._complaints.add(complaint)
            else:
                self._complaints.add(complaint, Severity.WARNING)
            return None
        # What is said beside a type, of which nothing is known, says nothing of results.
        schema = _inlined(form.finished(), definitions)
        return schema | info.members if _says_something(schema) else None


def _inlined(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with *definitions*; the one that its root refers to takes its place."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = definitions[name] | beside
        if not _refers_to(name, definitions):
            definitions = {key: value for key, value in definitions.items() if key != name}
    return {**schema, "$defs": definitions} if definitions else schema


def _refers_to(name: str, definitions: dict[str, Any]) -> bool:
    """Whether one of *definitions* refers to *name*."""
    return f'"$ref": "#/$defs/{name}"' in json.dumps(definitions)


def _says_something(schema: dict[str, Any]) -> bool:
    """Whether *schema* tells a client more than that there is a value, or bytes, or none."""
    if "anyOf" in schema:
        choices = schema["anyOf"]
        return {} not in choices and any(_says_something(each) for each in choices)
    if schema.get("type") == "array" and (
        not schema.get("items", True) or schema.get("maxItems") == 0
    ):
        return False
    return schema not in ({}, {"type": "null"}) and schema.get("format") != "binary"
