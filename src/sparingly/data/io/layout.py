"""How a table lies, and the same table in long form: one row for each item and model.

Long tables name the model in a column. Wide ones have a column for each model (``gpt-4o``, ``answer_gpt-4o``,
``outputs.gpt-4o``), perhaps with scores beside (``gpt-4o_judge``). Two-sided ones compare a pair
(``response_a`` and ``response_b``, perhaps with ``model_a``, ``model_b`` and ``winner``; ``chosen`` and
``rejected``). A table without any of these is about one system, named after the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sparingly.base.errors import UsageError, listing
from sparingly.base.lazy import pl
from sparingly.base.syntax import role_argument
from sparingly.data import files
from sparingly.data.io.columns import TableSource, first_of_runs
from sparingly.data.io.roles import (
    ANY_MODEL,
    FILLERS,
    HEAD_WORDS,
    HEADS,
    ID_WORDS,
    IDS_OF,
    ITEM_COLUMNS,
    JUDGE_WORDS,
    JUDGING,
    JUDGING_WORDS,
    NAMES,
    NO_ITEMS,
    NO_MODELS,
    PREFERENCES,
    PREFIX,
    SCORE_WORDS,
    STRAYS,
    TIES,
    WEAK,
    WEAK_INPUTS,
    ColumnProfile,
    best_column,
    id_rank,
    is_epoch,
    is_variant,
    judge_or_human,
    looks_like_model,
    looks_like_person,
    plain_name,
    said_roles,
    values_fit,
    words_of,
)
from sparingly.data.roles import ColumnRole, SaidRoles

MODEL, OUTPUT, SCORE = "\0model", "\0output", "score"
MOST_GUESSED = 1_000
# Versions of one system: few, with short names, and (nearly) all of them for every input.
_MOST_VARIANTS, _LONGEST_VARIANT, _NEARLY_ALL = 30, 60, 0.9
# One of several outputs: ``output_c``, ``System 12``.
_PLACE = re.compile(r"[a-h]|\d{1,2}")
_SIDE_NOUNS = {"option", "side", "choice"}
_SPLIT = re.compile(r"[_.:/\s|-]+|(?<=[^\W\d_])(?=\d+$)")
_SIDES = (
    *(("a", "b"), ("0", "1"), ("1", "2"), ("left", "right"), ("first", "second"), ("chosen", "rejected")),
    *(("baseline", "candidate"), ("control", "treatment"), ("old", "new"), ("before", "after")),
)


@dataclass
class LongForm:
    """A table in long form, and which of its columns are known."""

    source: TableSource  # the columns, one row for each item and model
    count: int  # the number of rows in the file; a wide table has that many for each model
    columns: list[str]  # the names of the columns in the file
    said: SaidRoles
    # Columns by role (item, model, output, rater, score …).
    single: dict[str, str] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)  # the columns of the input, to be joined
    # Columns by kind (metric, aspect, reference, cell, column) and name in the evaluation set.
    several: dict[str, dict[str, str]] = field(default_factory=dict)
    roles: list[ColumnRole] = field(default_factory=list)  # the roles of columns of the file that are settled
    # The columns of the file behind a column of the long form, by model.
    origins: dict[str, dict[str, str]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)  # columns whose values will tell what they are
    # The column that says which side is better, and the words for each outcome.
    preference: tuple[str, dict[str, float]] | None = None
    preference_by_judge: bool = False  # whether an automatic judge said it
    chosen_wins: bool = False  # whether the first side is better in every row (chosen and rejected)
    judges: str | None = None  # the column with the names of automatic judges
    are_ratings: bool = False  # whether a row is a rating
    # Columns of ratings by aspect and rater.
    by_rater: dict[str, dict[str, str]] = field(default_factory=dict)
    has_judge: bool = False  # whether a column names the automatic judge of all scores


def lay_out(source: TableSource, said: SaidRoles, name: str) -> LongForm:
    """Find out how a table lies, and return it in long form; ``name`` is that of a single system."""
    files.check_columns(source.file, len(source.names))
    if len(source.names) > MOST_GUESSED and not said:
        raise source.error(
            f"the table has {len(source.names):,} columns ({listing(source.names, 3)}), too many to find "
            "out what they are",
            fix="Write one row for each item and model, or name the columns that matter: "
            f"{role_argument('COLUMN', 'output')}",
        )
    return _Layout(source, said, name).long_form()


class _Layout:
    """Hands out the columns: to what was said, to prefixes, to names, to values, in this order."""

    def __init__(self, source: TableSource, said: SaidRoles, name: str) -> None:
        self.said, self.system = said, name
        series = {column: source.column(column) for column in source.names}
        self.source = TableSource(source.file, source.names, series.__getitem__, source.line, source.is_text)
        # ``metric:chrF`` is as the package writes it; ``metrics.duration`` of a log may be anything.
        prefixed = {
            name
            for name in source.names
            if PREFIX.fullmatch(name) and (":" in name or not ColumnProfile(series[name], source).nuisance())
        }
        self.prefixed = prefixed
        self.profiles = {
            column: ColumnProfile(series[column], source) for column in source.names if column not in prefixed
        }
        self._counts: dict[str, int] = {}
        self.free = dict.fromkeys(column for column in self.profiles if column not in said)
        self.form = LongForm(self.source, source.count, source.names, said)
        self.form.several = {kind: {} for kind in ("metric", "aspect", "reference", "cell", "column")}

    def long_form(self) -> LongForm:
        form = self.form
        self._take_prefixes()
        if not self._take_wide():
            self._take_models()
        self._take_said()
        for role in ("input", "output", "reference"):
            self._take_by_name(role)
        self._settle_texts()
        self._take_variant()
        self._take_item()
        self._take_variant()
        self._take_epoch()
        if "model" not in form.single:
            self._add(MODEL, pl.Series(MODEL, [self.system]).new_from_index(0, form.source.count))
            form.single["model"] = MODEL
        for role in ITEM_COLUMNS:
            self._take_by_name(role)
        self._take_judging()
        form.rest += self.free
        return form

    # --- what the user and the names say ---

    def _claim(self, column: str, role: str, **parts: object) -> None:
        self.free.pop(column, None)
        self.form.roles.append(ColumnRole(column, role, **parts))  # type: ignore[arg-type]

    def _take_prefixes(self) -> None:
        for column in self.source.names:
            match = PREFIX.fullmatch(column)
            if match is None or column not in self.prefixed or column in self.said:
                continue
            kind, name = match.groups()
            if name in self.form.several[kind]:
                raise UsageError(
                    f'The columns "{self.form.several[kind][name]}" and "{column}" are both {name}.'
                )
            self.form.several[kind][name] = column
            role = {"aspect": "human", "cell": "column"}.get(kind, kind)
            self.form.roles.append(ColumnRole(column, role, name, why="said"))

    def _take_said(self) -> None:
        form = self.form
        for column, parts in self.said.items():
            for role in parts:
                is_wide = role == "output" and any(column in by.values() for by in form.origins.values())
                if is_wide or role == "model":
                    continue
                name = column
                if role in ("metric", "human", "reference"):
                    prefixed = PREFIX.fullmatch(column)
                    name = prefixed[2] if prefixed else column
                    form.several["aspect" if role == "human" else role][name] = column
                elif role == "input":
                    form.inputs.append(column)
                elif role == "column":
                    form.rest.append(column)
                elif role == "preference":
                    words = _outcomes(self.profiles[column], self._side_names())
                    if words is None:
                        raise self.source.error(
                            "the values do not say which of two outputs is better",
                            field=column,
                            fix="Write a, b or tie",
                        )
                    form.preference = (column, words)
                elif role != "ignored":
                    if role in form.single:
                        raise UsageError(f'Two columns are to be "{role}": {form.single[role]} and {column}.')
                    form.single[role] = column
                if role != "column":
                    form.roles.append(ColumnRole(column, role, name if name != column else "", why="said"))

    def _take_by_name(self, role: str) -> None:
        form = self.form
        if said_roles(self.said, role) or role in form.single or (role == "input" and form.inputs):
            return
        column = best_column(role, self.profiles, self.free)
        if column is None:
            return
        if role in ITEM_COLUMNS and self._varies_in_item(column):
            # What differs between the models of an item is no property of the item.
            return
        if role == "reference" and self._is_target(column):
            self._claim(column, "output", doubtful=not self._varies_in_item(column), other="reference")
            form.single["output"] = column
            return
        self._claim(column, role)
        if role == "input":
            form.inputs.append(column)
            partner = {"instruction": "input", "input": "instruction"}.get(plain_name(column), "")
            if (second := self._named(partner)) is not None and self.profiles[second].kind == "text":
                # As in the files of Alpaca: a task, and what it is about.
                self._claim(second, role)
                form.inputs = sorted([column, second], key=lambda name: plain_name(name) != "instruction")
        else:
            form.single[role] = column

    def _is_target(self, column: str) -> bool:
        """Say whether a target is the output: it differs between models, or stands alone beside a source."""
        if self._has("output") or "target" not in self.profiles[column].words:
            return False
        beside_source = any(set(words_of(name)) & {"source", "src"} for name in self.form.inputs)
        return beside_source or self._varies_in_item(column)

    def _named(self, plain: str) -> str | None:
        return next((name for name in self.free if plain_name(name) == plain), None)

    def _varies_in_item(self, column: str) -> bool:
        key = self.form.single.get("item") or next(iter(self.form.inputs), None)
        if key is None:
            return False
        values = self.form.source.column(column)
        values = values.fill_nan(None) if values.dtype.is_float() else values
        frame = pl.DataFrame([self.form.source.column(key).alias("key"), values.alias("value")]).drop_nulls()
        return bool(frame.n_unique() > frame["key"].n_unique())

    # --- one column a model ---

    def _take_wide(self) -> bool:
        """Find columns of outputs or scores for each model; put the table into long form if there are."""
        form = self.form
        outputs, sure = self._outputs_by_model()
        if set(said_roles(self.said, "output")) - set(outputs.values()):
            # The only output was said, and it is no model's own column.
            outputs = {}
        outputs = outputs if len(outputs) > 1 else {}
        votes = {} if outputs else self._models_of_votes()
        kinds = self._kinds_by_model(outputs or votes) if outputs or votes else self._scores_by_model()
        models = list(outputs or votes or next(iter(kinds.values()), {}))
        if len(models) < 2:
            return False
        if sides := next((pair for pair in _SIDES if set(pair) == {model.lower() for model in models}), None):
            models.sort(key=lambda model: sides.index(model.lower()))
        naming = next((kind for kind in kinds if kind in (*NAMES["model"], "name")), None) if sides else None
        names = kinds.pop(naming) if naming is not None else votes
        if len(models) == 2 and (outputs or votes):
            self._take_preference(models, outputs or votes, names)
        labels = {model: outputs.get(model, model) if model.isdigit() else model for model in models}
        busy = {*outputs.values(), *names.values(), *(name for by in kinds.values() for name in by.values())}
        rows = form.count
        columns = {
            name: pl.concat([self.source.column(name)] * len(models), rechunk=False)
            for name in self.source.names
            if name not in busy
        }
        columns[MODEL] = pl.concat(
            [
                self.source.column(names[model]).cast(pl.String).alias(MODEL)
                if model in names
                else pl.Series(MODEL, [labels[model]]).new_from_index(0, rows)
                for model in models
            ]
        )
        for kind, by_model in {**({OUTPUT: outputs} if outputs else {}), **kinds}.items():
            long_name = kind if kind not in columns else f"{kind} of the models"
            columns[long_name] = _stacked(long_name, [by_model.get(model) for model in models], self.source)
            form.origins[long_name] = {labels[model]: column for model, column in by_model.items()}
            roles = {role for column in by_model.values() for role in self.said.get(column, ())}
            if roles and kind != OUTPUT:
                # What is said of one model's scores holds for those of all.
                self.said = {
                    name: parts for name, parts in self.said.items() if name not in by_model.values()
                }
                self.said[long_name] = tuple(roles)
        form.said = self.said
        line = self.source.line
        form.source = TableSource(
            self.source.file,
            list(columns),
            columns.__getitem__,
            None if line is None else lambda row: line(row % rows),
            self.source.is_text,
        )
        for model, column in outputs.items():
            said_so, is_sure = column in self.said, column in sure
            self._claim(
                column,
                "output",
                model="" if labels[model] == column or model in names else labels[model],
                doubtful=not (is_sure or said_so),
                other="" if is_sure else "column",
                why="said" if said_so else "name",
                has_texts=True,
            )
        for column in names.values():
            self._claim(column, "model")
        for name in busy:
            del self.profiles[name]
            self.free.pop(name, None)
        for long_name in form.origins:
            self.profiles[long_name] = ColumnProfile(columns[long_name], form.source)
            if long_name != OUTPUT and long_name not in self.said:
                self.free[long_name] = None
        form.single["model"] = MODEL
        if outputs:
            form.single["output"] = OUTPUT
        return True

    def _models_of_votes(self) -> dict[str, str]:
        """Return the columns that name the two models of a vote by side, where no output is beside them."""
        sides: dict[str, str] = {}
        for name in self.free:
            for side, kind, _ in _splits(name):
                is_name = words_of(kind)[-1:] and words_of(kind)[-1] in HEADS["model"] and _is_side(side)
                if is_name and values_fit("model", self.profiles[name]):
                    sides.setdefault(side, name)
        says_better = any(set(self.profiles[name].words) & PREFERENCES for name in self.free)
        is_pair = any(set(pair) == {side.lower() for side in sides} for pair in _SIDES)
        return sides if is_pair and says_better else {}

    def _scores_by_model(self) -> dict[str, dict[str, str]]:
        """Return the columns of numbers that are named after models, where no column holds outputs."""
        if not self._no_model_column() or best_column("output", self.profiles, self.free) is not None:
            return {}
        scored = [name for name in self.profiles if name in self.free or self._is_said_score(name)]
        matching = [
            name
            for name in scored
            if looks_like_model(name)
            and self.profiles[name].kind in ("number", "score")
            and not set(words_of(name)) & SCORE_WORDS
        ]
        return {SCORE: {name: name for name in matching}} if len(matching) > 1 else {}

    def _is_said_score(self, column: str) -> bool:
        return bool({"human", "metric", "column", "ignored"} & set(self.said.get(column, ())))

    def _outputs_by_model(self) -> tuple[dict[str, str], set[str]]:
        """Return the columns of outputs by model, and those columns that certainly are outputs."""
        columns = said_roles(self.said, "output")
        if said_roles(self.said, "model"):
            return {}, set()
        if len(columns) > 1:
            return dict(zip(_without_affix(columns), columns, strict=True)), set(columns)
        able = {*self.free, *columns}
        texts = [name for name in self.source.names if name in able and self._may_be_output(name)]
        groups: dict[tuple[str, ...], dict[str, str]] = {}
        # Words such as "text" say little: scores beside them have to.
        weak: dict[str, str] = {}
        for name in texts:
            for model, kind, place in _splits(name):
                words = words_of(kind)
                head = words[-1] if words else ""
                # ``model_1`` with texts in it is what model 1 wrote.
                is_numbered = head in HEADS["model"] and _is_side(model) and self.profiles[name].has_texts
                if not (is_numbered or (head in HEADS["output"] and _may_be_model(model))):
                    continue
                model = _bare_side(model)
                if head in WEAK and not (looks_like_model(model) or _is_side(model)):
                    if len(words) == 1 and place == "after" and self.profiles[name].has_texts:
                        weak[model] = name
                    continue
                groups.setdefault((plain_name(kind), place), {}).setdefault(model, name)
        best = max(groups.values(), key=len, default={})
        if len(best) < 2 <= len(weak) and self._kinds_by_model(weak):
            best = weak
        if len(best) > 1 and (all(_is_side(model) for model in best) or self._no_model_column()):
            is_known = self._are_scored(best) or any(
                _is_side(model) or looks_like_model(model) for model in best
            )
            return best, set(best.values()) if is_known else set()
        plain = {plain_name(name): name for name in texts}
        for sides in _SIDES:
            if plain.keys() >= set(sides):
                return {plain[side]: plain[side] for side in sides}, {plain[side] for side in sides}
        return self._outputs_without_affix(texts) if self._no_model_column() else ({}, set())

    def _may_be_output(self, column: str) -> bool:
        return self.profiles[column].kind in ("text", "empty")

    def _no_model_column(self) -> bool:
        return best_column("model", self.profiles, self.free) is None

    def _outputs_without_affix(self, texts: list[str]) -> tuple[dict[str, str], set[str]]:
        """Take columns named after models, and texts of the same shape beside them.

        Where no name is like a model's, texts are outputs if nothing else in the table is one.
        """
        named_texts = [
            name
            for name in texts
            if looks_like_model(re.sub("llm", "", name, flags=re.IGNORECASE))
            and len(name) <= 60
            and not set(words_of(name)) & STRAYS
        ]
        if len(named_texts) < 2 and best_column("output", self.profiles, self.free) is not None:
            return {}, set()
        fixed = {best_column(role, self.profiles, self.free) for role in ("input", "reference", "document")}
        fixed |= {best_column("output", self.profiles, self.free)} if len(named_texts) >= 2 else set()
        others = [
            name
            for name in texts
            if name not in named_texts
            and name not in fixed
            and self.profiles[name].has_texts
            and not set(words_of(name)) & STRAYS
            and not self.profiles[name].nuisance()
            and id_rank(self.profiles[name]) is None
            and plain_name(name) not in {plain for names in NAMES.values() for plain in names}
        ]
        candidates = [*named_texts, *others]
        if not named_texts and fixed == {None} and others:
            # Nothing is known to be the input: it stands first.
            candidates = others[1:]
        if len(candidates) < 2:
            return {}, set()
        shapes = [self.profiles[name] for name in named_texts or candidates]
        length = float(np.median([shape.length for shape in shapes])) or 1.0
        fill = max(shape.filled for shape in shapes)
        alike = [
            name
            for name in candidates
            if name in named_texts
            or (
                length / 4 <= self.profiles[name].length <= 4 * length
                and self.profiles[name].filled >= 0.8 * fill
                and self.profiles[name].distinct >= 0.3 * len(self.profiles[name].sample)
            )
        ]
        ordered = [name for name in texts if name in alike]
        by_name = {name: name for name in ordered}
        bare = dict(zip(_without_affix(ordered), ordered, strict=True))
        if len(bare) == len(ordered) > 1 and len(self._kinds_by_model(bare)) > len(
            self._kinds_by_model(by_name)
        ):
            # What stands beside the outputs tells what the models are called.
            by_name = bare
        if self._are_scored(by_name) or all(_is_side(_bare_side(name)) for name in ordered):
            named_texts = ordered
        return by_name, set(named_texts)

    def _are_scored(self, outputs: Mapping[str, str]) -> bool:
        """Say whether each text has a column of its own beside it, as outputs have their scores."""
        return any(len(by_model) == len(outputs) for by_model in self._kinds_by_model(outputs).values())

    def _kinds_by_model(self, outputs: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """Return the further columns of every model by kind: ``{"judge": {"gpt-4o": "gpt-4o_judge"}}``."""
        models = {model.lower(): model for model in outputs}
        kinds: dict[str, dict[str, str]] = {}
        for name in self.profiles:
            if name in outputs.values() or not (name in self.free or self._is_said_score(name)):
                continue
            splits = [(model, kind) for model, kind, _ in _splits(name) if plain_name(kind)]
            splits += [(_bare_side(model), kind) for model, kind in splits]
            splits += [(_bare_side(model, ANY_MODEL), kind) for model, kind in splits]
            match = next(((model, kind) for model, kind in splits if model.lower() in models), None)
            if match is not None:
                kinds.setdefault(match[1].lower(), {}).setdefault(models[match[0].lower()], name)
        complete = {kind: by for kind, by in kinds.items() if len(by) > 1}
        by_plain: dict[str, dict[str, str]] = {}
        for kind, by in complete.items():
            singular = plain_name(kind).removesuffix("s")
            by_plain.setdefault(singular if singular in NAMES["model"] else kind, {}).update(by)
        return by_plain

    def _take_preference(
        self, models: list[str], outputs: Mapping[str, str], names: Mapping[str, str]
    ) -> None:
        """Take the column that says which of two outputs is better; chosen is better than rejected.

        ``names``: the columns that name the models of the two sides.
        """
        form = self.form
        form.chosen_wins = [model.lower() for model in models] == ["chosen", "rejected"]
        if said_roles(self.said, "preference") or form.chosen_wins:
            return
        sides = [{model.lower(), outputs[model].lower(), model.lower().split()[-1]} for model in models]
        if shared := sides[0] & sides[1]:
            sides = [side - shared for side in sides]
        for name in sorted(self.free, key=lambda name: judge_or_human(self.profiles[name]) == "metric"):
            profile = self.profiles[name]
            if not set(profile.words) & PREFERENCES or profile.kind == "list":
                continue
            if len(names) == 2:
                profile = self._with_sides(name, models, names)
            if (words := _outcomes(profile, sides)) is not None:
                by_name = judge_or_human(profile) == "metric" and set(profile.words) & JUDGE_WORDS != {
                    "model"
                }
                by_judge = by_name or any(
                    plain_name(second) in JUDGING["rater"] and self.profiles[second].models_in_values()
                    for second in self.free
                )
                detail = f"{profile.present:,} of {profile.count:,}"
                if by_judge:
                    self._claim(name, "metric", name=name, detail=f"which is better, {detail}")
                else:
                    self._claim(name, "preference", detail=detail)
                form.preference, form.preference_by_judge = (name, words), by_judge
                return
            if set(profile.words) & {"preference", "preferred", "winner", "better"}:
                detail = "does not say which output is better: write a, b or tie"
                self._claim(name, "ignored", detail=detail, doubtful=True, why="values")

    def _with_sides(self, column: str, models: list[str], names: Mapping[str, str]) -> ColumnProfile:
        """Put the side in place of the name of its model, where a column gives the better model by name."""
        texts = self.source.column(column).cast(pl.String).str.strip_chars()
        sides = texts
        for model in models:
            is_model = texts == self.source.column(names[model]).cast(pl.String).str.strip_chars()
            sides = sides.set(is_model.fill_null(False), model.lower())
        if sides.equals(texts):
            return self.profiles[column]
        held = self.source.column
        self.source = replace(self.source, column=lambda name: sides if name == column else held(name))
        self.profiles[column] = ColumnProfile(sides, self.source)
        return self.profiles[column]

    def _side_names(self) -> list[set[str]]:
        by_model = next(iter(self.form.origins.values()), {})
        return [{model.lower(), column.lower()} for model, column in by_model.items()]

    # --- models, texts and items of a long table ---

    def _take_models(self) -> None:
        """Take the column of models, or several that were said to name them together."""
        columns = said_roles(self.said, "model")
        why = "said"
        if not columns:
            why = "name"
            matching = [
                name
                for name in self.free
                if best_column("model", self.profiles, [name]) and self.profiles[name].kind != "empty"
            ]
            best = best_column("model", self.profiles, matching)
            if best is None:
                return
            columns = [best]
        for column in columns:
            self._claim(column, "model", why=why)
        if len(columns) == 1:
            self.form.single["model"] = columns[0]
            return
        frame = pl.DataFrame([self.source.column(name).cast(pl.String) for name in columns])
        self._add(MODEL, frame.select(pl.concat_str(pl.all(), separator=" / ")).to_series())
        self.form.single["model"] = MODEL

    def _add(self, name: str, series: pl.Series) -> None:
        source = self.form.source
        table = {**{column: source.column(column) for column in source.names}, name: series.alias(name)}
        self.form.source = TableSource(
            source.file, list(table), table.__getitem__, source.line, source.is_text
        )

    def _settle_texts(self) -> None:
        """Where names do not tell the input or the output, take the texts that are left, with a doubt."""
        form = self.form
        answer = self._named("answer") if "output" in form.single and "reference" not in form.single else None
        if answer is not None and self.profiles[answer].kind in ("text", "number"):
            # With another output beside it, the answer is the one that is wanted.
            self._claim(answer, "reference", doubtful=True, other="column")
            form.single["reference"] = answer
        texts = [
            name
            for name in self.free
            if self.profiles[name].has_texts
            and (plain_name(name) in WEAK_INPUTS or not judge_or_human(self.profiles[name]))
            and id_rank(self.profiles[name]) is None
        ]
        strays = [name for name in texts if set(words_of(name)) & STRAYS]
        texts = [name for name in texts if name not in strays] or [
            # A remark stands behind the output; what comes before it, in every row, was answered.
            name
            for name in strays
            if self._is_before_output(name) and self.profiles[name].filled == 1.0
        ]
        missing = [role for role in ("input", "output") if not self._has(role)]
        if len(missing) == 2 and [plain_name(name) in WEAK_INPUTS for name in texts] == [True]:
            # Something was written about it, whatever that is called.
            complete = [name for name in strays if self.profiles[name].filled == 1.0]
            texts += complete[:1]
        if not texts or not missing:
            return
        if len(missing) == 2 and len(texts) == 1:
            missing = ["output"]
        if missing == ["output"] or len(missing) == 1:
            usual = [name for name in texts if missing == ["input"] and plain_name(name) in WEAK_INPUTS]
            texts = [max(usual or texts, key=lambda name: self.profiles[name].length)]
        for role, column in zip(missing, texts, strict=False):
            sure = role == "input" and plain_name(column) in WEAK_INPUTS
            fallback = "" if sure else "column"
            self._claim(column, role, doubtful=not sure, other=fallback, why="values", has_texts=True)
            if role == "input":
                form.inputs.append(column)
            else:
                form.single[role] = column

    def _is_before_output(self, column: str) -> bool:
        names, output = self.form.source.names, self.form.single.get("output")
        return output is not None and names.index(column) < names.index(output)

    def _has(self, role: str) -> bool:
        return bool(self.form.inputs) if role == "input" else role in self.form.single

    def _take_item(self) -> None:
        """Take the ids of the items: a column that is the same for all models of an input."""
        form, source = self.form, self.form.source
        if "item" in form.single:
            return
        ranks = {
            name: rank
            for name in (*self.free, *form.inputs)
            if (rank := id_rank(self.profiles[name])) is not None
        } or {name: 0 for name in self.free if self._identifies_inputs(name)}
        rows = source.count
        inputs = None if not form.inputs else self._distinct(form.inputs[0])
        compared = "model" in form.single and self._distinct(form.single["model"]) > 1
        for column in sorted(ranks, key=ranks.__getitem__):
            ids = self._distinct(column)
            text_like = self.profiles[column].has_texts and self.profiles[column].length > 40
            if text_like and not form.inputs:
                # A text that serves as an id is what the models were given.
                self._claim(column, "input")
                form.inputs.append(column)
                return
            if compared and inputs is not None and ids < inputs and self._numbers_outputs(column):
                self._claim(column, "epoch")
                form.single["epoch"] = column
                return
            is_row = compared and inputs is not None and ids == rows > inputs
            may_group = ids < rows and (not compared or plain_name(column) == "docid")
            is_group = may_group and inputs is not None and ids < inputs
            if not is_row and not is_group:
                self._claim(column, "item")
                form.single["item"] = column
                return
            if is_row:
                self._claim(column, "ignored", detail="looks like the id of a row")
        if not form.inputs and not ranks:
            # What the models were given may be behind an address or a hash.
            ranks = {
                name: 0
                for name in self.free
                if self.profiles[name].kind == "text"
                and self.profiles[name].nuisance() in ("an address", "a hash", "an id")
            }
        if not form.inputs and ranks:
            column = min(ranks, key=ranks.__getitem__)
            self._claim(column, "item")
            form.single["item"] = column

    def _take_variant(self) -> None:
        """Take versions of one system as models where the same inputs or items were given to several."""
        form, source = self.form, self.form.source
        key, model = next(iter(form.inputs), None) or form.single.get("item"), form.single.get("model")
        if key is None or said_roles(self.said, "model"):
            return
        if model is not None and self._distinct(model) > 1:
            return
        different = self._distinct(key)
        for name in [*filter(lambda name: is_variant(self.profiles[name]), self.free), *self._short_texts()]:
            is_named = is_variant(self.profiles[name])
            pairs = pl.DataFrame([source.column(key).alias("key"), source.column(name).alias("variant")])
            if pairs.n_unique() > different and (is_named or self._divides(pairs)):
                if model is not None:
                    # One model, in several versions.
                    form.roles = [part for part in form.roles if part.column != model]
                    self.free[model] = None
                self._claim(name, "model", doubtful=not is_named, other="" if is_named else "column")
                form.single["model"] = name
                if source.column(name).dtype.is_float():
                    # A setting, such as the temperature.
                    self._add(MODEL, source.column(name).cast(pl.String))
                    form.single["model"] = MODEL
                return

    def _short_texts(self) -> list[str]:
        """Return the columns of a few short texts that come again and again, and do not name people."""
        profiles = (self.profiles[name] for name in self.free)
        return [
            profile.name
            for profile in profiles
            if profile.kind == "text"
            and profile.length <= _LONGEST_VARIANT
            and 2 <= profile.distinct <= _MOST_VARIANTS
            and profile.head not in STRAYS | {*JUDGING["rater"]}
            and not set(profile.words) & NO_ITEMS
            and profile.nuisance() in ("", "an id", "a version")
        ]

    def _divides(self, pairs: pl.DataFrame) -> bool:
        """Say whether every input stands there once for (nearly) every value, each time with an output."""
        keys, values = pairs["key"].n_unique(), pairs["variant"].n_unique()
        output = self.form.single.get("output")
        is_full = keys * values >= len(pairs) >= _NEARLY_ALL * keys * values
        return (
            is_full
            and output is not None
            and not pairs.is_duplicated().any()
            and self._varies_in_item(output)
        )

    def _distinct(self, column: str) -> int:
        """Return the number of different values in a column of the long form, counted once."""
        if column not in self._counts:
            values = self.form.source.column(column)
            runs = None if values.dtype.is_nested() else first_of_runs(values)
            self._counts[column] = (values if runs is None else runs[0]).n_unique()
        return self._counts[column]

    def _identifies_inputs(self, column: str) -> bool:
        """Say whether an id of anything but people and runs goes with one input each."""
        profile = self.profiles[column]
        nuisance, column_type = profile.nuisance(), profile.series.dtype
        is_id = (
            not profile.words
            or profile.words[-1] in ID_WORDS
            or (profile.plain in IDS_OF and profile.plain not in HEAD_WORDS)
            or (profile.is_running and nuisance in ("", "an index") and not column_type.is_float())
            or (profile.kind == "text" and nuisance in ("", "a hash", "an id") and profile.has_digits)
        )
        if not self.form.inputs or not is_id or set(profile.words) & NO_ITEMS:
            return False
        pairs = pl.DataFrame([self.form.source.column(name) for name in (column, self.form.inputs[0])])
        return pairs.n_unique() == pairs.to_series(0).n_unique() == pairs.to_series(1).n_unique() > 1

    def _take_epoch(self) -> None:
        """Take the column that numbers a model's outputs for an input, where nothing else names items."""
        form = self.form
        if "item" in form.single or "epoch" in form.single or not form.inputs:
            return
        if (name := next(filter(self._numbers_outputs, self.epochs), None)) is not None:
            self._claim(name, "epoch")
            form.single["epoch"] = name

    def _numbers_outputs(self, column: str) -> bool:
        """Say whether a column tells the outputs of a model for an input apart, by a few numbers."""
        form, source = self.form, self.form.source
        keys = [*form.inputs, *([form.single["model"]] if "model" in form.single else [])]
        cells = pl.DataFrame([source.column(key) for key in keys])
        largest = int(cells.group_by(pl.all()).len()["len"].max() or 1)  # type: ignore[arg-type]
        numbers = source.column(column)
        # The id of a run is not a number of an output.
        is_few = 1 < numbers.n_unique() <= 2 * largest
        return is_few and not cells.with_columns(numbers).is_duplicated().any()

    # --- ratings and judges ---

    def _take_judging(self) -> None:
        """Find out whether rows are ratings of people or scores of named judges, and take their columns."""
        form = self.form
        columns: dict[str, str | None] = {}
        for role, names in JUDGING.items():
            columns[role] = form.single.get(role)
            if columns[role] is None and not said_roles(self.said, role):
                able = [
                    name
                    for name in self.free
                    if plain_name(name) in names and self._can_be(role, self.profiles[name])
                ]
                columns[role] = min(able, key=lambda name: names.index(plain_name(name)), default=None)
        rater, score = columns["rater"], columns["score"]
        if rater is not None and score is None:
            # Judges and raters often stand beside a score with a longer name.
            score = next((name for name in self.free if _is_score_of(self.profiles[name], rater)), None)
        if rater is not None and rater not in self.said and self._are_judges(self.profiles[rater]):
            several = self.profiles[rater].distinct > 1
            if score is not None and (several or plain_name(score) in JUDGING["score"]):
                form.judges, form.single["judged"] = rater, score
                self._claim(rater, "rater", detail="names of automatic judges")
                self.free.pop(score, None)
            form.has_judge = True
            return
        form.has_judge = rater is None and self._names_a_judge()
        if score is None and (self._take_rater_columns() if rater is None else self._take_voter(rater)):
            return
        by_column = bool(form.several["aspect"]) and rater is not None
        by_score = score is not None and bool(rater or columns["aspect"])
        if rater is not None and not (by_column or by_score):
            humans = [
                name
                for name in self.free
                if self.profiles[name].kind in ("number", "score")
                and not self.profiles[name].nuisance()
                and judge_or_human(self.profiles[name]) != "metric"
                and self.profiles[name].is_rating
            ]
            for name in humans:
                form.several["aspect"][name] = name
                self._claim(name, "human", name=name, detail=self.profiles[name].range)
            by_column = bool(humans)
        if said_roles(self.said, "rater") and not (by_column or by_score):
            raise UsageError(
                f"A rater was named, but no scores: add {role_argument('COLUMN', 'score')}, "
                "or the role human for several columns."
            )
        if not (by_column or by_score or said_roles(self.said, "score")):
            return
        columns["score"] = score
        if by_column and not said_roles(self.said, "score"):
            columns["score"] = columns["aspect"] = None
        for role, column in columns.items():
            if column is not None and column not in self.said:
                self._claim(column, role)
            if column is not None:
                form.single[role] = column
        form.are_ratings = True

    def _take_voter(self, rater: str) -> bool:
        """Take the column of the people who say which of two outputs is better."""
        if self.form.preference is None or self.form.several["aspect"]:
            return False
        self.form.single["rater"] = rater
        if rater not in self.said:
            self._claim(rater, "rater")
        return True

    def _are_judges(self, raters: ColumnProfile) -> bool:
        """Say whether the raters are models; where people are among them, the reader tells them apart."""
        return raters.models_in_values() and not any(map(looks_like_person, raters.sample.unique()))

    def _names_a_judge(self) -> bool:
        """Say whether a column such as ``evaluation.judge`` names a model, whose the scores beside it are."""
        profiles = map(self.profiles.__getitem__, self.free)
        return any({*part.words} & JUDGING_WORDS and part.models_in_values() for part in profiles)

    def _take_rater_columns(self) -> bool:
        """Take columns of several raters (``annotator_1``, ``annotator_2``) as ratings of one aspect."""
        families: dict[str, dict[str, str]] = {}
        for name in self.free:
            profile = self.profiles[name]
            match = _RATER_COLUMN.fullmatch(name)
            if match is None or profile.kind not in ("number", "score") or profile.nuisance():
                continue
            aspect = _BLANKS.sub(" ", match["after"] or match["before"] or "").strip() or "rating"
            families.setdefault(aspect, {})[f"{match['who']} {match['number']}"] = name
        families = {aspect: by for aspect, by in families.items() if len(by) > 1}
        for aspect, by_rater in families.items():
            for rater, name in by_rater.items():
                self._claim(name, "human", name=aspect, detail=f"by {rater}")
        self.form.by_rater, self.form.are_ratings = families, bool(families)
        return bool(families)

    def _can_be(self, role: str, profile: ColumnProfile) -> bool:
        if role in ("score", "seconds"):
            # Beside a rater, texts in a column of scores are remarks.
            return profile.kind in ("number", "score") or profile.plain in ("score", "rating")
        if role == "rater":
            # Numbers beside some of the rows are scores, not the rater of every row.
            are_ids = profile.kind == "number" and profile.plain != "judge" and profile.filled == 1.0
            return profile.kind == "text" or are_ids
        return profile.kind == "text" and (role != "aspect" or profile.distinct <= 50)

    @cached_property
    def epochs(self) -> list[str]:
        """The columns that may number repetitions."""
        return [name for name in self.free if is_epoch(self.profiles[name])]


