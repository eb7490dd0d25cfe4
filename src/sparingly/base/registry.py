"""Methods by name and as text.

A method is a frozen dataclass: its fields are its parameters. Registering it (``base.catalogue``) makes it
known to the command line, to ``sparingly methods``, to the documentation and to the contract tests.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeVar

from sparingly.base.catalogue import METHOD_KINDS, find_class, names, registered_classes
from sparingly.base.catalogue import register as register
from sparingly.base.errors import UnknownNameError, UsageError, one_line
from sparingly.base.summary import Framed, html_table
from sparingly.base.text import (
    Bare,
    Call,
    Calls,
    Items,
    Quoted,
    Value,
    format_call,
    format_number,
    parse_call,
    text_value,
)

KINDS = METHOD_KINDS
# Methods of earlier versions, and what takes their place in a campaign.
REPLACED = {"allocate": "auto"}


@dataclass(frozen=True)
class Method:
    """Base class of every method; its parameters are its fields."""

    name: ClassVar[str] = ""  # the registered name
    kind: ClassVar[str] = ""  # one of ``KINDS``
    # What it needs from the data, in the design's words (``metrics``, ``outputs`` …).
    needs: ClassVar[tuple[str, ...]] = ()
    reference: ClassVar[str] = ""  # the paper and equation it follows
    # The parameters of earlier versions: what was made with them cannot be derived again.
    retired: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        """Check every parameter against its type, its choices and its minimum, as a text is checked."""
        for part in fields(self):
            value = getattr(self, part.name)
            checked = _checked(f"{self.name}:{part.name}", _hints(type(self))[part.name], value)
            minimum = part.metadata.get("minimum")
            if isinstance(checked, int | float) and minimum is not None and checked < minimum:
                raise UsageError(
                    f"The parameter {part.name} of {self.name} must be at least {minimum}, not {checked}."
                )
            if checked is not value:
                object.__setattr__(self, part.name, checked)

    def __str__(self) -> str:
        """Return the method as text, defaults left out."""
        return format_method(self)

    @property
    def full_text(self) -> str:
        """The method as text with every parameter spelled, as signatures have it."""
        return format_method(self, spell_defaults=True)

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the documentation."""
        return (cls.__doc__ or "").strip().splitlines()[0]


MadeMethod = TypeVar("MadeMethod", bound=Method)
_HINTS: dict[type[Method], dict[str, Any]] = {}
_NOUNS: dict[Any, str] = {
    int: "a whole number", float: "a number", bool: "true or false", str: "a text",
}  # fmt: skip


def parameter(default: Any = MISSING, help: str = "", minimum: float | None = None) -> Any:
    """Declare a parameter of a method: its default, what it means, and the least value it may have."""
    return field(default=default, metadata={"help": help, "minimum": minimum})


def registered() -> dict[str, type[Method]]:
    """Load every method, those of other packages too, and return them by name, in order."""
    return dict(sorted(registered_classes(KINDS).items()))


def method_class(name: str, kinds: tuple[str, ...] = KINDS) -> type[Method]:
    """Return the method of a name; an unknown one is an error that names the nearest."""
    method: type[Method] | None = find_class(name, kinds)
    if method is None:
        noun = " or ".join(kinds) if len(kinds) < len(KINDS) else "method"
        raise UnknownNameError(noun, name, sorted(names(kinds)), "See: sparingly methods.")
    return method


def methods_inside(value: Any) -> Iterator[Method]:
    """Yield a method and all methods inside it."""
    inside: Iterable[Any] = value if isinstance(value, tuple) else ()
    if isinstance(value, Method):
        yield value
        inside = (getattr(value, part.name) for part in fields(value))
    for part in inside:
        yield from methods_inside(part)


# --- from text ---


def parse_method(text: str) -> Method:
    """Read a method from text; names, parameters and values are checked against the registry."""
    return method_from_call(parse_call(text))


def method_from_call(call: Call, kinds: tuple[str, ...] = KINDS) -> Method:
    """Make a method from its written form."""
    return filled_in(method_class(call.name, kinds), call)


def filled_in(method: type[MadeMethod], call: Call) -> MadeMethod:
    """Make a method of a class from its written form; parameters and values are checked."""
    values = values_from_call(method, call)
    for part in fields(method):
        if part.default is MISSING and part.default_factory is MISSING and part.name not in values:
            raise UsageError(f"The method {call.name} needs the parameter {part.name}= ({_help(part)}).")
    return method(**values)


def values_from_call(method: type[Method], call: Call) -> dict[str, Any]:
    """Return the parameters that a text spells, as the types of the class's fields."""
    hints = _hints(method)
    values: dict[str, Any] = {}
    for key, value in call.values:
        if key not in hints:
            raise UnknownNameError(f"parameter of {call.name}", key, hints)
        values[key] = _convert(f"{call.name}:{key}", hints[key], value)
    return values


