"""An index of packages that has releases later than those of the registry."""

import hashlib
import io
import json
import threading
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["LATER_VERSION", "LaterIndex", "running_index"]

#: Later than anything that the registry has.
LATER_VERSION = "9999.0.0"

_JSON = "application/vnd.pypi.simple.v1+json"
_SECONDS = 60


class LaterIndex(ThreadingHTTPServer):
    """Serves the pages of another index, with a later release of some projects on them.

    A later release requires a package that does not exist, so its installation fails. Files
    of the other index are linked where they are.
    """

    daemon_threads = True

    def __init__(self, upstream: str, later: frozenset[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = upstream.rstrip("/")
        self.later = later
        #: Projects whose pages were requested.
        self.requested: set[str] = set()

    @property
    def url(self) -> str:
        """Address of the index."""
        return f"http://127.0.0.1:{self.server_address[1]}/simple"

    def page(self, project: str) -> bytes:
        """Return the page of *project*, by PEP 691."""
        request = urllib.request.Request(f"{self.upstream}/{project}/", headers={"Accept": _JSON})
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:
            page: dict[str, Any] = json.load(response)
        if project in self.later:
            name = project.replace("-", "_")
            wheel = later_wheel(name)
            page["versions"] = [*page.get("versions", ()), LATER_VERSION]
            page["files"].append(
                {
                    "filename": f"{name}-{LATER_VERSION}-py3-none-any.whl",
                    "url": f"{self.url}/../files/{name}",
                    "hashes": {"sha256": hashlib.sha256(wheel).hexdigest()},
                    "size": len(wheel),
                    "yanked": False,
                }
            )
        return json.dumps(page).encode()


def later_wheel(name: str) -> bytes:
    """Return a wheel of the later release of the project *name*, which cannot be installed."""
    folder = f"{name}-{LATER_VERSION}.dist-info"
    metadata = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {LATER_VERSION}\n"
        "Provides-Extra: email\nRequires-Dist: sidecheck-no-such-package==1\n"
    )
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        for file, text in (
            ("METADATA", metadata),
            ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
            ("RECORD", ""),
        ):
            wheel.writestr(zipfile.ZipInfo(f"{folder}/{file}"), text)
    return content.getvalue()


class _Handler(BaseHTTPRequestHandler):
    server: LaterIndex

    def do_GET(self) -> None:
        folder, _, name = self.path.strip("/").rpartition("/")
        if folder == "simple":
            self.server.requested.add(name)
            self._respond(self.server.page(name), _JSON)
        else:
            self._respond(later_wheel(name), "application/octet-stream")

    def _respond(self, body: bytes, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@contextmanager
def running_index(upstream: str, later: frozenset[str]) -> Iterator[LaterIndex]:
    """Run an index in the block."""
    index = LaterIndex(upstream, later)
    thread = threading.Thread(target=index.serve_forever)
    thread.start()
    try:
        yield index
    finally:
        index.shutdown()
        thread.join()
        index.server_close()
