"""Nothing tells to install by a name that is not ours in a package registry."""

import re

from support.shared_material import REPOSITORY, repository_files

_INSTALLERS = (
    r"(?:uv )?pip3? install",
    r"pipx (?:install|run)",
    r"uv (?:add|tool install|tool run)",
    "uvx",
    r"npm (?:install|i)",
    "npx",
    r"(?:yarn|pnpm) add",
    r"cargo (?:add|install)",
)
#: Options may come before the name; a path, an archive or an address is not a name.
_BY_NAME = re.compile(
    rf"\b(?:{'|'.join(_INSTALLERS)})(?: +-[-\w]+)* +[\"']?sidecheck(?:[-_]server)?(?![-\w/.])"
)
_SUFFIXES = (".md", ".py", ".yaml", ".yml", ".toml", ".ts", ".go", ".rs", ".java", ".json", ".txt")


def test_no_text_installs_an_unpublished_name() -> None:
    """The owner of such a name could run code in the pipelines of users."""
    texts = {
        name: (REPOSITORY / name).read_text()
        for name in repository_files()
        if name.endswith(_SUFFIXES) and name != "tests/docs/test_installation.py"
    }

    assert [] == [
        f"{name}: {match[0]}" for name, text in texts.items() for match in _BY_NAME.finditer(text)
    ]


def test_no_message_or_hook_names_an_unpublished_package_to_install() -> None:
    """Hooks and readers of an error install the named packages."""
    by_name = re.compile(
        r"additional_dependencies: *\[[^]]*sidecheck|[\"']sidecheck(?:-server)?\[[^]]*\](?! @)"
    )
    folders = ("service", "clients/python/sidecheck", "docs", "deploy")
    unpublished = [
        f"{path.relative_to(REPOSITORY)}: {match[0]}"
        for folder in folders
        for path in sorted((REPOSITORY / folder).rglob("*"))
        if path.suffix in _SUFFIXES and path.is_file()
        for match in by_name.finditer(path.read_text())
    ]

    assert [] == unpublished


def test_the_commands_of_registries_are_known() -> None:
    """Commands with a file or an address are excluded."""
    by_name = (
        "pip install sidecheck",
        "pip install -U 'sidecheck-server[postgres]'",
        "uvx sidecheck proxy",
        "npm install sidecheck",
        "cargo add sidecheck --features tls",
    )
    others = (
        "pip install ./clients/python",
        "pip install dist/sidecheck-0.1.0-py3-none-any.whl",
        "npm install ../sidecheck/clients/typescript/sidecheck-0.1.0.tgz",
    )

    assert [True] * 5 == [_BY_NAME.search(text) is not None for text in by_name]
    assert [None] * 3 == [_BY_NAME.search(text) for text in others]