def with_parameters(method: MadeMethod, values: Mapping[str, Any]) -> MadeMethod:
    """Return a method with some parameters changed; a plain value may be given as text."""
    hints = _hints(type(method))
    changes: dict[str, Any] = {}
    for name, value in values.items():
        if name not in hints:
            raise UnknownNameError(f"parameter of {method.name}", name, hints)
        if not isinstance(value, str | int | float | tuple | Method):
            raise UsageError(f"The parameter {name} of {method.name} cannot be {value!r}.")
        if not isinstance(value, Method):
            value = _convert(f"{method.name}:{name}", hints[name], _value_of(value, True))
        changes[name] = value
    return replace(method, **changes)


def _convert(label: str, hint: Any, value: Value) -> Any:
    """Turn a written value into what the field takes."""
    options = _options(hint)
    if type(None) in options and value == Bare("none"):
        return None
    if isinstance(value, Bare) and value.text in _words(options):
        return value.text
    hint = _main_type(options)
    if typing.get_origin(hint) is tuple:
        part_hint = typing.get_args(hint)[0]
        if typing.get_origin(part_hint) is tuple:
            if not isinstance(value, Calls):
                raise UsageError(f"The parameter {label} takes methods in parentheses: (name:…)+(2*name:…).")
            base = typing.get_args(part_hint)[1]
            return tuple((weight, method_from_call(call, (base.kind,))) for weight, call in value.calls)
        if isinstance(value, Calls):
            raise UsageError(f"The parameter {label} takes a list [a,b], not methods.")
        parts = value.values if isinstance(value, Items) else (value,)
        return tuple(_convert_scalar(label, part_hint, part.text) for part in parts)
    if isinstance(hint, type) and issubclass(hint, Method):
        if isinstance(value, Bare):
            return method_from_call(parse_call(value.text), _kinds_of(hint))
        if not isinstance(value, Calls) or len(value.calls) != 1 or value.calls[0][0] != 1:
            raise UsageError(f"The parameter {label} takes one method in parentheses: (name:key=value).")
        return method_from_call(value.calls[0][1], _kinds_of(hint))
    if not isinstance(value, Bare | Quoted):
        raise UsageError(f"The parameter {label} takes one value, not a list or a method.")
    return _convert_scalar(label, hint, value.text)


