"""Frame of generated code: functions, blocks and charges to the budget.

It is fastjsonschema's generator with other functions around its blocks, so the release
of fastjsonschema is pinned exactly. Strings of the schema enter the code only as
``repr()`` of constants.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from fastjsonschema.draft07 import CodeGeneratorDraft07
from fastjsonschema.ref_resolver import RefResolver

from sidecheck_server.core.compiler.conditions import KIND_OF_TYPE, TYPE_TESTS, write_set
from sidecheck_server.core.engines.weights import schema_weight
from sidecheck_server.core.schemas.canonical import CannotLowerError
from sidecheck_server.core.types import JsonValue

__all__ = ["GeneratedFrame"]


class GeneratedFrame(CodeGeneratorDraft07):
    """Generator of functions ``dN(data)``; a subclass writes the code of the keywords."""

    # The definition and the variable of the current block, maintained by fastjsonschema.
    _definition: Any
    _variable: Any

    def __init__(self, schema: Any, constants: Sequence[JsonValue], *, counted: bool) -> None:
        resolver = RefResolver("", schema, store={}, handlers=_NoHandlers())
        super().__init__(  # type: ignore[no-untyped-call]
            schema,
            resolver=resolver,
            formats={},
            use_default=False,
            use_formats=False,
            detailed_exceptions=False,
            fast_fail=True,
        )
        self.constants = constants
        self.counted = counted
        self._needed_validation_functions = {"#/definitions/d0": "d0"}
        # Sets of the names that closed objects may have, with the variables of the sets.
        self._closed: dict[tuple[str, ...], str] = {}
        # The definition whose values are known to have its types.
        self._type_checked: Any = None

    # Frame

    def generate_func_code(self) -> None:
        """Write all functions, and the sets of names that they use."""
        while self._needed_validation_functions:
            uri, name = self._needed_validation_functions.popitem()
            self.generate_validation_function(uri, name)
        for names, variable in self._closed.items():
            self.l("{} = {}", variable, write_set(names))

    def generate_validation_function(self, uri: str, name: str) -> None:
        """Write the function *name*, which validates against the definition *uri*."""
        self._validation_functions_done.add(uri)
        definition = self._root_definition["definitions"][name]
        with self.l("def {}(data{}):", name, ", budget" if self.counted else "", optimize=False):
            self.l("pass")
            self.charge("", definition)
            self.child(definition, "data")

    def generate_ref(self) -> None:
        """Write the call of the function of another definition."""
        uri = self._definition["$ref"]
        name = uri.rpartition("/")[2]
        if uri not in self._validation_functions_done:
            self._needed_validation_functions[uri] = name
        self.l("{}({variable}{})", name, ", budget" if self.counted else "")

    def exc(self, *_message: Any, **_details: Any) -> None:
        """Write the exception for an invalid value; fastjsonschema's would have a message."""
        self.l("raise Invalid")

    def fail_if(self, condition: str) -> None:
        """Write that a value is invalid if *condition* holds."""
        with self.l("if {}:", condition, optimize=False):
            self.l("raise Invalid")

    def charge(self, times: str, *bodies: Any) -> None:
        """Write the charge for evaluating *bodies* to the budget, multiplied by *times*."""
        if self.counted:
            steps = sum(schema_weight(body, self.constants) for body in bodies)
            self.l("budget[0] -= {}{}", f"{times} * " if times else "", steps)
            with self.l("if budget[0] < 0:", optimize=False):
                self.l("raise Exhausted")

    def guard(self, kind: str) -> Any:
        """Open a block for values of *kind*, unless ``type`` rejects all others."""
        types = self._definition.get("type", ())
        if types and all(KIND_OF_TYPE.get(name) == kind for name in types):
            return nullcontext()
        return self.l("if {}:", TYPE_TESTS[kind].format(self._variable))

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Open a block with *head*; it may stay empty."""
        with self.l("{}", head, optimize=False):
            self.l("pass")
            yield

    def known_names(self, names: Iterable[str]) -> str:
        """Return the variable of the set of *names*, which is created at load time."""
        return self._closed.setdefault(tuple(names), f"S{len(self._closed)}")

    def child(self, definition: Any, variable: str, *, type_checked: bool = False) -> None:
        """Write the evaluation of *variable* against *definition*.

        *type_checked* says that it is known to have one of the types of *definition*.
        """
        self._type_checked = definition if type_checked else None
        self.generate_func_code_block(  # type: ignore[no-untyped-call]
            definition, variable, "data", clear_variables=True
        )


class _NoHandlers(dict[str, Any]):
    """Handlers of all URI schemes, which fail: nothing is ever fetched."""

    def __contains__(self, _scheme: object) -> bool:
        return True

    def __getitem__(self, scheme: str) -> Any:
        raise CannotLowerError(f"a reference to {scheme}:")
