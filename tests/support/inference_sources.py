"""Hostile sources, which have an effect if they run, or are expensive to read.

Run as a program, it infers from all of them under an audit hook and prints a JSON object: the
events of the hook and, for each source, the number of tools, the codes of its diagnostics and
the seconds it took.
"""

import json
import sys
import time

__all__ = ["SOURCES"]

_BOMB = "__import__('os').system('touch /tmp/inferred') or print('ran')"


def _quoted(depth: int) -> str:
    return repr(_quoted(depth - 1)) if depth else "int"


_TEXTS: dict[str, str] = {
    "default": f"@tool\ndef f(a: int = {_BOMB}): ...",
    "decorator": f"@tool(name={_BOMB})\n@({_BOMB})\ndef f(a: int): ...",
    "annotation": f"@tool\ndef f(a: {_BOMB}) -> {_BOMB}: ...",
    "quoted annotation": f'@tool\ndef f(a: "{_BOMB}") -> "list[{_BOMB}]": ...',
    "class body": f"class A:\n    x: int = {_BOMB}\n    {_BOMB}\n@tool\ndef f(a: A): ...",
    "dataclass body": "from dataclasses import dataclass\n@dataclass\nclass A:\n"
    f"    x: int = {_BOMB}\n    {_BOMB}\n@tool\ndef f(a: A): ...",
    "model": "from pydantic import BaseModel, Field\nclass A(BaseModel):\n"
    f"    x: {_BOMB!r}\n    y: int = Field({_BOMB}, ge={_BOMB})\n@tool\ndef f(a: A): ...",
    "typed dict": "from typing import TypedDict\n"
    f"A = TypedDict('A', {{'a': {_BOMB!r}, 'b': {_BOMB}}})\n@tool\ndef f(a: A): ...",
    "enumeration": f"import enum\nclass A(enum.Enum):\n    B = {_BOMB}\n@tool\ndef f(a: A): ...",
    "metaclass": "class M(type):\n    def __prepare__(*_): print('ran')\n"
    "class A(metaclass=M): ...\n@tool\ndef f(a: A): ...",
    "f-string": "@tool\ndef f(a: f\"{__import__('os')!r:{print('ran')}}\" = f'{print(1)}'): ...",
    "walrus": "@tool\ndef f(a: (x := print('ran')) = (y := print('ran'))): ...",
    "comprehension": "@tool\ndef f(a: [print(i) for i in range(9)] = {i for i in 'ab'}): ...",
    "lambda": "@tool\ndef f(a: (lambda: print('ran'))() = (lambda: 1)()): ...",
    "literal": f"from typing import Literal\n@tool\ndef f(a: Literal[{_BOMB}]): ...",
    "metadata": "from typing import Annotated\nfrom pydantic import Field\n@tool\n"
    f"def f(a: Annotated[int, {_BOMB}, Field(ge={_BOMB}, description={_BOMB})]): ...",
    "docstring": '@tool\ndef f(a: int):\n    """F.\n\n    Args:\n'
    f'        a ({_BOMB}): The a.\n    """',
    "forward reference": "from typing import ForwardRef\nX = ForwardRef('print(1)')\n"
    "@tool\ndef f(a: X, b: 'X', c: ForwardRef('print(1)')): ...",
    "coding cookie": "# -*- coding: utf-7 -*-\n@tool\ndef f(a: int): ...\n+AGEAYgBj-\n",
    "star": "from os import *\n@tool\ndef f(a: system('touch /tmp/inferred')): ...",
    "relative": "from . import x\nfrom ..y import z\n@tool\ndef f(a: x, b: z): ...",
    "null byte": "@tool\ndef f(a: int\0): ...",
    "null byte in quotes": "@tool\ndef f(a: 'int\\0', b: 'int\\n\\nint'): ...",
    "half a surrogate": "@tool(description='\\ud800')\n"
    "def f(a: str = '\\ud800', b: '\\ud800' = 1):\n    '\\ud800'",
    "parentheses": "(" * (64 << 10),
    "nested lists": "@tool\ndef f(a: " + "list[" * 90 + "int" + "]" * 90 + "): ...",
    "nested more": "@tool\ndef f(a: " + "list[" * 5000 + "int" + "]" * 5000 + "): ...",
    "signs": "@tool\ndef f(a: int = " + "-" * 60_000 + "1): ...",
    "attributes": "@tool\ndef f(a: " + "a." * 30_000 + "b): ...",
    "sum": "@tool\ndef f(a: int = " + "1+" * 30_000 + "1): ...",
    "bars": "@tool\ndef f(a: " + "int|" * 15_000 + "str): ...",
    "bars of quotes": '@tool\ndef f(a: "' + "int|" * 15_000 + 'str"): ...',
    "quotes in quotes": f"@tool\ndef f(a: {_quoted(6)}): ...",
    "values": "from typing import Literal\n@tool\ndef f(a: Literal["
    + ",".join(map(str, range(11_000)))
    + "]): ...",
    "classes": "class A: ...\n" * 5000 + "@tool\ndef f(a: A): ...",
    "chain of classes": "from pydantic import BaseModel\n"
    + "".join(f"class A{n}(BaseModel):\n a: 'A{n + 1}'\n" for n in range(1500))
    + "@tool\ndef f(a: A0): ...",
    "chain of bases": "from pydantic import BaseModel as A0\n"
    + "".join(f"class A{n + 1}(A{n}): ...\n" for n in range(2500))
    + "@tool\ndef f(a: A2500): ...",
    "diamonds": "from pydantic import BaseModel as A0\n"
    + "".join(f"class A{n + 1}(A{n}, A{n}): ...\n" for n in range(19))
    + "@tool\ndef f(a: A19): ...",
    "a class that is its own base": "class A(A): ...\n@tool\ndef f(a: A): ...",
    "aliases of themselves": "X = X\nY = list['Z']\nZ = dict[str, 'Y']\n@tool\n"
    "def f(a: X, b: Y, c: 'Z | Y' = Y): ...",
    "values of themselves": "import enum\nclass E(enum.Enum):\n    A = E.A\n    B = C\n"
    "X = [X]\n@tool\ndef f(a: E, b: int = X, c: int = E.A): ...",
    "doubling": "X0 = tuple[int, int]\n"
    + "".join(f"X{n + 1} = tuple[X{n}, X{n}]\n" for n in range(30))
    + "@tool\ndef f(a: X30): ...",
    "doubling of values": "X0 = [1, 1]\n"
    + "".join(f"X{n + 1} = [X{n}, X{n}]\n" for n in range(30))
    + "@tool\ndef f(a: list = X30): ...",
    "a long text many times": "from typing import Annotated\nfrom pydantic import Field\n"
    f"X = Annotated[int, Field(description='{'x' * 30_000}')]\n@tool\n"
    f"def f(a: tuple[{'X,' * 10_000}]): ...",
    "a long text in many tools": f"T = '{'x' * 30_000}'\n"
    + "".join(f"@tool(title=T)\ndef f{n}(): ...\n" for n in range(1000)),
    "a large class in many tools": "from pydantic import BaseModel\nclass A(BaseModel):\n"
    + "".join(f" a{n}: int\n" for n in range(199))
    + "".join(f"@tool\ndef f{n}(a: A) -> A: ...\n" for n in range(1500)),
    "tools": "@tool\ndef f(a:int):0\n" * 2600,
    "parameters": "@tool\ndef f(" + ",".join(f"a{n}: int" for n in range(4000)) + "): ...",
    "names of one scope": "".join(f"a{n}=1\n" for n in range(6000)) + "@tool\ndef f(a: a1): ...",
    "functions in functions": "".join(f"{' ' * n}def f{n}():\n" for n in range(95))
    + f"{' ' * 95}@tool\n{' ' * 95}def g(a: int): ...",
    "digits": f"@tool\ndef f(a: int = {'9' * 60_000}): ...",
    "hexadecimal digits": f"@tool\ndef f(a: int = 0x{'f' * 60_000}, b: float = 1e999): ...",
    "escapes": "@tool\ndef f(a: str = '\\d\\w', b: int = 1 if 1 is 1 else 2): ...",
    "tags in tags": "from typing import Literal\nfrom pydantic import BaseModel, Field\n"
    + "".join(
        f"class A{n}(BaseModel):\n k: Literal['a{n}']\n"
        f" u: 'A{n + 1} | B' = Field(discriminator='k')\n"
        for n in range(150)
    )
    + "class B(BaseModel):\n k: Literal['b']\nclass A150(B): ...\n@tool\ndef f(a: A0): ...",
}
SOURCES: dict[str, bytes] = {name: source.encode() for name, source in _TEXTS.items()}
SOURCES["no UTF-8"] = b"@tool\ndef f(a: '\xff'): ..."
for _name, _line in {
    "Args": "    Args:\n" + "        a: x\n" * 4000,
    "spaces": "    Args:\n" + " " * 15_000 + "x",
    "colons": "    Args:\n        a" + ":" * 15_000,
    "parentheses": "    Args:\n        a (" + "(" * 6000 + "): x",
    "dashes": "    Parameters\n    " + "-" * 15_000,
    "numpy": "    Parameters\n    ----------\n" + "    a : int\n        x\n" * 700,
    "sphinx": "    :param a: x\n" * 900,
    "param": "    :param " + "a " * 7000,
    "braces": "    Parameters\n    ----------\n    a : {" + "1, " * 5000,
    "null": "    Args:\n        a (\\0): x\n",
    "long": "    Args:\n" + "        a: x\n" * 4800,
    "prompts": "    Examples:\n" + "        >>> a\n" * 1000,
    "returns": "    Returns:\n        " + "tuple[" * 2000 + "\n",
    "blank lines": "    Args:\n" + "\n \n" * 5000 + "x",
}.items():
    SOURCES[f"docstring: {_name}"] = (
        f'@tool\ndef f(a: int):\n    """F.\n\n{_line}\n    """'.encode()
    )