def _options(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _main_type(options: tuple[Any, ...]) -> Any:
    return next(option for option in options if option is not type(None))


def _words(options: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the words that a parameter takes beside numbers: ``float | Literal["pilot"]``."""
    words = [option for option in options if typing.get_origin(option) is Literal]
    words_only = len(words) + (type(None) in options) == len(options)
    return () if words_only else tuple(word for option in words for word in typing.get_args(option))


def _kinds_of(base: type[Method]) -> tuple[str, ...]:
    """Return the kinds of methods that a class takes: designs are selectors, too."""
    if base.kind == "selector":
        return ("selector", "design")
    return (base.kind,) if base.kind else KINDS


def _convert_scalar(label: str, hint: Any, text: str) -> Any:
    value: Any = text
    if hint is bool:
        value = {"true": True, "false": False}.get(text, text)
    elif hint in (int, float):
        with suppress(ValueError):
            number = hint(text)
            value = number if number == number else text
    return _checked(label, hint, value)


# --- of objects ---


def _checked(label: str, hint: Any, value: Any) -> Any:
    """Return a parameter's value, numbers in the field's type; raise what a text with that value would."""
    options = _options(hint)
    if (value is None and type(None) in options) or (isinstance(value, str) and value in _words(options)):
        return value
    hint = _main_type(options)
    if typing.get_origin(hint) is tuple:
        part_hint = typing.get_args(hint)[0]
        if not isinstance(value, tuple):
            raise UsageError(one_line(f"The parameter {label} takes a tuple, not {value!r}."))
        if typing.get_origin(part_hint) is not tuple:
            return tuple(_checked(label, part_hint, part) for part in value)
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
            sentence = f"The parameter {label} takes pairs of a weight and a method, not {value!r}."
            raise UsageError(one_line(sentence))
        _, method_hint = typing.get_args(part_hint)
        return tuple(
            (_checked(label, float, weight), _checked(label, method_hint, part)) for weight, part in value
        )
    if isinstance(hint, type) and issubclass(hint, Method):
        if not isinstance(value, Method) or type(value).kind not in _kinds_of(hint):
            raise UsageError(one_line(f"The parameter {label} takes a {hint.kind}, not {value!r}."))
        return value
    if typing.get_origin(hint) is Literal:
        if value not in typing.get_args(hint):
            raise UnknownNameError(f"value of {label}", str(value), typing.get_args(hint))
        return value
    if hint not in _NOUNS:
        return value
    takes = {int: Integral, float: Real, bool: bool, str: str}[hint]
    fits = isinstance(value, takes) and (hint is bool or not isinstance(value, bool))
    if not fits or value != value:
        raise UsageError(one_line(f'The parameter {label} is {_NOUNS[hint]}, not "{value}".'))
    return hint(value)


def spell_saved(text: str) -> str:
    """Return a saved method as this version has it: what has replaced it, without retired parameters.

    A text that this changes is that of an earlier rule.
    """
    call = parse_call(text)
    if call.name in REPLACED:
        return method_class(REPLACED[call.name])().full_text
    try:
        retired = method_class(call.name).retired
    except UnknownNameError:
        return text
    values = tuple(pair for pair in call.values if pair[0] not in retired)
    return format_call(Call(call.name, values)) if len(values) < len(call.values) else text


# --- to text ---


def format_method(method: Method, *, spell_defaults: bool = False) -> str:
    """Write a method as text; reading it gives the same method back."""
    return format_call(call_of(method, spell_defaults))


def call_of(method: Method, spell_defaults: bool = False) -> Call:
    """Return a method as it is written."""
    values = [
        (part.name, _value_of(getattr(method, part.name), spell_defaults))
        for part in _required_first(method)
        if spell_defaults or getattr(method, part.name) != part.default
    ]
    return Call(method.name, tuple(values))


def _required_first(method: Method | type[Method]) -> list[Field[Any]]:
    return sorted(fields(method), key=lambda part: part.default is not MISSING)


def _value_of(value: Any, spell: bool) -> Value:
    if value is None:
        return Bare("none")
    if isinstance(value, bool):
        return Bare("true" if value else "false")
    if isinstance(value, int | float):
        return Bare(format_number(value))
    if isinstance(value, Method):
        return Calls(((1.0, call_of(value, spell)),))
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            return Calls(tuple((weight, call_of(method, spell)) for weight, method in value))
        parts = (
            text_value(part, inside_list=True) if isinstance(part, str) else Bare(format_number(part))
            for part in value
        )
        return Items(tuple(parts))
    return text_value(value)


# --- for listings ---


class MethodList(list[dict[str, Any]], Framed):
    """Methods as plain values, also as frames and as a table for notebooks."""

    def rows(self) -> list[dict[str, Any]]:
        """Return name, kind, needs, summary and reference of every method."""
        columns = ("name", "kind", "needs", "summary", "reference")
        return [{name: method[name] for name in columns} for method in self]

    def _repr_html_(self) -> str:
        rows = [(row["kind"], row["name"], row["summary"]) for row in self.rows()]
        return html_table(("kind", "name", "what it does"), sorted(rows))


def methods() -> MethodList:
    """Return every registered method as plain values: name, kind, needs, parameters, summary, reference.

    Examples:
        >>> import sparingly
        >>> [method["name"] for method in sparingly.methods() if method["kind"] == "utility"][1:7]
        ['distilled', 'diversity', 'irt', 'max_norm', 'metric_avg', 'metric_cons']
    """
    return MethodList(describe_method(method) for method in registered().values())


def describe_method(method: type[Method]) -> dict[str, Any]:
    """Return what a listing shows of a method, as plain values."""
    hints = _hints(method)
    parameters = []
    for part in _required_first(method):
        hint, default = hints[part.name], None if part.default is MISSING else part.default
        parameters.append(
            {
                "name": part.name,
                "type": _type_name(hint),
                "required": part.default is MISSING,
                "default": default if isinstance(default, str | int | float | bool | None) else str(default),
                "choices": list(typing.get_args(hint)) if typing.get_origin(hint) is Literal else None,
                "help": _help(part),
            }
        )
    return {
        "name": method.name,
        "kind": method.kind,
        "needs": list(method.needs),
        "parameters": parameters,
        "summary": method.summary(),
        "reference": method.reference,
    }


def _hints(method: type[Method]) -> dict[str, Any]:
    """Return the types of a method's parameters, resolved once for each method."""
    if method not in _HINTS:
        hints = typing.get_type_hints(method)
        _HINTS[method] = {part.name: hints[part.name] for part in fields(method)}
    return _HINTS[method]


def _help(part: Field[Any]) -> str:
    return str(part.metadata.get("help", ""))


def _type_name(hint: Any) -> str:
    if typing.get_origin(hint) is Literal:
        return "choice"
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = typing.get_args(hint)
        words = _words(parts)
        # A word beside numbers stands for itself.
        listed = [part for part in parts if not words or typing.get_origin(part) is not Literal]
        type_names = ["none" if part is type(None) else _type_name(part) for part in listed]
        return " or ".join([type_names[0], *words, *type_names[1:]])
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return "weighted methods" if typing.get_origin(inner) is tuple else f"list of {_type_name(inner)}"
    if isinstance(hint, type) and issubclass(hint, Method):
        return hint.kind
    return _NOUNS.get(hint, str(hint)).removeprefix("a ")
