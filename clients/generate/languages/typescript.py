"""Values of the client in TypeScript."""

from generate.api import Enum, Field, Message
from generate.view import View, decapitalize, lower_camel

__all__ = ["TypeScriptView"]

_SCALARS = {
    "bool": "boolean",
    "bytes": "Uint8Array",
    "double": "number",
    "int32": "number",
    "int64": "number",
    "string": "string",
    "uint32": "number",
    "uint64": "number",
}
_WIDE = {"int64", "uint64"}
"""Types that messages have as a bigint."""


class TypeScriptView(View):
    """A module in ``src/values``."""

    template = "values.ts.j2"
    path = "clients/typescript/src/values/{kebab}.ts"
    language = "typescript"
    formatter = (
        "clients/typescript/node_modules/.bin/prettier",
        "--config",
        "clients/typescript/package.json",
        "--log-level=warn",
        "--write",
    )

    def field_name(self, name: str) -> str:
        """Return the name of a field."""
        return lower_camel(name)

    def words(self, enum: Enum) -> str:
        """Return the union of the words."""
        words = [*(value.word for value in enum.values), *self.unknown_words(enum)]
        return " | ".join(f'"{word}"' for word in words)

    def unknown_words(self, enum: Enum) -> list[str]:
        """Return the word for values that are not known, if responses have the enumeration."""
        is_unspecified = self.in_results(enum) and not self.unknown_word(enum)
        return ["unspecified"] if is_unspecified else []

    def wire_name(self, value: Enum | Message) -> str:
        """Return the type of ts-proto."""
        return value.wire_name.replace(".", "_")

    def wire_imports(self) -> dict[str, list[str]]:
        """Return the names to import, by generated module."""
        imports: dict[str, list[str]] = {}
        enums = [value for values in self.imported().values() for value in values]
        for enum in [*self.file.enums, *enums]:
            if isinstance(enum, Enum) and self.uses(f"Wire{self.name(enum)}"):
                alias = f"{self.wire_name(enum)} as Wire{self.name(enum)}"
                imports.setdefault(self.proto_module(enum), []).append(alias)
        for message in self.file.results:
            alias = f"type {self.wire_name(message)} as Wire{self.name(message)}"
            imports.setdefault(self.proto_module(message), []).append(alias)
        return imports

    def value_imports(self) -> dict[str, list[str]]:
        """Return the names to import, by module of values."""
        imports: dict[str, list[str]] = {}
        for file, values in self.imported().items():
            names = sorted(map(self.name, values))
            decoders = (f"decode{name}" for name in names)
            functions = [name for name in decoders if self.calls(name)]
            imports[file.replace("_", "-")] = [*functions, *(f"type {name}" for name in names)]
        return imports

    def parameters(self, message: Message) -> str:
        """Return the parameters of a decoder."""
        context = [
            f"{lower_camel(field.name)} = {'0n' if field.type in _WIDE else 0}"
            for field in self.context(message)
        ]
        return ", ".join([f"message: Wire{self.name(message)}", *context])

    def type(self, message: Message, field: Field) -> str:
        """Return the type of a field."""
        type_ = self.single_type(message, field, "JsonText", _SCALARS)
        if field.is_repeated:
            return f"readonly {type_}[]"
        may_be_absent = self.may_be_unset(message, field) or self.may_be_empty_json(message, field)
        return f"{type_} | undefined" if may_be_absent else type_

    def decoded(self, message: Message, field: Field) -> str:
        """Return the expression that decodes a field of ``message``."""
        name = lower_camel(field.name)
        value = name if field.is_context else f"message.{name}"
        label = f'"{message.wire_name}.{field.name}"'
        if self.may_be_empty_json(message, field):
            return f"decodeJson({value})"
        if self.is_json(message, field):
            return f"requireJson({value}, {label})"
        if field.kind == "scalar":
            return f"Number({value})" if field.type in _WIDE else value
        if field.kind == "enum":
            enum = self.enum_of(field)
            name = self.name(enum)
            if self.unknown_word(enum):
                return f"decode{name}({value})"
            return f'decodeEnum<{name}>(Wire{name}, "{enum.prefix}", {value})'
        decode = "decode" + self.plan.client_name(field.type)
        if field.is_repeated:
            return f"{value}.map({decode})"
        if self.may_be_unset(message, field):
            return f"{value} && {decode}({value})"
        return f"{decode}(requireField({value}, {label}))"

    def reference(self, _enum: Enum, word: str) -> str:
        """Return the word."""
        return f'"{word}"'

    def code(self, name: str, is_field: bool) -> str:  # noqa: FBT001
        """Return the name of a field, or another name."""
        return f"`{lower_camel(name) if is_field else name}`"

    def comment(self, text: str, indent: str = "") -> list[str]:
        """Return the lines of a comment, which is one line if it fits."""
        rendered = self.text(text)
        line = f"{indent}/** {rendered} */"
        if len(line) <= self.width and "\n" not in rendered:
            return [line]
        return [f"{indent}/**", *self.lines(text, f"{indent} * "), f"{indent} */"]

    def enum_comment(self, enum: Enum) -> list[str]:
        """Return the lines of the comment of an enumeration, with its words."""
        lines = ["/**", *self.lines(self.doc(enum), " * "), " *"]
        for value in enum.values:
            text = f'- "{value.word}": {decapitalize(self.value_doc(enum, value))}'
            first, *rest = self.lines(text, " *   ")
            lines += [" * " + first.removeprefix(" *   "), *rest]
        if self.unknown_words(enum):
            lines.append(' * - "unspecified": a value that this release does not know.')
        return [*lines, " */"]

    @property
    def required(self) -> list[str]:
        """Functions that demand a field of a response."""
        return [name for name in ("requireField", "requireJson") if self.uses(name)]

    def calls(self, name: str) -> bool:
        """Return whether any decoder calls the function *name*, itself or for each element."""
        return self.uses(f"{name}(") or self.uses(f"map({name})")

    def uses(self, name: str) -> bool:
        """Return whether any decoder calls the function *name*."""
        is_decoded = any(
            name in self.decoded(message, field)
            for message in self.file.results
            for field in message.fields
        )
        return is_decoded or any(
            name in ("decodeEnum", f"Wire{self.name(enum)}")
            for enum in self.file.enums
            if self.unknown_word(enum)
        )
