"""``export_tasks`` and ``import_answers``: what was chosen goes to a tool, and its answers come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import UsageError
from sparingly.base.format import counted
from sparingly.base.summary import html_table
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Scale
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.run.exchange.files import make_folder
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.reading import ImportReport, Reading
from sparingly.run.exchange.tasks import make_campaign_tasks, make_tasks
from sparingly.run.exchange.tool import tool_named

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign

ScaleLike = str | tuple[float, float] | Scale | None


@dataclass(frozen=True)
class ExportReport:
    """What an export wrote."""

    tool: str  # the tool
    tasks: int  # how many tasks there are
    files: tuple[Path, ...]  # the files to give to the tool
    # The file that says what tokens stand for; it stays at home. None where nothing comes back.
    key: Path | None = None
    raters: tuple[str, ...] = ()  # the raters that have tasks of their own
    notes: tuple[str, ...] = ()  # what was not asked and why

    @property
    def headline(self) -> str:
        """What was written, in one line."""
        whom = f" for {counted(len(self.raters), 'rater')}" if self.raters else ""
        return f"{counted(self.tasks, 'task')}{whom} for {self.tool}"

    def __repr__(self) -> str:
        return f"ExportReport({self.headline}" + ("" if self.key is None else f"; key: {self.key}") + ")"

    def _repr_html_(self) -> str:
        rows = [(str(path),) for path in self.files]
        note = "" if self.key is None else f"Keep the key private: {self.key}"
        return html_table(("file",), rows, self.headline, note)

    def to_dict(self) -> dict[str, Any]:
        """Return what was written as plain values."""
        files, key = [str(path) for path in self.files], None if self.key is None else str(self.key)
        return dict(plain({**vars(self), "files": files, "key": key}))


def export_tasks(
    data: EvalSet | Campaign,
    selection: Selection | None = None,
    *,
    to: str,
    folder: str | Path,
    key: str | Path | None = None,
    scale: ScaleLike = None,
    options: Mapping[str, str] | None = None,
    **questions: Any,
) -> ExportReport:
    """Write a selection as tasks of an annotation tool, without the models' names.

    The files to give away go into ``folder``; the key that names the models goes beside it, readable by its
    owner only, and is needed to read the answers. Exporting again with the same seed gives the same tokens.

    Args:
        data: The evaluation set, or a campaign, whose open questions are then exported.
        selection: What is to be judged; not for a campaign.
        to: The tool: ``label-studio``, ``argilla``, ``prodigy``, ``csv``, ``lm-eval``, ``inspect`` …
        folder: Where the tool's files are written.
        key: Where the key is written; ``FOLDER.key.json`` unless given, and never inside the folder. A key of
            earlier rounds that is there is added to.
        scale: The lowest and highest score: ``"0-100"`` or ``(0, 100)``.
        options: Options of the tool, by name.
        questions: ``assignment``, ``controls``, ``kind`` (score, pair, ranking, spans), ``aspects``,
            ``seed``, ``salt``, ``context_before``, ``context_after``, ``merge``; for a campaign also
            ``name``, the data set.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> chosen = sparingly.select(data, "uniform", 20, seed=1)
        >>> sparingly.export_tasks(data, chosen, to="label-studio", folder="for-raters")
        ExportReport(20 tasks for label-studio; key: for-raters.key.json)
    """
    tool, tool_options, target = tool_named(to), dict(options or {}), Path(folder)
    key_path = target.with_name(f"{target.name}.key.json") if key is None else Path(key)
    if key_path.resolve().is_relative_to(target.resolve()):
        raise UsageError(f"The key must not leave with the tasks: write it outside {target}.")
    if not isinstance(data, EvalSet):
        if selection is not None:
            raise UsageError("A campaign knows what is to be judged: leave the selection out.")
        name = questions.pop("name", None)
        tasks = make_campaign_tasks(data, name, scale=_scale(scale), **questions)
    elif selection is None:
        raise UsageError("Say what is to be judged: export_tasks(data, selection, …).")
    else:
        tasks = make_tasks(data, selection, scale=_scale(scale), texts=tool.shows_texts, **questions)
    tool.check_write(tasks, tool_options)
    tasks = replace(tasks, key=tool.key_for(tasks))
    # A key that does not fit is refused before anything is written.
    full_key = tasks.key
    if tool.reads and key_path.exists():
        full_key = Key.load(key_path).merged(tasks.key)
    paths = tool.write(tasks, make_folder(target), tool_options)
    if tool.reads:
        full_key.save(key_path)
    kept_key = key_path if tool.reads else None
    return ExportReport(tool.name, len(tasks), tuple(paths), kept_key, tasks.raters, tasks.notes)


def import_answers(
    files: str | Path | Sequence[str | Path],
    *,
    key: str | Path | Key,
    tool: str | None = None,
    scale: ScaleLike = None,
    raters: Mapping[str, str] | None = None,
    rater: str | None = None,
    assigned: bool = False,
    strict: bool = False,
    options: Mapping[str, str] | None = None,
) -> ImportReport:
    """Read the answers of an annotation tool, and list what was left out and why.

    Args:
        files: The files that the tool wrote.
        key: The key that the export wrote.
        tool: The tool; default: that of the key.
        scale: The scale of the numbers in the files, if not the exported one; they
            are converted to the scale of the key.
        raters: Names of raters by what the tool calls them.
        rater: Who answered, where neither the files nor an assignment says.
        assigned: Take the assigned rater to be the one who answered, whatever the tool calls them.
        strict: Refuse the files where a score is outside the scale, instead of leaving it out.
        options: Options of the tool, by name.
    """
    opened = key if isinstance(key, Key) else Key.load(key)
    reader, tool_options = tool_named(tool or opened.tool), dict(options or {})
    reader.check_options(tool_options, reader.read_options)
    paths = [Path(files)] if isinstance(files, str | Path) else [Path(path) for path in files]
    if not paths:
        raise UsageError("Name at least one file of answers.")
    reading = Reading(opened, _scale(scale), raters or {}, rater, strict=strict, assigned=assigned)
    return reader.read(paths, reading, tool_options)


def _scale(scale: ScaleLike) -> Scale | None:
    if scale is None or isinstance(scale, Scale):
        return scale
    return Scale.parse(scale) if isinstance(scale, str) else Scale(*scale)
