"""Generation of the fast engine's code from schemas in canonical form.

The generated keywords raise a bare `Invalid` where fastjsonschema builds messages, and
call our own functions where its code is wrong or has unbounded cost. Unions whose
branches are tried, and conditions, are fastjsonschema's.

Its frame (functions, blocks, conditions and charges to the budget) is fastjsonschema's
generator with other functions around its blocks, so the release of fastjsonschema is pinned
exactly. Strings of the schema enter the code only as ``repr()`` of constants.
"""

import ast
import marshal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from fastjsonschema.draft07 import CodeGeneratorDraft07
from fastjsonschema.ref_resolver import RefResolver

from sidecheck_server.core.engines.allowed_code import check_generated_code
from sidecheck_server.core.engines.fast import FastCode
from sidecheck_server.core.engines.weights import ITERATION, needs_budget, schema_weight
from sidecheck_server.core.json_values import number_text
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.canonical import CannotLowerError, Constant, Lowered
from sidecheck_server.core.types import JsonValue

__all__ = ["VerdictGenerator", "generate_code"]

_NUMBER = ("number", "integer", "int")
_TYPE_TESTS = {
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
_KIND_OF_TYPE = {"string": "string", "array": "array", "object": "object"} | dict.fromkeys(
    _NUMBER, "number"
)
# The kind of values that each bound applies to, and the comparison that violates it.
_BOUNDS = {
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


def _enum_implies_types(definition: Mapping[str, Any]) -> bool:
    """Return whether every value of ``enum`` has one of the types in ``type``.

    False if one is a number: 1.0 equals 1, and may have another type.
    """
    names = {str: "string", bool: "boolean", type(None): "null"}
    types, values = definition["type"], definition.get("enum", ())
    return "enum" in definition and all(names.get(type(value)) in types for value in values)


def _write_membership_test(variable: str, values: Sequence[Any], *, hashable: bool = False) -> str:
    """Write the test whether *variable*, which may be known as *hashable*, is one of *values*."""
    strings = [value for value in values if isinstance(value, str)]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    tests = [f"{variable} is {c}" for c in (None, True, False) if any(v is c for v in values)]
    if strings:
        test = f"{variable} in {_write_set(strings)}"
        tests.append(test if hashable else f"isinstance({variable}, str) and {test}")
    if numbers:
        test = _TYPE_TESTS["number"].format(variable)
        tests.append(f"{test} and {_write_number_test(variable, numbers)}")
    tests += [
        f"json_equal({variable}, C{value.number})"
        for value in values
        if isinstance(value, Constant)
    ]
    return " or ".join(tests) or "False"


def _write_number_test(variable: str, numbers: Sequence[float]) -> str:
    """Write the test whether a number is one of *numbers*."""
    if len(numbers) > 8:
        # As texts, which are hashed with a secret key: numbers can be made to collide.
        return f"number_text({variable}) in {_write_set(list(map(number_text, numbers)))}"
    return f"({' or '.join(f'{variable} == {number!r}' for number in numbers)})"


def _write_set(values: Iterable[Any]) -> str:
    """Write the set of *values*, each once."""
    return f"{{{', '.join(map(repr, dict.fromkeys(values)))}}}"


class _GeneratedFrame(CodeGeneratorDraft07):
    """Generator of functions ``dN(data)``; a subclass writes the code of the keywords."""

    # The definition and the variable of the current block, maintained by fastjsonschema.
    _definition: Any
    _variable: Any

    def __init__(self, schema: Any, constants: Sequence[JsonValue], *, counted: bool) -> None:
        resolver = RefResolver("", schema, store={}, handlers=_NoHandlers())
        super().__init__(
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
            self.l("{} = {}", variable, _write_set(names))

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
        if types and all(_KIND_OF_TYPE.get(name) == kind for name in types):
            return nullcontext()
        return self.l("if {}:", _TYPE_TESTS[kind].format(self._variable))

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
        self.generate_func_code_block(definition, variable, "data", clear_variables=True)


class _NoHandlers(dict[str, Any]):
    """Handlers of all URI schemes, which fail: nothing is ever fetched."""

    def __contains__(self, _scheme: object) -> bool:
        return True

    def __getitem__(self, scheme: str) -> Any:
        raise CannotLowerError(f"a reference to {scheme}:")


class VerdictGenerator(_GeneratedFrame):
    """Generator of functions ``dN(data)`` that raise `Invalid` unless *data* is valid."""

    def __init__(self, schema: Any, constants: Sequence[JsonValue], *, counted: bool) -> None:
        super().__init__(schema, constants, counted=counted)
        keywords = self._json_keywords_to_function
        for name in _BOUNDS:
            keywords[name] = lambda name=name: self.generate_bound(name)
        # Only keywords of the canonical form; content* would decode, and change, the data.
        keywords["format"] = self.generate_format
        keywords["byType"] = self.generate_by_type
        keywords["byProperty"] = self.generate_by_property
        del keywords["const"], keywords["contentEncoding"], keywords["contentMediaType"]

    # Keywords for any value

    def generate_type(self) -> None:
        if self._type_checked is self._definition or _enum_implies_types(self._definition):
            return
        tests = [_TYPE_TESTS[name].format(self._variable) for name in self._definition["type"]]
        self.fail_if(f"not ({' or '.join(tests)})")

    def generate_enum(self) -> None:
        self.fail_if(f"not ({_write_membership_test(self._variable, self._definition['enum'])})")

    # Unions whose branches exclude each other

    def generate_by_type(self) -> None:
        for index, (types, definition) in enumerate(self._definition["byType"]):
            test = " or ".join(_TYPE_TESTS[name].format(self._variable) for name in types)
            with self.block(f"{'elif' if index else 'if'} {test}:"):
                type_checked = isinstance(definition, dict) and definition.get("type") == types
                self.child(definition, self._variable, type_checked=type_checked)
        with self.block("else:"):
            self.l("raise Invalid")

    def generate_by_property(self) -> None:
        name, cases = (
            self._definition["byProperty"]["name"],
            self._definition["byProperty"]["cases"],
        )
        variable = self._variable
        with self.guard("object"):
            if name not in self._definition.get("required", ()):
                self.fail_if(f"{name!r} not in {variable}")
            self.l("{variable}_t = {variable}[{}]", repr(name))
            values = [value for values, _ in cases for value in values]
            self.fail_if(f"not ({_write_membership_test(f'{variable}_t', values)})")
            self.choose(cases)

    def choose(self, cases: Sequence[Any]) -> None:
        """Write the binary search for the one of *cases* that has the property's value."""
        if len(cases) == 1:
            ((_, definition),) = cases
            type_checked = isinstance(definition, dict) and definition.get("type") == ["object"]
            self.child(definition, self._variable, type_checked=type_checked)
            return
        half = len(cases) // 2
        values = [value for values, _ in cases[:half] for value in values]
        with self.block(
            f"if {_write_membership_test(f'{self._variable}_t', values, hashable=True)}:"
        ):
            self.choose(cases[:half])
        with self.block("else:"):
            self.choose(cases[half:])

    # Keywords for numbers and strings

    def generate_bound(self, name: str) -> None:
        kind, comparison = _BOUNDS[name]
        with self.guard(kind):
            self.fail_if(comparison.format(self._variable, repr(self._definition[name])))

    def generate_multiple_of(self) -> None:
        with self.guard("number"):
            divisor = self._definition["multipleOf"]
            self.fail_if(f"not is_multiple({self._variable}, {divisor!r}, budget)")

    def generate_pattern(self) -> None:
        with self.guard("string"):
            self.fail_if(f"not P{self._definition['pattern']}({self._variable}, budget)")

    def generate_format(self) -> None:
        with self.guard("string"):
            self.fail_if(f"not F{self._definition['format']}({self._variable}, budget)")

    # Keywords for arrays

    def generate_unique_items(self) -> None:
        with self.guard("array"):
            self.fail_if(f"not all_unique({self._variable}, budget)")

    def generate_items(self) -> None:
        items = self._definition["items"]
        listed = items if isinstance(items, list) else []
        rest = self._definition.get("additionalItems", True) if listed or items == [] else items
        variable = self._variable
        with self.guard("array"):
            self.l("pass")
            for index, definition in enumerate(listed):
                if definition is not True and definition != {}:
                    with self.block(f"if len({variable}) > {index}:"):
                        self.l("{variable}_{0} = {variable}[{0}]", index)
                        self.child(definition, f"{variable}_{index}")
            if rest is False:
                self.fail_if(f"len({variable}) > {len(listed)}")
            elif rest is not True and rest != {}:
                self.charge(f"len({variable})", rest)
                tail = f"{variable}[{len(listed)}:]" if listed else variable
                with self.block(f"for {variable}_i in {tail}:"):
                    self.child(rest, f"{variable}_i")

    def generate_contains(self) -> None:
        variable, definition = self._variable, self._definition
        with self.guard("array"):
            self.l("{variable}_c = 0")
            self.charge(f"len({variable})", {"not": definition["contains"]})
            with self.block(f"for {variable}_i in {variable}:"):
                with self.block("try:"):
                    self.child(definition["contains"], f"{variable}_i")
                    self.l("{variable}_c += 1")
                self.l("except Invalid: pass")
            tests = [f"{variable}_c < {definition['minContains']!r}"]
            if "maxContains" in definition:
                tests.append(f"{variable}_c > {definition['maxContains']!r}")
            self.fail_if(" or ".join(tests))

    # Keywords for objects

    def generate_required(self) -> None:
        names = self._definition["required"]
        if names:
            with self.guard("object"):
                self.fail_if(" or ".join(f"{name!r} not in {self._variable}" for name in names))

    def generate_properties(self) -> None:
        variable = self._variable
        required = frozenset(self._definition.get("required", ()))
        with self.guard("object"):
            self.l("pass")
            for index, (name, definition) in enumerate(self._definition["properties"].items()):
                if definition is not True and definition != {}:
                    # Required properties are known to be present.
                    if_present = (
                        nullcontext()
                        if name in required
                        else self.block(f"if {name!r} in {variable}:")
                    )
                    with if_present:
                        self.l("{variable}_{} = {variable}[{}]", index, repr(name))
                        self.child(definition, f"{variable}_{index}")

    def generate_pattern_properties(self) -> None:
        variable = self._variable
        definitions = {
            pattern: definition
            for pattern, definition in self._definition["patternProperties"].items()
            if definition is not True and definition != {}
        }
        if definitions:
            with self.guard("object"):
                self.charge(f"len({variable})", *definitions.values())
                with self.block(f"for {variable}_k, {variable}_v in {variable}.items():"):
                    for pattern, definition in definitions.items():
                        with self.block(f"if P{pattern}({variable}_k, budget):"):
                            self.child(definition, f"{variable}_v")

    def generate_additional_properties(self) -> None:
        rest = self._definition["additionalProperties"]
        if rest is True or rest == {}:
            return
        variable = self._variable
        known = list(self._definition.get("properties", ()))
        tests = [f"{variable}_k not in {_write_set(known)}"] if known else []
        patterns = self._definition.get("patternProperties", ())
        if rest is False and not patterns:
            self.close(known)
            return
        tests += [f"not P{pattern}({variable}_k, budget)" for pattern in patterns]
        with self.guard("object"):
            self.charge(f"len({variable})", rest)
            with (
                self.block(f"for {variable}_k, {variable}_v in {variable}.items():"),
                self.block(f"if {' and '.join(tests) or 'True'}:"),
            ):
                self.child(rest, f"{variable}_v")

    def close(self, known: Sequence[str]) -> None:
        """Write that there are no properties but the *known* ones."""
        variable = self._variable
        with self.guard("object"):
            if not known or frozenset(known) == frozenset(self._definition.get("required", ())):
                # The required ones are known to be present, so a count is enough.
                self.fail_if(f"len({variable}) > {len(known)}")
            else:
                self.fail_if(f"not {variable}.keys() <= {self.known_names(known)}")

    def generate_property_names(self) -> None:
        names = self._definition["propertyNames"]
        if names is True or names == {}:
            return
        with self.guard("object"):
            self.charge(f"len({self._variable})", names)
            with self.block(f"for {self._variable}_k in {self._variable}:"):
                self.child(names, f"{self._variable}_k")

    def generate_dependencies(self) -> None:
        variable = self._variable
        with self.guard("object"):
            self.l("pass")
            for name, dependent in self._definition["dependencies"].items():
                with self.block(f"if {name!r} in {variable}:"):
                    if not isinstance(dependent, list):
                        self.child(dependent, variable)
                    elif dependent:
                        self.fail_if(
                            " or ".join(f"{other!r} not in {variable}" for other in dependent)
                        )


def generate_code(lowered: Lowered, limits: Limits) -> FastCode:
    """Return the code that validates against *lowered*; its entry point is ``d0``.

    Raises:
        CannotLowerError: the code is longer than the limit.
    """
    # fastjsonschema searches the schema for `$ref`, so it gets only the definitions, and
    # a reference to the first.
    schema = {"definitions": lowered.definitions, "$ref": "#/definitions/d0"}
    counted = needs_budget([*lowered.definitions.values()], lowered.constants)
    generator = VerdictGenerator(schema, lowered.constants, counted=counted)
    source = generator.func_code
    if len(source) > limits.code_length:
        raise CannotLowerError("code longer than the limit")
    tree = ast.parse(source)
    check_generated_code(tree)
    return FastCode(
        marshal.dumps(compile(tree, "<schema>", "exec")),
        tuple(lowered.patterns),
        tuple(lowered.formats),
        tuple(lowered.constants),
        counted,
    )
