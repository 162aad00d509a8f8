"""Descriptions of the API for the server, from the comments of the .proto files."""

import json
from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from docs.generate.api import read_api
from docs.generate.markdown import paragraph

__all__ = ["descriptions"]


def descriptions() -> str:
    """Return a JSON object: the comments of methods, messages and fields, by full name.

    Raises:
        RuntimeError: protoc rejects the files.
    """
    comments = {
        name: "\n\n".join(map(paragraph, comment.split("\n\n")))
        for file in read_api()
        for path, comment in file.comments.items()
        if (name := ".".join((file.proto.package, *_names(file.proto, path))))
    }
    return json.dumps(comments, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _names(proto: FileDescriptorProto, path: tuple[int, ...]) -> Iterator[str]:
    """Yield the names of the elements on *path*, which alternates field numbers and indexes."""
    element = proto
    for number, index in zip(path[::2], path[1::2], strict=True):
        element = getattr(element, element.DESCRIPTOR.fields_by_number[number].name)[index]
        yield element.name
