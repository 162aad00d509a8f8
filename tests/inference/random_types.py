"""Random types: Python expressions with defaults, and the classes that they need."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hypothesis import strategies as st

__all__ = ["CONSTRAINTS", "KEYWORDS", "TypeExpression", "TypeWriter"]

_MAX_DEPTH = 3
_NAMES = ("title", "type", "properties", "default", "required", "schema", "json", "copy", "name")

#: Types without type parameters, with defaults.
_SIMPLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "str": ("''", "'a'", '"ünder é"', "A_TEXT"),
        "int": ("0", "-7", "A_NUMBER", "10_000"),
        "float": ("0.5", "-1.0", "3", "1e-3"),
        "bool": ("True", "False"),
        "None": ("None",),
        "Any": ("None", "1", "'x'", "[1, 'x']"),
        "object": ("None", "{'a': 1}"),
        "datetime": (),
        "date": (),
        "time": (),
        "timedelta": (),
        "UUID": (),
        "Decimal": ("Decimal('1.50')",),
        "Path": ("Path('a/b')",),
        "AnyUrl": (),
        "HttpUrl": (),
        "bytes": ("b'a'",),
        "list": ("[]", "[1, 'x']"),
        "dict": ("{}", "{'a': 1}"),
        "tuple": ("()", "(1, 'x')"),
        "set": (),
        "List": ("[]",),
        "Dict": ("{}",),
        "Sequence": ("[]",),
        "Mapping": ("{}",),
    }
)
#: Hashable types.
_HASHABLE = ("str", "int", "float", "bool", "UUID", "date", "Path")
_LITERALS = ("'a'", "'b c'", "0", "1", "-3", "True", "None")

#: Constraints of `Field`, by type.
CONSTRAINTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "int": ("ge=0", "gt=-1", "le=100", "lt=9", "multiple_of=5", "ge=1, le=10"),
        "float": ("ge=0.5", "lt=1.5", "gt=0", "multiple_of=0.5"),
        "str": ("min_length=1", "max_length=5", "pattern='^a+$'", "min_length=0, max_length=9"),
        "list": ("min_length=1", "max_length=3"),
        "dict": ("min_length=1",),
        "Decimal": ("ge=1", "lt=2"),
    }
)
#: Keyword arguments of `Field` for any type.
KEYWORDS = (
    "description='The description.'",
    "title='A title'",
    "examples=[1, 'a']",
    "deprecated=True",
    "json_schema_extra={'x-unit': 'm'}",
)
_MARKERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "int": ("Ge(1)", "Lt(5)", "Interval(ge=1, le=3)", "MultipleOf(2)"),
        "str": ("MinLen(1)", "MaxLen(4)", "Len(1, 4)"),
        "list": ("Len(1)", "MaxLen(2)"),
    }
)


@dataclass(frozen=True, slots=True)
class TypeExpression:
    """Expression of a type."""

    text: str
    #: Expressions of defaults.
    defaults: tuple[str, ...] = ()
    #: Name of the simple type, or "".
    kind: str = ""
    is_hashable: bool = False


@dataclass(slots=True)
class TypeWriter:
    """Writes types, and the statements that define their names."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    statements: list[str] = field(default_factory=list)
    names: int = 0

    def chance(self, percent: int) -> bool:
        """Return True in *percent* of cases."""
        return bool(self.draw(st.integers(0, 99)) >= 100 - percent)

    def choose(self, choices: Iterable[Any]) -> Any:
        """Return an item of *choices*."""
        return self.draw(st.sampled_from(list(choices)))

    def new_name(self, prefix: str) -> str:
        """Return an unused name."""
        self.names += 1
        return f"{prefix}{self.names}"

    def type(self, depth: int = 0) -> TypeExpression:
        """Return a type."""
        if depth >= _MAX_DEPTH or self.chance(35):
            return self._simple(_SIMPLE)
        forms: tuple[Callable[[int], TypeExpression], ...] = (
            self._array,
            self._tuple,
            self._map,
            self._union,
            self._union,
            self._literal,
            self._annotated,
            self._quoted,
            self._alias,
            self._enumeration,
            self._class,
            self._class,
        )
        form: Callable[[int], TypeExpression] = self.choose(forms)
        return form(depth + 1)

    def _simple(self, names: Iterable[str]) -> TypeExpression:
        name = self.choose(names)
        return TypeExpression(name, _SIMPLE[name], name, name in _HASHABLE)

    def _array(self, depth: int) -> TypeExpression:
        head = self.choose(("list", "List", "Sequence", "set", "frozenset", "deque"))
        if head in {"set", "frozenset"}:
            inner = self._simple(_HASHABLE)
            return TypeExpression(f"{head}[{inner.text}]")
        inner = self.type(depth)
        defaults: tuple[str, ...] = ("[]",) if head != "deque" else ()
        if inner.defaults and head == "list":
            defaults += (f"[{inner.defaults[0]}]",)
        return TypeExpression(f"{head}[{inner.text}]", defaults)

    def _tuple(self, depth: int) -> TypeExpression:
        elements = [self.type(depth) for _ in range(self.choose((0, 1, 2, 3)))]
        if not elements:
            return TypeExpression("tuple[()]", ("()",))
        if len(elements) == 1 and self.chance(50):
            return TypeExpression(f"tuple[{elements[0].text}, ...]", ("()",))
        return TypeExpression(f"tuple[{', '.join(element.text for element in elements)}]")

    def _map(self, depth: int) -> TypeExpression:
        head = self.choose(("dict", "Dict", "Mapping", "OrderedDict"))
        key = self._simple(("str", "str", "int", "UUID"))
        text = key.text
        if self.chance(15):
            text = self.choose(("Literal['a', 'b']", "Annotated[str, Field(pattern='^k')]"))
        defaults = ("{}",) if head in {"dict", "Dict", "Mapping"} else ()
        return TypeExpression(f"{head}[{text}, {self.type(depth).text}]", defaults)

    def _union(self, depth: int) -> TypeExpression:
        branches = [self.type(depth) for _ in range(self.choose((1, 1, 2, 3)))]
        texts = [branch.text for branch in branches]
        defaults = branches[0].defaults[:1]
        if len(branches) == 1 or self.chance(30):
            defaults = ("None", "None")
            if len(branches) == 1 and self.chance(50):
                return TypeExpression(f"Optional[{texts[0]}]", defaults)
            texts.append("None")
        # Strings do not support |.
        if self.chance(50) and not any(text[0] == "'" for text in texts):
            if texts == ["None", "None"]:
                return TypeExpression("None", defaults)
            return TypeExpression(" | ".join(texts), defaults)
        return TypeExpression(f"Union[{', '.join(texts)}]", defaults)

    def _literal(self, _depth: int) -> TypeExpression:
        count = self.choose((1, 2, 3))
        chosen = tuple(dict.fromkeys(self.choose(_LITERALS) for _ in range(count)))
        return TypeExpression(f"Literal[{', '.join(chosen)}]", chosen[:1], is_hashable=True)

    def _annotated(self, depth: int) -> TypeExpression:
        inner = self._simple(CONSTRAINTS) if self.chance(60) else self.type(depth)
        metadata = [f"Field({self.field_arguments(inner.kind)})"]
        if self.chance(30):
            metadata = [self.choose(("'Described by a string.'", "Doc", "object()"))]
        elif inner.kind in _MARKERS and self.chance(40):
            metadata = [self.choose(_MARKERS[inner.kind])]
        if self.chance(20):
            metadata.append("'Another text.'")
        return TypeExpression(f"Annotated[{inner.text}, {', '.join(metadata)}]")

    def field_arguments(self, kind: str) -> str:
        """Return arguments of `Field` for a type of that kind."""
        arguments = (
            [self.choose(CONSTRAINTS[kind])] if kind in CONSTRAINTS and self.chance(60) else []
        )
        if not arguments or self.chance(50):
            arguments.append(self.choose(KEYWORDS))
        return ", ".join(arguments)

    def _quoted(self, depth: int) -> TypeExpression:
        inner = self.type(depth)
        if "'" in inner.text or '"' in inner.text:
            return inner
        return TypeExpression(f"'{inner.text}'", inner.defaults)

    def _alias(self, depth: int) -> TypeExpression:
        inner = self.type(depth)
        name = self.new_name("Alias")
        if inner.text[0] == "'" or inner.text == "None":
            return inner
        if self.chance(25) and inner.kind in {"str", "int", "float"}:
            self.statements.append(f"{name} = NewType('{name}', {inner.text})")
        else:
            self.statements.append(f"{name} = {inner.text}")
        return TypeExpression(name, inner.defaults)

    def _enumeration(self, _depth: int) -> TypeExpression:
        name = self.new_name("Enum")
        base, values = self.choose(
            (
                ("Enum", ("'a'", "'b'")),
                ("Enum", ("1", "'b'", "None")),
                ("str, Enum", ("'x'", "'y'")),
                ("IntEnum", ("1", "2", "3")),
                ("StrEnum", ("auto()", "'other'")),
                ("int, Enum", ("5",)),
            )
        )
        lines = [f"    M{index} = {value}" for index, value in enumerate(values)]
        if self.chance(50):
            lines.insert(0, "    '''Choices of a kind.'''")
        self.statements.append("\n".join([f"class {name}({base}):", *lines]))
        if self.chance(20):
            return TypeExpression(f"Literal[{name}.M0]", is_hashable=True)
        return TypeExpression(name, (f"{name}.M0",), is_hashable=True)

    # Classes

    def _class(self, depth: int) -> TypeExpression:
        name = self.new_name("Class")
        kind = self.choose(("model", "model", "dataclass", "typed"))
        head, lines = self._head(kind, name), []
        if self.chance(40):
            lines.append("    '''Things of a kind.\n\n    More on them.\n    '''")
        fields = [self._field(kind, depth) for _ in range(self.choose((1, 2, 3)))]
        # Dataclasses and typed dictionaries inherit the configuration of the first model that
        # uses them; inference from text does not imitate that.
        is_plain = not any(
            "@dataclass" in statement or "(TypedDict" in statement for statement in self.statements
        )
        if kind == "model" and self.chance(20) and is_plain:
            lines.append(f"    model_config = ConfigDict({self.choose(_CONFIGS)})")
        if self.chance(25):
            fields.append((f"Optional['{name}']", "None" if kind != "typed" else ""))
        if self.chance(10):
            fields.append((f"list['{name}']", ""))
        if kind == "dataclass":
            fields.sort(key=lambda field: bool(field[1]))
        for index, (text, default) in enumerate(fields):
            field_name = f"member{index}"
            if self.chance(15) and kind != "model":
                field_name = f"{self.choose(_NAMES)}{'' if index == 0 else index}"
            lines.append(f"    {field_name}: {text}{f' = {default}' if default else ''}")
        self.statements.append("\n".join([head, *lines]))
        return TypeExpression(name)

    def _head(self, kind: str, name: str) -> str:
        if kind == "model":
            return f"class {name}(BaseModel):"
        if kind == "dataclass":
            return f"@dataclass\nclass {name}:"
        return f"class {name}(TypedDict{', total=False' if self.chance(30) else ''}):"

    def _field(self, kind: str, depth: int) -> tuple[str, str]:
        """Return the type of a field, and its default, or ""."""
        expression = self.type(depth + 1)
        if kind == "typed":
            if self.chance(30) and expression.text[0] != "'":
                return f"{self.choose(('Required', 'NotRequired'))}[{expression.text}]", ""
            return expression.text, ""
        default = (
            self.choose(expression.defaults) if expression.defaults and self.chance(40) else ""
        )
        if kind == "dataclass":
            if default[:1] in {"[", "{"} or (default and expression.kind in {"Any", "object"}):
                default = "field(default_factory=list)" if default[0] == "[" else ""
            return expression.text, default
        if self.chance(30):
            arguments = self.field_arguments(expression.kind)
            if self.chance(20):
                arguments += ", alias='another-name-" + self.new_name("") + "'"
            default = f"Field({', '.join(([default] if default else []) + [arguments])})"
        return expression.text, default


_CONFIGS = ("extra='forbid'", "extra='allow'", "title='Its title'", "use_enum_values=True")
