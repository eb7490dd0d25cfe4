"""Tables of any kind as evaluation sets, and evaluation sets as long tables.

``opening`` opens a file. Here it is put into long form by which columns hold items, models and texts.
``roles`` says what the other columns are, and all are read onto the grid of items and models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.catalogue import register
from sparingly.base.errors import DataError, InputError, UnknownNameError, UsageError, listing
from sparingly.base.lazy import pl
from sparingly.base.syntax import role_argument
from sparingly.data import fields, files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.columns import (
    CellGrid,
    CodedNames,
    Codes,
    TableSource,
    coded,
    column_texts,
    first_of_runs,
    from_words,
    in_file,
    is_numeric,
    marks_in_words,
    numbers,
    parsed_texts,
    scores,
    to_objects,
    to_polars,
    to_series,
    typed,
    written_scores,
)
from sparingly.data.io.excel import is_workbook
from sparingly.data.io.format import Format, Head, Options, digest_id, names_of_files
from sparingly.data.io.json_table import flatten
from sparingly.data.io.opening import ARROW, is_dataset, source_of
from sparingly.data.io.parquet import MAGIC, is_ours, parquet_names
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
    REASONS,
    SCORE_WORDS,
    STRAYS,
    TIES,
    WEAK,
    WEAK_INPUTS,
    ColumnProfile,
    are_samples,
    best_column,
    id_rank,
    is_epoch,
    is_variant,
    judge_or_human,
    looks_like_model,
    looks_like_person,
    named_scale,
    plain_name,
    rest_role,
    said_roles,
    values_fit,
    vectors,
    words_of,
)
from sparingly.data.io.words import SCALE, word_kind
from sparingly.data.roles import ColumnRole, SaidRoles, TableRoles, check_said
from sparingly.data.scale import Scale
from sparingly.data.tables import Preferences, Ratings, Repeats, epoch_order
from sparingly.data.values import EXACT


@register("table")
class AnyTable(Format):
    """Rows and columns in any file, whatever they are called."""

    summary: ClassVar[str] = "a table: CSV, TSV, Excel, JSON, JSON Lines, Parquet, Arrow, a saved dataset"
    extensions: ClassVar[tuple[str, ...]] = (".csv", ".tsv")
    options: ClassVar[dict[str, str]] = {
        "separator": "what separates the fields of a text file: a character, or comma, tab, semicolon, pipe",
        "quote": 'the quote character of a text file (" unless said); empty when there is no quoting',
        "sheet": "the sheet of an Excel workbook (the first unless said)",
    }
    writes: ClassVar[bool] = True
    has_roles: ClassVar[bool] = True
    carries: ClassVar[frozenset[str]] = frozenset(
        {"metric:*", "aspect:*", "column:*", "cell:*", "sources", "outputs", "references", "empty"}
    )

    def recognises(self, head: Head) -> bool:
        """Take tables that no other format knows, by their content and extension."""
        if head.is_directory:
            return is_dataset(head.path)
        if head.start.startswith(MAGIC):
            names = parquet_names(head.start, head.path)
            return names is not None and not are_samples(names) and not is_ours(head.path)
        if head.start.startswith(ARROW) or is_workbook(head.path):
            return True
        if head.content.startswith((b"{", b"[")):
            record = head.first_object if head.first_object is not None else head.document
            first = record[0] if isinstance(record, list) and record else record
            return isinstance(first, dict) and not _is_ours(first) and not _is_known(list(first))
        return not _is_known(head.header) and (
            head.extension in (*self.extensions, ".tab", ".psv") or _names_items_and_models(head.header)
        )

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the table column by column."""
        return self.read_with_roles(path, options, {})

    def read_with_roles(
        self, path: Path, options: Options, roles: Mapping[str, str | Iterable[str]]
    ) -> EvalSet:
        """Read the table; some columns have roles that the user gave them."""
        return read_long(source_of(path, options), roles, names_of_files([path.name])[0])

    def write(self, data: EvalSet, path: Path) -> None:
        """Write a row for each item and model, items in the order of the file that they came from."""
        frame, kind = to_frame(data), files.extension(path)
        if kind == ".parquet":
            files.write_atomically(path, frame.write_parquet)
        else:
            separator = "\t" if kind == ".tsv" else ","
            files.write_atomically(path, lambda file: frame.write_csv(file, separator=separator))

    def losses(self, data: EvalSet) -> list[str]:
        """Return what a table has no room for, and columns whose values turn into texts."""
        return [*super().losses(data), *changed_by_writing(data)]