_BLANKS = re.compile(r"[\W_]+")
_RATER_COLUMN = re.compile(
    r"(?P<before>.*?)[\W_]*(?P<who>annotator|rater|human|expert|reviewer|evaluator|grader|worker|labeler|coder)"
    r"[\W_]*(?P<number>\d+|[a-e])(?P<after>([\W_]+.*)?)",
    re.IGNORECASE,
)


def _is_score_of(profile: ColumnProfile, rater: str) -> bool:
    """Say whether a column holds the scores of a judge or rater, by words that it shares with it."""
    shared = set(profile.words) & set(words_of(rater))
    return bool(shared and set(profile.words) & SCORE_WORDS) and profile.kind in ("number", "score")


def _is_side(name: str) -> bool:
    return any(name.lower() in pair for pair in _SIDES) or _PLACE.fullmatch(name.lower()) is not None


def _bare_side(model: str, nouns: frozenset[str] = frozenset()) -> str:
    """Return the side alone of a name for it: 1 for ``option_1``."""
    side = [word for word in words_of(model) if word not in HEAD_WORDS | _SIDE_NOUNS | nouns]
    return side[0] if len(side) == 1 and _is_side(side[0]) and model.lower() != side[0] else model


def _may_be_model(name: str) -> bool:
    """Say whether a part of a column's name may be a model's, and does not say what its text is."""
    words = set(words_of(name))
    if _is_side(" ".join(words - ANY_MODEL - HEAD_WORDS)):
        return True
    return (
        _is_side(name)
        or (looks_like_model(name) and not words <= NO_MODELS)
        or not words & (NO_MODELS | FILLERS | HEAD_WORDS)
    )


