"""Which column of a long table plays which part: by options, by a prefix, or by a usual name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparingly.base.errors import InputError, UnknownNameError, UsageError, listing
from sparingly.data import fields
from sparingly.data.io.format import names_in

# The usual names, small letters and digits only, the likeliest first.
USUAL = {
    "item": (
        *("item", "itemid", "segmentid", "segid", "segment", "globalsegid", "sampleid", "exampleid"),
        *("promptid", "questionid", "instanceid", "sourceid", "uid", "id"),
    ),
    "model": (
        *("model", "modelid", "modelname", "system", "systemid", "systemname", "sys", "generator"),
        *("mtsystem", "engine"),
    ),
    "output": (
        *("output", "outputtext", "hypothesis", "hyp", "translation", "mt", "tgt", "completion"),
        *("response", "prediction", "generation", "generated"),
    ),
    "source": ("source", "sourcetext", "src", "input", "prompt", "question", "instruction"),
    "reference": ("reference", "referencetext", "ref", "gold"),
    "document": ("document", "documentid", "documentname", "doc", "docid", "docname"),
    "position": ("position", "docsegid", "positionindocument"),
    "domain": ("domain", "domainname", "genre"),
    "cost": ("cost",),
    "weight": ("weight", "importance"),
    "rater": ("rater", "raterid", "annotator", "annotatorid", "worker", "workerid", "evaluator", "judge"),
    "score": ("score", "rating"),
    "aspect": ("aspect", "criterion", "dimension"),
    "seconds": ("seconds", "duration", "durationseconds", "timeseconds", "timespent"),
    "comment": ("comment", "comments", "remark"),
}
_JUDGING = ("rater", "score", "aspect", "seconds", "comment")
ITEM_COLUMNS = (fields.DOCUMENT, fields.POSITION, fields.DOMAIN, fields.COST, fields.WEIGHT)
_PREFIX = re.compile(r"(metric|aspect|reference|cell|column)s?[:.](.+)", re.DOTALL)
_ITEM_WHEN_ALONE = "docid"


# The columns of inspect_ai's samples, which are no long table of their own.
SAMPLE_COLUMNS = ("epoch", "input", "target")
SCORE_PREFIX = "score_"


@dataclass(frozen=True)
class Roles:
    """The columns of a long table by the part that they play.

    ``single`` maps a part (item, model, output …) to its column; the mappings hold several, from the name in
    the evaluation set to the column; ``unassigned`` are the others: their
    values tell their part.
    ``guess_metrics``: nothing tells the metrics, so that further numbers are looked at.
    """

    single: Mapping[str, str]
    metrics: Mapping[str, str] = field(default_factory=dict)
    aspects: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    unassigned: tuple[str, ...] = ()
    are_ratings: bool = False
    guess_metrics: bool = True


def roles_of(names: list[str], options: Mapping[str, Any]) -> Roles:
    """Give every column its part.

    Raises:
        UnknownNameError: When an option names a column that is not there.
        InputError: When no column holds the items or the models.
    """
    return _Assignment(names, options).roles()


def usual_column(part: str, names: Iterable[str]) -> str | None:
    """Return the column with the likeliest name for a part."""
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(_plain(name), name)
    return next((plain[usual] for usual in USUAL[part] if usual in plain), None)


def has_part(name: str) -> bool:
    """Say whether a column's name by itself tells a part."""
    return _PREFIX.fullmatch(name) is not None or any(_plain(name) in usual for usual in USUAL.values())


def looks_long(names: list[str]) -> bool:
    """Say whether the names of the columns tell where the items and the models are."""
    free = [name for name in names if not _PREFIX.fullmatch(name)]
    item_column = usual_column("item", free) or usual_column("document", free)
    return item_column is not None and usual_column("model", free) is not None


def are_samples(names: Iterable[str]) -> bool:
    """Say whether columns are those of samples: id, epoch, input and target, and a log or a score."""
    present = set(names)
    from_a_log = "eval_id" in present or any(name.startswith(SCORE_PREFIX) for name in present)
    return present >= set(SAMPLE_COLUMNS) and bool(present & {"id", "sample_id"}) and from_a_log


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


