"""The files of the page, as they are served and as they are written."""

import hashlib
import http.client
import json
import random
import re
import subprocess
from contextlib import closing
from email.message import Message
from typing import Any

import pytest
from support.page_checks import PAGE_FILES, PAGE_PACKAGE, page_checks
from support.running import RunningServer

from .conftest import Site

_VENDORED = PAGE_FILES / "vendor"
_FILES = [
    "",
    *(
        f"page/{file.relative_to(PAGE_FILES)}"
        for file in PAGE_FILES.rglob("*")
        if file.is_file() and file.name != "index.html"
    ),
]


def _get(server: RunningServer, path: str, **headers: str) -> tuple[int, Message, bytes]:
    """Return the status, the headers and the body of a response."""
    with closing(http.client.HTTPConnection(server.admin_address, timeout=120)) as connection:
        connection.request(
            "GET", path, headers={name.replace("_", "-"): headers[name] for name in headers}
        )
        response = connection.getresponse()
        return response.status, response.headers, response.read()


def test_files_are_served_with_a_strict_policy(page_server: RunningServer) -> None:
    """The policy forbids inline and foreign code; unchanged files are not sent again."""
    for path in _FILES:
        status, headers, _ = _get(page_server, f"/{path}")
        directives = headers["content-security-policy"].split("; ")

        assert 200 == status, path
        assert "default-src 'none'" == directives[0]
        assert {"script-src 'self'", "style-src 'self'", "connect-src 'self'"} <= set(directives)
        assert {"frame-ancestors 'none'", "require-trusted-types-for 'script'"} <= set(directives)
        assert not any("unsafe" in directive for directive in directives)
        assert "nosniff" == headers["x-content-type-options"]
        assert "no-referrer" == headers["referrer-policy"]
        assert "no-cache" == headers["cache-control"]
        status, _, body = _get(page_server, f"/{path}", if_none_match=headers["etag"])
        assert (304, b"") == (status, body)


def test_foreign_host_names_do_not_serve_the_page(page_server: RunningServer) -> None:
    """They do not lead to the API either."""
    assert 403 == _get(page_server, "/", host="evil.example")[0]


@pytest.mark.parametrize(
    "path",
    ["", "none.js", "..%2fpage.py", "..%2f..%2f__init__.py", "%2fetc%2fpasswd", "%00", "x" * 5000],
)
def test_paths_that_are_not_files_of_the_page(page_server: RunningServer, path: str) -> None:
    """They are files of the service or of the machine, or folders."""
    status, headers, _ = _get(page_server, f"/page/{path}")

    assert (404, "application/problem+json") == (status, headers["content-type"])


def test_media_types(page_server: RunningServer) -> None:
    """Browsers require these types for modules and styles, on every system."""
    types = {path.rpartition(".")[2]: _get(page_server, f"/{path}")[1] for path in _FILES}

    assert {
        "": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json",
        "svg": "image/svg+xml",
        "ts": "text/plain; charset=utf-8",
        "txt": "text/plain; charset=utf-8",
    } == {suffix: headers["content-type"] for suffix, headers in types.items()}


def test_the_page_has_no_inline_scripts_or_styles() -> None:
    """It loads nothing of another host, and links to the documentation alone."""
    html = (PAGE_FILES / "index.html").read_text()
    sources = [file.read_text() for file in PAGE_FILES.rglob("*.js")]

    assert not any(text in html for text in ("<script>", "<style", " style=", " onclick="))
    assert not any(name in text for text in sources for name in ("innerHTML", "insertAdjacent"))
    assert ["https://github.com/sidecheck/sidecheck/blob/main/docs/guides/page.md"] == [
        url for url in re.findall(r'"([^"]*)"', html) if "://" in url
    ]


@pytest.mark.parametrize(
    "words",
    [
        (".bin/tsc", "--project", f"{PAGE_PACKAGE}/tsconfig.json"),
        (
            ".bin/prettier",
            "--config",
            f"{PAGE_PACKAGE}/.prettierrc.json",
            "--check",
            f"{PAGE_FILES}",
            f"!{_VENDORED}/*/*.js",
        ),
    ],
    ids=["types", "form"],
)
def test_the_modules_are_sound(words: tuple[str, ...]) -> None:
    """The type checker accepts their comments, and their format is uniform."""
    program, *options = words
    command = [str(page_checks() / program), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)

    assert 0 == done.returncode, done.stdout + done.stderr


def _vendored() -> dict[str, tuple[str, dict[str, str]]]:
    """Return the package and the entry in the lock of each vendored file."""
    lock = json.loads((_VENDORED / "lock.json").read_text())
    return {
        name: (package["name"], file)
        for package in lock["packages"]
        for name, file in package["files"].items()
    }


