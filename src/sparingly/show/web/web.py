"""Everything that the pages work with: the campaign, who may come in, and the templates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.ext import Extension

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.io.words import SCALE
from sparingly.run.campaign.access import Access, Audit
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.group_commit import GroupCommit
from sparingly.run.campaign.guidelines import Acceptances
from sparingly.run.campaign.help import Help
from sparingly.run.campaign.known import KnownAnswers, KnownItems, KnownKind
from sparingly.run.campaign.rater_pages import Drafts, PageBoard
from sparingly.run.forms.form import REASONS, Form, form_named
from sparingly.run.forms.question import Question
from sparingly.run.forms.spans import SpansForm
from sparingly.run.raters.assignment import Assignment
from sparingly.show.web.images import Images
from sparingly.show.web.languages import script_texts, texts_of, translator
from sparingly.show.web.panel import PREFIX, Panel
from sparingly.show.web.sessions import Session, Sessions

Texts = Literal["plain", "markdown"]
OVERLAP = 0.1
DAMAGED: Literal["damaged"] = "damaged"
# An address of ours in a template.
_ADDRESS = re.compile(r'\b((?:href|src|action|hx-get|hx-post|data-draft)=")/')
_PERSON = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{4,64}}")
_PUBLIC = re.compile(r"(https?://[^/?#@]+)((?:/[A-Za-z0-9._~-]+)*)")


class BasePath(Extension):
    """Puts every address of a template below the path at which the pages are."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Return the text of a template with the base path in its addresses."""
        return _ADDRESS.sub(r"\1{{ base }}/", source)


def place_of(public: str | None) -> tuple[str | None, str]:
    """Return where a public address begins, and the path below it: https://judge.example.org, /wmt."""
    if public is None:
        return None, ""
    found = _PUBLIC.fullmatch(public.rstrip("/"))
    if found is None or not urlsplit(public).hostname:
        raise UsageError(
            "The public address is such as https://judge.example.org or https://example.org/judge, with "
            "nothing after it."
        )
    return found[1], found[2]