def _is_known(names: list[str]) -> bool:
    """Say whether the columns are those of inspect_ai's samples or of comparisons of two models."""
    outcome = "winner" in names or {"winner_model_a", "winner_model_b"} <= set(names)
    return are_samples(names) or ({"model_a", "model_b"} <= set(names) and outcome)


def _is_ours(record: Mapping[str, Any]) -> bool:
    return str(record.get("format", "")).startswith("sparingly/")


def _names_items_and_models(names: list[str]) -> bool:
    """Say whether the names of columns tell where the items and the models are."""
    plain = {plain_name(name) for name in names}
    items = {"item", "itemid", "segmentid", "segid", "id", "docid", "promptid", *NAMES["input"]}
    return bool(plain & items) and bool(plain & set(NAMES["model"]))


def from_frame(frame: Any, *, roles: Mapping[str, str | Iterable[str]] | None = None) -> EvalSet:
    """Make an evaluation set of a frame.

    Args:
        frame: A frame of pandas or polars, an Arrow table, or a dataset of Hugging Face.
        roles: What columns are, where their names do not say so: ``{"rating": "human", "note": "ignored"}``.

    Examples:
        >>> import polars
        >>> import sparingly
        >>> frame = polars.DataFrame({
        ...     "segment_id": ["a", "a", "b", "b"], "system": ["tiny", "large", "tiny", "large"],
        ...     "chrF": [40.0, 60.0, 55.0, 50.0],
        ... })
        >>> sparingly.from_frame(frame)
        EvalSet(2 items x 2 models; metrics: chrF)
    """
    converted = to_polars(frame)
    columns = converted.frame
    if unknown := set(roles or {}) - set(columns.columns):
        raise UnknownNameError("column", min(unknown), columns.columns)
    if not len(columns):
        raise UsageError("The frame has no rows.")
    source = flatten(TableSource("the frame", columns.columns, columns.get_column))
    return read_long(source, roles or {}, "output", converted.clashes)


# --- Reading --------------------------------------------------------------------------------------

REFERENCE = "reference"
# Names of models that people do not have.
_MACHINE = re.compile(
    r"gpt|\bllm|(claude|gemini|llama|mistral|qwen|deepseek|prometheus)\W*\S*\d", re.IGNORECASE
)
_NOTHINGS = ("none", "nan", "null", "<na>", "n/a")
_LONGEST_NOTHING = 6
_TWICE = 'Two columns are to be "{}". Leave one out: roles={{"{}": "ignored"}}.'


def read_long(
    source: TableSource,
    roles: Mapping[str, str | Iterable[str]],
    name: str = "output",
    clashes: Mapping[str, str] | None = None,
) -> EvalSet:
    """Read an evaluation set from a table.

    ``name`` is that of the system where the table is about one, ``clashes`` ids met both as a number and
    as a text.
    """
    try:
        checked = check_said(roles, source.names)
    except UsageError as error:
        raise UsageError(f"{source.file}: {error}") from None
    form = lay_out(source, checked, name)
    for part in ("item", "model", "rater"):
        column = form.single.get(part, "")
        if clashes and column in clashes:
            raise source.error(
                f'the {part} {clashes[column]} is written as a number and as the text "{clashes[column]}"',
                field=column,
                fix="Write ids in one way",
            )
    try:
        return _TableReader(form).evaluation_set()
    except (InputError, UsageError):
        raise
    except DataError as error:
        raise in_file(error, source.file) from None


