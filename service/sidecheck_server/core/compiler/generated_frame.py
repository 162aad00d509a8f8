"""Frame of generated code: functions, blocks, conditions and charges to the budget.

It is fastjsonschema's generator with other functions around its blocks, so the release
of fastjsonschema is pinned exactly. Strings of the schema enter the code only as
``repr()`` of constants.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from fastjsonschema.draft07 import CodeGeneratorDraft07
from fastjsonschema.ref_resolver import RefResolver

from sidecheck_server.core.engines.weights import ITERATION, schema_weight
from sidecheck_server.core.json_values import number_text
from sidecheck_server.core.schemas.canonical import CannotLowerError, Constant
from sidecheck_server.core.types import JsonValue

__all__ = [
    "BOUNDS",
    "KIND_OF_TYPE",
    "TYPE_TESTS",
    "GeneratedFrame",
    "enum_implies_types",
    "write_membership_test",
    "write_number_test",
    "write_set",
]

_NUMBER = ("number", "integer", "int")
TYPE_TESTS = {
    "null": "{0} is None",
    "boolean": "{0} is True or {0} is False",
    "string": "isinstance({0}, str)",
    "array": "isinstance({0}, list)",
    "object": "isinstance({0}, dict)",
    "number": (
        "(isinstance({0}, float) or isinstance({0}, int) and {0} is not True and {0} is not False)"
    ),
    "integer": (
        "(isinstance({0}, int) and {0} is not True and {0} is not False"
        " or isinstance({0}, float) and {0}.is_integer())"
    ),
    "int": "(isinstance({0}, int) and {0} is not True and {0} is not False)",
}
KIND_OF_TYPE = {"string": "string", "array": "array", "object": "object"} | dict.fromkeys(
    _NUMBER, "number"
)
# The kind of values that each bound applies to, and the comparison that violates it.
BOUNDS = {
    "minimum": ("number", "{0} < {1}"),
    "maximum": ("number", "{0} > {1}"),
    "exclusiveMinimum": ("number", "{0} <= {1}"),
    "exclusiveMaximum": ("number", "{0} >= {1}"),
    "minLength": ("string", "len({0}) < {1}"),
    "maxLength": ("string", "len({0}) > {1}"),
    "minItems": ("array", "len({0}) < {1}"),
    "maxItems": ("array", "len({0}) > {1}"),
    "minProperties": ("object", "len({0}) < {1}"),
    "maxProperties": ("object", "len({0}) > {1}"),
}


def enum_implies_types(definition: Mapping[str, Any]) -> bool:
    """Return whether every value of ``enum`` has one of the types in ``type``.

    False if one is a number: 1.0 equals 1, and may have another type.
    """
    names = {str: "string", bool: "boolean", type(None): "null"}
    types, values = definition["type"], definition.get("enum", ())
    return "enum" in definition and all(names.get(type(value)) in types for value in values)


def write_membership_test(variable: str, values: Sequence[Any], *, hashable: bool = False) -> str:
    """Write the test whether *variable*, which may be known as *hashable*, is one of *values*."""
    strings = [value for value in values if isinstance(value, str)]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    tests = [f"{variable} is {c}" for c in (None, True, False) if any(v is c for v in values)]
    if strings:
        test = f"{variable} in {write_set(strings)}"
        tests.append(test if hashable else f"isinstance({variable}, str) and {test}")
    if numbers:
        test = TYPE_TESTS["number"].format(variable)
        tests.append(f"{test} and {write_number_test(variable, numbers)}")
    tests += [
        f"json_equal({variable}, C{value.number})"
        for value in values
        if isinstance(value, Constant)
    ]
    return " or ".join(tests) or "False"


def write_number_test(variable: str, numbers: Sequence[float]) -> str:
    """Write the test whether a number is one of *numbers*."""
    if len(numbers) > 8:
        # As texts, which are hashed with a secret key: numbers can be made to collide.
        return f"number_text({variable}) in {write_set(list(map(number_text, numbers)))}"
    return f"({' or '.join(f'{variable} == {number!r}' for number in numbers)})"


def write_set(values: Iterable[Any]) -> str:
    """Write the set of *values*, each once."""
    return f"{{{', '.join(map(repr, dict.fromkeys(values)))}}}"


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
            steps += ITERATION if times else 0
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