@dataclass(frozen=True, eq=False)
class Web:
    """What is served."""

    campaign: Campaign  # the campaign, open
    secret: str  # what sessions and handles are signed with
    # What raters fill in where single outputs are judged; ``pass_fail`` on a scale from 0 to 1 and ``score``
    # on others, unless given.
    form: str | None = None
    texts: Texts = "plain"  # how outputs are shown: as they are, or as Markdown
    assignment: Assignment | None = None  # who judges what; without one, every rater is given open questions
    # Without an assignment, the share of outputs that two raters judge (at least 20 outputs); 0 for none.
    overlap: float = OVERLAP
    one_by_one: bool = False  # whether the outputs of an item are shown one after the other
    reference: bool = False  # whether the reference is shown as well
    # Items with known answers that are judged first, each until the answer is right.
    tutorial: EvalSet | None = None
    # Items with known answers that are hidden among the others; or outputs judged before, DAMAGED.
    controls: EvalSet | Literal["damaged"] | None = None
    panel: Panel | None = None  # what people of a panel get who come in by its address; default: nobody does
    language: str = "en"  # what the pages speak to raters, such as ``de``
    # What the links begin with, where a proxy stands in front; default: the address asked for.
    public: str | None = None
    advance: bool = False  # whether a page with one aspect is sent as soon as every output on it has a score
    base: str = ""  # the path below which the pages are: empty, or such as ``/judge``
    list_at: str | None = None  # where the list of the server's campaigns is; None where this is the only one
    rate: float | None = None  # what an hour is paid, from which the cost follows
    # A metric of the data, or a file, with the suggestions that are filled in for raters.
    help_from: str | None = None
    help_share: float = 0.5  # the probability with which a rater sees a suggestion, drawn for each question
    third_rater: bool = False  # whether a third rater decides where two disagree, without their answers
    # The share of pages that raters judge a second time, unasked, to see how they agree with themselves.
    repeats: float = 0.0
    # The folder of the images that texts name; nothing is shown as an image without it.
    images: str | Path | None = None

    def __post_init__(self) -> None:
        texts_of(self.language)
        if self.panel is not None and self.assignment is not None:
            raise UsageError("People of a panel take what is open: leave out the assignment.")
        if not 0 <= self.overlap <= 1:
            raise UsageError(f"The overlap is a share from 0 to 1, not {self.overlap:g}.")
        if not 0 <= self.repeats <= 0.5:
            raise UsageError(f"The share of repeated pages is from 0 to 0.5, not {self.repeats:g}.")
        if self.third_rater and self.assignment is not None:
            raise UsageError("With an assignment no third rater is asked: let reviewers decide.")
        if self.texts not in get_args(Texts):
            raise UnknownNameError("kind of texts", self.texts, get_args(Texts))
        self.single_form.check(self.campaign.settings.aspects)
        if self.assignment is not None and any(task.control for task in self.assignment.tasks):
            raise UsageError(
                "The assignment has control items without known answers: assign without them, and give the "
                "pages a file of some with known answers, or export to a tool."
            )
        if self.help is not None and self.single_form.name == "mqm" and not self.help.has_spans:
            raise UsageError(
                "The form mqm asks for marked errors: give help in a file with the column spans."
            )

    @cached_property
    def single_form(self) -> Form:
        """The form where single outputs are judged; pairs have one of their own."""
        is_verdict = all(ends == SCALE for ends in self.campaign.settings.aspects.values())
        form = form_named(self.form or ("pass_fail" if is_verdict else "score"), "pages")
        if form.answers == "pair":
            raise UsageError("Where outputs are compared, the pages ask which is better by themselves.")
        return form

    def form_of(self, question: Question) -> Form:
        """Return the form that asks a question, with the severities of the guidelines."""
        if question.other is not None:
            return self.pair_form
        form, guidelines = self.single_form, self.board.guidelines
        points = None if guidelines is None else guidelines.severities
        return type(form)(points) if points and isinstance(form, SpansForm) else form

    @cached_property
    def pair_form(self) -> Form:
        """The form where two outputs are compared."""
        return form_named("pair", "pages")

    @cached_property
    def help(self) -> Help | None:
        """What is suggested to raters."""
        if self.help_from is None:
            return None
        names = self.campaign.settings.budgets
        if self.single_form.compares or any(self.campaign.compares(name) for name in names):
            raise UsageError("Help is for outputs that are scored, and this campaign compares outputs.")
        data_sets = {name: self.campaign.data(name, judged=False) for name in names}
        return Help(self.help_from, self.help_share, self.campaign.settings, data_sets)

    @cached_property
    def image_files(self) -> Images | None:
        """The images that texts name."""
        if self.images is None:
            return None
        names = self.campaign.settings.budgets
        data_sets = {name: self.campaign.data(name, judged=False) for name in names}
        return Images(Path(self.images), data_sets, self.sessions.handle)

    @cached_property
    def access(self) -> Access:
        """The links of raters and organiser."""
        return Access(self.campaign.database, self.campaign.name)

    @cached_property
    def audit(self) -> Audit:
        """The log of who did what."""
        return Audit(self.campaign.database, self.campaign.name)

    @cached_property
    def board(self) -> PageBoard:
        """What is asked and answered, followed along the journal."""
        overlap = self.overlap if self.assignment is None else 0.0
        return PageBoard(self.campaign.database, self.campaign.settings, overlap, self.third_rater)

    @cached_property
    def acceptances(self) -> Acceptances:
        """Which guidelines raters accepted."""
        return Acceptances(self.campaign.database, self.campaign.name)

    @cached_property
    def drafts(self) -> Drafts:
        """What raters have typed and not sent."""
        return Drafts(self.campaign.database, self.campaign.name, group_commit=self.group_commit)

    @cached_property
    def group_commit(self) -> GroupCommit:
        """Writes small things of many raters in one transaction."""
        return GroupCommit(self.campaign.database)

    @cached_property
    def known_tutorial(self) -> KnownItems | None:
        """The tutorial, checked."""
        return self._known(self.tutorial, "tutorial")

    @cached_property
    def known_controls(self) -> KnownItems | None:
        """The control items, checked."""
        return None if isinstance(self.controls, str) else self._known(self.controls, "control")

    def _known(self, data: EvalSet | None, kind: KnownKind) -> KnownItems | None:
        if data is None:
            return None
        if self.single_form.compares or self.campaign.compares(next(iter(self.campaign.settings.budgets))):
            raise UsageError("Items with known answers are scored, and this campaign compares outputs.")
        return KnownItems(data, kind, self.campaign.settings)

    @cached_property
    def known_answers(self) -> KnownAnswers:
        """What raters answered to items whose answers are known."""
        return KnownAnswers(self.campaign.database, self.campaign.name)

    @cached_property
    def sessions(self) -> Sessions:
        """Who is there."""
        return Sessions(self.secret, self.access, self.base)

    @cached_property
    def templates(self) -> Environment:
        """The templates: everything put into one is escaped, and a name that is missing is an error."""
        environment = Environment(
            loader=PackageLoader("sparingly.show.web"),
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            extensions=[BasePath],
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.globals.update(
            t=translator(self.language),
            language=self.language,
            page_texts=script_texts(self.language),
            base=self.base,
        )
        return environment

    @property
    def title(self) -> str:
        """What the campaign is called on its pages: its path, where there are others beside it."""
        return self.campaign.name if self.list_at is None else self.base.rpartition("/")[2]

    def has_judged_enough(self, rater: str) -> bool:
        """Return whether somebody of a panel has judged as many pages as were asked for."""
        pages = None if self.panel is None else self.panel.pages
        return pages is None or self.board.judged_count(rater) >= pages

    def page(
        self, template: str, session: Session | None = None, *, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """Return a page made from a template; it knows ``campaign``, ``session`` and ``csrf``."""
        csrf = "" if session is None else self.sessions.csrf(session)
        # Without a session nothing is revealed, not even the campaign's name.
        title = "sparingly" if session is None else self.title
        shared = {
            "list_at": self.list_at,
            "campaign": title,
            "session": session,
            "csrf": csrf,
            "reasons": REASONS,
        }
        html = self.templates.get_template(template).render(**shared, **values)
        if session is not None and session.role in ("reviewer", "viewer"):
            # Who knows the id that a panel gave to somebody comes in as that person (/join).
            html = _PERSON.sub(lambda found: f"{PREFIX}{self.sessions.handle('person', found[0])[:8]}", html)
        return HTMLResponse(html, status)
