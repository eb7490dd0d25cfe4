"""What a form is: how a question is put to a person, and which answers it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from sparingly.base import catalogue
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.scale import Scale

if TYPE_CHECKING:
    from sparingly.run.forms.spans import Span

# What comes back: a score of every output, which of two is better, an order, or marked errors.
FormKind = Literal["score", "pair", "ranking", "spans"]
KINDS: tuple[FormKind, ...] = get_args(FormKind)
# Where a question can be asked: on our own pages, or in files of annotation tools.
Place = Literal["pages", "files"]


@dataclass(frozen=True)
class Field:
    """What a page needs to ask for one score: the ends of a slider, or some choices with their words."""

    low: float
    high: float
    step: float
    choices: tuple[tuple[float, str], ...] = ()


# Why an output cannot be judged, as raters are offered it.
REASONS = MappingProxyType(
    {
        "broken": "The text is missing or broken",
        "knowledge": "I do not know the language or the subject",
        "unclear": "The question does not fit this text",
        "other": "Another reason (say it in a comment)",
    }
)


class Form:
    """How a question is put to a person: one class in one file, registered by name.

    A subclass says what a page needs (``field``, ``template``), which aspects it can ask for (``check``), and
    how an answer becomes a score (``score`` on pages, ``from_text`` in tables). Annotation tools know a form
    by the kind of answers it takes.
    """

    kind: ClassVar[str] = "form"
    name: ClassVar[str]
    summary: ClassVar[str]
    answers: ClassVar[FormKind] = "score"
    places: ClassVar[tuple[Place, ...]] = ("pages", "files")
    # The question above the outputs, unless guidelines have another; whether one key may answer and send.
    title: ClassVar[str] = "How good is each output?"
    advances: ClassVar[bool] = False
    # Has the macros show(output, severities), field(field, output, alone) and keys().
    template: ClassVar[str] = "rater/forms/choices.html"

    @property
    def compares(self) -> bool:
        """Whether outputs are compared, so that one answer is about all of them."""
        return self.answers in ("pair", "ranking")

    def check(self, aspects: Collection[str]) -> None:
        """Raise UsageError where the form cannot ask for these aspects."""

    def field(self, scale: Scale) -> Field | None:
        """Return what a page shows for one aspect; None where the score comes from elsewhere."""
        width = scale.high - scale.low
        step = 1.0 if width >= 20 else width / 100 if width != int(width) or width < 3 else 0.1
        return Field(scale.low, scale.high, step)

    def score(
        self, values: Mapping[str, float], aspect: str, scale: Scale | None, spans: tuple[Span, ...]
    ) -> float:
        """Return the score on an aspect from what was sent, or raise UsageError where it is not given."""
        if aspect not in values:
            raise UsageError("Judge every output on the page.")
        self.check_value(values[aspect], scale or Scale())
        return values[aspect]

    def check_value(self, value: float, scale: Scale) -> None:
        """Raise UsageError for a number that is none of the choices, where there are some."""
        field = self.field(scale)
        choices = {} if field is None else dict(field.choices)
        if choices and value not in choices:
            words = ", ".join(f"{choice:g} ({word})" for choice, word in choices.items())
            raise UsageError(f"The answers are {words}, not {value:g}.")

    def from_text(self, text: str) -> Any:
        """Return what a cell of a table says: a number, or text that is read as one."""
        return text.strip()


def form_named(name: str, place: Place, what: str = "form") -> Form:
    """Return the form with a name, if it can be asked at a place; an unknown name is an error."""
    form: type[Form] | None = catalogue.find_class(name, (Form.kind,))
    if form is None or place not in form.places:
        raise UnknownNameError(what, name, [known_form.name for known_form in forms(place)])
    return form()


def forms(place: Place) -> list[Form]:
    """Return all forms that can be asked at a place, in the order of their names."""
    classes: dict[str, type[Form]] = catalogue.registered_classes((Form.kind,))
    return [classes[name]() for name in sorted(classes) if place in classes[name].places]
