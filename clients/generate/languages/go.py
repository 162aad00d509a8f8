"""Values of the client in Go."""

from generate.api import Enum, Field, Message
from generate.view import View, camel, decapitalize, lower_camel

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
_VERBS = {"Difference": "is a ", "Whether": "says ", "One": "is ", "Part": "is a "}
_PLURALS = frozenset({"Limits", "Verdicts"})
#: Types that other values have a pointer to, since the receivers of their methods are pointers.
_POINTERS = frozenset({"Verdict"})
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
        return self.name(enum) + _go(word)

    def field_name(self, name: str) -> str:
        """Return the name of a field."""
        return _go(name)

    def wire_name(self, value: Enum | Message) -> str:
        """Return the type of protoc-gen-go."""
        return "pb." + value.wire_name.replace(".", "_")

    def type(self, message: Message, field: Field) -> str:
        """Return the type of a field."""
        type_ = self.single_type(message, field, "JSON", _SCALARS)
        if field.is_repeated:
            return f"[]{type_}"
        is_pointer = self.may_be_unset(message, field) or type_ in _POINTERS
        return f"*{type_}" if is_pointer else type_

    def is_pointer(self, message: Message) -> bool:
        """Return whether a decoder returns a pointer."""
        return self.name(message) in _POINTERS

    def parameters(self, message: Message) -> str:
        """Return the parameters of a decoder."""
        context = [
            f"{lower_camel(field.name)} {_SCALARS[field.type]}" for field in self.context(message)
        ]
        return ", ".join([f"message *{self.wire_name(message)}", *context])

    def decoded(self, message: Message, field: Field) -> str:
        """Return the expression that decodes a field of ``message``."""
        if field.is_context:
            return lower_camel(field.name)
        name = camel(field.name)
        value = f"message.Get{name}()"
        if field.kind == "scalar":
            # The field itself is nil where a scalar is unset.
            return f"message.{name}" if field.is_optional else value
        if field.kind == "enum":
            enum = self.enum_of(field)
            if self.unknown_word(enum):
                return f"decode{self.name(enum)}({value})"
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
            return _go(name)
        type_, _, field = name.partition(".")
        if type_ in self.plan.api.messages and field:
            return f"{self.plan.client_name(type_)}.{_go(field)}"
        return name if name[0].isupper() or name[0] == '"' else f'"{name}"'

    def type_lines(self, value: Enum | Message) -> list[str]:
        """Return the comment of a type, which begins with its name, as Go's do."""
        text = self.plan.doc(value)
        first = text.partition(" ")[0]
        verb = _VERBS.get(first, "has the " if first in _PLURALS else "is the ")
        return self.lines(verb + decapitalize(text), "// ", f"{self.name(value)} ")


def _go(name: str) -> str:
    words = map(camel, name.replace("_", "-").split("-"))
    return "".join(_INITIALISMS.get(word, word) for word in words)
