"""Several evaluation sets as one: runs of a harness joined by item, and labels from a file of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Ints, Mask, Objects
from sparingly.base.errors import DataError, listing
from sparingly.data.evalset import EvalSet
from sparingly.data.roles import ColumnRole, TableRoles
from sparingly.data.tables import Codes, Preferences, Ratings, Repeats, epoch_order
from sparingly.data.values import shown


def join(sets: Sequence[EvalSet], names: Sequence[str]) -> EvalSet:
    """Return one evaluation set of several, in which the same id is the same item.

    - Where logs of several tasks use the same ids, items are called ``task/id``.
    - Where no id is in two sets, items are matched by their input. Sets that have neither an item nor a model
      in common are an error, and so is an item with two inputs.
    - A model of several sets is one model where they do not overlap (a log in parts), or hold other epochs of
      it (these become repeats). Otherwise each run is a model of its own, called ``model (run)``.
    - What two sets say of the same cell must be the same. A column of the items in which sets differ becomes
      one of the cells.

    ``names`` are what the sets are called, in names of models and in errors.
    """
    sets = _matched_by_input(_named_by_task(list(sets)))
    for place, data in enumerate(sets[1:], 1):
        earlier = sets[:place]
        if not any({*data.items} & {*peer.items} or {*data.models} & {*peer.models} for peer in earlier):
            raise DataError(
                f"{names[place]} has no item in common with {' and '.join(names[:place])}: its items are "
                f"called {_examples(data.items)}, the others {_examples(sets[0].items)}. "
                "Give the same input the same id in both."
            )
    models = [list(data.models) for data in sets]
    for model in sorted({name for data in sets for name in data.models}):
        holders = [place for place, data in enumerate(sets) if model in data.models]
        run_items = [item for place in holders for item in _items_run(sets[place], model)]
        if len(run_items) == len(set(run_items)):
            continue
        tables = [sets[place].take(models=[model]).repeats for place in holders]
        epochs = [table.epochs[code] for table in tables for code in np.unique(table.epoch)]
        if all(map(len, tables)) and len(epochs) == len(set(epochs)):
            continue
        for place in holders:
            models[place][sets[place].models.index(model)] = f"{model} ({names[place]})"
    union = _merged(sets, models, names)
    return union.with_parts(roles=_joined_roles(sets, union))


def _joined_roles(sets: Sequence[EvalSet], union: EvalSet) -> TableRoles | None:
    """Return the roles of the columns of all files, with the notes of their readers."""
    all_roles = [data.roles for data in sets if data.roles is not None]
    if not all_roles:
        return None
    current = {(part.role, part.column): part for part in score_roles(union)}
    parts = {(part.role, part.column): part for roles in all_roles for part in roles.columns}
    return replace(
        all_roles[0],
        file=union.name or all_roles[0].file,
        columns=tuple(
            replace(part, detail=current[key].detail) if key in current and not part.doubtful else part
            for key, part in parts.items()
        ),
        notes=tuple(dict.fromkeys(note for roles in all_roles for note in roles.notes)),
    )


def score_roles(data: EvalSet) -> list[ColumnRole]:
    """Return the roles of all scores: metrics with their range, labels with their number."""
    roles = []
    for role, scores_by_name in (("metric", data.metrics), ("human", data.aspects)):
        for name, scores in scores_by_name.items():
            count, detail = int((~np.isnan(scores)).sum()), ""
            if role == "human" and count < scores.size:
                detail = f"{count:,} of {scores.size:,}"
            elif count:
                detail = f"{np.nanmin(scores):.3g}–{np.nanmax(scores):.3g}"
            roles.append(ColumnRole(name, role, name, detail=detail, why="said"))
    return roles


def with_labels(data: EvalSet, labels: EvalSet, name: str) -> EvalSet:
    """Return the set with labels from another file: scores, ratings and preferences of its items and models.

    Every score in the labels counts as given by people. Where no id is in both, labels belong to the item
    with the same input. Labels of one model belong to the only model of the data, whatever it is called.

    ``name`` is the file of the labels, for errors.
    """
    if not (labels.metrics or labels.aspects or len(labels.ratings) or len(labels.preferences)):
        raise DataError(f"{name}: there are no labels in it. A row needs an item, its model and a score.")
    labels = _labels_by_input(data, labels, name)
    data_items = set(data.items)
    if unknown := [item for item in labels.items if item not in data_items]:
        raise DataError(
            f"{name}: {len(unknown):,} of {len(labels):,} items are not in the data: {_examples(unknown)}. "
            f"Items of the data are called {_examples(data.items)}. Use the same ids in both files."
        )
    models = data.models if len(labels.models) == len(data.models) == 1 else labels.models
    if unknown := [model for model in models if model not in data.models]:
        raise DataError(
            f"{name}: {len(unknown):,} of {len(models):,} models are not in the data: {_examples(unknown)}. "
            f"Models of the data are {_examples(data.models)}. Add a column model with these names."
        )
    scales = {f"aspect:{key.partition(':')[2]}": scale for key, scale in labels.scales.items()}
    renamed = labels.with_parts(
        metrics={},
        aspects={**labels.metrics, **labels.aspects},
        scales=scales,
        # Raters may have seen any of several outputs.
        outputs=None if len(data.repeats) else labels.outputs,
    )
    return _merged([data, renamed], [list(data.models), list(models)], [data.name or "the data", name])


def _labels_by_input(data: EvalSet, labels: EvalSet, name: str) -> EvalSet:
    """Return labels with the ids of the items that have their inputs, where they have no id of the data."""
    if labels.sources is None or data.sources is None or {*labels.items} & {*data.items}:
        return labels
    items: dict[str, set[str]] = {}
    for item, text in zip(data.items, data.sources, strict=True):
        items.setdefault(_plain(text), set()).add(item)
    matches = [items.get(_plain(text), set()) for text in labels.sources]
    if not any(matches):
        return labels
    for count, problem in ((0, "not in the data"), (2, "those of several items")):
        texts = [
            text
            for text, matching in zip(labels.sources, matches, strict=True)
            if min(len(matching), 2) == count
        ]
        if texts:
            raise DataError(
                f"{name}: {len(texts):,} of {len(labels):,} inputs are {problem}: {_examples(texts)}. "
                f"Items of the data are called {_examples(data.items)}. Use the same ids in both files."
            )
    return _with_ids(labels, [next(iter(matching)) for matching in matches])


def _named_by_task(sets: list[EvalSet]) -> list[EvalSet]:
    """Return the sets with the task in the ids, where an id is one of several tasks."""
    if not all("task" in data.columns for data in sets):
        return sets
    tasks: dict[str, set[str]] = {}
    for data in sets:
        for item, task in zip(data.items, data.columns["task"], strict=True):
            tasks.setdefault(item, set()).add(str(task))
    if all(len(names) == 1 for names in tasks.values()):
        return sets
    return [
        _with_ids(
            data,
            [f"{task}/{item}" for item, task in zip(data.items, data.columns["task"], strict=True)],
        )
        for data in sets
    ]


def _with_ids(data: EvalSet, items: Sequence[str]) -> EvalSet:
    return EvalSet.from_arrays(list(items), list(data.models), **data.parts())


def _matched_by_input(sets: list[EvalSet]) -> list[EvalSet]:
    """Return the sets with the ids of the first one that has the input, where no id is in two sets."""
    ids = [item for data in sets for item in data.items]
    if len(set(ids)) < len(ids) or any(data.sources is None for data in sets):
        return sets
    id_of: dict[str, str] = {}
    matched = []
    for data in sets:
        texts = [] if data.sources is None else data.sources.tolist()
        if None in texts or len(set(texts)) < len(texts):
            return sets
        items = [id_of.setdefault(text, item) for text, item in zip(texts, data.items, strict=True)]
        matched.append(_with_ids(data, items))
    return matched


def _items_run(data: EvalSet, model: str) -> Objects:
    """Return the items that have an output or a score of a model."""
    view = data.take(models=[model])
    has_any = np.zeros(len(view), bool) if view.outputs is None else ~_is_none(view.outputs[:, 0])
    for scores in (*view.metrics.values(), *view.aspects.values()):
        has_any |= ~np.isnan(scores[:, 0])
    return view.items[has_any]


def _examples(ids: Iterable[str]) -> str:
    return listing([shown(name) for name in ids], 3)


def _is_none(values: NDArray[Any]) -> Mask:
    if values.dtype != object:
        return np.asarray(np.isnan(values))
    missing = np.fromiter((value is None or value != value for value in values.flat), bool, values.size)
    return missing.reshape(values.shape)


# --- Merging --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """One of the sets with its name, and where its items, models and references stand in the union."""

    data: EvalSet
    name: str
    items: Ints
    models: Ints
    references: Ints

    @property
    def cells(self) -> tuple[Any, ...]:
        return np.ix_(self.items, self.models)


def _merged(sets: Sequence[EvalSet], models: Sequence[Sequence[str]], names: Sequence[str]) -> EvalSet:
    """Return the union of sets whose models are called as said; a contradiction is an error."""
    orders = [data.items[data.file_order] for data in sets]
    places = {
        item: place for place, item in enumerate(dict.fromkeys(item for order in orders for item in order))
    }
    all_models = list(dict.fromkeys(model for part in models for model in part))
    references = list(dict.fromkeys(name for data in sets for name in data.references))
    parts = [
        _Part(
            data,
            name,
            np.array([places[item] for item in data.items], np.int64),
            np.array([all_models.index(model) for model in model_names], np.int64),
            np.array([references.index(reference) for reference in data.references], np.int64),
        )
        for data, model_names, name in zip(sets, models, names, strict=True)
    ]
    union = _Union(parts, list(places), all_models, references)
    columns, cells = union.columns()
    return EvalSet.from_arrays(
        list(places),
        all_models,
        metrics=union.scores("metric"),
        aspects=union.scores("aspect"),
        sources=union.sources(),
        outputs=union.outputs(),
        references=union.reference_texts(),
        reference_aspects=union.reference_aspects(),
        columns=columns,
        cells=cells,
        ratings=union.ratings(),
        preferences=union.preferences(),
        repeats=union.repeats(),
        scales=union.scales(),
        roles=sets[0].roles,
        name=" + ".join(dict.fromkeys(data.name or name for data, name in zip(sets, names, strict=True))),
    )


@dataclass(frozen=True)
class _Union:
    """The parts laid over each other, one kind of content after the other."""

    parts: list[_Part]
    items: list[str]
    models: list[str]
    reference_names: list[str]

    def _lay(
        self, noun: str, blocks: Sequence[tuple[_Part, Any, NDArray[Any]]], shape: tuple[int, ...]
    ) -> Any:
        """Return arrays put to their places; where two say something else of one place, raise DataError."""
        kind = float if all(block.dtype != object for _, _, block in blocks) else object
        total = np.full(shape, np.nan if kind is float else None, kind)
        for part, place, block in blocks:
            earlier, missing = total[place], _is_none(block)
            differs = ~missing & ~_is_none(earlier)
            differs[differs] = [
                _plain(new) != _plain(old) for new, old in zip(block[differs], earlier[differs], strict=True)
            ]
            if differs.any():
                spot = tuple(int(position) for position in np.argwhere(differs)[0])
                other = next(other for other, _, _ in blocks if part.data.items[spot[0]] in other.data.items)
                model = f" for the model {shown(part.data.models[spot[1]])}" if shape == self._cells else ""
                raise DataError(
                    f"The item {shown(part.data.items[spot[0]])} has two {noun}{model}: "
                    f"{shown(earlier[spot])} in {other.name} and {shown(block[spot])} in {part.name}. "
                    "Give another input another id."
                )
            total[place] = np.where(missing, earlier, block)
        return total

    @property
    def _cells(self) -> tuple[int, int]:
        return len(self.items), len(self.models)

    def scores(self, kind: str) -> dict[str, Any]:
        """Return metrics or aspects without what ratings and repeats say, from which they are made anew."""
        blocks: dict[str, list[tuple[_Part, Any, NDArray[Any]]]] = {}
        from_ratings: dict[str, bool] = {}
        for part in self.parts:
            data = part.data
            for name, values in (data.metrics if kind == "metric" else data.aspects).items():
                if (field := f"{kind}:{name}") in data.repeats.scores:
                    values = np.where(np.isnan(data.repeats.means(field, *data.shape)), values, np.nan)
                rated = kind == "aspect" and name in data.ratings.aspects
                means = (
                    data.ratings.means(name, len(data), len(data.models) + len(data.references))
                    if rated
                    else None
                )
                is_mean = means is not None and np.array_equal(
                    means[:, : len(data.models)], values, equal_nan=True
                )
                from_ratings[name] = from_ratings.get(name, True) and is_mean
                blocks.setdefault(name, []).append((part, part.cells, values))
        return {
            name: self._lay(f"scores of {name}", arrays, self._cells)
            for name, arrays in blocks.items()
            if not from_ratings[name]
        }

    def sources(self) -> Any:
        """Return the inputs."""
        blocks = [
            (part, part.items, part.data.sources) for part in self.parts if part.data.sources is not None
        ]
        return self._lay("inputs", blocks, (len(self.items),)) if blocks else None

    def outputs(self) -> Any:
        """Return the outputs, but for those of which repeats know the first."""
        blocks = []
        for part in self.parts:
            texts, table = part.data.outputs, part.data.repeats
            if texts is not None:
                if table.output is not None:
                    texts = texts.copy()
                    texts[table.item, table.model] = None
                blocks.append((part, part.cells, texts))
        return self._lay("outputs", blocks, self._cells) if blocks else None

    def reference_texts(self) -> dict[str, Any]:
        """Return the texts of the references by name."""
        texts: dict[str, Any] = {name: [None] * len(self.items) for name in self.reference_names}
        for name in self.reference_names:
            blocks = [
                (part, part.items, part.data.reference_texts[:, part.data.references.index(name)])
                for part in self.parts
                if name in part.data.references and part.data.reference_texts is not None
            ]
            if blocks:
                texts[name] = self._lay(f'texts of the reference "{name}"', blocks, (len(self.items),))
        return texts

    def reference_aspects(self) -> dict[str, Any]:
        """Return people's judgements of the references."""
        names = dict.fromkeys(name for part in self.parts for name in part.data.reference_aspects)
        shape = len(self.items), len(self.reference_names)
        return {
            name: self._lay(
                f"scores of {name} for a reference",
                [
                    (part, np.ix_(part.items, part.references), part.data.reference_aspects[name])
                    for part in self.parts
                    if name in part.data.reference_aspects
                ],
                shape,
            )
            for name in names
        }

    def columns(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the columns of the items, and those of the cells with the columns in which parts differ."""
        columns, blocks = {}, dict[str, list[tuple[_Part, Any, NDArray[Any]]]]()
        for name in dict.fromkeys(name for part in self.parts for name in part.data.columns):
            item_blocks = [
                (part, part.items, part.data.columns[name])
                for part in self.parts
                if name in part.data.columns
            ]
            try:
                columns[name] = self._lay(f"values of {name}", item_blocks, (len(self.items),))
            except DataError:
                blocks[name] = [
                    (part, part.cells, np.repeat(values.astype(object)[:, None], len(part.models), axis=1))
                    for part, _, values in item_blocks
                ]
        for part in self.parts:
            for name, values in part.data.cells.items():
                blocks.setdefault(name, []).append((part, part.cells, values))
        return columns, {
            name: self._lay(f"values of {name}", arrays, self._cells) for name, arrays in blocks.items()
        }

    def scales(self) -> dict[str, Any]:
        """Return the scales; two of one field are an error."""
        scales: dict[str, tuple[Any, str]] = {}
        for part in self.parts:
            for field, scale in part.data.scales.items():
                first, name = scales.setdefault(field, (scale, part.name))
                if first != scale:
                    raise DataError(
                        f"{field} runs from {first.low:g} to {first.high:g} in {name} and from "
                        f"{scale.low:g} to {scale.high:g} in {part.name}. Give one of them another name."
                    )
        return {field: scale for field, (scale, _) in scales.items()}

    # --- tables -----------------------------------------------------------------------------------------

    def ratings(self) -> Ratings:
        """Return the ratings of all parts; references come after the models."""
        tables = [(part, part.data.ratings) for part in self.parts if len(part.data.ratings)]
        if not tables:
            return Ratings()
        comments = [
            np.full(len(table), None, object) if table.comment is None else table.comment
            for _, table in tables
        ]
        return Ratings(
            **_judgements(tables),
            model=np.concatenate(
                [
                    np.append(part.models, len(self.models) + part.references)[table.model]
                    for part, table in tables
                ]
            ).astype(np.int32),
            score=np.concatenate([table.score for _, table in tables]),
            comment=np.concatenate(comments)
            if any(table.comment is not None for _, table in tables)
            else None,
        )

    def preferences(self) -> Preferences:
        """Return the preferences of all parts."""
        tables = [(part, part.data.preferences) for part in self.parts if len(part.data.preferences)]
        if not tables:
            return Preferences()
        return Preferences(
            **_judgements(tables),
            first=np.concatenate([part.models[table.first] for part, table in tables]).astype(np.int32),
            second=np.concatenate([part.models[table.second] for part, table in tables]).astype(np.int32),
            value=np.concatenate([table.value for _, table in tables]),
        )

    def repeats(self) -> Repeats:
        """Return the repeats of all parts."""
        tables = [(part, part.data.repeats) for part in self.parts if len(part.data.repeats)]
        if not tables:
            return Repeats()
        epochs = epoch_order(name for _, table in tables for name in table.epochs)
        # Labels of an epoch belong to the row of its output.
        keys = [
            np.stack(
                [
                    part.items[table.item],
                    part.models[table.model],
                    _recoded(table.epoch, table.epochs, epochs),
                ]
            )
            for part, table in tables
        ]
        (item, model, epoch), rows = np.unique(np.concatenate(keys, axis=1), axis=1, return_inverse=True)
        parts = np.split(rows.ravel(), np.cumsum([len(table) for _, table in tables])[:-1])
        output = np.full(len(item), None, object)
        scores = {name: np.full(len(item), np.nan) for _, table in tables for name in table.scores}
        for place, (_, table) in zip(parts, tables, strict=True):
            if table.output is not None:
                has_text = table.output != np.array(None)
                output[place[has_text]] = table.output[has_text]
            for name, values in table.scores.items():
                scores[name][place[~np.isnan(values)]] = values[~np.isnan(values)]
        item, model, epoch = (codes.astype(np.int32) for codes in (item, model, epoch))
        return Repeats(item, model, epoch, epochs, output, scores)


def _judgements(tables: Sequence[tuple[_Part, Ratings | Preferences]]) -> dict[str, Any]:
    """Return the columns that ratings and preferences share."""
    raters = tuple(sorted({name for _, table in tables for name in table.raters}))
    aspects = tuple(sorted({name for _, table in tables for name in table.aspects}))
    extra = dict.fromkeys(name for _, table in tables for name in table.extra)
    return {
        "item": np.concatenate([part.items[table.item] for part, table in tables]).astype(np.int32),
        "rater": np.concatenate([_recoded(table.rater, table.raters, raters) for _, table in tables]),
        "aspect": np.concatenate([_recoded(table.aspect, table.aspects, aspects) for _, table in tables]),
        "seconds": np.concatenate([table.seconds for _, table in tables]),
        "raters": raters,
        "aspects": aspects,
        "extra": {
            name: np.concatenate(
                [table.extra.get(name, np.full(len(table), None, object)) for _, table in tables]
            )
            for name in extra
        },
    }


def _recoded(codes: Codes, names: Sequence[str], union: Sequence[str]) -> Codes:
    """Return codes into one list of names as codes into another; -1 stays."""
    return np.array([*(union.index(name) for name in names), -1], np.int32)[codes]


def _plain(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value
