"""Values of the client in Python."""

import re
import sys

from generate.api import Enum, Field, Message
from generate.view import View

__all__ = ["PythonDecoderView", "PythonView"]

_SCALARS = {
    "bool": "bool",
    "bytes": "bytes",
    "double": "float",
    "int32": "int",
    "int64": "int",
    "string": "str",
    "uint32": "int",
    "uint64": "int",
}
#: Classes, written by hand, whose methods values inherit.
_METHODS = {
    "AdaptedTool": "sidecheck.definitions.DefinitionMethods",
    "InferredTool": "sidecheck.definitions.DefinitionMethods",
    "Registration": "sidecheck.rejections.RegistrationMethods",
    "Repair": "sidecheck.verdicts.RepairMethods",
    "Verdict": "sidecheck.verdicts.VerdictMethods",
}
_DEFAULTS = {"bool": "False", "bytes": 'b""', "float": "0.0", "int": "0", "str": '""'}


class PythonView(View):
    """A module of ``sidecheck.values``."""

    template = "values.py.j2"
    path = "clients/python/sidecheck/values/{name}.py"
    language = "python"
    formatter = (sys.executable, "-m", "ruff", "format", "--quiet")

    def is_class(self, enum: Enum) -> bool:
        """Return whether an enumeration is a class, and not a union of words for arguments."""
        return self.in_results(enum) or any(
            enum in file.enums for file in self.plan.option_files if not file.are_arguments
        )

    def member(self, word: str) -> str:
        """Return the name of the member for a *word*."""
        return word.upper().replace("-", "_")

    @property
    def classes(self) -> list[Enum]:
        """Enumerations that are classes."""
        return [enum for enum in self.file.enums if self.is_class(enum)]

    @property
    def aliases(self) -> list[Enum]:
        """Enumerations that are unions of words."""
        return [enum for enum in self.file.enums if not self.is_class(enum)]

    @property
    def names(self) -> list[str]:
        """Names of all values."""
        values: list[Enum | Message] = [*self.file.enums, *self.file.results]
        return sorted(map(self.name, values))

    @property
    def imports(self) -> dict[str, list[str]]:
        """Names to import, by module."""
        imports = {
            f"sidecheck.values.{file}": sorted(map(self.name, values))
            for file, values in self.imported().items()
        }
        if self.has_json():
            defaults = {
                self.default(message, field)
                for message in self.file.results
                for field in message.fields
            }
            names = ["NO_TEXT"] if "NO_TEXT" in defaults else []
            imports["sidecheck.json_types"] = [*names, "JsonText"]
        for message in self.file.results:
            module, _, name = _METHODS.get(self.name(message), "").rpartition(".")
            if name:
                imports[module] = sorted({*imports.get(module, []), name})
        return dict(sorted(imports.items()))

    def parent(self, message: Message) -> str:
        """Return the class that has the methods of a value, or ""."""
        return _METHODS.get(self.name(message), "").rpartition(".")[2]

    @property
    def results_first_to_last(self) -> list[Message]:
        """Messages in an order in which each comes after those that it has."""
        ordered: list[Message] = []

        def add(message: Message) -> None:
            if message in ordered:
                return
            for field in message.fields:
                for other in self.file.results:
                    if other.wire_name == field.type:
                        add(other)
            ordered.append(message)

        for message in self.file.results:
            add(message)
        return ordered

    def type(self, message: Message, field: Field) -> str:
        """Return the type of a field."""
        type_ = self.single_type(message, field, "JsonText", _SCALARS)
        if field.is_repeated:
            return f"tuple[{type_}, ...]"
        return f"{type_} | None" if self.may_be_unset(message, field) else type_

    def default(self, message: Message, field: Field) -> str:
        """Return the default of a field, "" if it has none."""
        default = self.plan.default(message, field)
        if isinstance(default, str):
            return f"{self.name(self.enum_of(field))}.{self.member(default)}"
        if default is not None:
            return str(default)
        if field.is_repeated:
            return "()"
        if self.may_be_empty_json(message, field):
            return "NO_TEXT"
        if self.may_be_unset(message, field):
            return "None"
        return _DEFAULTS.get(self.type(message, field), "")

    def reference(self, enum: Enum, word: str) -> str:
        """Return the member, or the word where there is no class."""
        if self.is_class(enum):
            return f"`{self.name(enum)}.{self.member(word)}`"
        return f'"{word}"'

    def docstring(self, text: str) -> list[str]:
        """Return the lines of a docstring, whose first sentence is a line of its own.

        Raises:
            ValueError: that sentence is too long.
        """
        rendered = self.text(text)
        summary, *rest = re.split(r"(?<=\.)\s+", rendered, maxsplit=1)
        if len(f'    """{summary}"""') > self.width:
            raise ValueError(f"give a shorter comment in values.toml: {rendered}")
        if not rest:
            return [f'    """{summary}"""']
        return [f'    """{summary}', "", *self.lines(rest[0], "    "), '    """']

    def has_json(self) -> bool:
        """Return whether a field is JSON text."""
        return any(
            self.is_json(message, field)
            for message in self.file.results
            for field in message.fields
        )