def test_vendored_files_match_the_lock() -> None:
    """The folder has no other files but declarations of types."""
    present = {
        str(file.relative_to(_VENDORED)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in _VENDORED.rglob("*.*")
        if file.name != "lock.json" and not file.name.endswith(".d.ts")
    }

    assert {name: file["sha256"] for name, (_, file) in _vendored().items()} == present


def test_vendored_files_are_as_published() -> None:
    """They have the versions of the lock, and a licence for each package."""
    modules = page_checks()
    lock = json.loads((_VENDORED / "lock.json").read_text())
    published = [
        json.loads((modules / package["name"] / "package.json").read_text())
        for package in lock["packages"]
    ]

    assert [
        {key: package[key] for key in ("name", "version", "license")} for package in published
    ] == [
        {key: package[key] for key in ("name", "version", "license")}
        for package in lock["packages"]
    ]
    for name, (package_name, file) in _vendored().items():
        source = modules / package_name / file["source"]
        assert source.read_bytes() == (_VENDORED / name).read_bytes(), name
    assert {package["name"] for package in lock["packages"]} == {
        package_name
        for package_name, file in _vendored().values()
        if file["source"].startswith("LICENSE")
    }


def _value(source: random.Random, depth: int) -> Any:
    keys = ["a", "a/b", "m~n", "", "é", '"', "\\", "{", "0", "😀"]
    match source.randrange(3 if depth else 1):
        case 1:
            return [_value(source, depth - 1) for _ in range(source.randrange(4))]
        case 2:
            chosen = source.sample(keys, source.randrange(4))
            return {key: _value(source, depth - 1) for key in chosen}
        case _:
            return source.choice([None, True, -1.5e3, "", 'a"b', "}\\", "[{,:", "\u2028", 10**20])


def _pointers(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    inner: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        for key, member in value.items():
            token = key.replace("~", "~0").replace("/", "~1")
            inner += _pointers(member, f"{pointer}/{token}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            inner += _pointers(member, f"{pointer}/{index}")
    return [(pointer, value), *inner]


def test_every_pointer_has_the_text_of_its_value(site: Site) -> None:
    """White space and escapes are arbitrary; formatting keeps the value."""
    source = random.Random(7)
    cases = []
    for indent in (None, 0, 1, 3) * 40:
        value = _value(source, 4)
        text = json.dumps(value, indent=indent, ensure_ascii=source.random() < 0.5)
        cases.append((f" \n{text}\t", _pointers(value)))
    page = site.open()
    results = page.evaluate(
        """async (cases) => {
          const {textAt} = await import("./page/json_places.js");
          const {format} = await import("./page/json_text.js");
          return cases.map(([text, pointers]) =>
            [format(text), pointers.map(([pointer]) => textAt(text, pointer))]);
        }""",
        cases,
    )

    for (text, pointers), (formatted, texts) in zip(cases, results, strict=True):
        assert [value for _, value in pointers] == [json.loads(text) for text in texts]
        # Empty objects and arrays have no line of their own.
        assert json.dumps(json.loads(text), indent=2) == json.dumps(json.loads(formatted), indent=2)


@pytest.mark.parametrize(
    ("text", "pointer", "place"),
    [
        ('{"a": 1, "a": 2}', "/a", '"a": 2'),
        ('{"a": {"b": [1, {"c": ', "/a/b/1/c", '"c": '),
        ('{"a": {"b": 1', "/a/x", '"a": {"b": 1'),
        ('{"a" 1}', "/a", '{"a" 1}'),
        ("", "/a", ""),
        ("[1, 2]", "/01", "[1, 2]"),
        ('{"a": "never ends', "/a", '"a": "never ends'),
    ],
)
def test_malformed_text_has_positions(site: Site, text: str, pointer: str, place: str) -> None:
    """Positions exist up to the fault; of equal keys the last one counts."""
    page = site.open()
    places = page.evaluate(
        """async ([text, pointer]) => {
          const {locate} = await import("./page/json_places.js");
          const {keyStart, end} = locate(text, pointer);
          return text.slice(keyStart, end);
        }""",
        [text, pointer],
    )

    assert place == places


def test_lines_are_compared(site: Site) -> None:
    """The number of changes is minimal."""
    page = site.open()
    lines = page.evaluate(
        """async () => {
          const {compareLines} = await import("./page/difference.js");
          return compareLines("a\\nb\\nc\\nd", "a\\nc\\nx\\nd").map(({kind, text}) => kind + text);
        }"""
    )

    assert ["samea", "removedb", "samec", "addedx", "samed"] == lines