# Audit events that no source may cause.
_FORBIDDEN_EVENTS = (
    "exec",
    "import",
    "open",
    "os.",
    "subprocess.",
    "socket.",
    "ctypes.",
    "shutil.",
)


def main() -> None:
    """Infer from all sources."""
    from sidecheck_server.core.infer.infer import infer_tools
    from sidecheck_server.core.infer.types import InferenceOptions
    from sidecheck_server.core.limits import Limits

    # Import the modules that are imported lazily.
    infer_tools(b'def f(a: "int" = 1):\n    """F.\n\n    Args:\n        a (int): x\n    """',
                InferenceOptions(), Limits())  # fmt: skip
    events: list[str] = []

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        # For the line of a syntax error, Python opens the file of the source: "" is none.
        if event.startswith(_FORBIDDEN_EVENTS) and arguments[0] != "":
            events.append(f"{event} {str(arguments)[:80]}")
        elif event == "compile":
            # The parser is the compiler, called with a flag for the syntax tree; anything else
            # that it compiled would have to be executed to have an effect.
            caller = sys._getframe(1).f_code.co_name
            if caller not in ("parse", "_compile_docstring_annotation"):
                events.append(f"compile from {caller}")

    sys.addaudithook(hook)
    sources = {}
    for name, source in SOURCES.items():
        start = time.process_time()
        result = infer_tools(source[: 64 << 10], InferenceOptions(), Limits())
        seconds = time.process_time() - start
        codes = sorted({diagnostic.code for diagnostic in result.diagnostics})
        sources[name] = [len(result.tools), codes, round(seconds, 3)]
    expected = list(events)
    exec("1")
    print(
        json.dumps({"events": expected, "hooked": len(events) > len(expected), "sources": sources})
    )


if __name__ == "__main__":
    main()
