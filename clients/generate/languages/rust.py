"""Values of the client in Rust."""

from generate.api import Enum, Field, Message
from generate.view import View, camel

__all__ = ["RustView"]

_SCALARS = {
    "bool": "bool",
    "bytes": "Bytes",
    "double": "f64",
    "int32": "i32",
    "int64": "i64",
    "string": "String",
    "uint32": "u32",
    "uint64": "u64",
}


#: Types that callers must not ignore.
_MUST_USE = frozenset({"Verdict"})


class RustView(View):
    """A module of ``crate::values``."""

    template = "values.rs.j2"
    path = "clients/rust/src/values/{name}.rs"
    language = "rust"
    formatter = ("rustfmt", "--edition", "2024")

    def wire_path(self, value: Enum | Message) -> str:
        """Return the path of the type of prost."""
        *outer, name = value.wire_name.split(".")
        modules = "".join(f"{_snake(module)}::" for module in outer)
        return f"pb::{modules}{name}"

    def member(self, word: str) -> str:
        """Return the variant for a *word*."""
        return camel(word)

    def type(self, message: Message, field: Field) -> str:
        """Return the type of a field."""
        type_ = self.single_type(message, field, "Json", _SCALARS)
        if field.is_repeated:
            return f"Vec<{type_}>"
        return f"Option<{type_}>" if self.may_be_unset(message, field) else type_

    def decoded(self, message: Message, field: Field) -> str:
        """Return the expression that decodes a field of ``message``."""
        if field.is_context:
            return "Default::default()"
        value = f"message.{field.name}"
        label = f'"{message.wire_name}.{field.name}"'
        if field.kind == "message":
            name = self.plan.client_name(field.type)
            is_fallible = self.is_fallible(self.child(field))
            if field.is_repeated:
                return f"try_convert_all({value})?" if is_fallible else f"convert_all({value})"
            if self.may_be_unset(message, field):
                if is_fallible:
                    return f"{value}.map({name}::try_from).transpose()?"
                return f"{value}.map({name}::from)"
            conversion = "try_into()?" if is_fallible else "into()"
            return f"require({value}, {label})?.{conversion}"
        if field.is_repeated:
            return value if field.kind == "scalar" else f"convert_all({value})"
        if self.is_json(message, field) and not self.may_be_empty_json(message, field):
            return f"require_json({value}, {label})?"
        if field.kind == "enum" and self.unknown_word(self.enum_of(field)):
            return f"{self.name(self.enum_of(field))}::of_response({value})"
        return f"{value}.into()" if field.kind == "enum" or self.is_json(message, field) else value

    def child(self, field: Field) -> Message:
        """Return the message in a field."""
        return self.plan.api.messages[field.type]

    def is_fallible(self, message: Message) -> bool:
        """Return whether a message may lack what its value has."""
        return any(
            (self.is_json(message, field) and not self.may_be_empty_json(message, field))
            or (
                field.kind == "message"
                and (
                    not (field.is_repeated or self.may_be_unset(message, field))
                    or self.is_fallible(self.child(field))
                )
            )
            for field in message.fields
        )

    def must_be_used(self, message: Message) -> bool:
        """Return whether callers must not ignore a value."""
        return self.name(message) in _MUST_USE

    def reference(self, enum: Enum, word: str) -> str:
        """Return a link to a variant, or its name where the enumeration is not in scope."""
        variant = f"`{self.name(enum)}::{self.member(word)}`"
        in_scope = [*self.file.enums, *(v for values in self.imported().values() for v in values)]
        return f"[{variant}]" if enum in in_scope else variant

    def value_imports(self) -> list[str]:
        """Return the types of other files that the file needs."""
        return [
            f"crate::values::{file}::{{{', '.join(sorted(map(self.name, values)))}}}"
            for file, values in self.imported().items()
        ]

    def imports(self) -> list[str]:
        """Return the items of this crate that the file needs."""
        fields = [(message, field) for message in self.file.results for field in message.fields]
        decoded = [self.decoded(message, field) for message, field in fields]
        functions = ("convert_all", "require", "require_json", "try_convert_all")
        used = [name for name in functions if any(text.startswith(f"{name}(") for text in decoded)]
        imports = ["crate::stubs::sidecheck::v1 as pb", *self.value_imports()]
        if self.file.enums:
            imports.append("crate::enumeration::enumeration")
        if any(self.is_json(message, field) for message, field in fields):
            imports.append("crate::json::Json")
        if any(map(self.is_fallible, self.file.results)):
            used.insert(0, "MissingField")
        if used:
            imports.append(f"crate::decoding::{{{', '.join(used)}}}")
        return sorted(imports)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).removeprefix("_")
