"""Reads the values of the API out of its .proto files: names, types and comments."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)

__all__ = ["Api", "Enum", "EnumValue", "Field", "Message", "Method", "Service", "read_api"]

_PACKAGE = "sidecheck.v1"

# Numbers of the fields that lead to comments (descriptor.proto, SourceCodeInfo.Location).
_FILE_MESSAGES, _FILE_ENUMS = 4, 5
_MESSAGE_FIELDS, _MESSAGE_MESSAGES, _MESSAGE_ENUMS = 2, 3, 4
_ENUM_VALUES = 2

_SCALARS = {
    FieldDescriptorProto.TYPE_BOOL: "bool",
    FieldDescriptorProto.TYPE_BYTES: "bytes",
    FieldDescriptorProto.TYPE_DOUBLE: "double",
    FieldDescriptorProto.TYPE_INT32: "int32",
    FieldDescriptorProto.TYPE_INT64: "int64",
    FieldDescriptorProto.TYPE_STRING: "string",
    FieldDescriptorProto.TYPE_UINT32: "uint32",
    FieldDescriptorProto.TYPE_UINT64: "uint64",
}


@dataclass(frozen=True)
class EnumValue:
    """Member of an enumeration; the unspecified one is left out."""

    #: Name in the .proto file, such as ``CHANGE_LEVEL_RISKY``.
    wire_name: str
    #: Word in lower case, with hyphens, such as ``risky``.
    word: str
    doc: str


@dataclass(frozen=True)
class Enum:
    """Enumeration."""

    #: Name in the package, such as ``ToolComparison.Status``.
    wire_name: str
    prefix: str
    doc: str
    values: tuple[EnumValue, ...]
    #: Word of the member that the unspecified one stands for, "" if there is none.
    default: str


@dataclass(frozen=True)
class Field:
    """Field of a message."""

    #: Name in lower snake case.
    name: str
    doc: str
    #: Scalar type, or the name of an enumeration or message in the package.
    type: str
    kind: str
    is_repeated: bool
    #: Whether an absent field differs from the default of its type.
    is_optional: bool
    #: Whether the value has it from the response that contains its message.
    is_context: bool = False


@dataclass(frozen=True)
class Message:
    """Message."""

    #: Name in the package, such as ``Witness``.
    wire_name: str
    doc: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Method:
    """Method of a service."""

    name: str
    #: Path of the HTTP/2 request.
    path: str
    #: Names of the messages in the package.
    request: str
    response: str
    #: Whether the responses are a stream; the requests may be one as well.
    is_stream: bool


@dataclass(frozen=True)
class Service:
    """Service."""

    name: str
    #: Name with the package.
    full_name: str
    methods: tuple[Method, ...]


@dataclass(frozen=True)
class Api:
    """Enumerations and messages, by their names in the package, and services."""

    enums: Mapping[str, Enum]
    messages: Mapping[str, Message]
    #: Paths of the .proto files, by name of what they define.
    files: Mapping[str, str]
    services: tuple[Service, ...]


def read_api(folder: Path) -> Api:
    """Return the API that the .proto files below *folder* define."""
    protos = sorted(str(path.relative_to(folder)) for path in folder.glob("sidecheck/v1/*.proto"))
    with tempfile.TemporaryDirectory() as temporary:
        output = Path(temporary, "api.binpb")
        command = [sys.executable, "-m", "grpc_tools.protoc", "--proto_path=.", *protos]
        options = [f"--descriptor_set_out={output}", "--include_source_info"]
        subprocess.run([*command, *options], cwd=folder, check=True)  # noqa: S603
        files = FileDescriptorSet.FromString(output.read_bytes()).file
    enums: dict[str, Enum] = {}
    messages: dict[str, Message] = {}
    places: dict[str, str] = {}
    for file in files:
        reader = _FileReader(file)
        file_enums = {enum.wire_name: enum for enum in reader.enums()}
        file_messages = {message.wire_name: message for message in reader.messages()}
        enums |= file_enums
        messages |= file_messages
        places |= dict.fromkeys([*file_enums, *file_messages], file.name)
    services = (
        Service(
            service.name,
            f"{_PACKAGE}.{service.name}",
            tuple(_method(service.name, method) for method in service.method),
        )
        for file in files
        for service in file.service
    )
    return Api(enums, messages, places, tuple(services))


def _method(service: str, method: MethodDescriptorProto) -> Method:
    return Method(
        method.name,
        f"/{_PACKAGE}.{service}/{method.name}",
        method.input_type.removeprefix(f".{_PACKAGE}."),
        method.output_type.removeprefix(f".{_PACKAGE}."),
        method.server_streaming,
    )


class _FileReader:
    def __init__(self, file: FileDescriptorProto) -> None:
        self._file = file
        self._comments = {
            tuple(location.path): location.leading_comments
            for location in file.source_code_info.location
        }

    def enums(self) -> Iterator[Enum]:
        """Yield the enumerations, also those inside of messages."""
        for index, enum in enumerate(self._file.enum_type):
            yield self._enum(enum, enum.name, (_FILE_ENUMS, index))
        for name, message, path in self._walk():
            for index, enum in enumerate(message.enum_type):
                yield self._enum(enum, f"{name}.{enum.name}", (*path, _MESSAGE_ENUMS, index))

    def messages(self) -> Iterator[Message]:
        """Yield the messages, also those inside of messages."""
        for name, message, path in self._walk():
            fields = [
                self._field(field, (*path, _MESSAGE_FIELDS, index))
                for index, field in enumerate(message.field)
            ]
            yield Message(name, self._doc(path), tuple(fields))

    def _walk(self) -> Iterator[tuple[str, DescriptorProto, tuple[int, ...]]]:
        for index, message in enumerate(self._file.message_type):
            path = (_FILE_MESSAGES, index)
            yield message.name, message, path
            for inner_index, inner in enumerate(message.nested_type):
                yield f"{message.name}.{inner.name}", inner, (*path, _MESSAGE_MESSAGES, inner_index)

    def _enum(self, enum: EnumDescriptorProto, name: str, path: Sequence[int]) -> Enum:
        prefix = enum.value[0].name.removesuffix("UNSPECIFIED")
        values = [
            EnumValue(
                value.name,
                value.name.removeprefix(prefix).lower().replace("_", "-"),
                self._doc((*path, _ENUM_VALUES, index)),
            )
            for index, value in enumerate(enum.value)
            if value.number
        ]
        # The comment of the unspecified member is "Same as `X`." where it stands for another.
        same = re.match(rf"Same as `{prefix}(\w+)`", self._doc((*path, _ENUM_VALUES, 0)))
        default = same[1].lower().replace("_", "-") if same else ""
        return Enum(name, prefix, self._doc(path), tuple(values), default)

    def _field(self, field: FieldDescriptorProto, path: Sequence[int]) -> Field:
        is_message = field.type == FieldDescriptorProto.TYPE_MESSAGE
        is_enum = field.type == FieldDescriptorProto.TYPE_ENUM
        type_ = field.type_name.removeprefix(f".{_PACKAGE}.") or _SCALARS[field.type]
        return Field(
            field.name,
            self._doc(path),
            type_,
            "message" if is_message else "enum" if is_enum else "scalar",
            is_repeated=field.label == FieldDescriptorProto.LABEL_REPEATED,
            is_optional=field.proto3_optional,
        )

    def _doc(self, path: Sequence[int]) -> str:
        """Return the comment at *path* as one paragraph a blank line."""
        comment = self._comments.get(tuple(path), "")
        paragraphs = comment.strip().split("\n\n")
        return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
