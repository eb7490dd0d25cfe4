"""What a rater or a judge is asked, with everything that there is to show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.todo import Cell


@dataclass(frozen=True)
class Question:
    """One output to judge, or two to compare.

    Attributes:
        data: The data set.
        round: The round that asks.
        item: The item.
        model: The model whose output is judged, or the first of two.
        other: The second of two models; None for a single output.
        aspects: What is to be judged.
        source: The source text; None where there is none.
        output: What the model wrote.
        other_output: What the other model wrote.
        references: The references by name.
    """

    data: str
    round: int
    item: str
    model: str
    other: str | None
    aspects: tuple[str, ...]
    source: str | None = None
    output: str | None = None
    other_output: str | None = None
    references: dict[str, str] = field(default_factory=dict)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a form to fill in, one row per aspect, with the columns that ``record`` reads."""
        about = {"model": self.model} if self.other is None else {"first": self.model, "second": self.other}
        texts: dict[str, Any] = {"source": self.source}
        if self.other is None:
            texts["output"] = self.output
        else:
            texts |= {"first_output": self.output, "second_output": self.other_output}
        blank = {"rater": None, "score": None, "seconds": None, "comment": None}
        return [
            {
                "data": self.data,
                "round": self.round,
                "item": self.item,
                **about,
                "aspect": aspect,
                **blank,
                **texts,
            }
            for aspect in self.aspects
        ]


def question_of(data: EvalSet, cell: Cell, aspects: tuple[str, ...]) -> Question:
    """Return what is asked about a cell."""
    row = int(data.positions([cell.item])[0])
    column = {name: place for place, name in enumerate(data.models)}

    def written(model: str) -> str | None:
        return None if data.outputs is None or not model else data.outputs[row, column[model]]

    texts = data.reference_texts
    references = {} if texts is None else dict(zip(data.references, texts[row], strict=True))
    return Question(
        data=cell.data,
        round=cell.round,
        item=cell.item,
        model=cell.model,
        other=cell.other or None,
        aspects=aspects,
        source=None if data.sources is None else data.sources[row],
        output=written(cell.model),
        other_output=written(cell.other),
        references={name: text for name, text in references.items() if text is not None},
    )
