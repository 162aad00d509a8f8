"""The frame of generated code: functions, blocks, and what is paid from the budget.

It is fastjsonschema's generator with other functions around its blocks, which is why
its release is pinned exactly. Strings of the schema enter the code only as ``repr()`` of
constants.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from fastjsonschema.draft07 import CodeGeneratorDraft07
from fastjsonschema.ref_resolver import RefResolver

from sidecheck_server.core.compiler.conditions import KIND_OF_TYPE, TYPE_TESTS, display
from sidecheck_server.core.engines.weights import schema_weight
from sidecheck_server.core.schemas.canonical import CannotLowerError
from sidecheck_server.core.types import JsonValue

__all__ = ["GeneratedFrame"]


class GeneratedFrame(CodeGeneratorDraft07):
    """Generates functions ``dN(data)``, for whose keywords a subclass writes the code."""

    # What is being generated just now; the frame sets and restores them.
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
        # The names of members that are all that an object may have.
        self._closed: dict[tuple[str, ...], str] = {}
        # The definition whose types its values are known to have.
        self._given: Any = None

    # Frame

    def generate_func_code(self) -> None:
        """Write all functions, and what they find beside them."""
        while self._needed_validation_functions:
            uri, name = self._needed_validation_functions.popitem()
            self.generate_validation_function(uri, name)
        for names, known in self._closed.items():
            self.l("{} = {}", known, display(names))

    def generate_validation_function(self, uri: str, name: str) -> None:
        """Write the function *name*, which judges by the definition *uri*."""
        self._validation_functions_done.add(uri)
        definition = self._root_definition["definitions"][name]
        with self.l("def {}(data{}):", name, ", budget" if self.counted else "", optimize=False):
            self.l("pass")
            self.pay("", definition)
            self.child(definition, "data")

    def generate_ref(self) -> None:
        """Write the call of another function."""
        uri = self._definition["$ref"]
        name = uri.rpartition("/")[2]
        if uri not in self._validation_functions_done:
            self._needed_validation_functions[uri] = name
        self.l("{}({variable}{})", name, ", budget" if self.counted else "")

    def exc(self, *_message: Any, **_details: Any) -> None:
        """Write what happens to what is not valid; fastjsonschema would give reasons."""
        self.l("raise Invalid")

    def fail_if(self, condition: str) -> None:
        """Write that what meets *condition* is not valid."""
        with self.l("if {}:", condition, optimize=False):
            self.l("raise Invalid")

    def pay(self, times: str, *bodies: Any) -> None:
        """Take what judging by *bodies* costs, *times* as often, from the budget."""
        if self.counted:
            steps = sum(schema_weight(body, self.constants) for body in bodies)
            self.l("budget[0] -= {}{}", f"{times} * " if times else "", steps)
            with self.l("if budget[0] < 0:", optimize=False):
                self.l("raise Exhausted")

    def guard(self, kind: str) -> Any:
        """Open a block for values of *kind*, unless ``type`` lets nothing else pass."""
        types = self._definition.get("type", ())
        if types and all(KIND_OF_TYPE.get(name) == kind for name in types):
            return nullcontext()
        return self.l("if {}:", TYPE_TESTS[kind].format(self._variable))

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Open the block *head*, which may stay empty."""
        with self.l("{}", head, optimize=False):
            self.l("pass")
            yield

    def known_names(self, names: Iterable[str]) -> str:
        """Return the name of the set of *names*, which is made when the code is loaded."""
        return self._closed.setdefault(tuple(names), f"S{len(self._closed)}")

    def child(self, definition: Any, variable: str, *, given: bool = False) -> None:
        """Write what judges *variable*, which is *given* to be of the types of *definition*."""
        self._given = definition if given else None
        self.generate_func_code_block(  # type: ignore[no-untyped-call]
            definition, variable, "data", clear_variables=True
        )


class _NoHandlers(dict[str, Any]):
    """Handlers of every URI scheme, all of which refuse: nothing is ever fetched."""

    def __contains__(self, _scheme: object) -> bool:
        return True

    def __getitem__(self, scheme: str) -> Any:
        raise CannotLowerError(f"a reference to {scheme}:")
