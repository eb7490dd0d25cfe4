"""The service behind the rater's pages: finds pages, takes answers and drafts, for browsers and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sparingly.base.errors import UsageError
from sparingly.run.campaign.access import is_reviewer
from sparingly.run.campaign.answers import JUDGED, OUTDATED, Acknowledgement, cell_of, check_score
from sparingly.run.campaign.known import TOLERANCE, KnownAnswer, KnownItems, KnownKind
from sparingly.run.campaign.rater_pages import Page
from sparingly.run.forms.question import output_label
from sparingly.show.web.entry import text_of
from sparingly.show.web.rater.page import PageView, PageViews, draft_name
from sparingly.show.web.rater.queue import PageQueue
from sparingly.show.web.rater.submission import Draft, SentPage, answers_to
from sparingly.show.web.sessions import Session
from sparingly.show.web.texts import GuideView, guide_view, storable
from sparingly.show.web.web import DAMAGED, Web

_LONGEST_DRAFT = 500_000
# A control item comes after so many pages.
CONTROL_EVERY = 10
# So many pages are judged before one comes again.
REPEAT_AFTER = 5


class RaterService:
    """Takes answers and drafts, and finds pages by their handles."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.queue = PageQueue(web)
        self.views = PageViews(web, self.queue)
        self.aspects = tuple(web.campaign.settings.aspects)
        sets = [known for known in (web.known_tutorial, web.known_controls) if known is not None]
        self._known = {
            self.views.known_handle(known, item): (known, item) for known in sets for item in known.items
        }
        self._asked: Mapping[Page, object] = {}
        self._pages: dict[str, Page] = {}

    def page(self, handle: str) -> Page | None:
        """Return the page with a handle, of all that are asked."""
        self.web.board.refresh()
        pages = self.web.board.pages
        if pages is not self._asked:
            self._pages = {self.views.handle(page): page for page in pages}
            self._asked = pages
        return self._pages.get(handle)

    def own_page(self, session: Session, handle: str) -> Page | None:
        """Return a page that a rater may open."""
        page = self.page(handle)
        return page if page is not None and self.queue.is_mine(session.rater, page) else None

    def answerable(self, session: Session, handle: str, submission: SentPage | None = None) -> Page | None:
        """Return a page that a rater may answer: it is theirs, or they were shown it.

        Who took longer than a page is lent for has done the work all the same. That they were shown the page
        is proved by a handle on it, which belongs to their session. With an assignment only what is assigned
        is taken.
        """
        page = self.own_page(session, handle)
        if page is not None or submission is None or self.web.assignment is not None:
            return page
        page = self.page(handle)
        if page is None:
            return None
        shown = self.views.questions(session, page)
        shown += self.views.questions(session, page, everything=True)
        return None if submission.handles.isdisjoint(question.id for question in shown) else page

    def view(self, session: Session) -> PageView | None:
        """Return what a rater is to judge now: the tutorial, a control item that is due, or a page."""
        page = self.queue.current(session.rater)
        # Nobody does the tutorial for nothing: it comes where there is something to judge.
        if page is None or is_reviewer(session.rater):
            return None if page is None else self.views.view(session, page)
        known = self.web.known_tutorial
        if known is not None:
            passed = self.web.known_answers.items(session.rater, "passed")
            for item in known.items:
                if item not in passed:
                    return self.views.known_view(session, known, item)
        rated = self.web.board.rated_by(session.rater)
        done = self.web.known_answers.items(session.rater, "control")
        # One after every tenth page, the first after the fifth; each rater has an order of their own.
        is_due = len(done) < (len(rated) + CONTROL_EVERY // 2) // CONTROL_EVERY
        known = self.web.known_controls
        if known is not None and is_due and len(done) < len(known.items):
            order = sorted(
                known.items, key=lambda item: self.web.sessions.handle("controls", session.rater, item)
            )
            item = next(item for item in order if item not in done)
            return self.views.known_view(session, known, item)
        repeated = self.web.known_answers.items(session.rater, "repeat")
        earlier = sorted(
            (page for page in rated[:-REPEAT_AFTER] if page.item not in done | repeated),
            key=lambda page: self.web.sessions.handle("repeats", session.rater, *map(str, page)),
        )
        if is_due and self.web.controls == DAMAGED:
            for one in earlier:
                if any(question.control for question in self.views.questions(session, one, again="control")):
                    return self.views.view(session, one, "control")
        if earlier and len(repeated) < int(self.web.repeats * len(rated)):
            return self.views.view(session, earlier[0], "repeat")
        return self.views.view(session, page)

    def judged_again(self, rater: str, handle: str) -> tuple[Page, KnownKind] | None:
        """Return the page that a rater judges a second time under a handle, and what for."""
        kinds: list[KnownKind] = ["repeat"] if self.web.repeats else []
        kinds += ["control"] if self.web.controls == DAMAGED else []
        pages = self.web.board.rated_by(rater) if kinds else []
        found = ((page, kind) for page in pages for kind in kinds if self.views.handle(page, kind) == handle)
        return next(found, None)

    def _take_again(
        self, session: Session, page: Page, kind: KnownKind, submission: SentPage
    ) -> list[Acknowledgement]:
        questions = self.views.questions(session, page, again=kind)
        damaged = {name for question in questions if question.control for name in question.models}
        answers = answers_to(questions, submission, session.rater, self.web)
        found = []
        for answer in answers:
            model, other, score = cell_of(answer)
            if kind == "control" and model not in damaged:
                continue
            earlier = self.web.board.last_answers(
                session.rater, (page.data, page.item, model, other), page.round
            )
            label = f"{model}\x1f{other}" if other else model
            aspects = list(earlier) if answer.skip else [name for name in earlier if name == answer.aspect]
            for aspect in aspects:
                before = earlier[aspect].score
                if answer.skip:
                    found.append(KnownAnswer(page.item, label, aspect, None, before, False, None))
                    continue
                check_score(self.web.campaign.settings, aspect, answer)
                ends = (-1.0, 1.0) if other else self.web.campaign.settings.aspects[aspect]
                far = TOLERANCE * (ends[1] - ends[0]) if ends is not None else 0.0
                # Of two outputs the loser is damaged, which is the second where the first was better.
                rise = before - score if other and before > 0 else score - before
                is_right = (rise if kind == "control" else abs(rise) - far) <= 1e-9
                found.append(KnownAnswer(page.item, label, aspect, score, before, is_right, None))
        spent = sum(answer.seconds or 0.0 for answer in answers)
        each = [replace(one, seconds=spent / len(found) if spent else None) for one in found]
        self.web.known_answers.save(session.rater, kind, each)
        return [Acknowledgement(line, "new") for line, _ in enumerate(found, 1)]

    def known(self, handle: str) -> tuple[KnownItems, str] | None:
        """Return the item with a known answer that a handle stands for; None for a page that is asked."""
        return self._known.get(handle)

    def _take_known(
        self, session: Session, known: KnownItems, item: str, submission: SentPage
    ) -> list[Acknowledgement]:
        questions = self.views.known_questions(session, known, item)
        sent = {
            (answer.model, answer.aspect): answer
            for answer in answers_to(questions, submission, session.rater, self.web)
            if not answer.skip
        }
        found, wrong = [], []
        for place, question in enumerate(questions, 1):
            for aspect in self.aspects:
                answer = sent.get((question.model, aspect))
                score = None if answer is None else answer.score
                if answer is not None:
                    check_score(self.web.campaign.settings, aspect, answer)
                expected = known.expected(item, question.model, aspect)
                is_right = score is not None and known.is_right(item, question.model, aspect, score)
                seconds = None if answer is None else answer.seconds
                found.append(KnownAnswer(item, question.model, aspect, score, expected, is_right, seconds))
                if not is_right:
                    which = f" to output {output_label(place)}" if len(questions) > 1 else ""
                    about = f" ({aspect})" if self.aspects[1:] else ""
                    wrong.append(f"the answer{which} is {expected:g}{about}")
        self.web.known_answers.save(session.rater, known.kind, found)
        if known.kind == "tutorial" and wrong:
            why = known.explanation(item)
            raise UsageError(
                f"Not quite: {', '.join(wrong)}.{' ' if why else ''}{why} Answer again to go on."
            )
        if known.kind == "tutorial":
            self.web.known_answers.save(session.rater, "passed", found)
        return [Acknowledgement(line, "new") for line, _ in enumerate(sent, 1)]

    def take(self, session: Session, submission: SentPage) -> list[Acknowledgement]:
        """Record what a rater says of a page that is theirs; sending it again changes nothing."""
        self.web.board.refresh()
        guidelines = self.web.board.guidelines
        if guidelines is not None and (
            self.guide(session.rater) is not None or submission.guidelines not in (None, guidelines.version)
        ):
            raise UsageError(OUTDATED)
        if (known := self.known(submission.page)) is not None:
            return self._take_known(session, *known, submission)
        if (again := self.judged_again(session.rater, submission.page)) is not None:
            return self._take_again(session, *again, submission)
        page = self.answerable(session, submission.page, submission)
        if page is None:
            raise UsageError("This page is not open to you any more. Load the page again.")
        questions = self.views.questions(session, page)
        if {question.id for question in questions} != submission.handles:
            # Where somebody else has judged the page in the meantime, nothing of it is missing any more; what
            # was shown is taken all the same.
            everything = self.views.questions(session, page, everything=True)
            if {question.id for question in everything} == submission.handles:
                questions = everything
        answers = answers_to(questions, submission, session.rater, self.web)
        judged = [answer for answer in answers if not answer.skip]
        for answer in judged:
            check_score(self.web.campaign.settings, answer.aspect or "", answer)
        acknowledged: list[Acknowledgement] = []
        try:
            # All of a page is saved, or nothing of it.
            self.web.campaign.record(answers, on_error="rollback", acknowledge=acknowledged.append)
        except UsageError as error:
            for sentence in (OUTDATED, JUDGED):
                if sentence in str(error):
                    raise UsageError(sentence) from None
            # Other sentences of the campaign name models, which raters must not see.
            raise UsageError("A question on this page was withdrawn. Load the page again.") from None
        self.queue.finish(session.rater, page)
        return acknowledged[: len(judged)]

    def guide(self, rater: str) -> GuideView | None:
        """Return the guidelines where a rater has to accept them before anything is shown."""
        self.web.board.refresh()
        guidelines = self.web.board.guidelines
        # Reviewers decide for the organiser, whose guidelines these are.
        if guidelines is None or is_reviewer(rater):
            return None
        unread, consent, details = self.web.acceptances.missing(rater, guidelines)
        if not unread:
            return None
        earlier = self.web.acceptances.last(rater)
        return guide_view(guidelines, consent, details, changed=earlier is not None)

    def accept(self, rater: str, fields: Mapping[str, str]) -> None:
        """Take that a rater accepted the guidelines that were shown, with the details that are asked for."""
        guide, guidelines = self.guide(rater), self.web.board.guidelines
        if guide is None or guidelines is None:
            return
        if fields.get("guidelines") != str(guide.version):
            raise UsageError("The guidelines have changed. Read them again.")
        if guide.consent and fields.get("consent") != "yes":
            raise UsageError("Accept the conditions, or leave.")
        details = {
            name: storable(text_of(fields, f"detail:{place}")) for place, name in enumerate(guide.details)
        }
        if not all(details.values()):
            raise UsageError("Fill in every detail.")
        self.web.acceptances.save(rater, guidelines, details)

    def keep_draft(self, session: Session, page: Page, submission: SentPage) -> None:
        """Keep what a rater has typed, under names that outlive the session."""
        names = {question.id: draft_name(question) for question in self.views.questions(session, page)}
        cards = {names[card.output]: card for card in submission.cards if card.output in names}
        content = Draft(cards, submission.seconds or 0.0).to_json()
        if len(content) > _LONGEST_DRAFT:
            raise UsageError("This is too long to be saved.")
        self.web.drafts.save(session.rater, page.data, page.item, content)
        self.queue.renew(session.rater, page)

    def why_nothing(self, rater: str) -> str:
        """Say to a rater why there is nothing to judge."""
        board = self.web.board
        if is_reviewer(rater):
            return "No two raters disagree at the moment."
        if self.guide(rater) is not None:
            return "Read and accept the guidelines first, on the page /rate."
        if self.queue.has_done_enough(rater):
            return "You have judged everything that we ask of you. Thank you."
        if board.is_closed:
            return "The campaign has ended. Thank you."
        if not board.is_open:
            return "The campaign is paused. Come back later: nothing of yours is lost."
        if self.web.assignment is not None:
            if self.queue.progress(rater).asked:
                return "Everything that was assigned to you is judged. Thank you."
            return "Nothing is assigned to you at the moment. Ask whoever sent you the link."
        if board.answered_count < len(board.pages):
            return "Others are working on what is left. Come back later."
        return "Everything is judged. Thank you."
