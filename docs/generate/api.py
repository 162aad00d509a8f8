"""The page of the API, from the comments of the .proto files."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)
from grpc_tools import protoc

from docs.generate.markdown import NOTICE, code, paragraph, table

__all__ = ["ApiFile", "api_page", "read_api"]

_PROTO = Path(__file__).parents[2] / "proto"
_PACKAGE = "sidecheck.v1"
_BEGINNING = """\
# API

{notice}
The package is `sidecheck.v1`; the sources are in
[`proto/sidecheck/v1`](https://github.com/sidecheck/sidecheck/tree/main/proto/sidecheck/v1). JSON
travels as `bytes`, in UTF-8. The server also serves `grpc.health.v1.Health` and, unless it is
disabled, gRPC reflection.
"""
# Field numbers in descriptor.proto, which the paths of comments consist of.
_FILE_MESSAGES, _FILE_ENUMS, _FILE_SERVICES = 4, 5, 6
_MESSAGE_FIELDS, _MESSAGE_MESSAGES, _MESSAGE_ENUMS = 2, 3, 4
_CHILDREN = 2  # the values of an enum, the methods of a service
_Path = tuple[int, ...]


class ApiFile(NamedTuple):
    """A .proto file, and its comments by the paths of the elements that they describe."""

    proto: FileDescriptorProto
    comments: dict[_Path, str]


def api_page() -> str:
    """Return the page: services first, then messages and enums by file.

    Raises:
        RuntimeError: protoc rejects the files.
    """
    files = read_api()
    services = [
        _service(file, service, (_FILE_SERVICES, index))
        for file in files
        for index, service in enumerate(file.proto.service)
    ]
    types = [part for file in files for part in _types(file)]
    return "\n".join([_BEGINNING.format(notice=NOTICE), *services, *types])


def read_api() -> list[ApiFile]:
    """Return the files of the API with their comments.

    Raises:
        RuntimeError: protoc rejects the files.
    """
    return [ApiFile(proto, dict(_comments(proto))) for proto in _descriptors()]


def _descriptors() -> list[FileDescriptorProto]:
    names = sorted(str(path.relative_to(_PROTO)) for path in _PROTO.glob("sidecheck/**/*.proto"))
    # The files of google.protobuf come with protoc.
    includes = (_PROTO, Path(protoc.__file__).parent / "_proto")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "api.binpb"
        arguments = ["protoc", "--include_source_info", *(f"-I{path}" for path in includes)]
        if protoc.main([*arguments, f"--descriptor_set_out={output}", *names]):
            raise RuntimeError("protoc failed")
        return list(FileDescriptorSet.FromString(output.read_bytes()).file)


def _comments(proto: FileDescriptorProto) -> Iterator[tuple[_Path, str]]:
    for location in proto.source_code_info.location:
        if location.leading_comments:
            yield tuple(location.path), location.leading_comments.strip()


def _text(comment: str) -> str:
    return "\n\n".join(map(paragraph, comment.split("\n\n")))


def _service(file: ApiFile, service: ServiceDescriptorProto, path: _Path) -> str:
    parts = [f"## {service.name}\n", f"{_text(file.comments[path])}\n"]
    for index, method in enumerate(service.method):
        request = f"{'stream ' * method.client_streaming}{_link(method.input_type)}"
        response = f"{'stream ' * method.server_streaming}{_link(method.output_type)}"
        comment = _text(file.comments[(*path, _CHILDREN, index)])
        parts += [f"### {method.name}\n", f"{request} → {response}\n", f"{comment}\n"]
    return "\n".join(parts)


def _types(file: ApiFile) -> Iterator[str]:
    title = Path(file.proto.name).stem.replace("_", " ")
    yield f"## Types: {title}\n"
    for index, enum in enumerate(file.proto.enum_type):
        yield _enum(file, enum, (_FILE_ENUMS, index), enum.name)
    for index, message in enumerate(file.proto.message_type):
        yield from _message(file, message, (_FILE_MESSAGES, index), message.name)


def _message(file: ApiFile, message: DescriptorProto, path: _Path, name: str) -> Iterator[str]:
    text = f"### {name}\n\n{_text(file.comments[path])}\n"
    if message.field:
        rows = (
            (
                code(field.name),
                _type(field),
                _text(file.comments.get((*path, _MESSAGE_FIELDS, index), "")).replace("\n\n", "\n"),
            )
            for index, field in enumerate(message.field)
        )
        text += f"\n{table(('Field', 'Type', 'Description'), rows)}"
    for oneof in message.oneof_decl:
        fields = [
            code(field.name)
            for field in message.field
            if field.HasField("oneof_index")
            and not field.proto3_optional
            and message.oneof_decl[field.oneof_index].name == oneof.name
        ]
        if fields:
            text += f"\nOne of `{oneof.name}`: {', '.join(fields)}.\n"
    yield text
    for index, enum in enumerate(message.enum_type):
        yield _enum(file, enum, (*path, _MESSAGE_ENUMS, index), f"{name}.{enum.name}")
    for index, nested in enumerate(message.nested_type):
        yield from _message(
            file, nested, (*path, _MESSAGE_MESSAGES, index), f"{name}.{nested.name}"
        )


def _enum(file: ApiFile, enum: EnumDescriptorProto, path: _Path, name: str) -> str:
    rows = (
        (
            code(value.name),
            str(value.number),
            _text(file.comments[(*path, _CHILDREN, index)]).replace("\n\n", "\n"),
        )
        for index, value in enumerate(enum.value)
    )
    values = table(("Value", "Number", "Description"), rows)
    return f"### {name}\n\n{_text(file.comments[path])}\n\n{values}"


def _type(field: FieldDescriptorProto) -> str:
    if field.type_name:
        name = _link(field.type_name)
    else:
        name = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    repeated = field.label == FieldDescriptorProto.LABEL_REPEATED
    return f"{'repeated ' * repeated}{'optional ' * field.proto3_optional}{name}"


def _link(type_name: str) -> str:
    name = type_name.lstrip(".")
    if not name.startswith(f"{_PACKAGE}."):
        return code(name)
    name = name.removeprefix(f"{_PACKAGE}.")
    return f"[`{name}`](#{name.lower().replace('.', '')})"
