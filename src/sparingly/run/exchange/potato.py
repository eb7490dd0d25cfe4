"""Potato: a configuration with items, and what its users answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.errors import UsageError
from sparingly.run.exchange.browser import plain_names
from sparingly.run.exchange.exchange import Exchange, Options, carried
from sparingly.run.exchange.files import write_jsonl, write_text
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.potato_answers import CHECKED, MARKS, OUTPUT, read_answers
from sparingly.run.exchange.report import Taken
from sparingly.run.exchange.scale import Scale
from sparingly.run.exchange.spans import PENALTIES
from sparingly.run.exchange.taking import Taking
from sparingly.run.exchange.tasks import Kind, Output, Passage, Task, Tasks

# JSON is YAML, but for a few letters that YAML wants written as their codes.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
HUNDRED = Scale(0, 100)
# A slider is as wide as what stands above it, which goes into the page as HTML.
_SLIDE = "from {} for the worst to {} for the best. Move the slider, then go on."
_SEVERITIES = ("minor", "major", "critical")


class Potato(Exchange):
    """Potato (Pei et al. 2022): sliders, pairs with ties and error spans."""

    name: ClassVar[str] = "potato"
    summary: ClassVar[str] = "a configuration with items for potato start, and its user states or exports"
    kinds: ClassVar[tuple[Kind, ...]] = ("score", "pair", "spans")
    write_options: ClassVar[dict[str, str]] = {
        "annotators": "how many judge every item where there is no assignment; 1 unless given",
        "mode": "binary (left, right or tie) or scale (from -3 to 3) for pairs; binary unless given",
        "name": "the name of the annotation task; sparingly-1 in the first round unless given",
        "reference": "yes to show the first reference",
    }

    def check_write(self, tasks: Tasks, options: Options) -> None:
        """Complain about options that do not fit the tasks before anything is written."""
        super().check_write(tasks, options)
        _config(tasks, _all_items(tasks, options), options)

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write ``config.yaml`` and ``items.jsonl``."""
        items = _all_items(tasks, options)
        config = _config(tasks, items, options)
        text = _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match.group()):04x}", _as_json(config))
        return [write_text(folder / "config.yaml", text), write_jsonl(folder / "items.jsonl", items)]

    def read(self, files: Sequence[Path], taking: Taking, options: Options) -> Taken:
        """Read the folder of annotations, ``user_state.json`` files, or exports as JSON Lines, CSV or TSV.

        Spans need ``items.jsonl`` among the files, too: Potato counts letters in its texts.
        """
        read_answers(files, taking, scheme_names(taking.key))
        return taking.done()

    def key_for(self, tasks: Tasks) -> Key:
        """Return the key with the scales that sliders have: whole numbers only."""
        others = {name: slider_scale(scale) for name, scale in tasks.scales.items()}
        kept = {name: scale for name, scale in others.items() if scale != tasks.scales[name]}
        return replace(tasks.key, tool=self.name, tool_scales=kept)


def slider_scale(scale: Scale) -> Scale:
    """Return the scale of a slider, which knows whole numbers only: 0 to 100 where those are too few."""
    whole = float(scale.low).is_integer() and float(scale.high).is_integer()
    return scale if whole and scale.high - scale.low > 1 else HUNDRED


def scheme_names(key: Key) -> dict[str, str]:
    """Return the annotation scheme of every aspect, and of what is asked besides."""
    return plain_names([*key.aspects, MARKS, CHECKED])


