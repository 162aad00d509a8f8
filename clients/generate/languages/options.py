"""Options of requests, in each language: values that are only encoded."""

from collections.abc import Iterable

from generate.api import Enum, Field, Message
from generate.languages.go import GoView
from generate.languages.java import FOLDER, LINE, JavaEnumView, JavaView, fill
from generate.languages.python import PythonView
from generate.languages.rust import RustView
from generate.languages.typescript import TypeScriptView
from generate.plan import Plan, ValueFile
from generate.view import View, camel, decapitalize, lower_camel

__all__ = [
    "GoOptionsView",
    "JavaOptionsEnumView",
    "JavaOptionsView",
    "PythonEncoderView",
    "PythonOptionsView",
    "RustOptionsView",
    "TypeScriptOptionsView",
]

_VERSION = "protocol_version"
"""Field that is by default the protocol version of the client."""


class _OptionsView(View):
    @classmethod
    def all_views(cls, plan: Plan) -> list[View]:
        """Return the views of the files with options."""
        return [view for file in plan.option_files for view in cls.views(plan, file)]

    def is_version(self, field: Field) -> bool:
        """Return whether a field is by default the protocol version of the client."""
        return field.name == _VERSION

    def is_count(self, field: Field) -> bool:
        """Return whether a field is a number."""
        return field.type == "uint32"

    def options(self, message: Message) -> list[Field]:
        """Return the options."""
        return list(message.fields)

    def sent(self, message: Message) -> list[Field]:
        """Return the options that are sent, so all but those of the client alone."""
        return [
            field
            for field in message.fields
            if f"{message.wire_name}.{field.name}" not in self.plan.client_options
        ]

    def sent_enums(self, message: Message) -> list[Field]:
        """Return the options that are enumerations."""
        return [field for field in message.fields if field.kind == "enum"]

    def others(self, message: Message) -> list[Field]:
        """Return the fields of the message that are not options."""
        names = {field.name for field in message.fields}
        complete = self.plan.api.messages[message.wire_name]
        return [field for field in complete.fields if field.name not in names]

    def has_version(self, message: Message) -> bool:
        """Return whether an option is by default the protocol version of the client."""
        return any(self.is_version(field) for field in message.fields)

    def uses_version(self) -> bool:
        """Return whether any option is a protocol version."""
        return any(map(self.has_version, self.file.options))

    def uses_count(self) -> bool:
        """Return whether a field is a number."""
        return any(self.is_count(field) for each in self.file.options for field in each.fields)


class GoOptionsView(_OptionsView, GoView):
    """A file of the package sidecheck."""

    template = "options.go.j2"

    def options_lines(self, message: Message) -> list[str]:
        """Return the comment of the type."""
        text = (
            f"are the {decapitalize(self.doc(message))} The zero value and a nil pointer are the "
            "defaults of the server."
        )
        return self.lines(text, "// ", f"{self.name(message)} ")

    def option_type(self, field: Field) -> str:
        """Return the type of a field."""
        type_ = self.name(self.enum_of(field)) if field.kind == "enum" else field.type
        return f"[]{type_}" if field.is_repeated else type_

    def wire_field(self, field: Field) -> str:
        """Return the name of a field of protoc-gen-go."""
        return camel(field.name)

    def local(self, field: Field) -> str:
        """Return the variable for a field."""
        return lower_camel(field.name)

    def enum_lines(self, enum: Enum) -> list[str]:
        """Return the comment of an enumeration, with its default."""
        lines = self.lines(f"is the {decapitalize(self.doc(enum))}", "// ", f"{self.name(enum)} ")
        if enum.default:
            lines += ["//", f"// The zero value is [{self.member(enum, enum.default)}]."]
        return lines


