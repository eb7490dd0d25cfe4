"""What ``comet-score --to_json`` writes: ``{file: [{"src", "mt", "ref", "COMET", "errors", …}, …]}``.

Each file of translations is a model, named by the file without folder and extension. The segments have no
ids: they are made from their places (``line-000001`` …), and every file must have the same sources in the
same order. Further fields of a segment (``errors``, ``variance``) become columns of the cells. Older
versions write one list for one file of translations; its model is named after the JSON file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import Format, Head, Options, first_record, line_id, names_of_files
from sparingly.data.values import as_list, as_mapping, as_text, shown

METRIC = "COMET"
_OWN_KEYS = ("src", "mt", "ref", METRIC)


@register("comet")
class Comet(Format):
    """The JSON file of COMET's command line."""

    summary: ClassVar[str] = "JSON of comet-score --to_json"
    options: ClassVar[dict[str, str]] = {
        "metric": "what to call the score, since the file says COMET whichever checkpoint was used"
    }

    def recognises(self, head: Head) -> bool:
        """Look for lists of segments with a translation and its score."""
        first = first_record(head)
        if first is not None and _is_segment(first):
            return head.start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        lists = first if first is not None else head.document
        return (
            isinstance(lists, dict)
            and bool(lists)
            and all(isinstance(segments, list) for segments in lists.values())
            and any(_is_segment(segment) for segments in lists.values() for segment in segments[:1])
        )

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the file whole."""
        value = files.read_json(path)
        lists = {path.name: value} if isinstance(value, list) else value
        if not isinstance(lists, dict):
            raise InputError("expected an object of lists by file", file=path)
        builder = EvalSetBuilder(path)
        try:
            segments = {
                file: [
                    as_mapping(value, f"{file}[{place}]") for place, value in enumerate(as_list(values, file))
                ]
                for file, values in lists.items()
            }
            _check_same(segments)
            _take_items(builder, next(iter(segments.values()), []))
            for file, model in zip(segments, names_of_files(list(segments)), strict=True):
                _take_model(builder, file, model, segments[file], str(options.get("metric") or METRIC))
        except InputError as error:
            raise error.at(file=path) from None
        return builder.build()


def _is_segment(value: Any) -> bool:
    return isinstance(value, dict) and "mt" in value and METRIC in value


def _check_same(segments: dict[str, list[dict[str, Any]]]) -> None:
    """Refuse files that are not translations of the same sources in the same order."""
    if not segments:
        return
    first, first_segments = next(iter(segments.items()))
    for file, own_segments in segments.items():
        if len(own_segments) != len(first_segments):
            raise InputError(
                f"there are {len(own_segments)} segments, but {first} has {len(first_segments)}",
                field=file,
                fix="Score the same sources for every model",
            )
        for key, kind in (("src", "source"), ("ref", "reference")):
            for place, (segment, first_segment) in enumerate(zip(own_segments, first_segments, strict=True)):
                text, first_text = segment.get(key), first_segment.get(key)
                if text != first_text:
                    raise InputError(
                        f"the {kind} is {shown(text)}, but {first} has {shown(first_text)} there",
                        field=f"{file}[{place}].{key}",
                        fix="Score the same sources in the same order for every model",
                    )


def _take_items(builder: EvalSetBuilder, segments: list[dict[str, Any]]) -> None:
    for place, segment in enumerate(segments):
        item = builder.new_item(line_id(place))
        builder.source(item, as_text(segment.get("src"), f"[{place}].src"))
        if (reference := as_text(segment.get("ref"), f"[{place}].ref")) is not None:
            builder.reference(item, "ref", reference)


def _take_model(
    builder: EvalSetBuilder, file: str, name: str, segments: list[dict[str, Any]], metric: str
) -> None:
    model = builder.model(name)
    for item, segment in enumerate(segments):
        field = f"{file}[{item}]"
        builder.output(item, model, as_text(segment.get("mt"), f"{field}.mt"))
        builder.metric(item, model, metric, segment.get(METRIC), f"{field}.{METRIC}")
        for key, value in segment.items():
            if key not in _OWN_KEYS:
                builder.cell(item, model, key, value)