def _as_json(config: Mapping[str, Any]) -> str:
    return json.dumps(config, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _config(tasks: Tasks, items: Sequence[Mapping[str, Any]], options: Options) -> dict[str, Any]:
    rounds = max((task.round for task in tasks), default=1)
    return {
        "annotation_task_name": options.get("name", f"sparingly-{rounds}"),
        "task_dir": ".",
        "output_annotation_dir": "annotation_output",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": list(_schemes(tasks, options)),
        **({"instance_display": {"fields": fields}} if (fields := _fields(tasks, items)) else {}),
        "authentication": {"method": "in_memory"},
        "require_password": False,
        **_assigned(tasks, items, options),
    }


def _assigned(tasks: Tasks, items: Sequence[Mapping[str, Any]], options: Options) -> dict[str, Any]:
    """Return who gets which items: a list per rater, or everything in order until enough have judged it."""
    if not tasks.raters:
        count = options.get("annotators", "1")
        if not count.isdecimal() or int(count) < 1:
            raise UsageError(f'The number of annotators "{count}" is no whole number above 0.')
        return {"assignment_strategy": "fixed_order", "num_annotators_per_item": int(count)}
    if "annotators" in options:
        raise UsageError("The assignment says who judges what: leave out annotators.")
    lists: dict[str, list[str]] = {}
    for item in items:
        lists.setdefault(str(item.get("assigned", "")), []).append(str(item["id"]))
    groups = [
        {"name": f"list-{number}", "annotators": [rater], "instances": own}
        for number, (rater, own) in enumerate(lists.items(), 1)
        if rater
    ]
    return {
        "assignment_strategy": "batch",
        "batch_assignment": {"groups": groups},
        "num_annotators_per_item": 1,
    }


def _schemes(tasks: Tasks, options: Options) -> list[dict[str, Any]]:
    names, required = scheme_names(tasks.key), {"label_requirement": {"required": True}}
    if tasks.kind == "pair":
        return [_pair_scheme(names[aspect], aspect, options) | required for aspect in tasks.aspects]
    sliders = [
        _slider(names[aspect], aspect, slider_scale(scale)) | required
        for aspect, scale in tasks.scales.items()
    ]
    if tasks.kind == "score":
        return sliders
    marks = {
        "annotation_type": "error_span",
        "name": names[MARKS],
        "description": "Mark every error",
        "source_field": OUTPUT,
        "error_types": [{"name": "error"}],
        "severities": [{"name": name, "weight": -int(PENALTIES[name])} for name in _SEVERITIES],
        "show_score": False,
    }
    # An output without errors leaves no mark, so without a score the rater says when all is marked.
    checked = {
        "annotation_type": "radio",
        "name": names[CHECKED],
        "description": "When you are done",
        "labels": ["all errors are marked"],
    }
    return [marks, *(sliders or [checked | required])]


def _slider(name: str, aspect: str, scale: Scale) -> dict[str, Any]:
    low, high = int(scale.low), int(scale.high)
    return {
        "annotation_type": "slider",
        "name": name,
        "description": f"{escape(aspect)}: {_SLIDE.format(low, high)}",
        "min_value": low,
        "max_value": high,
        "starting_value": (low + high) // 2,
        "step": 1,
    }


def _pair_scheme(name: str, aspect: str, options: Options) -> dict[str, Any]:
    mode = options.get("mode", "binary")
    if mode not in ("binary", "scale"):
        raise UsageError(f'The mode "{mode}" of pairs is neither binary nor scale.')
    how = {"allow_tie": True} if mode == "binary" else {"scale": {"min": -3, "max": 3, "step": 1}}
    return {
        "annotation_type": "pairwise",
        "name": name,
        "description": f"Which is better: {aspect}?",
        "items_key": "responses",
        "mode": mode,
        **how,
    }


def _fields(tasks: Tasks, items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    titles = {"before": "Before", "source": "Source", "after": "After", "reference": "Reference"}
    shown = [
        {"key": key, "type": "text", "label": title}
        for key, title in titles.items()
        if any(item[key] for item in items)
    ]
    # Pairs and spans show the outputs in the question itself.
    return [*shown, {"key": OUTPUT, "type": "text", "label": "Output"}] if tasks.kind == "score" else shown


def _all_items(tasks: Tasks, options: Options) -> list[dict[str, Any]]:
    return [item for task in tasks for item in _items(tasks, task, options)]


def _items(tasks: Tasks, task: Task, options: Options) -> list[dict[str, Any]]:
    common = {
        **carried(task),
        "text": task.source or (" / " if tasks.kind == "pair" else task.outputs[0].text),
        "source": task.source or "",
        "reference": (task.reference or "") if options.get("reference") == "yes" else "",
        "before": _context(task.before),
        "after": _context(task.after),
    }
    if tasks.kind == "pair":
        return [{"id": task.id, **common, "responses": [output.text for output in task.outputs]}]
    return [{"id": instance_id(task, output), **common, OUTPUT: output.text} for output in task.outputs]


def instance_id(task: Task, output: Output) -> str:
    """Return the id of an output to judge: the task and the token."""
    return f"{task.id}-{output.token}"


def _context(passages: Sequence[Passage]) -> str:
    return "\n".join(one.source for one in passages if one.source)
