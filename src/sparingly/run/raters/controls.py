"""Control items: outputs whose right answer is known in part, hidden among those to judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.data import fields
from sparingly.data.build import build
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.raters.degrade import degraded

Kind = Literal["degraded", "reference", "repeat"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CONTROL, ORIGINAL = "control", "control_of"
_DONORS = 50


@dataclass(frozen=True)
class Control:
    """One control item: its id, its kind, and the item and model that it was made from."""

    item: str
    kind: str
    original: str
    model: str


def control_items(
    data: EvalSet,
    selection: Selection,
    *,
    kinds: Sequence[Kind] = KINDS,
    share: float = 0.1,
    seed: int = 0,
) -> EvalSet:
    """Make control items for what was chosen, as a set of their own, so that no estimate counts them.

    ``degraded``: an output with a span of words replaced by words of another output; a careful rater scores
    it below the original. ``reference``: a human reference in the place of an output. ``repeat``: an output
    once more, for a rater's agreement with himself or herself. Each has one output, of one model. The columns
    ``control`` and ``control_of`` hold the kind and the original item. Hand them out with ``assign(…,
    controls=…)``, collect ratings of this set, and look at ``control_report``.

    Args:
        data: The evaluation set.
        selection: What is to be judged.
        kinds: The kinds to make, in turn.
        share: How many control items there are, as a share of the chosen items; at least one of each kind.
        seed: Settles draws; the same seed gives the same items.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> chosen = sparingly.select(data, "random", 60, seed=1)
        >>> controls = sparingly.control_items(data, chosen)
        >>> sorted(controls.columns["control"])
        ['degraded', 'degraded', 'reference', 'reference', 'repeat', 'repeat']
    """
    texts = _checked(data, kinds, share)
    chosen = _cells(data, selection, texts)
    keys = rng.keys_of([f"{item}\x1f{data.models[model]}" for item, _, model in chosen])
    order = np.argsort(rng.stream(keys, seed, "control items"), kind="stable")
    wanted = max(len(kinds), round(share * len({item for item, _, _ in chosen})))
    made: list[tuple[Control, int, int, str]] = []
    used: set[str] = set()
    for at in order:
        item, row, model = chosen[at]
        if item in used or len(made) == wanted:
            continue
        kind = kinds[len(made) % len(kinds)]
        text = _text(data, texts, kind, row, model, seed)
        if text is not None:
            made.append((Control(f"{item}~{kind}", kind, item, data.models[model]), row, model, text))
            used.add(item)
    if len(made) < len(kinds):
        raise DataError(
            f"Only {len(made)} control items could be made: too few chosen items have texts for them."
        )
    return _as_set(data, made)


def controls_of(controls: EvalSet, data: EvalSet) -> Iterator[Control]:
    """Yield the control items of a set of them, in the order of their ids."""
    if CONTROL not in controls.columns or ORIGINAL not in controls.columns or controls.outputs is None:
        raise MissingDataError("These are no control items: make some with control_items(data, selection).")
    kinds, originals = controls.columns[CONTROL], controls.columns[ORIGINAL]
    for place, item in enumerate(controls.items):
        model = next(at for at, text in enumerate(controls.outputs[place]) if text is not None)
        name = controls.models[model]
        if name not in data.models:
            raise UnknownNameError("model", name, data.models)
        yield Control(str(item), str(kinds[place]), str(originals[place]), name)


def _checked(data: EvalSet, kinds: Sequence[str], share: float) -> Any:
    """Return the outputs, or complain."""
    if not kinds:
        raise UsageError(f"Name at least one kind of control item: {', '.join(KINDS)}.")
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownNameError("kind of control item", kind, KINDS)
    if not 0.0 < share <= 1.0:
        raise UsageError(f"The share of control items lies above 0 and is at most 1, not {share}.")
    if data.outputs is None:
        raise MissingDataError("Control items are made from outputs, and the set has none.")
    if "reference" in kinds and data.reference_texts is None:
        raise MissingDataError('The set has no references: leave out the kind "reference".')
    return data.outputs


def _cells(data: EvalSet, selection: Selection, texts: Any) -> list[tuple[str, int, int]]:
    """Return item, row and model of every chosen output that has a text."""
    place = {name: at for at, name in enumerate(data.models)}
    found = []
    for row, at in zip(selection, data.positions(selection.items), strict=True):
        named = row.pair if row.pair is not None else row.models
        models = [place[name] for name in (data.models if named is None else named)]
        found += [(row.item, int(at), model) for model in models if texts[at, model]]
    return sorted(set(found))


def _text(data: EvalSet, texts: Any, kind: str, row: int, model: int, seed: int) -> str | None:
    """Return the text of a control item, or None where it cannot be made."""
    own = str(texts[row, model])
    if kind == "repeat":
        return own
    if kind == "reference":
        written = [
            text for text in ([] if data.reference_texts is None else data.reference_texts[row]) if text
        ]
        return str(written[0]) if written else None
    name = f"{data.items[row]}\x1f{data.models[model]}"
    random = rng.generator(seed, "degraded", name)
    rows = random.permutation(len(data))[:_DONORS]
    return degraded(own, (str(texts[at, model]) for at in rows if at != row and texts[at, model]), random)


def _as_set(data: EvalSet, made: Sequence[tuple[Control, int, int, str]]) -> EvalSet:
    outputs = np.full((len(made), len(data.models)), None, object)
    for place, (_, _, model, text) in enumerate(made):
        outputs[place, model] = text
    rows = [row for _, row, _, _ in made]
    columns: dict[str, Any] = {
        CONTROL: [control.kind for control, *_ in made],
        ORIGINAL: [control.original for control, *_ in made],
    }
    if fields.DOMAIN in data.columns:
        columns[fields.DOMAIN] = data.columns[fields.DOMAIN][rows]
    parts: dict[str, Any] = {} if data.sources is None else {"sources": data.sources[rows]}
    names = [control.item for control, *_ in made]
    return build(names, list(data.models), outputs=outputs, columns=columns, name="control items", **parts)
