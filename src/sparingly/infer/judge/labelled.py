"""The outputs that have both a label and a verdict of the judge: what every part of an audit works on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted, number_text
from sparingly.base.syntax import argument, either
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Scale
from sparingly.infer.estimate.sample import JudgedSample, dense, document_codes
from sparingly.infer.estimate.scale import values_of

# Scales that scores are usually given on; the first that holds them all.
_USUAL = tuple(Scale(*ends) for ends in ((0, 1), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (0, 100)))
# From so many labels on, a judge that equals them all is likelier to be their copy.
# Shares that lie so many standard errors apart are no accident; weights that differ less are equal.
_FAR, _SAME_WEIGHT = 4.0, 1e-9
_SUSPICIOUS = 30


@dataclass(frozen=True, eq=False)
class LabelledOutputs:
    """Labels and verdicts of one judge, a row for every output that has both."""

    judge: str  # the metric that holds the judge's scores
    data: EvalSet  # the set that both are from
    item: Ints  # the item of every row, a position in the set
    model: Ints  # its model
    human: Floats  # people's score
    score: Floats  # the judge's score, as it was given
    weight: Floats  # how many outputs of the set a row stands for, 1/π with importance; mean 1
    cluster: Ints  # rows of one code hang together: a document, else an item
    verdicts: Floats  # the judge's scores of all outputs of the set, labelled or not
    verdict_models: Ints  # the model of each
    unscored: int  # the number of outputs that the judge gave no score
    people: Scale  # people's scale
    own: Scale | None  # the judge's scale; None where its scores are on no usual one
    two_valued: bool  # whether people say pass or fail
    cut: float  # the lowest score that counts as a pass
    cut_is_given: bool  # whether the user named it

    def __len__(self) -> int:
        return len(self.item)

    @property
    def good(self) -> Mask:
        """Which outputs people passed."""
        return self.human >= self.people.high

    @property
    def passed(self) -> Mask:
        """Which outputs the judge passed."""
        return self.score >= self.cut

    @cached_property
    def on_people_scale(self) -> Floats:
        """The judge's scores on people's scale: verdicts, or a straight line through both ends."""
        if self.two_valued:
            low, high = self.people
            return np.where(self.passed, high, low)
        return self.rescaled(self.score)

    @property
    def error(self) -> Floats:
        """How much higher the judge scored, on people's scale."""
        return self.on_people_scale - self.human

    @property
    def judge_mean(self) -> float:
        """The judge's mean over all outputs that it scored, on people's scale."""
        return self._means_of(self.verdicts)

    @property
    def judge_means(self) -> dict[str, float]:
        """The same by model."""
        return {
            self.data.models[model]: self._means_of(self.verdicts[self.verdict_models == model])
            for model in np.unique(self.verdict_models)
        }

    def _means_of(self, scores: Floats) -> float:
        if self.two_valued:
            share = float((scores >= self.cut).mean())
            return self.people.low + share * (self.people.high - self.people.low)
        return float(self.rescaled(scores).mean())

    def rescaled(self, scores: Floats) -> Floats:
        """Return scores of the judge on people's scale: by a straight line through both ends of the scales.

        Where the judge's scores are on no usual scale, the line gives the labelled ones people's mean and
        standard deviation: then nothing is said of how high the judge scores.
        """
        if self.own == self.people:
            return scores
        if self.own is not None:
            share = (scores - self.own.low) / (self.own.high - self.own.low)
            return np.asarray(self.people.low + share * (self.people.high - self.people.low))
        weight = self.weight / self.weight.sum()
        mean, target = weight @ self.score, weight @ self.human
        spread = np.sqrt(weight @ (self.score - mean) ** 2)
        slope = np.sqrt(weight @ (self.human - target) ** 2) / spread if spread > 0 else 0.0
        return np.asarray(target + slope * (scores - mean))

    def notes(self) -> tuple[str, ...]:
        """Say which cut and which scales were taken, and what has no verdict."""
        notes = []
        # Whether the judge has no more than two scores.
        if self.two_valued and not (len(np.unique(self.verdicts)) <= 2):
            hint = f"{argument('cut')} sets another"
            why = "as given" if self.cut_is_given else f"above the middle of its scale; {hint}"
            notes.append(f"{self.judge} counts as a pass from {number_text(self.cut)} on ({why}).")
        elif not self.two_valued and self.own is None:
            notes.append(
                f"{self.judge} is on no usual scale: it was given the mean and spread of people's scores."
            )
        elif not self.two_valued and self.own != self.people:
            notes.append(f"scores of {self.judge} ({self.own}) were put on people's scale ({self.people}).")
        if self.unscored:
            total = self.unscored + len(self.verdicts)
            notes.append(
                f"{self.judge} has no score for {self.unscored:,} of {counted(total, 'output')}: its error "
                "rates are of the others."
            )
        labelled, everywhere = float(self.passed.mean()), float((self.verdicts >= self.cut).mean())
        spread = math.sqrt(everywhere * (1.0 - everywhere) / len(self))
        is_equal = bool(np.ptp(self.weight) < _SAME_WEIGHT)
        if self.two_valued and is_equal and abs(labelled - everywhere) > _FAR * spread:
            shares = f"{100 * labelled:.0f} % of the labelled outputs and {100 * everywhere:.0f} % of all"
            notes.append(
                f"{self.judge} passes {shares}: they look drawn by its verdicts, not at random. Name their "
                f"selection: {either('sparingly judge DATA SELECTION', 'judge(data, selection)')}"
            )
        if len(self) >= _SUSPICIOUS and (self.on_people_scale == self.human).all():
            notes.append(f"{self.judge} equals all {len(self)} labels: check that it is not a copy of them.")
        return tuple(notes)


