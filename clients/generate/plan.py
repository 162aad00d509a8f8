"""Plan of the generated files: which values of the API a client has, and under which names."""

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from generate.api import Api, Enum, Field, Message

__all__ = ["Plan", "ValueFile", "read_plan"]

_REVISION = "registry_revision"
_NAME = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class ValueFile:
    """One generated file of each client."""

    #: Name in lower snake case, without an extension.
    name: str
    doc: str
    enums: tuple[Enum, ...]
    results: tuple[Message, ...]


@dataclass(frozen=True)
class Plan:
    """The generated files, and what the .proto files do not say."""

    api: Api
    files: tuple[ValueFile, ...]
    names: Mapping[str, str]
    traits: Mapping[str, str]
    docs: Mapping[str, str]
    unknown: Mapping[str, str]
    defaults: Mapping[str, bool | str]

    def file_of(self, wire_name: str) -> ValueFile:
        """Return the file that has the enumeration or message *wire_name*.

        Raises:
            KeyError: no file has it.
        """
        for file in self.files:
            values: list[Enum | Message] = [*file.enums, *file.results]
            if any(value.wire_name == wire_name for value in values):
                return file
        raise KeyError(wire_name)

    def is_decoded(self, enum: Enum) -> bool:
        """Return whether responses have *enum*."""
        return any(
            field.type == enum.wire_name
            for file in self.files
            for message in file.results
            for field in message.fields
        )

    def unknown_word(self, enum: Enum) -> str:
        """Return the word of *enum* that stands for unknown values, or "" for "unspecified"."""
        return self.unknown.get(enum.wire_name, "")

    def default(self, message: Message, field: Field) -> bool | str | None:
        """Return the default of *field* in values that callers make, if it is an unusual one."""
        return self.defaults.get(f"{message.wire_name}.{field.name}")

    def doc(self, value: Enum | Message) -> str:
        """Return the comment of an enumeration or message."""
        return self.docs.get(value.wire_name, value.doc)

    def client_name(self, wire_name: str) -> str:
        """Return the name of an enumeration or message in the clients, in upper camel case."""
        return self.names.get(wire_name, wire_name.replace(".", ""))

    def is_json(self, message: Message, field: Field) -> bool:
        """Return whether *field*, of bytes, is JSON text."""
        return self.traits.get(f"{message.wire_name}.{field.name}", "").startswith("json")

    def may_be_empty_json(self, message: Message, field: Field) -> bool:
        """Return whether *field* is JSON text that some values lack."""
        return self.traits.get(f"{message.wire_name}.{field.name}") == "json-or-empty"

    def may_be_unset(self, message: Message, field: Field) -> bool:
        """Return whether *field* is absent from some values."""
        trait = self.traits.get(f"{message.wire_name}.{field.name}")
        return field.is_optional or trait == "optional"

    def render_doc(
        self,
        text: str,
        enum_value: Callable[[Enum, str], str],
        code: Callable[[str, bool], str],
    ) -> str:
        """Return *text* with its names in backticks as a client writes them.

        *enum_value* is given an enumeration and a word of it, *code* any other name, and whether it
        is that of a field.
        """
        fields = {field.name for message in self.api.messages.values() for field in message.fields}

        def replace(match: re.Match[str]) -> str:
            name = match[1]
            for enum in self.api.enums.values():
                for value in enum.values:
                    if value.wire_name == name:
                        if enum in (enum for file in self.files for enum in file.enums):
                            return enum_value(enum, value.word)
                        # The clients have an option or a hand-written type for it.
                        return code(value.word.replace("-", "_"), True)  # noqa: FBT003
            return code(name, name in fields)

        return _NAME.sub(replace, text)


def read_plan(path: Path, api: Api) -> Plan:
    """Return the plan in the TOML file *path*.

    Raises:
        KeyError: it names what the API does not have.
    """
    tables = tomllib.loads(path.read_text())
    names: dict[str, str] = tables.pop("names")
    traits: dict[str, str] = tables.pop("fields")
    docs: dict[str, str] = tables.pop("docs")
    unknown: dict[str, str] = tables.pop("unknown")
    defaults: dict[str, bool | str] = tables.pop("defaults")
    omitted: list[str] = tables.pop("omitted")["fields"]
    api = _value_fields(api, tables.pop("context"), omitted)
    files = [
        ValueFile(
            name,
            table["doc"],
            tuple(api.enums[enum] for enum in table["enums"]),
            tuple(api.messages[message] for message in table["results"]),
        )
        for name, table in tables.items()
    ]
    known = {
        f"{message.wire_name}.{field.name}"
        for message in api.messages.values()
        for field in message.fields
    }
    for name in [
        *(names.keys() | docs.keys()) - api.enums.keys() - api.messages.keys(),
        *unknown.keys() - api.enums.keys(),
        *(traits.keys() | defaults.keys()) - known,
    ]:
        raise KeyError(name)
    return Plan(api, tuple(files), names, traits, docs, unknown, defaults)


def _value_fields(api: Api, context: Mapping[str, str], omitted: Collection[str]) -> Api:
    """Return *api* with the fields of values.

    Values have fields of the responses around them, and lack those that are *omitted*. The revision
    of the registry is the last one.
    """
    messages: dict[str, Message] = {}
    for name, message in api.messages.items():
        fields = sorted(message.fields, key=lambda field: field.name == _REVISION)
        kept = tuple(field for field in fields if f"{name}.{field.name}" not in omitted)
        messages[name] = replace(message, fields=kept)
    for name, path in context.items():
        message = messages[name]
        response, _, field_name = path.rpartition(".")
        (field,) = (field for field in messages[response].fields if field.name == field_name)
        extended = (*message.fields, replace(field, is_context=True))
        messages[name] = replace(message, fields=extended)
    return replace(api, messages=messages)