class PythonDecoderView(PythonView):
    """A module of ``sidecheck.wire.decoders``."""

    template = "decoders.py.j2"
    path = "clients/python/sidecheck/wire/decoders/{name}.py"

    @property
    def imports(self) -> dict[str, list[str]]:
        """Names to import, by module."""
        modules = sorted(set(map(self.proto_module, self._decoded)))
        imports = {"sidecheck.v1": [f"{module}_pb2 as {module}_pb" for module in modules]}
        imports |= {f"sidecheck.values.{self.file.name}": sorted(map(self.name, self._decoded))}
        for file, values in self.imported().items():
            imports[f"sidecheck.wire.decoders.{file}"] = sorted(map(self.function, values))
        if self.has_json():
            imports["sidecheck.json_types"] = ["JsonText"]
        required = [name for name in ("require_field", "require_json") if self._uses(name)]
        if required:
            imports["sidecheck.wire.errors"] = required
        return dict(sorted(imports.items()))

    def _uses(self, name: str) -> bool:
        return any(
            f"{name}(" in self.decoded(message, field)
            for message in self.file.results
            for field in message.fields
        )

    @property
    def functions(self) -> list[str]:
        """Names of the functions."""
        return sorted(map(self.function, self._decoded))

    @property
    def _decoded(self) -> list[Enum | Message]:
        return [*self.classes, *self.file.results]

    def table(self, enum: Enum) -> str:
        """Return the name of the table of the members of *enum*."""
        name = self.name(enum)
        words = "".join(f"_{c}" if c.isupper() else c for c in name).removeprefix("_").upper()
        if words.endswith("Y"):
            return words.removesuffix("Y") + "IES"
        return words + ("ES" if words.endswith("S") else "S")

    def parameters(self, message: Message) -> str:
        """Return the parameters of the function that decodes *message*."""
        context = [
            f"{field.name}: {_SCALARS[field.type]} = {_DEFAULTS[_SCALARS[field.type]]}"
            for field in self.context(message)
        ]
        wire_type = f"{self.proto_module(message)}_pb.{message.wire_name}"
        return ", ".join([f"message: {wire_type}", *context])

    def unknown_member(self, enum: Enum) -> str:
        """Return the member for values that are not known."""
        return self.member(self.unknown_word(enum) or "unspecified")

    def function(self, value: Enum | Message) -> str:
        """Return the name of the function that decodes *value*."""
        name = self.name(value)
        return "decode" + "".join(f"_{c.lower()}" if c.isupper() else c for c in name)

    def decoded(self, message: Message, field: Field) -> str:
        """Return the expression that decodes a field of ``message``."""
        if field.is_context:
            return field.name
        value = f"message.{field.name}"
        if self.may_be_empty_json(message, field):
            return f"JsonText({value})"
        if self.is_json(message, field):
            return f'JsonText(require_json(message, "{field.name}"))'
        if field.kind != "scalar":
            decode = self.function(self.value_of(field))
            if field.is_repeated:
                return f"tuple(map({decode}, {value}))"
            if field.kind == "enum":
                return f"{decode}({value})"
            if not self.may_be_unset(message, field):
                return f'{decode}(require_field(message, "{field.name}"))'
            value = f"{decode}({value})"
        elif field.is_repeated:
            value = f"tuple({value})"
        if not field.is_repeated and self.may_be_unset(message, field):
            return f'{value} if message.HasField("{field.name}") else None'
        return value