def labelled_outputs(
    data: EvalSet, sample: JudgedSample, aspect: str, judge: str, cut: float | None = None
) -> LabelledOutputs:
    """Return the labelled outputs of a sample with the judge's scores."""
    models = np.flatnonzero(sample.judged.any(axis=0))
    verdicts = data.metrics[judge]
    row, model = np.nonzero(sample.judged)
    item = sample.rows[row]
    human, score = sample.scores[row, model], verdicts[item, model]
    scored_rows = np.flatnonzero(~np.isnan(score))
    judged = verdicts[:, models]
    places = np.nonzero(~np.isnan(judged))
    scored = judged[places]
    if not len(scored_rows):
        raise DataError(
            f"No labelled output has a score of {judge}: run the judge on the labelled outputs, too."
        )
    values = values_of(human, data.truth_scale(aspect))
    two_valued = values.two_valued or bool(np.isin(human, (0.0, 1.0)).all())
    people = Scale(*values.scale) if values.scale is not None else usual_scale(human) or _range(human)
    scale = usual_scale(scored, people)
    if cut is None:
        ends = scale or _range(scored)
        above = scored[scored > (ends.low + ends.high) / 2.0]
        cut_value = float(above.min()) if len(above) else ends.high
    elif not two_valued:
        raise UsageError(
            f"{aspect} is graded, and a cut is for labels that are pass or fail: leave out the cut."
        )
    else:
        cut_value = float(cut)
    document = document_codes(data)
    weight = sample.share[row, model][scored_rows]
    return LabelledOutputs(
        judge=judge,
        data=data,
        item=item[scored_rows],
        model=model[scored_rows],
        human=human[scored_rows],
        score=score[scored_rows],
        weight=weight / weight.mean(),
        cluster=dense((item if document is None else document[item])[scored_rows]),
        verdicts=scored,
        verdict_models=models[places[1]],
        unscored=judged.size - len(scored),
        people=people,
        own=scale,
        two_valued=two_valued,
        cut=cut_value,
        cut_is_given=cut is not None,
    )


def usual_scale(scores: Floats, like: Scale | None = None) -> Scale | None:
    """Return the scale that scores are on: one like another's, else a usual one; None where neither is.

    They are on the other's scale where they lie inside it and reach over half of it.
    """
    low, high = float(scores.min()), float(scores.max())
    if like is not None and low in like and high in like and high - low >= (like.high - like.low) / 2.0:
        return like
    return next((scale for scale in _USUAL if low in scale and high in scale), None)


def _range(scores: Floats) -> Scale:
    low, high = float(scores.min()), float(scores.max())
    return Scale(low, high if high > low else low + 1.0)
