"""The directory tree of mt-metrics-eval: one test set, of which one language pair is read.

``sources/en-de.txt``, ``documents/en-de.docs`` (``DOMAIN DOCUMENT`` a line), ``references/en-de.NAME.txt``,
``system-outputs/en-de/NAME.txt``, ``human-scores/en-de.NAME.seg.score`` and
``metric-scores/en-de/NAME-REF.seg.score`` (``SYSTEM SCORE`` a line, a block of all segments for each system),
``human-scores/en-de.NAME.seg.rating`` (``SYSTEM JSON [RATER]`` a line), ``metadata/en-de/NAME.jsonl``.
Texts may also be ``.jsonl`` (``source``, ``target``, ``hypothesis``). Scores of whole systems, domains and
documents are passed over: they can be worked out from those of the segments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UnknownNameError, UsageError, listing, nearest
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import Format, Head, Options, read_lines
from sparingly.data.values import as_mapping, as_text, parse_number, shown

SOURCES, OUTPUTS, HUMAN, METRICS = "sources", "system-outputs", "human-scores", "metric-scores"
NO_TRANSLATION = "[No translation supplied]"
_TEXTS = (".txt", ".jsonl")
_REFERENCE = re.compile(r"ref[A-Za-z0-9]*", re.IGNORECASE)


@register("mt_metrics_eval")
class MtMetricsEval(Format):
    """The directory of a test set of mt-metrics-eval."""

    summary: ClassVar[str] = "directory tree of mt-metrics-eval: sources, system-outputs, human-scores …"
    options: ClassVar[dict[str, str]] = {
        "language_pair": "which language pair, such as en-de (needed when there are several)",
        "references_as": "models: references that have a system output are ranked as models",
    }

    def recognises(self, head: Head) -> bool:
        """Look for the folder of sources beside one of outputs or scores."""
        folders = (OUTPUTS, HUMAN, METRICS)
        return (head.path / SOURCES).is_dir() and any((head.path / folder).is_dir() for folder in folders)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read one language pair."""
        kept_as = options.get("references_as")
        if kept_as not in (None, "models"):
            raise UsageError(f'The option references_as is "models" or absent, not "{kept_as}".')
        pair = options.get("language_pair")
        if not (path / SOURCES).is_dir():
            raise InputError(
                f"there is no folder {SOURCES} in it", file=path, fix="Name the folder of one test set"
            )
        pairs = sorted({file.stem for file in _files(path / SOURCES) if file.suffix in _TEXTS})
        if pair is not None and pair not in pairs:
            raise UnknownNameError("language pair", pair, pairs)
        if not pairs:
            raise InputError("there is no source file SRC-TGT.txt in it", file=path / SOURCES)
        if pair is None and len(pairs) > 1:
            raise InputError(
                f"there are {len(pairs)} language pairs: {listing(pairs, 60)}",
                file=path,
                fix=f"Choose one with language_pair={pairs[0]}",
            )
        tree = _Tree(path, (pair or pairs[0]))
        tree.take_items()
        tree.take_texts(references_as_models=kept_as == "models")
        tree.take_human_scores()
        tree.take_metrics()
        tree.take_metadata()
        return tree.builder.build()