class JavaOptionsView(_OptionsView, JavaView):
    """A record with its defaults, and the enumerations that belong to it."""

    template = "options.java.j2"

    def __init__(self, plan: Plan, file: ValueFile, message: Message) -> None:
        super().__init__(plan, file)
        self.message = message

    @classmethod
    def views(cls, plan: Plan, file: ValueFile) -> Iterable[View]:
        """Return a view of each message."""
        return [cls(plan, file, message) for message in file.options]

    @property
    def output(self) -> str:
        """Path of the file in the repository."""
        return f"{FOLDER}{self.name(self.message)}.java"

    @property
    def nested(self) -> list[Enum]:
        """Enumerations inside of the record."""
        return [enum for enum in self.file.enums if "." in self.name(enum)]

    def simple_name(self, enum: Enum) -> str:
        """Return the name of an enumeration inside of the record."""
        return self.name(enum).rpartition(".")[2]

    def type(self, message: Message, field: Field) -> str:
        """Return the type of a component."""
        if field.kind == "enum":
            return self.simple_name(self.enum_of(field))
        # Messages have numbers without a sign as an int.
        return "int" if self.is_count(field) else super().type(message, field)

    def comment_lines(self) -> list[str]:
        """Return the lines of the comment, with a parameter for each component."""
        text = f"{self.doc(self.message)} {{@link #DEFAULTS}} are those of the server."
        return self.record_comment(text, self.message)

    def lower_camel(self, name: str) -> str:
        """Return the name of a component."""
        return lower_camel(name)

    def camel(self, name: str) -> str:
        """Return the part of the name of a method for a component."""
        return camel(name)

    def defaults(self) -> str:
        """Return the declaration of the defaults."""
        name = self.name(self.message)
        arguments = ", ".join(self._default(field) for field in self.message.fields)
        start = f"    public static final {name} DEFAULTS ="
        made = f"new {name}({arguments});"
        if len(f"{start} {made}") <= LINE:
            return f"{start} {made}"
        if len(f"            {made}") <= LINE:
            return f"{start}\n            {made}"
        return f"{start} new {name}(\n            {arguments});"

    def _default(self, field: Field) -> str:
        if field.kind == "enum":
            enum = self.enum_of(field)
            return f"{self.simple_name(enum)}.{self.member(enum.default)}"
        if self.is_count(field):
            return str(self.plan.default(self.message, field) or 0)
        if field.is_repeated:
            return "List.of()"
        return {"bool": "false", "string": '""'}[field.type]

    def imports(self) -> list[str]:
        """Return the classes to import."""
        return ["java.util.List"] if any(f.is_repeated for f in self.message.fields) else []

    def copy(self, changed: Field) -> str:
        """Return the statement that makes a copy with another value of one field."""
        names = ["value" if f is changed else lower_camel(f.name) for f in self.message.fields]
        start = f"        return new {self.name(self.message)}("
        return fill(start, names, ");", "                ")

    def setter(self, field: Field) -> str:
        """Return the call that sets a field of the message."""
        name = lower_camel(field.name)
        value = name
        if field.kind == "enum":
            enum = self.enum_of(field)
            value = f'{self.wire_name(enum)}.valueOf("{enum.prefix}" + {name})'
        elif self.is_version(field):
            value = f"{name}.isEmpty() ? version : {name}"
        verb = "addAll" if field.is_repeated else "set"
        call = f"                .{verb}{name[:1].upper()}{name[1:]}({value})"
        if len(call) <= LINE:
            return call
        start, _, rest = call.partition("(")
        return f"{start}(\n                        {rest}"


class JavaOptionsEnumView(_OptionsView, JavaEnumView):
    """An enumeration of requests that belongs to no options, in a file of its own."""

    @classmethod
    def views(cls, plan: Plan, file: ValueFile) -> Iterable[View]:
        """Return a view of each enumeration."""
        return [
            cls(plan, file, enum)
            for enum in file.enums
            if "." not in plan.client_name(enum.wire_name)
        ]


class _PythonOptionsView(_OptionsView, PythonView):
    @property
    def option_types(self) -> tuple[Message, ...]:
        """Messages of options that are no arguments."""
        return () if self.file.are_arguments else self.file.options

    def table(self, enum: Enum) -> str:
        """Return the name of the table of labels of an enumeration."""
        name = self.name(enum)
        snake = "".join(f"_{c}" if c.isupper() else c.upper() for c in name)
        return ("" if self.file.are_arguments else "_") + snake.lstrip("_")


class PythonOptionsView(_PythonOptionsView):
    """A module of ``sidecheck.values``."""

    template = "options.py.j2"

    @property
    def names(self) -> list[str]:
        """Names of all values."""
        values: list[Enum | Message] = [*self.file.enums, *self.option_types]
        return sorted(map(self.name, values))

    def option_default(self, message: Message, field: Field) -> str:
        """Return the default of a field."""
        if field.kind == "enum":
            enum = self.enum_of(field)
            return f"{self.name(enum)}.{self.member(enum.default)}"
        return self.default(message, field)


