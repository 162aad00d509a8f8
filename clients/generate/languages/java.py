"""Values of the client in Java."""

from collections.abc import Iterable
from pathlib import Path

from generate.api import Enum, Field, Message
from generate.plan import Plan, ValueFile
from generate.view import NO_BREAK, View, camel, decapitalize, lower_camel

__all__ = [
    "FOLDER",
    "LINE",
    "JavaDecoderView",
    "JavaEnumView",
    "JavaRecordView",
    "JavaView",
    "fill",
]

_SCALARS = {
    "bool": "boolean",
    "bytes": "ByteString",
    "double": "double",
    "int32": "int",
    "int64": "long",
    "string": "String",
    "uint32": "long",
    "uint64": "long",
}
_BOXED = {"boolean": "Boolean", "double": "Double", "int": "Integer", "long": "Long"}
LINE = 120
"""Columns of Palantir's format; comments are shorter."""

_MEMBERS = Path(__file__).resolve().parent.parent / "members"
"""Methods of records, by hand, which Java cannot have elsewhere."""

FOLDER = "clients/java/sidecheck/src/generated/java/io/sidecheck/"
"""Folder of the generated classes in the repository."""


class JavaView(View):
    """A file of the package io.sidecheck."""

    language = "java"
    # Written as Palantir's formatter writes it, which the build checks.
    formatter = ()

    def wire_name(self, value: Enum | Message) -> str:
        """Return the type of protoc, whose simple name is often that of the value."""
        return f"io.sidecheck.v1.{value.wire_name}"

    def type(self, message: Message, field: Field) -> str:
        """Return the type of a component."""
        type_ = self.single_type(message, field, "Json", _SCALARS)
        if field.is_repeated:
            return f"List<{_BOXED.get(type_, type_)}>"
        if self.may_be_unset(message, field):
            return f"Optional<{_BOXED.get(type_, type_)}>"
        return type_

    def member(self, word: str) -> str:
        """Return the constant for a *word*."""
        return word.upper().replace("-", "_")

    def reference(self, enum: Enum, word: str) -> str:
        """Return a link to a constant."""
        return f"{{@link {self.name(enum)}#{self.member(word)}}}"

    def code(self, name: str, is_field: bool) -> str:  # noqa: FBT001
        """Return the name of a component, or another name."""
        shown = lower_camel(name) if is_field else name.replace(" ", NO_BREAK)
        return f"{{@code{NO_BREAK}{shown}}}"

    def text(self, text: str) -> str:
        """Return *text* of a comment, with tags between paragraphs."""
        return super().text(text).replace("\n\n", "\n\n<p>")

    def comment(self, text: str, indent: str = "") -> list[str]:
        """Return the lines of a comment, which is one line if it fits."""
        line = f"{indent}/** {self.text(text)} */".replace(NO_BREAK, " ")
        if len(line) <= self.width and "\n" not in line:
            return [line]
        return [f"{indent}/**", *self.lines(text, f"{indent} * "), f"{indent} */"]

    def record_comment(self, text: str, message: Message) -> list[str]:
        """Return the lines of the comment *text*, with a parameter for each field of *message*."""
        lines = ["/**", *self.lines(text, " * "), " *"]
        for field in message.fields:
            # The name takes part in the wrapping of the first line.
            padding = " *     "
            name = f" * @param {lower_camel(field.name)} "
            marker = "\0" * (len(name) - len(padding))
            doc = decapitalize(field.doc).removesuffix(".")
            first, *rest = self.lines(doc, padding, marker)
            lines += [name + first.removeprefix(padding).removeprefix(marker), *rest]
        return [*lines, " */"]


class JavaEnumView(JavaView):
    """An enumeration, in a file of its own."""

    template = "enum.java.j2"
    path = FOLDER + "{camel}.java"

    def __init__(self, plan: Plan, file: ValueFile, enum: Enum) -> None:
        super().__init__(plan, file)
        self.enum = enum

    @classmethod
    def views(cls, plan: Plan, file: ValueFile) -> Iterable[View]:
        """Return a view of each enumeration."""
        return [cls(plan, file, enum) for enum in file.enums]

    @property
    def output(self) -> str:
        """Path of the file in the repository."""
        return f"{FOLDER}{self.name(self.enum)}.java"