@dataclass
class _Tree:
    """One language pair of a test set while it is read."""

    path: Path
    pair: str
    references: dict[str, Path] = field(default_factory=dict)
    source_file: str = ""

    def __post_init__(self) -> None:
        self.builder = EvalSetBuilder(self.path, name=f"{self.path.name}/{self.pair}")
        self.has_outputs = False

    def take_items(self) -> None:
        """Take the sources, and the domain and document of each."""
        paths = (self.path / SOURCES / f"{self.pair}{suffix}" for suffix in _TEXTS)
        path = next(path for path in paths if path.exists())
        self.source_file = path.name
        for place, text in enumerate(_segments(path, "source")):
            self.builder.source(self.builder.new_item(f"{self.pair}#{place}"), text)
        documents = self.path / "documents" / f"{self.pair}.docs"
        if not documents.exists():
            return
        lines = read_lines(documents)
        self._check_count(documents, len(lines), "lines")
        for place, line in enumerate(lines):
            columns = line.split(maxsplit=1)
            if len(columns) < 2:
                raise InputError(
                    f"{shown(line)} is not a domain and a document",
                    file=documents,
                    line=place + 1,
                    fix="Write DOMAIN DOCUMENT",
                )
            self.builder.column(place, "domain", columns[0])
            self.builder.column(place, "document", columns[1].strip())

    def take_texts(self, references_as_models: bool) -> None:
        """Take the references and the outputs; an output named as a reference is that reference."""
        folder = self.path / "references"
        self.references = {
            file.stem.removeprefix(f"{self.pair}."): file
            for file in _files(folder)
            if file.name.startswith(f"{self.pair}.") and file.suffix in _TEXTS
        }
        for name, file in self.references.items():
            for place, text in self._aligned(file, "target"):
                self.builder.reference(place, name, text)
        for file in _files(self.path / OUTPUTS / self.pair):
            if file.suffix not in _TEXTS:
                continue
            self.has_outputs = True
            if file.stem in self.references and not references_as_models:
                continue
            model = self.builder.model(file.stem)
            for place, text in self._aligned(file, "hypothesis"):
                self.builder.output(place, model, text)

    def take_human_scores(self) -> None:
        """Take people's judgements of the segments: scores as aspects, lists of errors as ratings."""
        for file in _files(self.path / HUMAN):
            if not file.name.startswith(f"{self.pair}."):
                continue
            name = file.name.removeprefix(f"{self.pair}.")
            if name.endswith(".seg.score"):
                self._take_aspect(file, name.removesuffix(".seg.score"))
            elif name.endswith(".seg.rating"):
                self._take_ratings(file, name.removesuffix(".seg.rating"))

    def take_metrics(self) -> None:
        """Take the metrics' scores of the segments; those of references have no place and are left out."""
        file_by_stem = {
            file.name.removesuffix(".seg.score"): file
            for file in _files(self.path / METRICS / self.pair)
            if file.name.endswith(".seg.score")
        }
        for stem, name in metric_names(file_by_stem, self.references).items():
            for system, numbers in self._scores(file_by_stem[stem], name).items():
                if (model := self._model(system, file_by_stem[stem])) is not None:
                    for place, number in enumerate(numbers):
                        self.builder.metric(place, model, name, number, name)

    def take_metadata(self) -> None:
        """Take the further fields that a system's segments have."""
        for file in _files(self.path / "metadata" / self.pair):
            if file.suffix != ".jsonl" or (model := self._model(file.stem, file)) is None:
                continue
            records = [record for _, record in files.json_lines(file)]
            self._check_count(file, len(records), "lines")
            for place, record in enumerate(records):
                for name, value in record.items():
                    self.builder.cell(place, model, name, value)

    def _take_aspect(self, file: Path, name: str) -> None:
        for system, numbers in self._scores(file, name).items():
            model = self._model(system, file)
            for place, number in enumerate(numbers):
                if model is None:
                    self.builder.reference_aspect(place, system, name, number, name)
                else:
                    self.builder.aspect(place, model, name, number, name)

    def _take_ratings(self, file: Path, name: str) -> None:
        """Take error lists as they are; a rating has a score only where the file gives one."""
        for system, rows in self._blocks(file, partial(_rating, file), "ratings").items():
            rated = "reference" if self._model(system, file) is None else "model"
            for place, (rating, rater) in enumerate(rows):
                if rating is None:
                    continue
                values: dict[str, Any] = {rated: system, "rater": rater or name, "score": rating.get("score")}
                values["extra"] = {key: value for key, value in rating.items() if key != "score"}
                try:
                    self.builder.rating(place, aspect=name.partition(".")[0], **values)
                except InputError as error:
                    raise error.at(file=file) from None

    def _scores(self, file: Path, name: str) -> dict[str, list[float]]:
        return self._blocks(file, partial(_score, name), "scores")

    def _blocks(self, file: Path, parse: Any, kind: str) -> dict[str, list[Any]]:
        """Return the rows of each system, in the order of the sources."""
        blocks: dict[str, list[Any]] = {}
        for line, text in files.text_lines(file):
            if text.strip():
                try:
                    system, row = parse(text)
                except InputError as error:
                    raise error.at(file=file, line=line) from None
                blocks.setdefault(system, []).append(row)
        for system, rows in blocks.items():
            self._check_count(file, len(rows), f"{kind} of {system}")
        return blocks

    def _model(self, system: str, file: Path) -> int | None:
        """Return the code of the model of that name, or None for a reference."""
        if system in self.builder.models.codes:
            return self.builder.models.codes[system]
        if system in self.references:
            return None
        if self.has_outputs:
            close = nearest(system, [*self.builder.models.codes, *self.references], limit=1)
            raise InputError(
                f"the system {shown(system)} has no output in {OUTPUTS}/{self.pair}",
                file=file,
                fix=f"Did you mean {close[0]}?" if close else f"Add {system}.txt there",
            )
        # A set that is given without its texts is known by its scores alone.
        if _REFERENCE.fullmatch(system):
            self.references[system] = file
            return None
        return self.builder.model(system)

    def _aligned(self, file: Path, key: str) -> Iterator[tuple[int, str | None]]:
        texts = _segments(file, key)
        self._check_count(file, len(texts), "lines")
        return enumerate(texts)

    def _check_count(self, file: Path, count: int, kind: str) -> None:
        sources = len(self.builder.items)
        if count != sources:
            raise InputError(
                f"there are {count} {kind}, but {self.source_file} has {sources} sources",
                file=file,
                fix="Give one line for every source, None where nothing is known",
            )


