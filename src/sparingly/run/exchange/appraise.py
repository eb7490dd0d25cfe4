"""Appraise: a manifest and batches for a campaign, and the scores it exports."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.errors import UsageError
from sparingly.run.exchange.appraise_batches import FULL, batches_of
from sparingly.run.exchange.appraise_scores import read_scores
from sparingly.run.exchange.exchange import Exchange, Options
from sparingly.run.exchange.files import write_json
from sparingly.run.exchange.report import Taken
from sparingly.run.exchange.scale import Scale
from sparingly.run.exchange.taking import Taking
from sparingly.run.exchange.tasks import Kind, Tasks

DIRECT, DOCUMENT, PAIRWISE = "Direct", "Document", "Pairwise"
_LANGUAGE = re.compile(r"[a-z]{3}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
# Appraise hands out batches so that, beyond two for one annotator, some go to nobody.
_MOST_BATCHES = 2


class Appraise(Exchange):
    """Appraise, the tool of the WMT shared tasks: direct, document, ESA, MQM and pairwise assessment."""

    name: ClassVar[str] = "appraise"
    summary: ClassVar[str] = (
        "a manifest and batches for StartNewCampaign, and what ExportSystemScoresToCSV gives"
    )
    kinds: ClassVar[tuple[Kind, ...]] = ("score", "pair", "spans")
    own_scale: ClassVar[Scale | None] = Scale(0, 100)
    write_options: ClassVar[dict[str, str]] = {
        "source": "the language of the sources as a code of three letters, as in eng (needed)",
        "target": "the language of the outputs as a code of three letters, as in deu (needed)",
        "annotators": "how many accounts share the batches; one per batch unless given",
        "campaign": "the name of the campaign; sparingly1 in the first round unless given",
        "number": "the number of the campaign, from 1 to 255; 1 unless given",
        "redundancy": "how many annotators judge every batch; 1 unless given",
        "size": f"how many items a batch has; {FULL} unless given",
        "type": "Direct or Document; Document for spans and where there are documents",
        "url": "where accounts sign in; http://127.0.0.1:8000/dashboard/sso/ unless given",
    }

    def check_write(self, tasks: Tasks, options: Options) -> None:
        """Complain about options that do not fit the tasks before anything is written."""
        super().check_write(tasks, options)
        if tasks.kind != "pair" and len(tasks.aspects) > 1:
            raise UsageError(
                f"Appraise asks for one score: name one of {', '.join(tasks.aspects)} as aspect."
            )
        _campaign(tasks, options)

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write ``manifest.json`` and ``batches.json``."""
        manifest, batches = _campaign(tasks, options)
        return [
            write_json(folder / "manifest.json", manifest),
            write_json(folder / "batches.json", batches),
        ]

    def read(self, files: Sequence[Path], taking: Taking, options: Options) -> Taken:
        """Read the CSV files of scores; spans need ``batches.json`` among the files, too."""
        read_scores(files, taking)
        return taking.done()


def _campaign(tasks: Tasks, options: Options) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    languages = _language(options, "source"), _language(options, "target")
    task_type = _task_type(tasks, options)
    batches = batches_of(
        tasks,
        languages,
        whole_documents=task_type == DOCUMENT,
        size=_whole(options, "size", FULL, 2000),
        required=_whole(options, "redundancy", 1, 50),
    )
    if not batches:
        raise UsageError("There is nothing to ask, and Appraise starts no campaign without a batch.")
    return _manifest(tasks, options, languages, task_type, len(batches)), batches


def _language(options: Options, name: str) -> str:
    code = options.get(name, "")
    if _LANGUAGE.fullmatch(code) is None:
        problem = f'not "{code}"' if code else "and none is given"
        raise UsageError(
            f"Appraise wants the {name} language as a code of three letters, {problem}: {name}=eng."
        )
    return code


def _whole(options: Options, name: str, usual: int, most: int) -> int:
    given = options.get(name, str(usual))
    if not given.isdecimal() or not 1 <= int(given) <= most:
        raise UsageError(f'The option {name} of Appraise is a whole number from 1 to {most}, not "{given}".')
    return int(given)


def _task_type(tasks: Tasks, options: Options) -> str:
    if tasks.kind == "pair":
        if "type" in options:
            raise UsageError("Pairs have one type of task in Appraise: leave the option type out.")
        return PAIRWISE
    has_documents = any(task.document is not None for task in tasks)
    given = options.get("type", DOCUMENT if has_documents or tasks.kind == "spans" else DIRECT)
    if given not in (DIRECT, DOCUMENT):
        raise UsageError(f'The type "{given}" is neither {DIRECT} nor {DOCUMENT}.')
    if tasks.kind == "spans" and given != DOCUMENT:
        raise UsageError("Appraise marks spans in tasks of the type Document only.")
    return given


def _manifest(
    tasks: Tasks, options: Options, languages: tuple[str, str], task_type: str, count: int
) -> dict[str, Any]:
    redundancy = _whole(options, "redundancy", 1, 50)
    annotators = len(tasks.raters) or _whole(options, "annotators", count * redundancy, 4095)
    _check_shares(tasks, options, count, redundancy, annotators)
    name = options.get("campaign", f"sparingly{max((task.round for task in tasks), default=1)}")
    if _NAME.fullmatch(name) is None:
        raise UsageError(f'The campaign "{name}" of Appraise must be letters and digits, a letter first.')
    manifest = {
        "CAMPAIGN_URL": options.get("url", "http://127.0.0.1:8000/dashboard/sso/"),
        "CAMPAIGN_NAME": name,
        # Passwords are made from the name and this key, so it must not be guessed.
        "CAMPAIGN_KEY": secrets.token_hex(8),
        "CAMPAIGN_NO": _whole(options, "number", 1, 255),
        "REDUNDANCY": redundancy,
        "TASKS_TO_ANNOTATORS": [[*languages, "uniform", annotators, count]],
        "TASK_TYPE": task_type,
    }
    protocol = {"spans": "ESA" if tasks.aspects else "MQM"}.get(tasks.kind)
    return manifest if protocol is None else {**manifest, "TASK_OPTIONS": protocol}


def _check_shares(tasks: Tasks, options: Options, count: int, redundancy: int, annotators: int) -> None:
    if tasks.raters:
        given = [name for name in ("annotators", "redundancy", "size") if name in options]
        if given:
            raise UsageError(f"The assignment says who judges what: leave out {', '.join(given)}.")
        return
    if count * redundancy % annotators:
        raise UsageError(
            f"Appraise shares batches evenly, and {count * redundancy} of them are not so many for each of "
            f"{annotators} annotators."
        )
    if count * redundancy > _MOST_BATCHES * annotators:
        raise UsageError(
            f"Appraise leaves batches out where an annotator has more than {_MOST_BATCHES}: "
            f"take at least {-(-count * redundancy // _MOST_BATCHES)} annotators."
        )
