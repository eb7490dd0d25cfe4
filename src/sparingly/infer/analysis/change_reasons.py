"""Why two results can differ: what their signatures, models and judgements have that is not the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sparingly.base.errors import listing
from sparingly.infer.analysis.change_side import Side
from sparingly.infer.estimate.result import EstimateSignature

NOTHING = "Nothing that is known of the two differs."


def reasons(
    before: Side, after: Side, *, labels: Sequence[Mapping[str, int]], unit: str = "items"
) -> tuple[str, ...]:
    """Return, a sentence each, what differs between two results that can have changed the scores."""
    found = [*_asked(before, after), *_models(before, after), *_judgements(before, after, labels, unit)]
    signed = before.signature, after.signature
    if signed[0] is not None and signed[1] is not None:
        found += _signed(signed[0], signed[1], data_changed(before, after))
    elif signed[0] is not None or signed[1] is not None:
        found.append("Only one of the two has a signature, so the data behind them cannot be compared.")
    return tuple(found) or (NOTHING,)


def _asked(before: Side, after: Side) -> Iterator[str]:
    if before.aspect != after.aspect:
        yield f"Another aspect, {after.aspect} instead of {before.aspect}: the scores cannot be compared."
    if before.target != after.target:
        yield f"Another target: {before.target} before, {after.target} after."
    if before.estimator != after.estimator:
        yield f"Another estimator: {before.estimator} before, {after.estimator} after."


def _models(before: Side, after: Side) -> Iterator[str]:
    if added := [name for name in after.order if name not in before.order]:
        yield f"Added: {listing(added)}; ranks count more models."
    if gone := [name for name in before.order if name not in after.order]:
        yield f"Gone: {listing(gone)}; ranks count fewer models."


def _judgements(before: Side, after: Side, labels: Sequence[Mapping[str, int]], unit: str) -> Iterator[str]:
    if before.n is not None and after.n is not None and before.n != after.n:
        word = "More" if after.n > before.n else "Fewer"
        yield f"{word} judged {unit}: {before.n} before, {after.n} after."
    common = [name for name in after.order if name in labels[0] and name in labels[1]]
    gains = {name: labels[1][name] - labels[0][name] for name in common}
    if any(gains.values()):
        if len(set(gains.values())) == 1:
            yield f"Labels by model: {next(iter(gains.values())):+d} on every model."
        else:
            most = sorted((name for name in gains if gains[name]), key=lambda name: -abs(gains[name]))
            yield f"Labels by model: {listing(f'{name} {gains[name]:+d}' for name in most)}."


def data_changed(before: Side, after: Side) -> bool:
    """Whether digests tell that what was read changed: those of other models and estimators always differ."""
    signed = before.signature, after.signature
    if signed[0] is None or signed[1] is None or signed[0].estimator != signed[1].estimator:
        return False
    return set(before.order) == set(after.order) and signed[0].inputs != signed[1].inputs


def _signed(before: EstimateSignature, after: EstimateSignature, changed: bool) -> Iterator[str]:
    if before.of != after.of:
        yield f"The set has {after.of} items instead of {before.of}."
    if changed:
        yield f"The data changed: the digest of what was read is {after.inputs} instead of {before.inputs}."
    if before.labels != after.labels and before.n == after.n and before.selection == after.selection:
        yield f"The judgements themselves changed: their digest is {after.labels} instead of {before.labels}."
    if before.selection != after.selection:
        yield _selected(before.selection, after.selection)
    if (before.raters is None) != (after.raters is None):
        yield "Only one of the two counts how much raters vary."
    for name in ("level", "interval", "seed", "version"):
        values = getattr(before, name), getattr(after, name)
        if values[0] != values[1]:
            yield f"Another {name}: {values[0]} before, {values[1]} after."


def _selected(before: str | None, after: str | None) -> str:
    methods = [None if line is None else line.partition("|")[0] for line in (before, after)]
    if None in methods:
        return "Only one of the two says what was chosen to be judged."
    if methods[0] != methods[1]:
        return f"Chosen by another method: {methods[0]} before, {methods[1]} after."
    return "Another selection, by the same method."
