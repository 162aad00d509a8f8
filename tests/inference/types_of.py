"""Random types, as expressions of Python with defaults of theirs, and the classes in them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hypothesis import strategies as st

__all__ = ["BOUNDS", "SAID", "Writer", "Written"]

_DEEPEST = 3
_NAMES = ("title", "type", "properties", "default", "required", "schema", "json", "copy", "name")

#: The types without parts, with defaults of theirs.
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
#: Those that can be members of a set, and names of members.
_HASHED = ("str", "int", "float", "bool", "UUID", "date", "Path")
_LITERALS = ("'a'", "'b c'", "0", "1", "-3", "True", "None")

#: What `Field` can bound, by the type.
BOUNDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "int": ("ge=0", "gt=-1", "le=100", "lt=9", "multiple_of=5", "ge=1, le=10"),
        "float": ("ge=0.5", "lt=1.5", "gt=0", "multiple_of=0.5"),
        "str": ("min_length=1", "max_length=5", "pattern='^a+$'", "min_length=0, max_length=9"),
        "list": ("min_length=1", "max_length=3"),
        "dict": ("min_length=1",),
        "Decimal": ("ge=1", "lt=2"),
    }
)
#: What it can say of any type.
SAID = (
    "description='What it is.'",
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
class Written:
    """A type as it is written."""

    text: str
    #: What may stand after the ``=``.
    defaults: tuple[str, ...] = ()
    #: The type without parts that it is, if it is one.
    kind: str = ""
    hashed: bool = False


@dataclass(slots=True)
class Writer:
    """Writes types, and the statements that they need before them."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    statements: list[str] = field(default_factory=list)
    names: int = 0

    def chance(self, percent: int) -> bool:
        """Return whether something is so that is so in that share of cases."""
        return bool(self.draw(st.integers(0, 99)) >= 100 - percent)

    def one_of(self, choices: Iterable[Any]) -> Any:
        """Return one of several."""
        return self.draw(st.sampled_from(list(choices)))

    def new_name(self, prefix: str) -> str:
        """Return a name that nothing has."""
        self.names += 1
        return f"{prefix}{self.names}"

    def type(self, depth: int = 0) -> Written:
        """Return a type."""
        if depth >= _DEEPEST or self.chance(35):
            return self._simple(_SIMPLE)
        forms: tuple[Callable[[int], Written], ...] = (
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
        form: Callable[[int], Written] = self.one_of(forms)
        return form(depth + 1)

    def _simple(self, names: Iterable[str]) -> Written:
        name = self.one_of(names)
        return Written(name, _SIMPLE[name], name, name in _HASHED)

    def _array(self, depth: int) -> Written:
        head = self.one_of(("list", "List", "Sequence", "set", "frozenset", "deque"))
        if head in {"set", "frozenset"}:
            inner = self._simple(_HASHED)
            return Written(f"{head}[{inner.text}]")
        inner = self.type(depth)
        defaults: tuple[str, ...] = ("[]",) if head != "deque" else ()
        if inner.defaults and head == "list":
            defaults += (f"[{inner.defaults[0]}]",)
        return Written(f"{head}[{inner.text}]", defaults)

    def _tuple(self, depth: int) -> Written:
        parts = [self.type(depth) for _ in range(self.one_of((0, 1, 2, 3)))]
        if not parts:
            return Written("tuple[()]", ("()",))
        if len(parts) == 1 and self.chance(50):
            return Written(f"tuple[{parts[0].text}, ...]", ("()",))
        return Written(f"tuple[{', '.join(one.text for one in parts)}]")

    def _map(self, depth: int) -> Written:
        head = self.one_of(("dict", "Dict", "Mapping", "OrderedDict"))
        key = self._simple(("str", "str", "int", "UUID"))
        text = key.text
        if self.chance(15):
            text = self.one_of(("Literal['a', 'b']", "Annotated[str, Field(pattern='^k')]"))
        defaults = ("{}",) if head in {"dict", "Dict", "Mapping"} else ()
        return Written(f"{head}[{text}, {self.type(depth).text}]", defaults)

    def _union(self, depth: int) -> Written:
        parts = [self.type(depth) for _ in range(self.one_of((1, 1, 2, 3)))]
        texts = [one.text for one in parts]
        defaults = tuple(each for one in parts[:1] for each in one.defaults[:1])
        if len(parts) == 1 or self.chance(30):
            defaults = ("None", "None")
            if len(parts) == 1 and self.chance(50):
                return Written(f"Optional[{texts[0]}]", defaults)
            texts.append("None")
        # A text is not joined with |, which no text has.
        if self.chance(50) and not any(text[0] == "'" for text in texts):
            if texts == ["None", "None"]:
                return Written("None", defaults)
            return Written(" | ".join(texts), defaults)
        return Written(f"Union[{', '.join(texts)}]", defaults)

    def _literal(self, _depth: int) -> Written:
        count = self.one_of((1, 2, 3))
        chosen = tuple(dict.fromkeys(self.one_of(_LITERALS) for _ in range(count)))
        return Written(f"Literal[{', '.join(chosen)}]", chosen[:1], hashed=True)

    def _annotated(self, depth: int) -> Written:
        inner = self._simple(BOUNDS) if self.chance(60) else self.type(depth)
        said = [f"Field({self.field_words(inner.kind)})"]
        if self.chance(30):
            said = [self.one_of(("'Told by a text.'", "Doc", "object()"))]
        elif inner.kind in _MARKERS and self.chance(40):
            said = [self.one_of(_MARKERS[inner.kind])]
        if self.chance(20):
            said.append("'Another text.'")
        return Written(f"Annotated[{inner.text}, {', '.join(said)}]")

    def field_words(self, kind: str) -> str:
        """Return keywords for `Field` beside a type of that kind."""
        words = [self.one_of(BOUNDS[kind])] if kind in BOUNDS and self.chance(60) else []
        if not words or self.chance(50):
            words.append(self.one_of(SAID))
        return ", ".join(words)

    def _quoted(self, depth: int) -> Written:
        inner = self.type(depth)
        if "'" in inner.text or '"' in inner.text:
            return inner
        return Written(f"'{inner.text}'", inner.defaults)

    def _alias(self, depth: int) -> Written:
        inner = self.type(depth)
        name = self.new_name("Alias")
        if inner.text[0] == "'" or inner.text == "None":
            return inner
        if self.chance(25) and inner.kind in {"str", "int", "float"}:
            self.statements.append(f"{name} = NewType('{name}', {inner.text})")
        else:
            self.statements.append(f"{name} = {inner.text}")
        return Written(name, inner.defaults)

    def _enumeration(self, _depth: int) -> Written:
        name = self.new_name("Enum")
        base, values = self.one_of(
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
            return Written(f"Literal[{name}.M0]", hashed=True)
        return Written(name, (f"{name}.M0",), hashed=True)

    # Classes

    def _class(self, depth: int) -> Written:
        name = self.new_name("Class")
        kind = self.one_of(("model", "model", "dataclass", "typed"))
        head, lines = self._head(kind, name), []
        if self.chance(40):
            lines.append("    '''Things of a kind.\n\n    More on them.\n    '''")
        fields = [self._field(kind, depth) for _ in range(self.one_of((1, 2, 3)))]
        # Dataclasses and dictionaries take over the configuration of the first model that
        # they are met in; the text route has them as they are written.
        plain = not any("@dataclass" in one or "(TypedDict" in one for one in self.statements)
        if kind == "model" and self.chance(20) and plain:
            lines.append(f"    model_config = ConfigDict({self.one_of(_CONFIGS)})")
        if self.chance(25):
            fields.append((f"Optional['{name}']", "None" if kind != "typed" else ""))
        if self.chance(10):
            fields.append((f"list['{name}']", ""))
        if kind == "dataclass":
            fields.sort(key=lambda one: bool(one[1]))
        for index, (text, default) in enumerate(fields):
            member = f"member{index}"
            if self.chance(15) and kind != "model":
                member = f"{self.one_of(_NAMES)}{'' if index == 0 else index}"
            lines.append(f"    {member}: {text}{f' = {default}' if default else ''}")
        self.statements.append("\n".join([head, *lines]))
        return Written(name)

    def _head(self, kind: str, name: str) -> str:
        if kind == "model":
            return f"class {name}(BaseModel):"
        if kind == "dataclass":
            return f"@dataclass\nclass {name}:"
        return f"class {name}(TypedDict{', total=False' if self.chance(30) else ''}):"

    def _field(self, kind: str, depth: int) -> tuple[str, str]:
        """Return the type of a field, and its default or ""."""
        found = self.type(depth + 1)
        if kind == "typed":
            if self.chance(30) and found.text[0] != "'":
                return f"{self.one_of(('Required', 'NotRequired'))}[{found.text}]", ""
            return found.text, ""
        default = self.one_of(found.defaults) if found.defaults and self.chance(40) else ""
        if kind == "dataclass":
            if default[:1] in {"[", "{"} or (default and found.kind in {"Any", "object"}):
                default = "field(default_factory=list)" if default[0] == "[" else ""
            return found.text, default
        if self.chance(30):
            words = self.field_words(found.kind)
            if self.chance(20):
                words += ", alias='another-name-" + self.new_name("") + "'"
            default = f"Field({', '.join(([default] if default else []) + [words])})"
        return found.text, default


_CONFIGS = ("extra='forbid'", "extra='allow'", "title='Its title'", "use_enum_values=True")
