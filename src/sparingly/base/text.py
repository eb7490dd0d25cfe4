"""Methods as text: ``name:key=value,key=value``, the same in the command line, in files and in tables.

A value is bare text without ``, ( ) | "`` and without a leading ``[``; or a JSON string; or a list
``[a,b]``; or methods in parentheses joined by ``+``, each with an optional weight ``(2*name:…)``.
This module knows the grammar and nothing of the methods: a text becomes a ``Call`` and back.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import NoReturn

from sparingly.base.errors import UsageError, one_line

NAME = re.compile(r"[a-z][a-z0-9_]*")
_WEIGHT = re.compile(r"(-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\*")
_SPECIAL = set(',()|"')
_HOW = "Methods are written name:key=value,key=value; a text with , ( ) | or quotes goes into double quotes."


@dataclass(frozen=True)
class Bare:
    """A value written without quotes: what it means is for the field to say."""

    text: str


@dataclass(frozen=True)
class Quoted:
    """A value written as a JSON string: always text."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list of values."""

    values: tuple[Bare | Quoted, ...]


@dataclass(frozen=True)
class Calls:
    """One or several methods, each with its weight."""

    calls: tuple[tuple[float, Call], ...]


Value = Bare | Quoted | Items | Calls


@dataclass(frozen=True)
class Call:
    """A method as it is written: its name and its parameters."""

    name: str
    values: tuple[tuple[str, Value], ...] = ()


def parse_call(text: str) -> Call:
    """Read one method; anything that does not fit the grammar is an error that shows the place."""
    reader = _Reader(text)
    reader.skip_spaces()
    try:
        call = reader.call()
    except RecursionError:
        raise UsageError("The method is nested too deeply to be read.") from None
    reader.skip_spaces()
    if not reader.at_end:
        reader.fail("expected the end")
    return call


def format_call(call: Call) -> str:
    """Write a method such that reading it gives it back."""
    if not call.values:
        return call.name
    return f"{call.name}:" + ",".join(f"{key}={format_value(value)}" for key, value in call.values)


def format_value(value: Value) -> str:
    """Write one value."""
    if isinstance(value, Bare):
        return value.text
    if isinstance(value, Quoted):
        # Letters that do not show (line separators, halves of surrogate pairs) are spelled out.
        return json.dumps(value.text, ensure_ascii=not value.text.isprintable())
    if isinstance(value, Items):
        return "[" + ",".join(format_value(part) for part in value.values) + "]"
    return "+".join(f"({_format_weight(weight)}{format_call(call)})" for weight, call in value.calls)


def text_value(text: str, *, inside_list: bool = False) -> Bare | Quoted:
    """Return a text as a bare value where the grammar allows it, else quoted."""
    special = _SPECIAL | ({"[", "]"} if inside_list else set())
    unsafe = (
        not text
        or text != text.strip()
        or text.startswith("[")
        or text == "none"
        or any(letter in special or not letter.isprintable() for letter in text)
    )
    return Quoted(text) if unsafe else Bare(text)


def format_number(number: float) -> str:
    """Write a number in its shortest exact form (``2`` for 2.0)."""
    if isinstance(number, int):
        return str(number)
    return str(int(number)) if abs(number) < 1e15 and number == int(number) else repr(float(number))


def _format_weight(weight: float) -> str:
    return "" if weight == 1 else f"{format_number(weight)}*"


class _Reader:
    """Walks over a text from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.text)

    def peek(self) -> str:
        return self.text[self.place] if not self.at_end else ""

    def fail(self, problem: str) -> NoReturn:
        position = "at its end" if self.at_end else f'at "{self.text[self.place : self.place + 12]}"'
        sentence = f'The method "{self.text}" cannot be read: {problem} {position}.'
        raise UsageError(f"{one_line(sentence)} {_HOW}")

    def skip_spaces(self) -> None:
        while self.peek().isspace():
            self.place += 1

    def expect(self, letter: str) -> None:
        if self.peek() != letter:
            self.fail(f'expected "{letter}"')
        self.place += 1

    def name(self, noun: str) -> str:
        match = NAME.match(self.text, self.place)
        if match is None:
            self.fail(f"expected {noun}")
        self.place = match.end()
        return match.group()

    def call(self) -> Call:
        name = self.name("the name of a method (small letters, digits, _)")
        if self.peek() != ":":
            return Call(name)
        self.place += 1
        values: list[tuple[str, Value]] = []
        while True:
            self.skip_spaces()
            key = self.name("a parameter's name")
            if key in (key_before for key_before, _ in values):
                self.fail(f'the parameter "{key}" is there twice')
            self.expect("=")
            values.append((key, self.value()))
            if self.peek() != ",":
                return Call(name, tuple(values))
            self.place += 1

    def value(self) -> Value:
        self.skip_spaces()
        if self.peek() == "(":
            return self.calls()
        if self.peek() == "[":
            return self.items()
        return self.scalar(_SPECIAL)

    def scalar(self, stops: set[str]) -> Bare | Quoted:
        if self.peek() == '"':
            try:
                quoted, self.place = json.JSONDecoder().raw_decode(self.text, self.place)
            except json.JSONDecodeError:
                self.fail("expected a closing quote of a JSON string")
            return Quoted(quoted)
        start, depth = self.place, 0
        while not self.at_end:
            letter = self.peek()
            if letter in stops and not (letter == "]" and depth):
                break
            depth += {"[": 1, "]": -1}.get(letter, 0) if depth or letter == "[" else 0
            self.place += 1
        text = self.text[start : self.place].strip()
        if not text:
            self.fail("expected a value")
        return Bare(text)

    def items(self) -> Items:
        self.expect("[")
        values: list[Bare | Quoted] = []
        self.skip_spaces()
        while self.peek() != "]":
            self.skip_spaces()
            values.append(self.scalar(_SPECIAL | {"]"}))
            self.skip_spaces()
            if self.peek() == ",":
                self.place += 1
            elif self.peek() != "]":
                self.fail('expected "," or "]"')
        self.place += 1
        return Items(tuple(values))

    def calls(self) -> Calls:
        calls: list[tuple[float, Call]] = []
        while True:
            self.expect("(")
            match = _WEIGHT.match(self.text, self.place)
            weight = float(match.group(1)) if match else 1.0
            self.place = match.end() if match else self.place
            calls.append((weight, self.call()))
            self.expect(")")
            if self.peek() != "+":
                return Calls(tuple(calls))
            self.place += 1
