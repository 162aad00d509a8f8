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
        value = f"message.{field.name}"
        if field.is_repeated:
            return value if field.kind == "scalar" else f"convert_all({value})"
        if field.kind == "message":
            if self.may_be_unset(message, field):
                return f"{value}.map({self.plan.client_name(field.type)}::from)"
            return f"{value}.unwrap_or_default().into()"
        return f"{value}.into()" if field.kind == "enum" or self.is_json(message, field) else value

    def reference(self, enum: Enum, word: str) -> str:
        """Return a link to a variant."""
        return f"[`{self.name(enum)}::{camel(word)}`]"

    def imports(self) -> list[str]:
        """Return the items of this crate that the file needs."""
        fields = [(message, field) for message in self.file.results for field in message.fields]
        imports = ["crate::stubs::sidecheck::v1 as pb"]
        if self.file.enums:
            imports.append("crate::enumeration::enumeration")
        if any(self.is_json(message, field) for message, field in fields):
            imports.append("crate::json::Json")
        if any(field.is_repeated and field.kind != "scalar" for _, field in fields):
            imports.append("crate::verdict::convert_all")
        return sorted(imports)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).removeprefix("_")
