"""Hook of MkDocs: adds the READMEs of the clients to the site.

The READMEs stay beside the packages that they describe, so that registries show them. Links
between them and the pages of `docs` work in the repository as well as in the site.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

__all__ = ["on_files", "on_page_markdown"]

_REPOSITORY = Path(__file__).parents[2]
_BLOB = "https://github.com/sidecheck/sidecheck/blob/main/"
_LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
_FENCED = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for the README of each client, under `clients`."""
    for readme in sorted((_REPOSITORY / "clients").glob("*/README.md")):
        name = f"clients/{readme.parent.name}.md"
        page = File.generated(config, name, content=readme.read_text(encoding="utf-8"))
        page.edit_uri = None
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Let links to files of the repository lead to their pages, if there are any."""
    uri = page.file.src_uri
    readme = re.fullmatch(r"clients/(\w+)\.md", uri)
    source = f"clients/{readme[1]}/README.md" if readme else f"docs/{uri}"

    def rewrite(match: re.Match[str]) -> str:
        link = match[1]
        if "://" in link and not link.startswith(_BLOB):
            return link
        path = link.removeprefix(_BLOB)
        if path == link:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        client = re.fullmatch(r"clients/(\w+)/README\.md", path)
        name = f"clients/{client[1]}.md" if client else path.removeprefix("docs/")
        if (client or path.startswith("docs/")) and files.get_file_from_path(name):
            return posixpath.relpath(name, posixpath.dirname(uri) or ".")
        return link if path.startswith("docs/") or "://" in link else _BLOB + path

    pieces = []
    end = 0
    for fence in _FENCED.finditer(markdown):
        pieces += [_LINK.sub(rewrite, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, _LINK.sub(rewrite, markdown[end:])])
