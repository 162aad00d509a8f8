"""Imports every module of Sidecheck; prints those that fail, one a line, and their number."""

import importlib
import pkgutil

import sidecheck
import sidecheck_server


def main() -> None:
    """Import the modules of both packages."""
    count = 0
    for package in (sidecheck, sidecheck_server):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("__main__"):
                continue
            count += 1
            try:
                importlib.import_module(module.name)
            except (ImportError, AttributeError) as error:
                print(f"{module.name}: {error}")
    print(count > 0)


if __name__ == "__main__":
    main()