class JavaRecordView(JavaView):
    """A record, in a file of its own."""

    template = "record.java.j2"

    def __init__(self, plan: Plan, file: ValueFile, message: Message) -> None:
        super().__init__(plan, file)
        self.message = message

    @classmethod
    def views(cls, plan: Plan, file: ValueFile) -> Iterable[View]:
        """Return a view of each message."""
        return [cls(plan, file, message) for message in file.results]

    @property
    def output(self) -> str:
        """Path of the file in the repository."""
        return f"{FOLDER}{self.name(self.message)}.java"

    @property
    def members(self) -> str:
        """Methods of the record, written by hand, or ""."""
        path = _MEMBERS / f"{self.name(self.message)}.java"
        return path.read_text() if path.exists() else ""

    @property
    def imports(self) -> list[str]:
        """Classes to import."""
        types = " ".join(self.type(self.message, field) for field in self.message.fields)
        return [f"java.util.{name}" for name in ("List", "Optional") if f"{name}<" in types]

    @property
    def header(self) -> str:
        """Declaration of the record up to its body."""
        components = [
            f"{self.type(self.message, field)} {lower_camel(field.name)}"
            for field in self.message.fields
        ]
        start = f"public record {self.name(self.message)}("
        body = f"{{\n\n{self.members}}}" if self.members else "{}"
        return fill(start, components, f") {body}", "        ")

    def comment_lines(self) -> list[str]:
        """Return the lines of the comment, with a parameter for each component."""
        return self.record_comment(self.doc(self.message), self.message)


class JavaDecoderView(JavaView):
    """The class that decodes the messages of one file."""

    template = "decoders.java.j2"
    path = FOLDER + "{camel}Decoders.java"

    @property
    def class_name(self) -> str:
        """Name of the class."""
        return f"{camel(self.file.name)}Decoders"

    @property
    def decoded_enums(self) -> list[Enum]:
        """Enumerations that responses have."""
        return [enum for enum in self.file.enums if self.in_results(enum)]

    def unknown_member(self, enum: Enum) -> str:
        """Return the constant for values that are not known."""
        return self.member(self.unknown_word(enum) or "unspecified")

    def parameters(self, message: Message) -> str:
        """Return the parameters of the method that decodes *message*."""
        context = [
            f"{_SCALARS[field.type]} {lower_camel(field.name)}" for field in self.context(message)
        ]
        return ", ".join([f"{self.wire_name(message)} message", *context])

    @property
    def imports(self) -> list[str]:
        """Classes to import."""
        text = " ".join(map(self.body, self.file.results))
        return [f"java.util.{name}" for name in ("List", "Optional") if f"{name}." in text]

    def function(self, value: Enum | Message) -> str:
        """Return the name of the method that decodes *value*."""
        name = self.name(value)
        return name[:1].lower() + name[1:]

    def required(self, message: Message) -> list[Field]:
        """Return the messages that a value must have."""
        return [
            field
            for field in message.fields
            if field.kind == "message"
            and not (field.is_repeated or self.may_be_unset(message, field))
        ]

    def has(self, field: Field) -> str:
        """Return the expression for the presence of a field."""
        return f"message.has{camel(field.name)}()"

    def body(self, message: Message) -> str:
        """Return the statement that makes the record."""
        arguments = [self.decoded(message, field) for field in message.fields]
        start = f"        return new {self.name(message)}("
        return fill(start, arguments, ");", "                ")

    def decoded(self, message: Message, field: Field) -> str:
        """Return the expression that decodes a field of ``message``."""
        if field.is_context:
            return lower_camel(field.name)
        name = camel(field.name)
        value = f"message.get{name}{'List' if field.is_repeated else ''}()"
        if field.kind != "scalar":
            decoded = self.value_of(field)
            decode = self.function(decoded)
            home = self.plan.file_of(field.type)
            if field.is_repeated:
                return f"Messages.decodeAll({value}, {camel(home.name)}Decoders::{decode})"
            context = self.context(decoded) if isinstance(decoded, Message) else []
            prefix = "" if home == self.file else f"{camel(home.name)}Decoders."
            value = f"{prefix}{decode}({', '.join([value, *('0' for _ in context)])})"
        elif field.is_repeated:
            return f"List.copyOf({value})"
        elif field.type == "uint32":
            value = f"Integer.toUnsignedLong({value})"
        elif self.may_be_empty_json(message, field):
            value = f"ValidationMessages.json({value})"
        elif self.is_json(message, field):
            value = f'Errors.requireJson({value}, "{message.wire_name}.{field.name}")'
        if self.may_be_unset(message, field):
            return f"message.has{name}() ? Optional.of({value}) : Optional.empty()"
        return value


def fill(start: str, items: list[str], end: str, indent: str) -> str:
    """Return a list in parentheses: in one line, or below *start* in one line or one a line."""
    joined = ", ".join(items)
    first = end.partition("\n")[0]
    if len(f"{start}{joined}{first}") <= LINE:
        return f"{start}{joined}{end}"
    if len(f"{indent}{joined}{first}") <= LINE:
        return f"{start}\n{indent}{joined}{end}"
    lines = [_break_choice(item, indent) for item in items]
    return f"{start}\n{indent}" + f",\n{indent}".join(lines) + end


def _break_choice(expression: str, indent: str) -> str:
    """Return a conditional expression in three lines if it does not fit in one."""
    if len(f"{indent}{expression});") <= LINE:
        return expression
    start = f"\n{indent}        "
    return expression.replace(" ? ", f"{start}? ").replace(" : ", f"{start}: ")