class PythonEncoderView(_PythonOptionsView):
    """A module of ``sidecheck.wire.encoders``."""

    template = "encoders.py.j2"
    path = "clients/python/sidecheck/wire/encoders/{name}.py"

    @property
    def modules(self) -> list[str]:
        """Modules of the messages."""
        return sorted({self.proto_module(message) for message in self.file.options})

    def encoded(self, field: Field) -> str:
        """Return the expression that encodes a field of ``options``."""
        value = f"options.{field.name}"
        if field.kind == "enum":
            return f'find_label("{field.name}", {value}, {self.table(self.enum_of(field))})'
        return f"{value} or version" if self.is_version(field) else value

    def snake(self, name: str) -> str:
        """Return a name in upper camel case in lower snake case."""
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).removeprefix("_")

    @property
    def value_names(self) -> list[str]:
        """Names of the values to import."""
        values: list[Enum | Message] = [*self.used_enums(), *self.option_types]
        return sorted(map(self.name, values))

    def used_enums(self) -> list[Enum]:
        """Enumerations of fields of options."""
        types = {field.type for message in self.file.options for field in message.fields}
        return [enum for enum in self.file.enums if enum.wire_name in types]


class RustOptionsView(_OptionsView, RustView):
    """A module of ``crate::values``."""

    template = "options.rs.j2"

    def encoded(self, field: Field) -> str:
        """Return the expression that encodes a field of ``self``."""
        value = f"self.{field.name}"
        if self.is_version(field):
            return f"version_or(&{value}, default_version)"
        if field.kind == "enum":
            return f"{value}.into()"
        return f"{value}.clone()" if field.type == "string" or field.is_repeated else value

    def enum_lines(self, enum: Enum) -> list[str]:
        """Return the comment of an enumeration, with its default."""
        text = self.doc(enum)
        if enum.default:
            text = text.removesuffix(".") if "." not in text[:-1] else text
            default = f"`{enum.prefix}{enum.default.upper().replace('-', '_')}`"
            text += f"; {default} by default." if text[-1] != "." else f" The default is {default}."
        return self.lines(text, "    /// ")


class TypeScriptOptionsView(_OptionsView, TypeScriptView):
    """A module in ``src/values``."""

    template = "options.ts.j2"

    def options(self, message: Message) -> list[Field]:
        """Return the options; those of the client alone have more values than two here."""
        return self.sent(message)

    def used_enums(self) -> list[Enum]:
        """Enumerations that an encoder encodes."""
        types = {field.type for message in self.file.options for field in message.fields}
        own = [enum for enum in self.file.enums if enum.wire_name in types]
        foreign = (value for values in self.imported().values() for value in values)
        return [*own, *(enum for enum in foreign if isinstance(enum, Enum))]

    def option_imports(self) -> dict[str, list[str]]:
        """Return the names to import, by generated module."""
        imports: dict[str, list[str]] = {}
        for enum in self.used_enums():
            alias = f"{self.wire_name(enum)} as Wire{self.name(enum)}"
            imports.setdefault(self.proto_module(enum), []).append(alias)
        for message in self.file.options:
            alias = f"type {self.wire_name(message)} as Wire{self.name(message)}"
            imports.setdefault(self.proto_module(message), []).append(alias)
        return imports

    def encoded(self, field: Field) -> str:
        """Return the expression that encodes a field of ``options``."""
        name = lower_camel(field.name)
        value = f"options.{name}"
        if field.kind == "enum":
            enum = self.enum_of(field)
            return f'encodeEnum(Wire{self.name(enum)}, "{enum.prefix}", {value}, "{name}")'
        if self.is_count(field):
            return f'encodeCount({value}, "{name}")'
        if self.is_version(field):
            return f"{value} || protocolVersion"
        if field.is_repeated:
            return f"[...({value} ?? [])]"
        return f"{value} ?? false" if field.type == "bool" else f'{value} ?? ""'

    def encoded_type(self, message: Message) -> str:
        """Return the type of an encoded message, which has no field that is not an option."""
        others = " | ".join(f'"{lower_camel(field.name)}"' for field in self.others(message))
        name = f"Wire{self.name(message)}"
        return f"Omit<{name}, {others}>" if others else name

    def enum_comment(self, enum: Enum) -> list[str]:
        """Return the lines of the comment of an enumeration, with its words and its default."""
        *lines, end = super().enum_comment(enum)
        if enum.default:
            lines += [" *", f' * The default is "{enum.default}".']
        return [*lines, end]
