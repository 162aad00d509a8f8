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
    #: Messages that clients only encode.
    options: tuple[Message, ...] = ()
    #: Whether the options are arguments in languages that have keyword arguments.
    are_arguments: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The generated files, and what the .proto files do not say."""

    api: Api
    #: Files with messages of responses, and files with options of requests.
    files: tuple[ValueFile, ...]
    option_files: tuple[ValueFile, ...]
    #: Files with tables of the whole API, by name.
    tables: Mapping[str, ValueFile]
    #: Comments of the error reasons, by reason.
    reasons: Mapping[str, str]
    unavailable_reasons: tuple[str, ...]
    #: Comments of options of the clients alone, by message and field.
    client_options: Mapping[str, str]
    #: Names of types in single languages, by language.
    language_names: Mapping[str, Mapping[str, str]]
    names: Mapping[str, str]
    traits: Mapping[str, str]
    docs: Mapping[str, str]
    unknown: Mapping[str, str]
    defaults: Mapping[str, bool | int | str]

    def file_of(self, wire_name: str) -> ValueFile:
        """Return the file that has the enumeration or message *wire_name*.

        Raises:
            KeyError: no file has it.
        """
        for file in (*self.files, *self.option_files):
            values: list[Enum | Message] = [*file.enums, *file.results, *file.options]
            if any(value.wire_name == wire_name for value in values):
                return file
        raise KeyError(wire_name)

    def is_generated(self, enum: Enum) -> bool:
        """Return whether a file has *enum*."""
        return any(enum in file.enums for file in (*self.files, *self.option_files))

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

    def default(self, message: Message, field: Field) -> bool | int | str | None:
        """Return the default of *field* in values that callers make, if it is an unusual one."""
        return self.defaults.get(f"{message.wire_name}.{field.name}")

    def localized(self, language: str) -> "Plan":
        """Return the plan with the names of *language*."""
        return replace(self, names={**self.names, **self.language_names.get(language, {})})

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
                        if self.is_generated(enum):
                            return enum_value(enum, value.word)
                        # The clients have a hand-written type for it.
                        return code(value.word.replace("-", "_"), True)  # noqa: FBT003
            return code(name, name in fields)

        return _NAME.sub(replace, text)


def read_plan(path: Path, api: Api, reasons: Mapping[str, str]) -> Plan:
    """Return the plan in the TOML file *path*, with the error *reasons* of the service.

    Raises:
        KeyError: it names what the API does not have.
    """
    tables = tomllib.loads(path.read_text())
    names: dict[str, str] = tables.pop("names")
    traits: dict[str, str] = tables.pop("fields")
    docs: dict[str, str] = tables.pop("docs")
    table_docs: dict[str, str] = tables.pop("tables")
    client_reasons: dict[str, str] = tables.pop("reasons")
    unavailable: list[str] = tables.pop("unavailable")["reasons"]
    language_names: dict[str, dict[str, str]] = tables.pop("language_names")
    unknown: dict[str, str] = tables.pop("unknown")
    defaults: dict[str, bool | int | str] = tables.pop("defaults")
    omitted: list[str] = tables.pop("omitted")["fields"]
    api = _with_comments(api, tables.pop("comments"))
    api = _value_fields(api, tables.pop("context"), omitted)
    option_fields: dict[str, list[str]] = tables.pop("option_fields")
    client_options: dict[str, str] = tables.pop("client_options")
    option_files = [
        ValueFile(
            name,
            table["doc"],
            tuple(api.enums[enum] for enum in table["enums"]),
            (),
            tuple(
                _select_fields(api.messages[message], option_fields, client_options)
                for message in table["messages"]
            ),
            are_arguments=table.get("are_arguments", False),
        )
        for name, table in tables.pop("options").items()
    ]
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
        *set(unavailable) - reasons.keys(),
    ]:
        raise KeyError(name)
    return Plan(
        api=api,
        files=tuple(files),
        option_files=tuple(option_files),
        tables={name: ValueFile(name, doc, (), ()) for name, doc in table_docs.items()},
        reasons={**reasons, **client_reasons},
        unavailable_reasons=tuple(unavailable),
        client_options=client_options,
        language_names=language_names,
        names=names,
        traits=traits,
        docs=docs,
        unknown=unknown,
        defaults=defaults,
    )


def _select_fields(
    message: Message, option_fields: Mapping[str, list[str]], client_options: Mapping[str, str]
) -> Message:
    """Return *message* with the fields that are options, and the options of the clients alone."""
    names = option_fields.get(message.wire_name)
    if names is None:
        return message
    fields = {field.name: field for field in message.fields}
    for name, doc in client_options.items():
        owner, _, field = name.rpartition(".")
        if owner == message.wire_name:
            fields[field] = Field(field, doc, "bool", "scalar", False, False)  # noqa: FBT003
    return replace(message, fields=tuple(fields[name] for name in names))


def _with_comments(api: Api, comments: Mapping[str, str]) -> Api:
    """Return *api* with other comments of members and fields.

    Raises:
        KeyError: a name is of neither.
    """
    unused = dict(comments)

    def comment(name: str, doc: str) -> str:
        return unused.pop(name, doc)

    enums = {
        name: replace(
            enum,
            values=tuple(
                replace(value, doc=comment(value.wire_name, value.doc)) for value in enum.values
            ),
        )
        for name, enum in api.enums.items()
    }
    messages = {
        name: replace(
            message,
            fields=tuple(
                replace(field, doc=comment(f"{name}.{field.name}", field.doc))
                for field in message.fields
            ),
        )
        for name, message in api.messages.items()
    }
    for name in unused:
        raise KeyError(name)
    return replace(api, enums=enums, messages=messages)


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