def metric_names(stems: Iterable[str], references: Iterable[str]) -> dict[str, str]:
    """Return the name of the metric of each file ``NAME-REF``.

    It is ``NAME``; ``NAME[QE]`` when REF is ``src``, because the metric needs no reference; and ``NAME-REF``
    when the metric is there with several references.
    """
    reference_names = frozenset(references)
    parts = {stem: _split(stem, reference_names) for stem in stems}
    variants = Counter(base for base, reference in parts.values() if reference not in ("", "src"))
    names = {}
    for stem, (base, reference) in parts.items():
        if reference == "src":
            names[stem] = base if base.endswith("[QE]") else f"{base}[QE]"
        else:
            names[stem] = stem if variants[base] > 1 else base
    return names


def _split(stem: str, references: frozenset[str]) -> tuple[str, str]:
    """Split ``NAME-REF``; what follows the last dash and names no reference belongs to the name."""
    base, dash, suffix = stem.rpartition("-")
    is_reference = suffix in ("src", "all") or all(
        part in references or _REFERENCE.fullmatch(part) for part in suffix.split(".")
    )
    return (base, suffix) if dash and is_reference else (stem, "")


def _score(name: str, line: str) -> tuple[str, float]:
    columns = line.split("\t") if "\t" in line else line.split()
    if len(columns) != 2:
        raise InputError(
            f"{len(columns)} columns are there, and 2 are needed: SYSTEM SCORE",
            fix="Separate them by a tab where the system's name holds spaces",
        )
    return columns[0].strip(), parse_number(columns[1], name)


def _rating(file: Path, line: str) -> tuple[str, tuple[dict[str, Any] | None, str | None]]:
    columns = line.strip("\n").split("\t")
    if len(columns) not in (2, 3):
        raise InputError(
            f"{len(columns)} columns are there, and 2 or 3 are needed: SYSTEM JSON [RATER]",
            fix="Separate them by tabs",
        )
    rater = columns[2].strip() if len(columns) == 3 else None
    if columns[1].strip() == "None":
        return columns[0].strip(), (None, rater)
    try:
        rating = files.parse_json(columns[1], file)
    except InputError as error:
        raise InputError(error.problem, file=file, fix=error.fix) from None
    return columns[0].strip(), (as_mapping(rating, "rating"), rater)


def _segments(path: Path, key: str) -> list[str | None]:
    """Return the texts of a file, None where there is no translation."""
    texts: list[str | None] = []
    if path.suffix == ".jsonl":
        for line, record in files.json_lines(path):
            try:
                texts.append(as_text(record.get(key), key))
            except InputError as error:
                raise error.at(file=path, line=line) from None
    else:
        texts.extend(read_lines(path))
    return [None if text is not None and text.strip() == NO_TRANSLATION else text for text in texts]


def _files(folder: Path) -> list[Path]:
    """Return the files of a folder in the order of their names; none when there is no such folder."""
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
