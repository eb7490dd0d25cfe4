"""A page for raters: its questions in a drawn order, and what is shown; no model, metric, others' answers."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sparingly.data.scale import Scale
from sparingly.data.texts import same_text
from sparingly.run.campaign.access import is_reviewer
from sparingly.run.campaign.known import KnownItems, KnownKind
from sparingly.run.campaign.rater_pages import Page
from sparingly.run.forms.question import Output, Question, QuestionTexts, output_label
from sparingly.run.forms.spans import SpansForm
from sparingly.run.raters.controls import damaged_output
from sparingly.show.web.rater.queue import PageProgress, PageQueue
from sparingly.show.web.rater.submission import Draft, asked_as
from sparingly.show.web.sessions import Session
from sparingly.show.web.texts import DisplayText, GuideView, display_text, guide_view, turns
from sparingly.show.web.web import Web

ITEMS_BEFORE, ITEMS_AFTER = 3, 1


def page_questions(
    page: Page,
    questions: Sequence[Question],
    texts: QuestionTexts,
    rater: str,
    keyed: Callable[..., str],
    handle: Callable[..., str],
    *,
    exact: bool = False,
) -> list[Question]:
    """Return the questions of a page with texts and handles, in the order in which a rater is shown them.

    The order is that of a keyed hash of the rater, the item and the model: without the server's secret, which
    ``keyed`` needs, nobody can tell from it which model is which. Outputs with the
    same text (see ``same_text``) are asked about once. ``handle`` names a question in the rater's session.
    """
    seed = f"{rater}\x1f{page.data}\x1f{page.round}\x1f{page.item}"
    models = sorted({name for question in questions for name in question.models})
    place = {name: keyed("order of outputs", seed, name) for name in models}
    text_of = {name: texts.output(page.item, name) for name in models}
    same_as = {name: same_text(text, exact=exact) for name, text in text_of.items()}
    merged: dict[tuple[str | None, ...], Question] = {}
    for question in sorted(questions, key=lambda question: [place[name] for name in question.models]):
        names = sorted(question.models, key=lambda name: place[name])
        # What tells questions apart is their texts, a pair's in the order that is known.
        key: tuple[str | None, ...] = tuple(same_as[name] for name in names)
        if None in key:
            # Outputs without a text are never the same.
            key = (*sorted(names), "no text", None)
        elif key not in merged and key[::-1] in merged:
            key = key[::-1]
        if key not in merged:
            merged[key] = replace(question, outputs=tuple(Output((name,), text_of[name]) for name in names))
            continue
        if same_as[names[0]] != same_text(merged[key].output, exact=exact):
            names.reverse()
        outputs = zip(merged[key].outputs, names, strict=True)
        joined = tuple(replace(output, models=(*output.models, name)) for output, name in outputs)
        merged[key] = replace(merged[key], outputs=joined)
    # Pairs come in an order of their own, not by the places of their first models.
    return sorted(
        (replace(one, id=handle("output", seed, *first_models(one))) for one in merged.values()),
        key=lambda one: keyed("order of cards", seed, *first_models(one)),
    )


def first_models(question: Question) -> tuple[str, str]:
    """Return the model that stands for all with the same output, or the two of a pair in order."""
    if question.other is None:
        return question.model, ""
    first, second = sorted((question.model, question.other))
    return first, second


@dataclass(frozen=True)
class FieldView:
    """One number to give: its name in the form, the aspect, what is filled in, the scale or the choices.

    A choice is its score, its label and the guidelines' words for it (which take the label's place, or none);
    ``anchors`` are scores of a slider with their words.
    """

    name: str
    aspect: str
    value: str
    low: str
    high: str
    step: str
    choices: tuple[tuple[str, str, str], ...] = ()
    anchors: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class QuestionView:
    """One question on the page: an output, or two to compare."""

    handle: str
    label: str
    texts: tuple[list[DisplayText], ...]
    fields: tuple[FieldView, ...]
    marks: str
    comment: str
    skip: str = ""
    helped: bool = False
    earlier: tuple[str, ...] = ()
    source: DisplayText | None = None

    @property
    def is_pair(self) -> bool:
        """Whether two outputs are compared."""
        return len(self.texts) == 2


@dataclass(frozen=True)
class PageView:
    """Everything on a page; with ``advances`` it is sent when its last answer is given by one key."""

    page: str
    client: str
    form: str
    template: str
    title: str
    guide: GuideView | None
    advances: bool
    one_by_one: bool
    reference: list[DisplayText]
    source: list[DisplayText]
    before: list[DisplayText]
    after: list[DisplayText]
    outputs: tuple[QuestionView, ...]
    progress: PageProgress
    previous: str | None
    seconds: float
    draft_lost: bool
    revised: bool
    tutorial: tuple[int, int] | None = None
    categories: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()


class PageViews:
    """Makes the pages of raters."""

    def __init__(self, web: Web, queue: PageQueue) -> None:
        self.web, self.queue = web, queue

    def handle(self, page: Page, again: KnownKind | None = None) -> str:
        """Return what a page is called in addresses; one that is judged a second time is another page."""
        return self.web.sessions.handle(f"page {again}" if again else "page", *map(str, page))

    def questions(
        self, session: Session, page: Page, *, everything: bool = False, again: KnownKind | None = None
    ) -> list[Question]:
        """Return the questions of a page, as this rater is shown them.

        ``again`` are those that the rater has judged: a ``repeat``, or a ``control`` with damaged outputs.
        """
        board, keyed = self.web.board, self.web.sessions.handle

        def handle(*parts: str) -> str:
            return keyed(session.id, *parts)

        exact = self.web.single_form.answers == "spans"
        # An order is of all outputs, whoever has judged some of them.
        everything = everything or self.web.single_form.answers == "ranking"
        bare = board.pages[page] if everything else self.queue.questions(session.rater, page)
        if again:
            bare = [one for one in bare if board.last_answers(session.rater, one.cell, one.round)]
        texts = board.texts(page.data)
        source = texts.fill(Question(page.item)).source
        questions = [
            replace(question, source=source)
            for question in page_questions(page, bare, texts, session.rater, keyed, handle, exact=exact)
        ]
        return self._damaged(session.rater, questions) if again == "control" else questions

    def _damaged(self, rater: str, questions: list[Question]) -> list[Question]:
        """Return questions with damaged outputs: all that have scores, of those that are compared the worst.

        What is damaged is a control item: it must not be judged better than it was undamaged.
        """
        board = self.web.board
        worst: dict[str, float] = {}
        for question in questions:
            earlier = board.last_answers(rater, asked_as(question).cell, question.round)
            worst[question.id] = next(iter(earlier.values())).score if earlier else 0.0
        least = min(questions, key=lambda question: worst[question.id], default=None)
        found = []
        for question in questions:
            data, outputs = board.texts(question.data).data, list(question.outputs)
            # The loser of two; in an order the last one; of scored outputs each.
            place = 0
            if question.other is not None:
                loser = asked_as(question).models[worst[question.id] > 0]
                place = next(at for at, output in enumerate(outputs) if loser in output.models)
            elif self.web.single_form.compares and question is not least:
                found.append(question)
                continue
            row, model = data.positions([question.item])[0], data.models.index(outputs[place].models[0])
            text = damaged_output(data, int(row), model, self.web.campaign.settings.seed)
            outputs[place] = replace(outputs[place], text=text or outputs[place].text)
            found.append(replace(question, outputs=tuple(outputs), control="degraded" if text else None))
        return found

    def view(self, session: Session, page: Page, again: KnownKind | None = None) -> PageView:
        """Return what a page shows, with what the rater typed or answered before; ``again`` without that."""
        web, rater = self.web, session.rater
        content = None if again else web.drafts.read(rater, page.data, page.item)
        previous = self.queue.before(rater, None if again else page)
        saved = Draft() if content is None else Draft.read(content)
        draft = saved or Draft()
        item = web.board.texts(page.data).fill(Question(page.item), before=ITEMS_BEFORE, after=ITEMS_AFTER)
        return self._page(
            rater,
            self.handle(page, again),
            self.questions(session, page, again=again),
            item,
            draft,
            previous=None if previous is None else self.handle(previous),
            draft_lost=saved is None,
            revised=not again and web.board.is_done_by(rater, page),
            blank=again is not None,
        )

    def known_handle(self, known: KnownItems, item: str) -> str:
        """Return what the page of an item with a known answer is called: nothing in it tells it apart."""
        return self.web.sessions.handle("known page", known.kind, item)

    def known_questions(self, session: Session, known: KnownItems, item: str) -> list[Question]:
        """Return the questions about an item with a known answer, in an order drawn for the rater."""
        keyed = self.web.sessions.handle
        parts = (session.rater, known.kind, item)
        source = known.texts.fill(Question(item)).source
        return sorted(
            (
                replace(question, id=keyed(session.id, "known output", *parts, question.model), source=source)
                for question in known.questions(item)
            ),
            key=lambda question: keyed("order of cards", *parts, question.model),
        )

    def known_view(self, session: Session, known: KnownItems, item: str, seconds: float = 0.0) -> PageView:
        """Return the page of an item with a known answer; a control item looks like any other.

        After a try that was wrong the time goes on from its seconds.
        """
        texts = known.texts.fill(Question(item), before=ITEMS_BEFORE, after=ITEMS_AFTER)
        previous = None if known.kind == "tutorial" else self.queue.before(session.rater, None)
        return self._page(
            session.rater,
            self.known_handle(known, item),
            self.known_questions(session, known, item),
            texts,
            Draft(seconds=seconds),
            previous=None if previous is None else self.handle(previous),
            tutorial=(known.items.index(item) + 1, len(known.items)) if known.kind == "tutorial" else None,
        )

    def _page(
        self,
        rater: str,
        handle: str,
        questions: Sequence[Question],
        item: Question,
        draft: Draft,
        *,
        previous: str | None,
        draft_lost: bool = False,
        revised: bool = False,
        tutorial: tuple[int, int] | None = None,
        blank: bool = False,
    ) -> PageView:
        web = self.web
        markdown = web.texts == "markdown"
        form = web.pair_form if any(question.other for question in questions) else web.single_form
        guide = None if web.board.guidelines is None else guide_view(web.board.guidelines)
        views = tuple(
            self._question(place, question, rater, draft, markdown=markdown, blank=blank)
            for place, question in enumerate(questions, 1)
        )
        return PageView(
            page=handle,
            client=secrets.token_urlsafe(16),
            form=form.name,
            template=form.template,
            title=(guide and guide.title) or form.title,
            guide=guide,
            # Several scores for an output are looked at before they are sent.
            # Nor is a suggestion sent that nobody has looked at.
            advances=(form.advances or web.advance)
            and len(web.campaign.settings.aspects) == 1
            and not any(view.helped for view in views),
            one_by_one=web.one_by_one and len(questions) > 1,
            reference=[display_text(item.reference)] if web.reference and item.reference else [],
            source=self._shown(item.source, markdown=markdown) if item.source else [],
            before=[display_text(passage.source) for passage in item.before if passage.source],
            after=[display_text(passage.source) for passage in item.after if passage.source],
            outputs=views,
            progress=self.queue.progress(rater),
            previous=previous,
            seconds=draft.seconds,
            draft_lost=draft_lost,
            revised=revised,
            tutorial=tutorial,
            categories=() if web.board.guidelines is None else web.board.guidelines.categories,
            severities=marked.severities if isinstance(marked := web.form_of(item), SpansForm) else (),
        )

    def _question(
        self, place: int, question: Question, rater: str, draft: Draft, *, markdown: bool, blank: bool = False
    ) -> QuestionView:
        web = self.web
        typed = draft.cards.get(draft_name(question))
        first, second = first_models(question)
        cell = (question.data, question.item, first, second)
        answers = {} if blank else web.board.last_answers(rater, cell, question.round)
        sign = 1 if question.model == first else -1
        form = web.single_form if question.other is None else web.pair_form
        scores = {aspect: f"{sign * answer.score + 0.0:g}" for aspect, answer in answers.items()}
        suggestion = None if web.help is None or blank else web.help.suggestion(rater, question)
        if suggestion is not None and not suggestion.shown:
            suggestion = None
        if suggestion is not None and not answers:
            scores = {name: f"{score:g}" for name, score in suggestion.scores.items()}
        if typed is not None:
            scores |= {aspect: f"{score:g}" for aspect, score in typed.scores.items()}
        if typed is not None:
            marks = [
                {name: value for name, value in vars(mark).items() if value != "" and value is not False}
                for mark in typed.marks
            ]
        else:
            spans = next((answer.marks for answer in answers.values() if answer.marks), ())
            if suggestion is not None and not answers:
                spans = suggestion.spans
            marks = [span.to_dict() for span in spans]
        comment = next((answer.comment for answer in answers.values() if answer.comment), "")
        fields = []
        for number, (aspect, ends) in enumerate(web.campaign.settings.aspects.items()):
            field = form.field(Scale() if ends is None else Scale(*ends))
            if field is not None:
                name, value = f"score:{question.id}:{number}", scores.get(aspect, "")
                if value and field.choices and suggestion is not None and not answers and typed is None:
                    given = float(value)
                    value = (
                        f"{min((score for score, _ in field.choices), key=lambda one: abs(one - given)):g}"
                    )
                low, high, step = f"{field.low:g}", f"{field.high:g}", f"{field.step:g}"
                words = {} if web.board.guidelines is None else web.board.guidelines.words(aspect)
                choices = tuple((f"{score:g}", label, words.get(score, "")) for score, label in field.choices)
                anchors = tuple((f"{score:g}", text) for score, text in sorted(words.items()))
                fields.append(FieldView(name, aspect, value, low, high, step, choices, anchors))
        return QuestionView(
            handle=question.id,
            label=output_label(place),
            # Where letters are marked they are counted, so that the text is shown as it is.
            texts=tuple(
                [display_text(output.text)]
                if form.answers == "spans"
                else self._shown(output.text, markdown=markdown)
                for output in question.outputs
            ),
            fields=tuple(fields),
            marks=json.dumps(marks),
            comment=(typed and typed.comment) or comment or "",
            skip=(typed and typed.skip) or "",
            helped=suggestion is not None,
            earlier=self._earlier(question, rater),
            source=display_text(question.source) if form.answers == "spans" and question.source else None,
        )

    def _shown(self, text: str | None, *, markdown: bool) -> list[DisplayText]:
        """Return a text with its images, or the turns of a chat."""
        images = self.web.image_files
        if images is None:
            chat = turns(text) or [("", text or "")]
            return [display_text(part, markdown=markdown, speaker=speaker) for speaker, part in chat]
        shown: list[DisplayText] = []
        for speaker, words, path in images.parts(text):
            name = None if path is None else images.name_of(path)
            shown.append(
                display_text(words or path, markdown=markdown, speaker=speaker)
                if name is None
                else DisplayText(words, speaker=speaker, image=name)
            )
        return shown

    def _earlier(self, question: Question, rater: str) -> tuple[str, ...]:
        """Return, for a reviewer, what those who disagree said of an output."""
        board, asked = self.web.board, asked_as(question)
        if not is_reviewer(rater) or not board.adjudicates(rater, asked):
            return ()
        sides = question.model == first_models(question)[0]
        shown = []
        for answers in board.earlier_answers(asked):
            parts = []
            for aspect, answer in answers.items():
                if question.other is None:
                    words = f"{answer.score:g}"
                else:
                    first = answer.score if sides else -answer.score
                    words = "The first" if first > 0 else "The second" if first < 0 else "No difference"
                parts.append(words if len(answers) == 1 else f"{aspect} {words}")
                marks = [
                    f"{mark.severity}: "
                    + ((question.source if mark.in_source else question.output) or "")[mark.start : mark.end]
                    for mark in answer.marks or ()
                ]
                parts += [*marks, *([answer.comment] if answer.comment else [])]
            shown.append(" · ".join(parts))
        return tuple(shown)


def draft_name(question: Question) -> str:
    """Return what a question is called in drafts, which outlive the session."""
    return "\x1f".join(first_models(question))