class _Assignment:
    """Hands out the columns: first to options, then by prefixes, then by usual names."""

    def __init__(self, names: list[str], options: Mapping[str, Any]) -> None:
        self.names, self.options = names, options
        self.free = dict.fromkeys(names)
        self.single: dict[str, str] = {}
        self.several: dict[str, dict[str, str]] = {
            kind: {} for kind in ("metric", "aspect", "reference", "cell", "column")
        }

    def roles(self) -> Roles:
        self._take_options()
        self._take_prefixes()
        self._take_usual([part for part in USUAL if part not in _JUDGING])
        are_ratings = self._take_judging()
        self._check()
        unassigned = tuple(self.free)
        if "columns" in self.options:
            named_columns = {self._column_named(name) for name in names_in(self.options["columns"])}
            unassigned = tuple(name for name in unassigned if name in named_columns)
        several = self.several
        return Roles(
            self.single,
            several["metric"],
            several["aspect"],
            several["reference"],
            several["cell"],
            several["column"],
            unassigned,
            are_ratings,
            # An empty option says that there are no metrics.
            guess_metrics=not several["metric"] and self.options.get("metrics") is None,
        )

    def _take_options(self) -> None:
        for part in USUAL:
            if self.options.get(part):
                self.single[part] = self._claim(str(self.options[part]))
        for option, kind in (("metrics", "metric"), ("aspects", "aspect")):
            for name in names_in(self.options.get(option) or ()):
                column = self._claim(name)
                prefixed = _PREFIX.fullmatch(column)
                self.several[kind][prefixed[2] if prefixed else column] = column

    def _take_prefixes(self) -> None:
        for column in list(self.free):
            match = _PREFIX.fullmatch(column)
            if match is None:
                continue
            kind, name = match.groups()
            if name in self.several[kind]:
                raise UsageError(f'The columns "{self.several[kind][name]}" and "{column}" are both {name}.')
            self.several[kind][name] = column
            del self.free[column]

    def _take_usual(self, parts: Iterable[str]) -> None:
        for part in parts:
            column = None if part in self.single else usual_column(part, self.free)
            if part == "item" and column is None and "item" not in self.single:
                column = next((name for name in self.free if _plain(name) == _ITEM_WHEN_ALONE), None)
            if column is None:
                continue
            del self.free[column]
            # An empty option leaves out the column that would have been taken.
            if part not in self.options:
                self.single[part] = column

    def _take_judging(self) -> bool:
        """Find out whether rows are ratings, and take their columns if so."""
        column_by_part = {
            part: self.single.get(part) or (None if part in self.options else usual_column(part, self.free))
            for part in _JUDGING
        }
        by_column = bool(self.several["aspect"]) and column_by_part["rater"] is not None
        by_score = column_by_part["score"] is not None and bool(
            column_by_part["rater"] or column_by_part["aspect"]
        )
        if self.options.get("rater") and not (by_column or by_score):
            raise UsageError("With rater= say where the scores are: score= one column, or aspects= several.")
        if not (by_column or by_score or self.options.get("score")):
            return False
        if by_column and not self.options.get("score"):
            column_by_part["score"] = column_by_part["aspect"] = None
        for part, column in column_by_part.items():
            if column is not None:
                self.free.pop(column, None)
                self.single[part] = column
        return True

    def _check(self) -> None:
        for part in ("item", "model"):
            if part not in self.single:
                raise InputError(
                    f"no column is known to hold the {part}s; there are {listing(self.names)}",
                    fix=f"Name it with {part}=",
                )

    def _claim(self, name: str) -> str:
        column = self._column_named(name)
        if column not in self.free:
            raise UsageError(f'The column "{column}" is named by two options.')
        del self.free[column]
        return column

    def _column_named(self, name: str) -> str:
        if name in self.names:
            return name
        alike = [column for column in self.names if column.lower() == name.lower()]
        prefixed = [column for column in self.names if (m := _PREFIX.fullmatch(column)) and m[2] == name]
        if len(alike or prefixed) == 1:
            return (alike or prefixed)[0]
        raise UnknownNameError("column", name, self.names)