def _splits(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield every way to read a name as a model and a kind: ``gpt-4o_judge`` is the judge of gpt-4o."""
    for gap in _SPLIT.finditer(name):
        left, right = name[: gap.start()], name[gap.end() :]
        if right.startswith("(") and right.endswith(")"):
            right = right[1:-1]
        if left and right:
            yield left, right, "after"
            yield right, left, "before"


def _without_affix(names: Iterable[str]) -> list[str]:
    """Return names without the words that all of them begin or end with."""
    columns = list(names)
    for place in ("after", "before"):
        kinds = [{kind: model for model, kind, spot in _splits(name) if spot == place} for name in columns]
        shared = set.intersection(*map(set, kinds))
        if shared:
            kind = max(shared, key=len)
            return [models[kind] for models in kinds]
    return columns


def _stacked(name: str, columns: list[str | None], source: TableSource) -> pl.Series:
    """Put columns below each other; where they are of different types, as texts."""
    parts = [None if column is None else source.column(column) for column in columns]
    kinds = {part.dtype for part in parts if part is not None and part.dtype != pl.Null}
    kind = next(iter(kinds)) if len(kinds) == 1 else pl.String()
    if len(kinds) > 1 and all(part.is_numeric() for part in kinds):
        kind = pl.Float64()
    empty = pl.Series(name, [None], kind).new_from_index(0, source.count)
    return pl.concat(
        [empty if part is None else part.cast(kind).alias(name) for part in parts], rechunk=False
    )


_SIDE_WORDS = r"(?:model|response|answer|output|assistant|system|option|side|candidate|translation|summary)"
_OUTCOME = re.compile(
    rf"(?:{_SIDE_WORDS}[ _-]*)?(?P<side>.+?)(?:\.0)?"
    r"(?:[ _-]*(?:is |was )?(?:much |slightly |a bit )?(?:better|best|wins?|won|preferred))?"
)
_COMPARED = re.compile(r"\[*(?P<first>\w+) *(?P<sign>[<>=]+) *(?P<second>\w+)\]*")


def _outcomes(profile: ColumnProfile, sides: list[set[str]]) -> dict[str, float] | None:
    """Return what the words for the better side mean: 1 the first, -1 the second, 0 a tie.

    The names of the two sides come first, then words that are usual for them (a and b, 1 and 2). 0 and 1
    alone may mean either side, unless that is what the sides are called.
    """
    if len(sides) != 2:
        return None
    values = profile.series.cast(pl.String).drop_nulls().str.strip_chars().unique().to_list()
    plain = {value: value.lower().removesuffix(".0") for value in values if value}
    if set(plain.values()) == {"0", "1"} and not {"0", "1"} <= sides[0] | sides[1]:
        return None
    words = {value: _outcome(text, sides) for value, text in plain.items()}
    numbers = {value: number for value, number in words.items() if number is not None}
    return numbers if len(numbers) == len(words) and any(numbers.values()) else None


def _outcome(text: str, sides: list[set[str]]) -> float | None:
    if (compared := _COMPARED.fullmatch(text)) is not None:
        better = _outcome(compared["first"], sides)
        if better is None or "=" in compared["sign"]:
            return None if better is None else 0.0
        return better if ">" in compared["sign"] else -better
    if text.startswith("[[") and text.endswith("]]"):
        # As MT-Bench has it: [[A]], [[B]], or [[C]] for a tie.
        text = "tie" if text == "[[c]]" else text[2:-2]
    match = _OUTCOME.fullmatch(text)
    bare = match["side"] if match is not None else text
    usual = [{pair[place] for pair in _SIDES if "0" not in pair} for place in (0, 1)]
    for first, second in (sides, usual):
        is_first, is_second = ({text, bare} & side != set() for side in (first, second))
        if is_first != is_second:
            return 1.0 if is_first else -1.0
    is_tie = {text, bare} & TIES or text.startswith(("tie", "both", "neither", "no pref", "equal"))
    return 0.0 if is_tie else None
