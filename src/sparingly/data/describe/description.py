"""The description of an evaluation set: all that is in it, missing from it, and odd about it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Mask
from sparingly.base.errors import listing
from sparingly.base.format import counted, share_text
from sparingly.base.summary import Summary, Tabular
from sparingly.base.syntax import one_of_several
from sparingly.data import fields
from sparingly.data.describe.documents import DocumentsSummary, TextsSummary, documents, domains, texts
from sparingly.data.describe.judgements import (
    EpochVariance,
    PreferencesSummary,
    RatingsSummary,
    epoch_variances,
    preferences,
    ratings,
)
from sparingly.data.describe.metrics import Copy, Correlation, ScoreRange, copies, correlations, scores_of
from sparingly.data.evalset import EvalSet
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.roles import TableRoles

_EXAMPLES = 5


@dataclass(frozen=True)
class Coverage:
    """How much of a field is there."""

    field: str  # such as ``metric:chrF`` or ``outputs``; ``reference:NAME`` is one reference
    present: int  # the number of cells (of items, for texts that items have) that are there
    of: int  # the number that could be there
    share: float  # ``present / of``
    models: dict[str, int]  # how many cells each model lacks; models that lack none are left out
    items: int  # the number of items that lack at least one cell
    examples: tuple[str, ...]  # the first few of those items


def coverage(data: EvalSet) -> tuple[Coverage, ...]:
    """Return the coverage of every metric, aspect and text, and of the columns that methods know."""
    values: dict[str, NDArray[Any]] = {fields.metric(name): scores for name, scores in data.metrics.items()}
    values |= {fields.aspect(name): scores for name, scores in data.aspects.items()}
    if data.outputs is not None:
        values["outputs"] = data.outputs
    if data.sources is not None:
        values["sources"] = data.sources
    if data.reference_texts is not None:
        for place, name in enumerate(data.references):
            values[f"reference:{name}"] = data.reference_texts[:, place]
    for name in (*fields.TEXT_COLUMNS, *fields.NUMBER_COLUMNS):
        if name in data.columns:
            values[fields.column(name)] = data.columns[name]
    rows = []
    for field, array in values.items():
        present = is_present(array)
        lacking = ~(present if present.ndim == 1 else present.all(axis=1))
        by_model = (~present).sum(axis=0).tolist() if present.ndim == 2 else []
        rows.append(
            Coverage(
                field=field,
                present=int(present.sum()),
                of=present.size,
                share=float(present.mean()) if present.size else 1.0,
                models={name: count for name, count in zip(data.models, by_model, strict=False) if count},
                items=int(lacking.sum()),
                examples=tuple(data.items[np.flatnonzero(lacking)[:_EXAMPLES]]),
            )
        )
    return tuple(rows)


def is_present(values: NDArray[Any]) -> Mask:
    """Say which texts are not None, or which numbers are not NaN."""
    present: Mask = values != np.empty(1, object) if values.dtype == object else ~np.isnan(values)
    return present.astype(bool, copy=False)


@dataclass(frozen=True, repr=False)
class Description(Tabular):
    """What is in an evaluation set, what is missing, and what is odd."""

    rows_key: ClassVar[str] = "coverage"

    name: str  # where the set came from
    items: int  # the number of items
    models: tuple[str, ...]  # the ids of the models
    metrics: tuple[ScoreRange, ...]  # the range of every metric
    aspects: tuple[ScoreRange, ...]  # the range of every aspect
    references: tuple[str, ...]  # the names of the references
    columns: tuple[str, ...]  # the columns of the items
    cells: tuple[str, ...]  # the further columns of the cells
    coverage: tuple[Coverage, ...]  # how much of every field is there
    correlations: tuple[Correlation, ...]  # how every metric agrees with every aspect
    copies: tuple[Copy, ...]  # metrics that repeat others
    documents: DocumentsSummary | None  # the documents, or None
    domains: dict[str, int]  # items by domain, the largest first
    texts: TextsSummary | None  # what is odd about texts, or None when there are none
    ratings: RatingsSummary | None  # the ratings, or None
    preferences: PreferencesSummary | None  # the preferences, or None
    absent: tuple[str, ...]  # the kinds of things that the set has none of
    odd: tuple[Oddity, ...]  # what a user should look at, in sentences
    epochs: tuple[EpochVariance, ...] = ()  # how much of every repeated score is noise between epochs
    roles: TableRoles | None = None  # what the columns of a table were taken for

    def __repr__(self) -> str:
        shape = f"{counted(self.items, 'item')} x {counted(len(self.models), 'model')}"
        kinds = f"{len(self.metrics)} metrics, {len(self.aspects)} aspects"
        return f"Description({shape}; {kinds}; {len(self.odd)} oddities)"

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain values, for JSON."""
        return {**asdict(self), "roles": [] if self.roles is None else self.roles.to_dict()}

    def summary(self) -> Summary:
        """Return what there is, what every column holds or what fields there are, and what to do next."""
        notes = [oddity.text for oddity in self.odd]
        if self.epochs:
            first = self.epochs[0]
            shares = ", ".join(f"{part.score} {share_text(part.share, 0)}" for part in self.epochs)
            repeats = f"{first.epochs:.3g} epochs of {first.cells:,} outputs"
            notes.insert(0, f"Repeats: {repeats}. Noise between epochs: {shares}.")
        rows = list(self.facts()) if self.roles is None else self.roles.rows()
        if self.roles is not None:
            if len(self.models) == 1 and all(part.role != "model" for part in self.roles.columns):
                rows.append(("all rows", f"model {self.models[0]} (named after the file)"))
            saved = f"The roles that you gave are saved in {self.roles.saved_in}."
            notes[:0] = [*self.roles.notes, *self.roles.advice(), *([saved] * bool(self.roles.saved_in))]
        command = self._next_command()
        return Summary(
            (self.headline,),
            ("", ""),
            tuple(rows),
            texts=2,
            next_steps=(" ".join(["sparingly", command, "DATA", *self._needed()]),) * bool(command),
            notes=tuple(notes),
        )

    @property
    def headline(self) -> str:
        """What is in the set, in one sentence."""
        metrics, aspects = ([score.name for score in scores] for scores in (self.metrics, self.aspects))
        pairs = 0 if self.preferences is None else self.preferences.count
        parts = [
            f"human labels ({listing(aspects, 3)})" if aspects else "",
            counted(pairs, "comparison") if pairs else "",
            f"{counted(len(metrics), 'metric')} ({listing(metrics, 3)})" if metrics else "",
        ]
        what = "" if "outputs" in self.absent else "outputs of "
        size = f"{what}{counted(len(self.models), 'model')} for {counted(self.items, 'item')}"
        given = " and ".join(filter(None, parts))
        people = "" if aspects or pairs else "; no human labels yet"
        return f"{self.name or 'This set'}: {size}{given and f', with {given}'}{people}."

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield what kinds of things there are, and which."""
        yield "models", listing(self.models)
        rows = {
            "metrics": [column.name for column in self.metrics],
            "aspects": [column.name for column in self.aspects],
            "references": self.references,
            "columns": self.columns,
            "cell columns": self.cells,
        }
        yield from ((f"{kind} ({len(names)})", listing(names)) for kind, names in rows.items() if names)
        if (documents := self.documents) is not None:
            order = "in order" if documents.in_order else "NOT in order"
            length = f"{documents.shortest} to {documents.longest} items, median {documents.median:g}"
            yield "documents", f"{documents.count} ({length}; {order} in the file)"
        if self.domains:
            yield "domains", listing(f"{name} {count}" for name, count in self.domains.items())
        if (ratings := self.ratings) is not None:
            repeated = f"{share_text(ratings.repeated_share)} of judged cells more than once"
            remarks = f", {ratings.comments} comments" if ratings.comments else ""
            yield (
                "ratings",
                f"{ratings.count} by {counted(len(ratings.raters), 'rater')}, {repeated}{remarks}",
            )
            if ratings.seconds is not None:
                hours = f"{ratings.seconds.total / 3600:.1f} hours in all"
                yield "seconds", f"median {ratings.seconds.median:.0f} a rating, {hours}"
        if (pairs := self.preferences) is not None:
            compared = f"{pairs.count} over {pairs.pairs} of {pairs.possible_pairs} pairs"
            yield "preferences", f"{compared}, {share_text(pairs.ties_share)} ties"
        texts = self.texts if len(self.models) > 1 else None
        if texts is not None and texts.identical_share is not None:
            shared = f"{share_text(texts.identical_share)} of cells share their text with another model"
            yield "identical outputs", shared
        if self.absent:
            yield "not in this file", ", ".join(self.absent)

    def _next_command(self) -> str:
        """Return the command that answers what the set can tell."""
        several, labelled = len(self.models) > 1, bool(self.aspects)
        if self.preferences is not None and not labelled:
            return "compare"
        if labelled:
            return "rank" if several else "judge" if self.metrics else "estimate"
        if "outputs" in self.absent:
            return ""
        return "plan" if self.metrics else "serve"

    def _needed(self) -> Iterator[str]:
        """Yield what must be said with the next command: an aspect of several, and roles in doubt."""
        if len(self.aspects) > 1:
            yield f"--aspect {shlex.quote(self.aspects[0].name)}"
        columns = () if self.roles is None else self.roles.columns
        doubtful = {part.name or part.column: part for part in reversed(columns) if part.doubtful}
        for part in reversed(doubtful.values()):
            if part.role in ("human", "metric"):
                yield f"--role {shlex.quote(f'{part.column}={part.role}')}"


def describe(data: DataLike) -> Description:
    """Describe an evaluation set.

    Read ``odd`` before anything else; then the correlations of differences: they say which metric is worth
    selecting with.

    Examples:
        >>> import sparingly
        >>> data = sparingly.EvalSet.from_arrays(
        ...     items=["a", "b"], models=["tiny", "large"],
        ...     metrics={"TER": [[60.0, 40.0], [45.0, 43.0]]},
        ...     aspects={"overall": [[2.0, 5.0], [3.0, 3.5]]},
        ... )
        >>> description = sparingly.describe(data)
        >>> round(description.correlations[0].differences, 3)
        -0.998
        >>> description.absent[:3]
        ('sources', 'outputs', 'references')
    """
    data = as_evalset(data)
    has = {
        "metrics": bool(data.metrics),
        "aspects": bool(data.aspects),
        "sources": data.sources is not None,
        "outputs": data.outputs is not None,
        "references": bool(data.references),
        "documents": fields.DOCUMENT in data.columns,
        "domains": fields.DOMAIN in data.columns,
        "costs": fields.COST in data.columns,
        "ratings": len(data.ratings) > 0,
        "preferences": len(data.preferences) > 0,
    }
    metrics, pairs, duplicates = scores_of(data.metrics), correlations(data), copies(data.metrics)
    text_summary, ratings_summary, document_summary = texts(data), ratings(data), documents(data)
    odd = (
        *of_metrics(metrics, pairs, duplicates),
        *of_texts(text_summary),
        *of_ratings(ratings_summary),
        *of_documents(document_summary),
    )
    return Description(
        name=data.name,
        items=len(data),
        models=data.models,
        metrics=metrics,
        aspects=scores_of(data.aspects),
        references=data.references,
        columns=tuple(data.columns),
        cells=tuple(data.cells),
        coverage=coverage(data),
        correlations=pairs,
        copies=duplicates,
        documents=document_summary,
        domains=domains(data),
        texts=text_summary,
        ratings=ratings_summary,
        preferences=preferences(data),
        absent=tuple(kind for kind, is_there in has.items() if not is_there),
        odd=odd,
        epochs=epoch_variances(data),
        roles=data.roles,
    )


# --- what is odd about a set, in sentences that say what to do about it ---


# A metric that agrees as badly as this with people is more likely turned round than just weak.
_WRONG_SIGN = -0.05
_STANDARD_ERRORS = 3.0
_BREAK = 50.0


@dataclass(frozen=True)
class Oddity:
    """Something that a user should look at before choosing items."""

    kind: str  # a short name for machines, such as ``duplicate_ratings``
    about: tuple[str, ...]  # the metrics, models or aspects concerned
    text: str  # a sentence for people


def of_metrics(
    metrics: tuple[ScoreRange, ...], pairs: tuple[Correlation, ...], duplicates: tuple[Copy, ...]
) -> Iterator[Oddity]:
    """Yield what is odd about metrics."""
    for scores in metrics:
        name = f"The metric {scores.name}"
        if scores.minimum is None:
            yield Oddity("empty_metric", (scores.name,), f"{name} has no score at all.")
        elif scores.constant:
            text = f"{name} is {scores.minimum:g} everywhere: it cannot choose anything."
            yield Oddity("constant_metric", (scores.name,), text)
        elif scores.same_for_models:
            text = f"{name} gives all models of an item the same score, so it cannot rank them."
            yield Oddity("same_for_models", (scores.name,), text)
    for copy in duplicates:
        word = {"equal": "equal to", "rescaled": "a rescaling of", "negated": "a negation of"}[copy.kind]
        text = f"The metric {copy.metric} is {word} {copy.of}."
        yield Oddity("copied_metric", (copy.metric, copy.of), text)
    for metric, group in groupby(pairs, key=lambda pair: pair.metric):
        own_pairs = list(group)
        defined = [pair for pair in own_pairs if pair.differences is not None]
        # With one model there are no differences, and all outputs together have to tell it.
        compared = defined or [
            replace(pair, differences=pair.pooled, freedom=pair.cells - 1)
            for pair in own_pairs
            if pair.freedom == 0 and pair.pooled is not None
        ]
        if compared and looks_turned(compared):
            worst = min(compared, key=lambda pair: pair.differences or 0.0)
            symbol = "r of differences" if defined else "r"
            text = (
                f"The metric {metric} goes against {worst.aspect} ({symbol} {worst.differences:.2f}):"
                f" lower is better? Then read it with {one_of_several('lower_is_better', metric)}."
            )
            yield Oddity("suspicious_sign", (metric, worst.aspect), text)
        for pair in defined:
            if pair.pooled is not None and pair.pooled > 1 - 1e-9:
                text = (
                    f"The metric {metric} is the same as the aspect {pair.aspect}:"
                    " is the answer among the inputs?"
                )
                yield Oddity("metric_is_aspect", (metric, pair.aspect), text)


def looks_turned(pairs: list[Correlation]) -> bool:
    """Say whether a metric goes against every aspect, and against one of them beyond chance.

    Chance is three standard errors, 1/√freedom each, which is generous to the metric.
    """
    values = [(pair.differences or 0.0, max(1, pair.freedom)) for pair in pairs]
    return all(value < 0 for value, _ in values) and any(
        value < min(_WRONG_SIGN, -_STANDARD_ERRORS / freedom**0.5) for value, freedom in values
    )


def of_texts(texts: TextsSummary | None) -> Iterator[Oddity]:
    """Yield what is odd about texts."""
    if texts is None:
        return
    if texts.empty_outputs:
        count, models = sum(texts.empty_outputs.values()), tuple(texts.empty_outputs)
        text = f"{counted(count, 'output')} {_are(count)} empty ({listing(models, 4)})."
        yield Oddity("empty_outputs", models, text)
    for pair in texts.near_duplicates:
        text = (
            f"The models {pair.first} and {pair.second} wrote the same text for "
            f"{100 * pair.share:.0f} % of the items, so judging both adds little."
        )
        yield Oddity("near_duplicate_models", (pair.first, pair.second), text)
    if count := texts.empty_sources:
        yield Oddity("empty_sources", (), f"{counted(count, 'source')} {_are(count)} empty.")
    if count := texts.repeated_sources:
        text = f"{counted(count, 'item')} {_have(count)} the source of an earlier item."
        yield Oddity("repeated_sources", (), text)


def of_ratings(ratings: RatingsSummary | None) -> Iterator[Oddity]:
    """Yield what is odd about ratings."""
    if ratings is None:
        return
    if count := ratings.duplicates:
        verb = "repeats" if count == 1 else "repeat"
        text = f"{counted(count, 'rating')} {verb} the item, model, rater and aspect of another."
        yield Oddity("duplicate_ratings", (), text)
    time = ratings.seconds
    if time is not None and time.longest > _BREAK * max(time.median, 1.0):
        text = (
            f"The longest judgement took {time.longest:.0f} seconds, a middle one {time.median:.0f}:"
            " breaks are counted in, so clip the times before adding them up."
        )
        yield Oddity("breaks_in_seconds", (), text)


def of_documents(documents: DocumentsSummary | None) -> Iterator[Oddity]:
    """Yield what is odd about documents."""
    if documents is None:
        return
    for kind, count, fault in (
        ("scattered_documents", documents.scattered, "items that do not stand side by side in the file"),
        ("disordered_documents", documents.disordered, "positions that do not ascend in the file"),
        ("documents_with_gaps", documents.with_gaps, "positions that are not in the set"),
    ):
        if count:
            yield Oddity(kind, (), f"{counted(count, 'document')} {_have(count)} {fault}.")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