class _TableReader:
    """Reads one column after the other onto the grid of items and models."""

    def __init__(self, form: LongForm) -> None:
        self.form, self.source = form, form.source
        self.notes: list[str] = []
        self.epoch: str | None = None
        self.grid = self._make_grid()
        is_compared = form.preference is not None and not form.preference_by_judge
        if not (form.are_ratings or is_compared) and form.judges is None and self.grid.repeats:
            self._settle_duplicates()
        self.metrics: dict[str, Any] = {}
        self.aspects: dict[str, Any] = {}
        self.columns: dict[str, Any] = {}
        self.cells: dict[str, Any] = {}
        self.extra: dict[str, pl.Series] = {}
        self.scales: dict[str, Scale] = {}
        self.repeated: dict[str, Floats] = {}

    def evaluation_set(self) -> EvalSet:
        form, grid = self.form, self.grid
        several = form.several
        kinds = len(several["metric"]) + len(several["aspect"]) + len(several["cell"]) + len(form.rest)
        files.check_places(self.source.file, *grid.shape, kinds)
        for name, column in several["metric"].items():
            self._take_scores("metric", name, column)
        for name in ITEM_COLUMNS:
            if (item_column := form.single.get(name)) is not None:
                self._take_column(name, grid.per_item(self._column(item_column, name)))
        for name, column in several["column"].items():
            self._take_column(name, grid.per_item(self._column(column, name)))
        for name, column in several["cell"].items():
            self.cells[name] = grid.objects(self._column(column))
        self._take_rest()
        if form.judges is not None:
            self._take_judges(form.judges, form.single["judged"])
        if not form.are_ratings:
            for name, column in several["aspect"].items():
                self._take_scores("aspect", name, column)
        preferences = self._preferences()
        ratings = self._ratings() if form.are_ratings else Ratings()
        output = form.single.get("output")
        if output is not None and (count := self._nothings(output)):
            rows = len(self.source.column(output))
            name = "outputs" if form.origins else output
            self.notes.append(
                f"{name}: {count:,} of {rows:,} texts say nothing but None, nan or null; leave them empty if "
                "the output is missing."
            )
        outputs = None if output is None or self.epoch is not None else grid.texts(self._texts(output))
        sources = None
        if self.inputs is not None:
            sources = column_texts(grid.per_item(self.inputs), np.arange(grid.shape[0]))
        return EvalSet.from_arrays(
            grid.items.names,
            grid.models.names,
            metrics=self.metrics,
            aspects=self.aspects,
            outputs=outputs,
            sources=sources,
            references=self._references(),
            columns=self.columns,
            cells=self.cells,
            ratings=ratings,
            preferences=preferences,
            repeats=self._repeats(),
            file_order=grid.file_order,
            scales=self.scales,
            name=str(self.source.file),
            roles=self._roles(),
            owned=True,
        )

    # --- items and models ---

    @cached_property
    def inputs(self) -> pl.Series | None:
        """What the models were given; several columns are joined by a blank line."""
        columns = [self._texts(name) for name in self.form.inputs]
        if len(columns) < 2:
            return columns[0] if columns else None
        frame = pl.DataFrame(columns).select(
            pl.concat_str(pl.all().replace("", None), separator="\n\n", ignore_nulls=True)
        )
        return frame.to_series().alias(columns[0].name)

    def _make_grid(self) -> CellGrid:
        form, source = self.form, self.source
        models, column = self._names("model"), form.single.get("item")
        items = self._items_from_inputs(models) if column is None else self._names("item")
        return CellGrid(source, items, models)

    def _names(self, part: str) -> CodedNames:
        column = self.form.single[part]
        names = CodedNames.from_series(self.source.column(column), part, self.source)
        if part == "model" and (alike := _alike(names.names)):
            self.notes.append(
                f"{column}: {alike} differ only in capitals; they are read as different models."
            )
        if names.merged:
            differ = "name differs" if names.merged == 1 else "names differ"
            self.notes.append(
                f"{column}: {names.merged:,} {part} {differ} from another only by blanks; read as one."
            )
        return names

    def _items_from_inputs(self, models: CodedNames) -> CodedNames:
        """Make ids from the inputs; where a row or a log of one system repeats one, with its number."""
        output = self.form.single.get("output")
        if self.inputs is None and output is not None and len(models.names) == 1:
            # A log without inputs: what tells its rows apart is what was written.
            texts = self._texts(output)
        elif self.inputs is not None:
            texts = self.inputs
        else:
            raise self.source.error(
                "no column is known to hold the items or their inputs; there are "
                f"{listing(self.form.columns)}",
                fix=f"Name one: {role_argument('COLUMN', 'item')}, or {role_argument('COLUMN', 'input')}",
            )
        missing = texts.is_null() | (texts.str.strip_chars() == "")
        if missing.any():
            raise self.source.error(
                "the text is empty, and ids are made from it",
                row=int(missing.arg_max() or 0),
                field=texts.name,
                fix="Fill it in, leave the row out, or name a column of ids: "
                f"{role_argument('COLUMN', 'item')}",
            )
        different, codes = coded(texts)
        names = np.array([digest_id("prompt", text) for text in different], object)
        rows, count = self.form.count, len(texts)
        # Votes without outputs may be about the same item; outputs of two rows differ.
        each_row = (
            len(models.names) == 1 or (rows < count and output is not None)
        ) and not self.form.are_ratings
        if each_row and len(different) < rows and not self._may_repeat():
            place = pl.Series(codes[:rows]).to_frame("code").select(pl.col("code").cum_count().over("code"))
            nth = np.tile(place.to_series().to_numpy(), count // rows)
            numbered, codes = coded(
                pl.Series(
                    [
                        name if number == 1 else f"{name}-{number}"
                        for name, number in zip(names[codes].tolist(), nth.tolist(), strict=True)
                    ]
                )
            )
            return CodedNames(numbered.to_list(), codes)
        order = np.argsort(names)
        place_of = np.empty(len(names), np.int32)
        place_of[order] = np.arange(len(names), dtype=np.int32)
        return CodedNames(names[order].tolist(), place_of[codes])

    def _may_repeat(self) -> bool:
        return "epoch" in self.form.single or self.form.judges is not None

    def _settle_duplicates(self) -> None:
        """Read rows that say the same once; take others as repetitions where a column numbers them."""
        form, grid = self.form, self.grid
        column = form.single.get("epoch")
        nuisances = [
            name
            for name in self.source.names
            if name not in form.single.values()
            and not PREFIX.fullmatch(name)
            and ColumnProfile(self.source.column(name).head(200), self.source).nuisance()
        ]
        for name in [column] if column else [name for name in form.rest if is_epoch(self._profile(name))]:
            cells = pl.DataFrame(
                {"cell": grid.by_cell.codes, "epoch": self.source.column(name).cast(pl.String)}
            )
            if not cells.is_duplicated().any():
                self.epoch = name
                if name != column:
                    form.rest.remove(name)
                    form.roles.append(ColumnRole(name, "epoch"))
                return
        compared = [name for name in self.source.names if name not in nuisances]
        frame = pl.DataFrame(
            [pl.Series("\0cell", grid.by_cell.codes), *(self.source.column(name) for name in compared)]
        )
        first = frame.select(pl.struct(pl.all()).is_first_distinct()).to_series()
        count = int((~first).sum())
        if count:
            rows = np.flatnonzero(first.to_numpy())
            source = self.source
            line = source.line
            self.source = form.source = TableSource(
                source.file,
                source.names,
                lambda name: source.column(name).gather(rows),
                None if line is None else lambda row: line(int(rows[row])),
                source.is_text,
            )
            self.notes.append(f"{count:,} rows repeat another row; they are read once.")
            self.grid = CellGrid(
                self.source,
                CodedNames(grid.items.names, grid.items.codes[rows]),
                CodedNames(grid.models.names, grid.models.codes[rows]),
            )
            self.__dict__.pop("inputs", None)
        self.grid.check_once()

    # --- scores and further columns ---

    def _profile(self, column: str) -> ColumnProfile:
        return ColumnProfile(self.source.column(column), self.source)

    def _take_scores(self, kind: str, name: str, column: str) -> None:
        fix = "Leave it empty if missing"
        if column in self.form.rest:
            fix += f", or add {role_argument(column, 'column')}"
        values, scale = scores(self.source.column(column), self.source, fix)
        field = f"{kind}:{name}"
        scale = scale or named_scale(name, pl.Series(values).fill_nan(None).drop_nulls())
        if scale is not None:
            self.scales[field] = scale
        if self.epoch is not None:
            self.repeated[field] = values
            return
        (self.metrics if kind == "metric" else self.aspects)[name] = self.grid.scores(column, values)

    def _take_rest(self) -> None:
        """Find out by names and values what the further columns are, and read them."""
        form = self.form
        profiles = {column: self._profile(column) for column in dict.fromkeys(form.rest)}
        numbered = vectors(profiles.values())
        # Where a judge gives its reasons in ``style_reason``, it also gave ``style_score``.
        explained = {
            profile.words[:-1]
            for profile in profiles.values()
            if profile.has_texts and set(profile.words[-1:]) & REASONS and len(profile.words) > 1
        }
        checks = [profile for profile in profiles.values() if profile.kind == "score"]
        beside_checks = sum(profile.is_named_score for profile in checks) > 1
        facts = {column: _GridFacts(self, column) for column in profiles}

        def role(column: str, has_human: bool) -> ColumnRole:
            return rest_role(
                profiles[column],
                facts[column],
                has_human=has_human,
                has_judge=form.has_judge or profiles[column].words[:-1] in explained,
                is_vector=column in numbered,
                beside_checks=beside_checks,
            )

        sure = bool(form.several["aspect"]) or form.are_ratings
        if not sure:
            roles = [role(column, has_human=False) for column in profiles]
            sure = any(part.role == "human" and not part.doubtful for part in roles)
        for column in profiles:
            part = role(column, sure)
            if "column" in form.said.get(column, ()):
                part = ColumnRole(column, "column", why="said")
            if part.role == "human" and form.are_ratings:
                part = ColumnRole(column, "column", why="values")
            form.roles.append(part)
            if part.role in ("metric", "human"):
                self._take_scores("metric" if part.role == "metric" else "aspect", column, column)
            elif part.role == "column":
                self._take_kept(column, facts[column])

    def _take_kept(self, column: str, facts: _GridFacts) -> None:
        """Keep a column: with the item where all of its rows agree, with the rating, or with the cell."""
        series, (by_item, differs) = facts.series, facts.by_item
        if differs is None:
            self._take_column(column, by_item)
        elif facts.differs_in_cell:
            self.extra[column] = series
        elif column in self.cells:
            raise UsageError(_TWICE.format(column, column))
        elif self.epoch is not None:
            self.cells[column] = self.grid.first_objects(series)
        else:
            self.cells[column] = self.grid.objects(series)

    def _take_judges(self, judges: str, column: str) -> None:
        """Read the scores of every automatic judge as a metric that has its name."""
        values, scale = scores(self.source.column(column), self.source)
        texts, codes = coded(self.source.column(judges).cast(pl.String).str.strip_chars())
        names = texts.to_list()
        for code, name in enumerate(names):
            self.metrics[name] = self.grid.scores(name, np.where(codes == code, values, np.nan))
            if scale is not None:
                self.scales[fields.metric(name)] = scale
        detail = f"{self._profile(column).range}, of {listing(names, 3)}"
        self.form.roles.append(
            ColumnRole(column, "metric", names[0] if len(names) == 1 else "", detail=detail)
        )

    def _nothings(self, column: str) -> int:
        """Return how many texts are what programs write for a missing value."""
        texts = self._texts(column)
        short = texts.filter(texts.str.len_bytes() <= _LONGEST_NOTHING)
        return int(short.str.strip_chars().str.to_lowercase().is_in(_NOTHINGS).sum() or 0)

    def _texts(self, column: str) -> pl.Series:
        series = self.source.column(column)
        if series.dtype.is_nested():
            raise self.source.error(f"expected texts, not {series.dtype}", field=column)
        return series if series.dtype == pl.String else series.cast(pl.String)

    def _references(self) -> dict[str, Any]:
        columns = dict(self.form.several["reference"])
        if (single := self.form.single.get("reference")) is not None:
            if REFERENCE in columns:
                raise UsageError(_TWICE.format(REFERENCE, single))
            columns = {REFERENCE: single, **columns}
        return {name: to_objects(self.grid.per_item(self._texts(column))) for name, column in columns.items()}

    def _column(self, column: str, name: str | None = None) -> pl.Series:
        """Return a column with null where missing, as texts or numbers if its name in the set wants them."""
        series = self.source.column(column)
        if name in fields.TEXT_COLUMNS:
            return series.cast(pl.String)
        if name in fields.NUMBER_COLUMNS:
            return pl.Series(column, numbers(series, self.source)).fill_nan(None)
        series = typed(series, self.source)
        return series.fill_nan(None) if series.dtype.is_float() else series

    def _take_column(self, name: str, values: pl.Series) -> None:
        if name in self.columns:
            raise UsageError(_TWICE.format(name, name))
        self.columns[name] = values.cast(pl.Float64).to_numpy() if is_numeric(values) else to_objects(values)

    # --- repetitions, preferences, ratings ---

    def _repeats(self) -> Repeats:
        if self.epoch is None:
            return Repeats()
        texts = self.source.column(self.epoch).cast(pl.String).fill_null("")
        epochs = epoch_order(texts.unique().to_list())
        places = {name: place for place, name in enumerate(epochs)}
        output = self.form.single.get("output")
        return Repeats(
            item=self.grid.items.codes,
            model=self.grid.models.codes,
            epoch=texts.replace_strict(places, return_dtype=pl.Int32).to_numpy().copy(),
            epochs=epochs,
            output=None if output is None else np.array(to_objects(self._texts(output)), object),
            scores=self.repeated,
        )

    def _preferences(self) -> Preferences:
        """Return which side was better, as people said; a judge's opinion is a metric instead."""
        form, rows = self.form, self.form.count
        if form.preference is None and not form.chosen_wins:
            return Preferences()
        if form.preference is None:
            values = np.ones(rows)
        else:
            column, words = form.preference
            texts = self.source.column(column).slice(0, rows).cast(pl.String).str.strip_chars()
            values = (
                texts.replace_strict(words, default=None, return_dtype=pl.Float64)
                .fill_null(np.nan)
                .to_numpy()
            )
        if form.preference_by_judge and form.preference is not None:
            shares = np.concatenate([(1 + values) / 2, (1 - values) / 2])
            self.metrics[form.preference[0]] = self.grid.scores(form.preference[0], shares)
            return Preferences()
        decided = np.flatnonzero(~np.isnan(values))
        raters, rater = coded_column(self.source, form.single.get("rater"))
        return Preferences(
            item=self.grid.items.codes[:rows][decided],
            first=self.grid.models.codes[:rows][decided],
            second=self.grid.models.codes[rows : 2 * rows][decided],
            value=np.array(values[decided]),
            rater=rater[:rows][decided],
            aspect=np.full(len(decided), -1, np.int32),
            seconds=np.full(len(decided), np.nan),
            raters=tuple(raters),
        )

    def _ratings(self) -> Ratings:
        ratings, scales = rating_table(self.source, self.form, self.grid, self.extra)
        self.scales |= {fields.aspect(name): scale for name, scale in scales.items()}
        people = [name for name in ratings.raters if _MACHINE.search(name) is None]
        return (
            ratings if len(people) == len(ratings.raters) or not people else self._of_people(ratings, people)
        )

    def _of_people(self, ratings: Ratings, people: list[str]) -> Ratings:
        """Return the ratings of people; those of automatic judges among them become a metric for each."""
        place = {name: number for number, name in enumerate(people)}
        for code, name in enumerate(ratings.raters):
            if name in place:
                continue
            part = ratings.take(ratings.rater == code)
            for aspect in part.aspects:
                scores = part.means(aspect, *self.grid.shape)
                is_free = len(part.aspects) == 1 and name not in self.metrics
                self.metrics[name if is_free else f"{aspect} ({name})"] = scores
            self.notes.append(f"{name} is read as an automatic judge: its scores are a metric, not labels.")
        codes = np.array([*(place.get(name, -1) for name in ratings.raters), -1], np.int32)
        rows = np.asarray((ratings.rater < 0) | (codes[ratings.rater] >= 0))
        return replace(ratings.take(rows, rater=codes[ratings.rater[rows]]), raters=tuple(people))

    def _roles(self) -> TableRoles:
        """Return the roles of the columns of the file, in their order."""
        form = self.form
        parts: list[ColumnRole] = []
        for part in form.roles:
            origin = form.origins.get(part.column)
            if origin is None:
                parts.append(self._with_detail(part))
            else:
                parts += [
                    replace(part, column=column, name=part.column, model=model)
                    for model, column in origin.items()
                ]
        order = {name: place for place, name in enumerate(form.columns)}
        parts.sort(key=lambda part: order.get(part.column, len(order)))
        return TableRoles(str(self.source.file), tuple(parts), tuple(self.notes))

    def _with_detail(self, part: ColumnRole) -> ColumnRole:
        """Say how many values labels and scores have, or their range, where that was not said before."""
        if part.detail or part.role not in ("metric", "human") or part.column not in self.source.names:
            return part
        profile = self._profile(part.column)
        partly = part.role == "human" and profile.filled < 0.995
        return replace(part, detail=f"{profile.present:,} of {profile.count:,}" if partly else profile.range)


def _alike(names: Iterable[str]) -> str:
    """Return the first names that are the same but for capitals: "GPT-4 and gpt-4"."""
    first: dict[str, str] = {}
    return next(
        (f"{old} and {name}" for name in names if (old := first.setdefault(name.lower(), name)) != name),
        "",
    )


class _GridFacts:
    """How the values of a column lie on the grid, found out when asked for."""

    def __init__(self, reader: _TableReader, column: str) -> None:
        self.reader, self.column = reader, column

    @cached_property
    def series(self) -> pl.Series:
        return self.reader._column(self.column)

    @cached_property
    def by_item(self) -> tuple[pl.Series, int | None]:
        return self.reader.grid.by_item.common_values(self.series)

    @cached_property
    def same_in_item(self) -> bool:
        grid = self.reader.grid
        if not grid.compares or self.by_item[1] is not None:
            return False
        present = self.series.is_not_null().to_numpy()
        return bool(np.bincount(grid.items.codes[present], minlength=1).max() > 1)

    @cached_property
    def differs_in_cell(self) -> bool:
        grid, form = self.reader.grid, self.reader.form
        may_differ = form.are_ratings or form.judges is not None or form.preference is not None
        if not may_differ or not grid.repeats:
            return False
        return grid.by_cell.common_values(self.series)[1] is not None


def coded_column(source: TableSource, column: str | None) -> tuple[list[str], Codes]:
    """Return the names in a column and the code of every row's, -1 where there is none."""
    if column is None:
        return [], np.full(source.count, -1, np.int32)
    series = source.column(column)
    if series.dtype.is_float():
        raise source.error(f"expected texts or whole numbers, not {series.dtype}", field=column)
    texts = series.cast(pl.String).str.strip_chars()
    names, codes = coded(texts.set(texts == "", None))
    return names.to_list(), codes


# --- Reading ratings ------------------------------------------------------------------------------


def rating_table(
    source: TableSource, form: LongForm, grid: CellGrid, extra: Mapping[str, pl.Series]
) -> tuple[Ratings, dict[str, Scale]]:
    """Return one rating for each row and column of scores, and the scales of aspects that are known.

    Two-valued words (pass and fail, yes and no …) are scores where a column has no numbers and at least half
    of its texts are such words; any other text becomes a comment. A row without a score and without a comment
    is no rating.
    """
    count = len(grid.items.codes)
    scales: dict[str, Scale] = {}
    if form.by_rater:
        return _rated_by_column(source, form, grid)
    scored = dict(form.several["aspect"])
    if (score := form.single.get("score")) is not None:
        scored = {score: score, **scored}
    comment = form.single.get("comment")
    # A row's own comment goes with its first score, so that it is counted once.
    remarks: list[Objects] = [
        np.full(count, None, object)
        if place or comment is None
        else np.array(to_objects(source.column(comment).cast(pl.String)), object)
        for place in range(len(scored))
    ]
    judged = []
    for (name, column), comments in zip(scored.items(), remarks, strict=True):
        values, scale = _rated(source, column, comments)
        judged.append((values, comments))
        if scale is not None:
            scales[name] = scale
    chosen: list[Ints] = [
        np.flatnonzero(~np.isnan(values) | _is_present(comments)) for values, comments in judged
    ]
    rows = np.concatenate(chosen)
    texts = np.concatenate([comments[places] for (_, comments), places in zip(judged, chosen, strict=True)])
    raters, rater = coded_column(source, form.single.get("rater"))
    by_row = form.single.get("aspect") is not None and len(scored) == 1
    aspects, aspect = (
        list(scored),
        np.concatenate([np.full(len(places), code, np.int32) for code, places in enumerate(chosen)]),
    )
    if by_row:
        aspects, codes = coded_column(source, form.single["aspect"])
        aspect = codes[chosen[0]]
        scales = {name: scale for name in aspects for scale in scales.values()}
    seconds = form.single.get("seconds")
    times = np.full(count, np.nan) if seconds is None else numbers(source.column(seconds), source)
    ratings = Ratings(
        item=grid.items.codes[rows],
        model=grid.models.codes[rows],
        rater=rater[rows],
        aspect=aspect,
        score=np.concatenate([values[places] for (values, _), places in zip(judged, chosen, strict=True)]),
        seconds=times[rows],
        comment=texts if _is_present(texts).any() else None,
        raters=tuple(raters),
        aspects=tuple(aspects),
        extra={name: to_objects(series)[rows] for name, series in extra.items()},
    )
    return ratings, scales


def _rated_by_column(source: TableSource, form: LongForm, grid: CellGrid) -> tuple[Ratings, dict[str, Scale]]:
    """Return the ratings of a table that has a column for each rater."""
    raters = sorted({rater for by_rater in form.by_rater.values() for rater in by_rater})
    parts: list[tuple[Ints, int, int, Floats]] = []
    scales: dict[str, Scale] = {}
    for aspect, (name, by_rater) in enumerate(form.by_rater.items()):
        for rater, column in by_rater.items():
            values, scale = scores(source.column(column), source)
            rows = np.flatnonzero(~np.isnan(values))
            parts.append((rows, raters.index(rater), aspect, values[rows]))
            scales |= {} if scale is None else {name: scale}
    rows = np.concatenate([part[0] for part in parts])
    ratings = Ratings(
        item=grid.items.codes[rows],
        model=grid.models.codes[rows],
        rater=np.concatenate([np.full(len(part[0]), part[1], np.int32) for part in parts]),
        aspect=np.concatenate([np.full(len(part[0]), part[2], np.int32) for part in parts]),
        score=np.concatenate([part[3] for part in parts]),
        seconds=np.full(len(rows), np.nan),
        raters=tuple(raters),
        aspects=tuple(form.by_rater),
    )
    return ratings, scales


def _rated(source: TableSource, column: str, comments: Objects) -> tuple[Floats, Scale | None]:
    """Return the scores of a column and their scale; texts where a score was to be are added to comments."""
    series = source.column(column)
    if series.dtype != pl.String:
        return scores(series, source)
    if written_scores(series) is not None or marks_in_words(series) is not None:
        return scores(series, source)
    parsed, is_text = parsed_texts(series)
    texts = series.filter(is_text)
    if not parsed.count() and 2 * sum(word_kind(text) is not None for text in texts) >= len(texts) > 0:
        words = from_words(series, source)
        return numbers(series if words is None else words, source), SCALE
    for row in np.flatnonzero(is_text.to_numpy()).tolist():
        text = series[row]
        comments[row] = text if comments[row] is None else f"{text} | {comments[row]}"
    return numbers(parsed, source), None


def _is_present(values: Objects) -> NDArray[np.bool_]:
    return np.fromiter((value is not None for value in values), bool, len(values))


# --- Writing --------------------------------------------------------------------------------------


def to_frame(data: EvalSet) -> pl.DataFrame:
    """Return the set as a long polars frame, one row for each item and model; missing is null.

    Columns: ``item``, ``model``, ``output``, ``source``, ``reference:NAME``, the columns of the items, then
    ``cell:NAME``, ``metric:NAME`` and ``aspect:NAME``. Ratings, preferences and people's judgements of the
    references have no place in it.
    """
    if not data.models:
        raise DataError("The set has no models, and a table has a row for each item and model.")
    order, width = data.file_order, len(data.models)
    per_item = [_values("item", data.items[order])]
    if data.sources is not None:
        per_item.append(_values("source", data.sources[order]))
    per_item += _references(data)
    per_item += [
        _as_whole_numbers(_values(_column_name(name), values[order])) for name, values in data.columns.items()
    ]
    places = np.repeat(np.arange(len(data)), width)
    repeated = [series.gather(places) for series in per_item]
    models = pl.Series("model", list(data.models)).gather(np.tile(np.arange(width), len(data)))
    return pl.DataFrame([repeated[0], models, *_cells(data), *repeated[1:]])


def _column_name(name: str) -> str:
    """Return the name of an item column in a table, such that reading takes it for one and for no other."""
    return name if name in ITEM_COLUMNS and name != fields.COST else f"column:{name}"


def changed_by_writing(data: EvalSet) -> list[str]:
    """Return the columns and cell columns whose values are mixed, lists or objects: they turn into texts."""
    arrays = {f"column:{name}": values for name, values in data.columns.items()}
    arrays |= {f"cell:{name}": values.ravel() for name, values in data.cells.items()}
    return [name for name, values in arrays.items() if to_series(name, values)[1]]


def _references(data: EvalSet) -> list[pl.Series]:
    texts = data.reference_texts
    if texts is None:
        return [pl.Series(f"reference:{name}", [None] * len(data), pl.String) for name in data.references]
    return [
        _values(f"reference:{name}", texts[data.file_order, place])
        for place, name in enumerate(data.references)
    ]


def _cells(data: EvalSet) -> list[pl.Series]:
    order = data.file_order
    arrays: dict[str, Any] = {} if data.outputs is None else {"output": data.outputs}
    arrays |= {f"cell:{name}": values for name, values in data.cells.items()}
    arrays |= {f"metric:{name}": values for name, values in data.metrics.items()}
    arrays |= {f"aspect:{name}": values for name, values in data.aspects.items()}
    return [_values(name, values[order].ravel()) for name, values in arrays.items()]


def _values(name: str, values: NDArray[Any]) -> pl.Series:
    """Return values with null where missing."""
    series = to_series(name, values)[0]
    return series.fill_nan(None) if series.dtype == pl.Float64 else series


def _as_whole_numbers(series: pl.Series) -> pl.Series:
    """Return numbers as whole ones where all of them are."""
    if series.dtype != pl.Float64 or not series.drop_nulls().is_between(-EXACT, EXACT).all():
        return series
    return series.cast(pl.Int64) if bool((series.drop_nulls() % 1 == 0).all()) else series


# --- How a table lies, and the same table in long form ---
# Long tables name the model in a column. Wide ones have a column for each model (``gpt-4o``,
# ``answer_gpt-4o``, ``outputs.gpt-4o``), perhaps with scores beside (``gpt-4o_judge``). Two-sided ones
# compare a pair (``response_a`` and ``response_b``, perhaps with ``model_a``, ``model_b`` and ``winner``;
# ``chosen`` and ``rejected``). A table without any of these is about one system, named after the file.


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
