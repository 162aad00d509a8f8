"""Values of the client in Go."""

import re

from generate.api import Enum, Field, Message
from generate.view import View, camel

__all__ = ["GoView"]

_SCALARS = {
    "bool": "bool",
    "bytes": "[]byte",
    "double": "float64",
    "int32": "int32",
    "int64": "int64",
    "string": "string",
    "uint32": "uint32",
    "uint64": "uint64",
}
#: Verbs between the name of a type and its comment, by the first word of that.
_VERBS = {"Whether": "says ", "One": "is ", "Part": "is a "}
_PLURALS = frozenset({"Limits", "Verdicts"})
_INITIALISMS = {
    "Api": "API",
    "Id": "ID",
    "Json": "JSON",
    "Mcp": "MCP",
    "Openai": "OpenAI",
    "Rpc": "RPC",
    "Uri": "URI",
    "Url": "URL",
}


class GoView(View):
    """A file of the package sidecheck."""

    template = "values.go.j2"
    path = "clients/go/sidecheck/{name}.gen.go"
    language = "go"
    formatter = ("gofmt", "-w")

    def member(self, enum: Enum, word: str) -> str:
        """Return the constant for a *word*."""
        return self.name(enum) + _go(camel(word))

    def field_name(self, name: str) -> str:
        """Return the name of a field."""
        return _go(camel(name))

    def wire_name(self, value: Enum | Message) -> str:
        """Return the type of protoc-gen-go."""
        return "pb." + value.wire_name.replace(".", "_")

    def type(self, message: Message, field: Field) -> str:
        """Return the type of a field."""
        type_ = self.single_type(message, field, "JSON", _SCALARS)
        if field.is_repeated:
            return f"[]{type_}"
        return f"*{type_}" if self.may_be_unset(message, field) else type_

    def decoded(self, message: Message, field: Field) -> str:
        """Return the expression that decodes a field of ``message``."""
        name = camel(field.name)
        value = f"message.Get{name}()"
        if field.kind == "scalar":
            # The field itself is nil where a scalar is unset.
            return f"message.{name}" if field.is_optional else value
        if field.kind == "enum":
            enum = self.enum_of(field)
            return f'decodeWord[{self.name(enum)}]({value}, "{enum.prefix}")'
        decode = "decode" + self.plan.client_name(field.type)
        if field.is_repeated:
            return f"decodeAll({value}, {decode})"
        return (
            f"decodeOptional({value}, {decode})"
            if self.may_be_unset(message, field)
            else f"{decode}({value})"
        )

    def reference(self, enum: Enum, word: str) -> str:
        """Return a link to a constant."""
        return f"[{self.member(enum, word)}]"

    def code(self, name: str, is_field: bool) -> str:  # noqa: FBT001
        """Return the name of a field or of the API as it is, and another text in quotes."""
        if is_field:
            return _go(camel(name))
        return name if name[0].isupper() else f'"{name}"'

    def type_lines(self, value: Enum | Message) -> list[str]:
        """Return the comment of a type, which begins with its name, as Go's do."""
        text = self.plan.doc(value)
        first = text.partition(" ")[0]
        verb = _VERBS.get(first, "has the " if first in _PLURALS else "is the ")
        return self.lines(verb + text[:1].lower() + text[1:], "// ", f"{self.name(value)} ")


def _go(name: str) -> str:
    return re.sub("[A-Z][a-z0-9]*", lambda match: _INITIALISMS.get(match[0], match[0]), name)
