"""What is odd about a set, in sentences that say what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from sparingly.base.errors import listing
from sparingly.base.format import counted
from sparingly.base.syntax import one_of_several
from sparingly.data.describe.documents import DocumentsSummary, TextsSummary
from sparingly.data.describe.judgements import RatingsSummary
from sparingly.data.describe.metrics import Copy, Correlation, ScoreRange

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
            f"The models {pair.first} and {pair.second} wrote the same text for {pair.share:.0%}"
            " of the items, so judging both adds little."
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
