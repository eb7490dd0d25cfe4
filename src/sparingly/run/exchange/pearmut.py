"""Pearmut: a campaign as one JSON file, and the log of its annotations."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.errors import UsageError
from sparingly.run.exchange.browser import fits_link, plain_names
from sparingly.run.exchange.exchange import Exchange, Options, carried
from sparingly.run.exchange.files import write_json
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.pearmut_log import read_logs
from sparingly.run.exchange.report import Taken
from sparingly.run.exchange.scale import Scale
from sparingly.run.exchange.taking import Taking
from sparingly.run.exchange.tasks import Kind, Passage, Task, Tasks
from sparingly.run.exchange.tokens import MODEL_LETTERS, letters

PROTOCOLS = ("DA", "ESA", "cESA", "MQM")
TASK_BASED, SINGLE_STREAM = "task-based", "single-stream"
# The scale of the one slider that every protocol has.
SCORE = Scale(0, 100)
# Texts that begin so are put into the page as HTML; a word joiner before them makes them text again.
_MEDIA = ("<audio ", "<video ", "<img ", "<iframe ")
GUARD = "\u2060"


class Pearmut(Exchange):
    """Pearmut (Zouhar 2025): direct scores, error spans and several sliders, document by document."""

    name: ClassVar[str] = "pearmut"
    summary: ClassVar[str] = "a campaign for pearmut add, and the annotations it logs"
    kinds: ClassVar[tuple[Kind, ...]] = ("score", "spans")
    write_options: ClassVar[dict[str, str]] = {
        "assignment": "task-based (a list per rater) or single-stream (one list for all)",
        "campaign": "the name of the campaign; sparingly-1 in the first round unless given",
        "protocol": "DA, ESA, cESA or MQM; DA for scores, ESA for spans with a score, MQM for spans alone",
        "reference": "yes to show the first reference",
        "users": "how many raters share a single stream; 1 unless given",
    }

    def check_write(self, tasks: Tasks, options: Options) -> None:
        """Complain about options that do not fit the tasks before anything is written."""
        super().check_write(tasks, options)
        campaign(tasks, options)

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write the campaign as ``campaign.json``."""
        return [write_json(folder / "campaign.json", campaign(tasks, options))]

    def read(self, files: Sequence[Path], taking: Taking, options: Options) -> Taken:
        """Read ``data/annotations/CAMPAIGN.jsonl``, or what ``/download-annotations`` gives."""
        names = {rater: user_of(taking.key, rater) for rater in _raters(taking.key)}
        read_logs(files, taking, slider_names(taking.key), {user: rater for rater, user in names.items()})
        return taking.done()


def campaign(tasks: Tasks, options: Options) -> dict[str, Any]:
    """Return the campaign as Pearmut reads it."""
    name = options.get("campaign", f"sparingly-{max((task.round for task in tasks), default=1)}")
    if not fits_link(name) or name in (".", ".."):
        raise UsageError(f'The campaign "{name}" is part of links: take letters, digits, dots and hyphens.')
    assignment = _assignment(tasks, options)
    documents = [[_item(task, order, options) for task in run] for run, order in _ordered(tasks)]
    users: Any = _count(options)
    data: Any = documents
    if assignment == TASK_BASED:
        lists: dict[str, list[Any]] = {}
        for document, run in zip(documents, tasks.by_document(), strict=True):
            lists.setdefault(_rater(run[0]), []).append(document)
        users, data = [user_of(tasks.key, rater) for rater in lists], list(lists.values())
    info: dict[str, Any] = {
        "assignment": assignment,
        "protocol": _protocol(tasks, options),
        "users": users,
        "seed": tasks.seed,
        # Outputs are in a drawn order already, and it must be the same in all items of a document.
        "shuffle": False,
    }
    if (sliders := _sliders(tasks)) is not None:
        info["sliders"] = sliders
    return {"campaign_id": name, "info": info, "data": data}


