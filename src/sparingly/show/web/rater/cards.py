"""The outputs of a page: equal ones once, in an order drawn for the rater, under names that tell nothing."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.questions import Cell
from sparingly.run.campaign.rater_pages import Page

Text = str | None


@dataclass(frozen=True)
class Card:
    """One output to judge, or two to compare.

    Attributes:
        handle: What the page calls it.
        cells: What its answer is credited to, each with 1, or -1 where a pair is the other way round.
        texts: The output, or the two in the order in which they are shown.
    """

    handle: str
    cells: tuple[tuple[Cell, int], ...]
    texts: tuple[Text, ...]

    @property
    def is_pair(self) -> bool:
        """Whether two outputs are compared."""
        return len(self.texts) == 2

    @property
    def first(self) -> Cell:
        """The cell that stands for all of them."""
        return self.cells[0][0]


def cards_of(
    page: Page,
    cells: Sequence[Cell],
    data: EvalSet,
    rater: str,
    keyed: Callable[..., str],
    handle: Callable[..., str],
) -> list[Card]:
    """Return the cards of a page, in the order in which this rater is shown them.

    The order is that of a keyed hash of the rater, the item and the model: without the server's secret nobody
    can tell from it which model is which. Outputs that are the same, letter by letter, are one card.

    Args:
        page: The page.
        cells: What is judged on it.
        data: The data set.
        rater: Who is shown it.
        keyed: Gives a random text for some parts, the same every time, that needs the server's secret.
        handle: Gives the name of a card in the rater's session.
    """
    row = int(data.positions([page.item])[0])
    column = {name: place for place, name in enumerate(data.models)}
    about = f"{rater}\x1f{page.data}\x1f{page.round}\x1f{page.item}"
    models = sorted({name for cell in cells for name in (cell.model, cell.other) if name})
    place = {name: keyed("order of outputs", about, name) for name in models}

    def written(model: str) -> Text:
        return None if data.outputs is None else data.outputs[row, column[model]]

    grouped: dict[tuple[Text, ...], list[tuple[Cell, int]]] = {}
    texts: dict[tuple[Text, ...], tuple[Text, ...]] = {}
    for cell in sorted(cells, key=lambda cell: (place[cell.model], place.get(cell.other, ""))):
        sides = [name for name in (cell.model, cell.other) if name]
        order = sorted(sides, key=lambda name: place[name])
        sign = 1 if order == sides else -1
        shown = tuple(written(name) for name in order)
        key = _key(cell, shown, grouped)
        texts.setdefault(key, shown)
        grouped.setdefault(key, []).append((cell, sign if texts[key] == shown else -sign))
    # Pairs come in an order of their own, not by the places of their first models.
    found = [
        Card(handle("output", about, cells[0][0].model, cells[0][0].other), tuple(cells), texts[key])
        for key, cells in grouped.items()
    ]
    return sorted(found, key=lambda card: keyed("order of cards", about, card.first.model, card.first.other))


def _key(cell: Cell, shown: tuple[Text, ...], known: Container[tuple[Text, ...]]) -> tuple[Text, ...]:
    """Return what tells cards apart: the texts, a pair's in the order that is known.

    Outputs without a text are never the same.
    """
    if None in shown:
        return (cell.model, cell.other, "no text")
    return shown[::-1] if shown not in known and shown[::-1] in known else shown
