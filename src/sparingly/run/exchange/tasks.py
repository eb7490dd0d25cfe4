"""What people are shown and asked, before it is written for any tool: no model's name is in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from sparingly.run.exchange.key import Key
from sparingly.run.exchange.scale import Scale

Kind = Literal["score", "pair", "ranking", "spans"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Output:
    """A text to judge, under the token of the models that wrote it."""

    token: str
    text: str


@dataclass(frozen=True)
class Passage:
    """An item that is shown around the one to judge: its source, and what the models wrote, by token."""

    item: str
    source: str | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """One item for one rater (or for anyone), with the outputs to judge.

    Attributes:
        id: An opaque id of letters, the same for the same question.
        item: The item's id as it may be seen: a control item has that of its original.
        outputs: What to judge, in the order to show it (of a pair: left, right); equal texts are there once.
        source: The source text.
        references: The references by name.
        before: What comes before it in the document, in order.
        after: What comes after it.
        document: The document, if any.
        position: The place in the document.
        domain: The domain, if any.
        data: The data set of a campaign that has several; empty otherwise.
        round: The round that asks, from 1.
        probability: The row's inclusion probability; None for the top of a list.
        rater: Who is to judge it; None for anyone.
        control: The kind of a control item (``degraded``, ``reference``, ``repeat``); it must not show.
    """

    id: str
    item: str
    outputs: tuple[Output, ...]
    source: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    before: tuple[Passage, ...] = ()
    after: tuple[Passage, ...] = ()
    document: str | None = None
    position: float | None = None
    domain: str | None = None
    data: str = ""
    round: int = 1
    probability: float | None = None
    rater: str | None = None
    control: str | None = None

    @property
    def reference(self) -> str | None:
        """The first reference, where there is one."""
        return next(iter(self.references.values()), None)

    @property
    def pair(self) -> tuple[Output, Output]:
        """The output on the left and the one on the right of a pair."""
        left, right = self.outputs
        return left, right


@dataclass(frozen=True)
class Tasks:
    """All tasks of an export, documents together and in order, with the key that opens them.

    Attributes:
        tasks: The tasks; where there are raters, rater by rater.
        kind: What is asked: ``score``, ``pair``, ``ranking`` or ``spans``.
        scales: What is judged, each aspect with its scale. Pairs and rankings use the names only; spans
            without an aspect are counted in points as the aspect ``mqm``.
        key: What the tokens stand for. It stays at home.
        seed: The seed of tokens and sides.
        notes: What was not asked and why, in sentences.
    """

    tasks: tuple[Task, ...]
    kind: Kind
    scales: Mapping[str, Scale]
    key: Key
    seed: int = 0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    @property
    def aspects(self) -> tuple[str, ...]:
        """What is judged."""
        return tuple(self.scales)

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters that have tasks of their own, in order."""
        return tuple(sorted({task.rater for task in self.tasks if task.rater is not None}))

    def by_rater(self) -> dict[str | None, list[Task]]:
        """Return the tasks of every rater, those for anyone under None."""
        found: dict[str | None, list[Task]] = {}
        for task in self.tasks:
            found.setdefault(task.rater, []).append(task)
        return found

    def by_document(self) -> list[list[Task]]:
        """Return runs of tasks of one rater and document; without a document an item is its own run."""
        runs: list[list[Task]] = []
        for task in self.tasks:
            last = runs[-1][-1] if runs else None
            together = (
                last is not None
                and task.document is not None
                and (last.rater, last.data, last.document) == (task.rater, task.data, task.document)
            )
            if together:
                runs[-1].append(task)
            else:
                runs.append([task])
        return runs