def slider_names(key: Key) -> dict[str, str]:
    """Return the slider of every aspect; none where the one score of Pearmut says it."""
    aspects = tuple(key.scales)
    return {} if len(aspects) == 1 and key.scales[aspects[0]] == SCORE else plain_names(aspects)


def user_of(key: Key, rater: str) -> str:
    """Return the name of a rater in Pearmut, which goes into links as it is."""
    return rater if fits_link(rater) else letters(key.seed, key.salt, "raters", [rater], MODEL_LETTERS)[0]


def _raters(key: Key) -> list[str]:
    return sorted({one.rater for one in key.questions.values() if one.rater is not None})


def _rater(task: Task) -> str:
    if task.rater is None:
        raise UsageError("Some tasks have no rater: write them with assignment=single-stream.")
    return task.rater


def _assignment(tasks: Tasks, options: Options) -> str:
    given = options.get("assignment", TASK_BASED if tasks.raters else SINGLE_STREAM)
    if given not in (TASK_BASED, SINGLE_STREAM):
        raise UsageError(f'The assignment "{given}" is neither {TASK_BASED} nor {SINGLE_STREAM}.')
    if given == TASK_BASED and not tasks.raters:
        raise UsageError("A task-based campaign has a list per rater: give an assignment (sparingly assign).")
    return given


def _count(options: Options) -> int:
    given = options.get("users", "1")
    if not given.isdecimal() or int(given) < 1:
        raise UsageError(f'The number of users "{given}" is no whole number above 0.')
    return int(given)


def _protocol(tasks: Tasks, options: Options) -> str:
    usual = "DA" if tasks.kind == "score" else "ESA" if tasks.aspects else "MQM"
    given = options.get("protocol", usual)
    if given not in PROTOCOLS:
        raise UsageError(f'The protocol "{given}" is none of {", ".join(PROTOCOLS)}.')
    if tasks.kind == "spans" and given == "DA":
        raise UsageError("The protocol DA has no spans: take ESA or MQM.")
    if tasks.kind == "score" and given != "DA":
        raise UsageError(f"The protocol {given} marks spans: ask for the kind spans.")
    return given


def _sliders(tasks: Tasks) -> list[dict[str, Any]] | None:
    """Return the sliders; None leaves the usual one, and an empty list takes it away."""
    names = slider_names(tasks.key)
    if not names and tasks.scales:
        return None
    return [
        {"name": names[aspect], "min": scale.low, "max": scale.high, "step": _step(scale)}
        for aspect, scale in tasks.scales.items()
    ]


def _step(scale: Scale) -> float:
    whole = float(scale.low).is_integer() and float(scale.high).is_integer()
    return 1 if whole and scale.high - scale.low > 1 else (scale.high - scale.low) / 100


def _ordered(tasks: Tasks) -> list[tuple[list[Task], list[str]]]:
    """Return every document with the order of its outputs: a model stands in one column all the way."""
    runs = tasks.by_document()
    return [
        (run, list(dict.fromkeys(output.token for task in run for output in task.outputs))) for run in runs
    ]


def _item(task: Task, order: list[str], options: Options) -> dict[str, Any]:
    texts = {output.token: _shown(output.text) for output in task.outputs}
    item: dict[str, Any] = {**carried(task), "item_id": task.item}
    if task.source is not None:
        item["src"] = _shown(task.source)
    if options.get("reference") == "yes" and task.reference is not None:
        item["ref"] = _shown(task.reference)
    if around := _context(task):
        item["instructions"] = around
    return {**item, "tgt": {token: texts[token] for token in order if token in texts}}


def _shown(text: str) -> str:
    return f"{GUARD}{text}" if text.startswith(_MEDIA) else text


def _context(task: Task) -> str:
    """Return what comes before and after as a line of HTML above the item."""
    parts = [("Before", task.before), ("After", task.after)]
    return "".join(f"<p><b>{title}:</b> {_passages(around)}</p>" for title, around in parts if around)


def _passages(around: Sequence[Passage]) -> str:
    texts = ([one.source] if one.source else list(one.outputs.values())[:1] for one in around)
    return "<br>".join(escape(text) for text in chain.from_iterable(texts))
