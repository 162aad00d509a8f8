"""Values of the client in Python."""

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
_DEFAULTS = {"bool": "False", "bytes": 'b""', "float": "0.0", "int": "0", "str": '""'}


class PythonView(View):
    """A module of ``sidecheck.values``."""

    template = "values.py.j2"
    path = "clients/python/sidecheck/values/{name}.py"
    language = "python"
    formatter = (sys.executable, "-m", "ruff", "format", "--quiet")

    def in_results(self, enum: Enum) -> bool:
        """Return whether responses have the enumeration, so that it is a class."""
        return any(
            field.type == enum.wire_name
            for message in self.file.results
            for field in message.fields
        )

    @property
    def classes(self) -> list[Enum]:
        """Enumerations that are classes."""
        return [enum for enum in self.file.enums if self.in_results(enum)]

    @property
    def aliases(self) -> list[Enum]:
        """Enumerations that are unions of words."""
        return [enum for enum in self.file.enums if not self.in_results(enum)]

    @property
    def names(self) -> list[str]:
        """Names of all values."""
        values: list[Enum | Message] = [*self.file.enums, *self.file.results]
        return sorted(map(self.name, values))

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
        if field.is_repeated:
            return "()"
        if self.may_be_unset(message, field):
            return "None"
        return _DEFAULTS.get(self.type(message, field), "")

    def reference(self, enum: Enum, word: str) -> str:
        """Return the member, or the word where there is no class."""
        if self.in_results(enum):
            return f"`{self.name(enum)}.{word.upper().replace('-', '_')}`"
        return f'"{word}"'

    def docstring(self, text: str) -> list[str]:
        """Return the lines of a docstring, whose first sentence is a line of its own.

        Raises:
            ValueError: that sentence is too long.
        """
        rendered = self.text(text)
        summary, stop, rest = rendered.partition(". ")
        if len(f'    """{summary}."""') > self.width:
            raise ValueError(f"give a shorter comment in values.toml: {rendered}")
        if not stop:
            return [f'    """{summary}"""']
        return [f'    """{summary}.', "", *self.lines(rest, "    "), '    """']

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
    def modules(self) -> list[str]:
        """Names of the .proto files."""
        return sorted(set(map(self.proto_module, self._decoded)))

    @property
    def value_names(self) -> list[str]:
        """Names of the values that are made."""
        return sorted(map(self.name, self._decoded))

    @property
    def functions(self) -> list[str]:
        """Names of the functions."""
        return sorted(map(self.function, self.file.results))

    @property
    def _decoded(self) -> list[Enum | Message]:
        return [*self.classes, *self.file.results]

    def table(self, enum: Enum) -> str:
        """Return the name of the table of the members of *enum*."""
        name = self.name(enum)
        words = "".join(f"_{c}" if c.isupper() else c for c in name).removeprefix("_").upper()
        return words + ("ES" if words.endswith("S") else "S")

    def function(self, message: Message) -> str:
        """Return the name of the function that decodes *message*."""
        name = self.name(message)
        return "decode" + "".join(f"_{c.lower()}" if c.isupper() else c for c in name)

    def decoded(self, message: Message, field: Field) -> str:
        """Return the expression that decodes a field of ``message``."""
        value = f"message.{field.name}"
        if self.is_json(message, field):
            return f'JsonText(require_json(message, "{field.name}"))'
        if field.kind == "enum":
            enum = self.enum_of(field)
            return f"{self.table(enum)}.get({value}, {self.name(enum)}.UNSPECIFIED)"
        if field.kind == "message":
            decode = self.function(self.plan.api.messages[field.type])
            value = f"tuple(map({decode}, {value}))" if field.is_repeated else f"{decode}({value})"
        elif field.is_repeated:
            value = f"tuple({value})"
        if not field.is_repeated and self.may_be_unset(message, field):
            return f'{value} if message.HasField("{field.name}") else None'
        return value
