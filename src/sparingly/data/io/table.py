"""Tables of any kind as evaluation sets, and evaluation sets as long tables.

``opening`` opens a file, ``layout`` puts it into long form and finds out which columns hold items, models and
texts, ``roles`` says what the others are. Here the columns are read onto the grid of items and models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
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
    from_words,
    in_file,
    is_numeric,
    marks_in_words,
    numbers,
    parsed_texts,
    scores,
    typed,
    written_scores,
)
from sparingly.data.io.excel import is_workbook
from sparingly.data.io.format import Format, Head, Options
from sparingly.data.io.frames import to_objects, to_polars, to_series
from sparingly.data.io.json_table import flatten
from sparingly.data.io.layout import LongForm, lay_out
from sparingly.data.io.opening import ARROW, is_dataset, source_of
from sparingly.data.io.parquet import MAGIC, is_ours, parquet_names
from sparingly.data.io.records import digest_id, names_of_files
from sparingly.data.io.roles import (
    ITEM_COLUMNS,
    PREFIX,
    ColumnProfile,
    are_samples,
    is_epoch,
    named_scale,
    plain_name,
    rest_role,
    vectors,
)
from sparingly.data.io.vocabulary import NAMES, REASONS
from sparingly.data.io.words import SCALE, word_kind
from sparingly.data.roles import ColumnRole, TableRoles, check_said
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

    Args:
        source: The table, in any layout.
        roles: What the user said of columns.
        name: The name of the system where the table is about one.
        clashes: Ids met both as a number and as a text.
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
