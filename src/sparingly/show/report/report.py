"""``report``: all that is to be said of an evaluation, as a page, a text, tables for a paper, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sparingly._version import __version__
from sparingly.base.checks import check_names
from sparingly.base.errors import UsageError
from sparingly.base.format import counted
from sparingly.base.registry import Method
from sparingly.base.summary import Summary, Tabular
from sparingly.data.describe import describe
from sparingly.data.evalset import EvalSet
from sparingly.data.files import write_bytes
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.infer.estimate.assemble import Target
from sparingly.infer.estimate.result import CHOSEN_ITEMS
from sparingly.show.figures.look import need_report
from sparingly.show.report import sections
from sparingly.show.report.as_html import html_page
from sparingly.show.report.as_latex import latex_text
from sparingly.show.report.as_markdown import markdown_text
from sparingly.show.report.document import Section, Table
from sparingly.show.report.evidence import Evidence, ReportRequest, from_campaign, from_selection
from sparingly.show.report.outputs import output_section
from sparingly.show.report.slide import png, slide
from sparingly.show.report.words import answer, effort, estimand, next_step, question

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign

FORMAT, VERSION = "sparingly/report", 1
KINDS = {"html": ".html", "md": ".md", "tex": ".tex", "json": ".json", "svg": ".svg", "png": ".png"}


def report_kind(path: Path) -> str:
    """Return what is written to a file, by its ending."""
    for kind, suffix in KINDS.items():
        if suffix == path.suffix.lower():
            return kind
    endings = ", ".join(KINDS.values())
    raise UsageError(f"{path} is not a name for a report: its ending must be one of {endings}.")


@dataclass(frozen=True, eq=False, repr=False)
class Report(Tabular):
    """Everything that is to be said of an evaluation: the answer (``lead``), sections, what they rest on.

    As a frame and as a picture it is its ranking, or its scores where models are not ranked.
    """

    rows_key: ClassVar[str] = "models"

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    evidence: Evidence

    def __repr__(self) -> str:
        return f"Report({self.title}: {len(self.sections)} sections)"

    @property
    def _scores(self) -> Tabular:
        return self.evidence.ranking or self.evidence.estimate

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the ranking, or of the scores."""
        return self._scores.rows()

    def plot(self) -> Any:
        """Draw the ranking, or the scores."""
        return self._scores.plot()

    def summary(self) -> Summary:
        """Return the answer of the report with the table of its scores."""
        return replace(self._scores.summary(), sentences=self.lead)

    def html(self) -> str:
        """Return one page that needs nothing else."""
        return html_page(self.title, self.lead, self.sections, __version__)

    def markdown(self) -> str:
        """Return Markdown, without the pictures."""
        return markdown_text(self.title, self.lead, self.sections, __version__)

    def latex(self) -> str:
        """Return LaTeX to be put into a paper, without the pictures."""
        return latex_text(self.title, self.lead, self.sections, __version__)

    def slide(self) -> str:
        """Return one slide for sharing, as SVG: the answer, the scores, and what they rest on."""
        table = next(part for part in self.sections[0].parts if isinstance(part, Table))
        return slide(self.title, self.lead, table, __version__)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, as its JSON file holds it; what is not known is None."""
        evidence = self.evidence
        names = ("representation", "raters", "growth", "curve", "comparison", "ranking", "status", "judge")
        optional = {name: getattr(evidence, name) for name in names}
        return {
            "format": FORMAT,
            "version": VERSION,
            "made_by": __version__,
            "title": self.title,
            "question": question(evidence),
            "answer": list(self.lead),
            "estimand": estimand(evidence),
            "data": plain(describe(evidence.data).to_dict()),
            "why": evidence.why or None,
            "selections": [selection.to_dict() for selection in evidence.rounds],
            "estimate": evidence.estimate.to_dict(),
            "unranked": evidence.unranked or None,
            "costs": vars(evidence.effort),
            **{name: None if part is None else plain(part.to_dict()) for name, part in optional.items()},
        }

    def save(self, path: str | Path, formats: Iterable[str] | None = None) -> list[Path]:
        """Write the report, each file whole or not at all, and return the files.

        Args:
            path: The file; its ending says what is written, unless ``formats`` do.
            formats: ``html``, ``md``, ``tex``, ``json``, or a slide as ``svg`` or ``png``: a file for each,
                ``path`` with its ending.
        """
        path = Path(path)
        if formats is None:
            targets = {path: report_kind(path)}
        else:
            kinds = list(formats)
            check_names("format of a report", kinds, KINDS)
            targets = {path.with_suffix(KINDS[kind]): kind for kind in kinds}
        writers: dict[str, Callable[[], str]] = {
            **{"html": self.html, "md": self.markdown, "tex": self.latex, "json": self._json},
            **{"svg": self.slide, "png": self.slide},
        }
        texts = {
            target: png(writers[kind]())
            if kind == "png"
            else writers[kind]().encode("utf-8", "backslashreplace")
            for target, kind in targets.items()
        }
        for target, text in texts.items():
            write_bytes(target, text)
        return list(texts)

    def _json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def report(
    source: DataLike | Campaign,
    selection: Selection | None = None,
    aspect: str | None = None,
    *,
    data: str | None = None,
    at: int | None = None,
    estimator: str | Method | None = None,
    target: Target | None = None,
    level: float = 0.95,
    scale: Ends | None = None,
    title: str | None = None,
    figures: bool = True,
    curve: bool = True,
    seed: int = 0,
    rater_names: bool = False,
) -> Report:
    """Say all that is to be said of an evaluation: question, data, choice, scores, ranks, raters, costs.

    Args:
        source: The evaluation set with the judgements, or a campaign.
        selection: What was chosen to be judged; without it the judged items are taken for a uniform sample.
        aspect: What was judged; default: the only one.
        data: The data set of a campaign that has several.
        at: The number of the campaign's journal to report on; default: the last one.
        estimator: How scores are estimated; see ``estimate``.
        target: What all numbers describe: this ``set``, or the ``population`` of inputs like these. Unless
            given, scores are those of this set, ranks and groups those of inputs like these.
        level: How often intervals are to hold the truth; ranks and groups hold with the same confidence.
        scale: The lowest and the highest score that there can be; default: found in the data, and
            that of the campaign where there is one.
        title: The title.
        figures: Whether to draw pictures, which needs the extra ``report``.
        curve: Whether to play the method again over budgets where everything is judged.
        seed: Settles draws, and which number a rater has.
        rater_names: Whether raters are named; else they are numbers.

    Examples:
        >>> import sparingly
        >>> judged = sparingly.load_demo()
        >>> chosen = sparingly.select(judged, "local_pivotal", "50%")
        >>> found = sparingly.report(judged, chosen, "mqm", figures=False, curve=False)
        >>> [section.name for section in found.sections][:4]
        ['scores', 'pairs', 'outputs', 'raters']
    """
    if figures:
        need_report()
    request = ReportRequest(aspect, estimator, target, level, seed, curve, rater_names)
    # Campaigns need an extra, so that data is what is recognised.
    if isinstance(source, EvalSet | str | Path) or hasattr(source, "columns"):
        if data is not None or at is not None:
            raise UsageError(
                "A data set's name and an entry of the journal are for campaigns: leave out data and at."
            )
        evidence = from_selection(as_evalset(source).with_scale(aspect, scale), selection, request)
    else:
        if selection is not None:
            raise UsageError("A campaign knows its own selections: leave the selection out.")
        if scale is not None:
            raise UsageError("A campaign knows the scale of its scores: leave the scale out.")
        evidence = from_campaign(source, data, request, at)
    return report_on(evidence, title=title, figures=figures)


def report_on(evidence: Evidence, *, title: str | None = None, figures: bool = True) -> Report:
    """Return the report on the evidence."""
    first = (
        sections.score_section(evidence),
        sections.beats_section(evidence),
        output_section(evidence),
        sections.judge_section(evidence),
        sections.rater_section(evidence),
        sections.cost_section(evidence),
    )
    # What was done and how comes last, folded.
    last = (
        sections.question_section(evidence),
        sections.data_section(evidence),
        sections.selection_section(evidence),
        sections.representation_section(evidence, figures=figures),
        sections.rank_section(evidence, figures=figures),
        sections.curve_section(evidence, figures=figures),
        sections.check_section(evidence),
    )
    folded = (None if section is None else replace(section, appendix=True) for section in last)
    parts = (*first, *folded)
    lead: tuple[str, ...] = (answer(evidence), effort(evidence), next_step(evidence))
    if evidence.estimate.target == CHOSEN_ITEMS:
        # Scores of picked items must not be taken for those of the set.
        lead = (*lead, estimand(evidence))
    models = len(evidence.estimate.models)
    if title is None:
        verb = "judged" if models == 1 else "compared"
        title = f"{counted(models, 'model')} {verb} on {evidence.aspect}"
    return Report(title, lead, tuple(section for section in parts if section is not None), evidence)
