"""``compare``: which of two models is better, by how much, how sure that is, and how much more would settle it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sparingly.base.arrays import Ints
from sparingly.base.errors import DataError, SparinglyError, UnknownNameError, UsageError, listing
from sparingly.base.format import counted, html_table, number_text, score_text
from sparingly.base.levels import check_alpha
from sparingly.base.registry import Method
from sparingly.data.evalset import EvalSet
from sparingly.data.io.given import DataLike, as_evalset
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.infer.compare.margin import MarginAnswer, parse_margin
from sparingly.infer.compare.sides import PositionBias, position_bias
from sparingly.infer.compare.strengths import WinMatrix, win_matrix
from sparingly.infer.compare.votes import frame_of, judge_votes, people_votes
from sparingly.infer.compare.wins import WinTally, tally
from sparingly.infer.estimate.assemble import Target, target_text
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.plan.power import items_for
from sparingly.infer.plan.sample_size import MOST_LABELS, comparisons_for
from sparingly.infer.rank.rank import check_errors

POWER = 0.9


@dataclass(frozen=True)
class JudgeGain:
    """What a judge's votes on everything add to people's labels.

    Attributes:
        names: The judge, or the metrics.
        items: How many items have them.
        labels: How many more labels they are worth.
    """

    names: tuple[str, ...]
    items: int
    labels: int


@dataclass(frozen=True, repr=False)
class HeadToHead:
    """Two models compared. With the models in the other order all numbers are mirrored.

    Attributes:
        first, second: The models.
        aspect: What was judged; ``preferences`` for comparisons without a name.
        unit: What was counted: ``comparison`` or ``item``.
        n: How many of them.
        size: How many items there are.
        estimate: The first's share of wins among what was decided, or the first's score less the second's.
        low, high: The ends of its interval; NaN where one is withheld.
        p_value: The p-value of no difference.
        alpha: The error rate.
        target: What this speaks about: ``population``, inputs like these, or this ``set``.
        more: How many more comparisons or items a difference of this size takes to settle with 90 % power;
            0 where it is settled, None where no number can be named.
        tally: Wins, losses and ties, where outputs were compared.
        scores: The two scores, where outputs were scored.
        wins_by_item: On how many items just the first, and just the second passes; None unless scores are
            passes and fails on the same items.
        is_rate: Whether scores are rates, printed in percent.
        margin: The answer to a question with a margin.
        judge: What a judge's votes add.
        position: Whether people prefer what is shown first, where that was saved.
        notes: What to mind.
    """

    first: str
    second: str
    aspect: str
    unit: str
    n: int
    size: int
    estimate: float
    low: float
    high: float
    p_value: float
    alpha: float
    target: str
    more: int | None = None
    tally: WinTally | None = None
    scores: tuple[float, float] | None = None
    wins_by_item: tuple[int, int] | None = None
    is_rate: bool = False
    margin: MarginAnswer | None = None
    judge: JudgeGain | None = None
    position: PositionBias | None = None
    notes: tuple[str, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether one of the two is shown to be better."""
        return self.p_value <= self.alpha

    @property
    def leader(self) -> str | None:
        """The model that is ahead, settled or not; None where they are level."""
        ahead = self.estimate - (0.5 if self.tally is not None else 0.0)
        if not math.isfinite(ahead) or abs(ahead) < 1e-12:
            return None
        return self.first if ahead > 0 else self.second

    @property
    def sentence(self) -> str:
        """Who is ahead, by how much, and whether that is settled."""
        return self._wins_sentence() if self.tally is not None else self._scores_sentence()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything there is to say, the answer first."""
        parts = [self.sentence, self.more_sentence, "" if self.margin is None else str(self.margin)]
        if self.judge is not None:
            whose = "The judge's votes" if self.tally is not None else "The metrics' scores"
            if len(self.judge.names) == 1:
                whose = f"The {'votes' if self.tally is not None else 'scores'} of {self.judge.names[0]}"
            what = counted(self.judge.labels, f"more {self.unit if self.tally else 'judged item'}")
            parts.append(f"{whose} on all {self.judge.items:,} items count as {what}.")
        if self.tally is not None and self.tally.same_texts:
            parts.append(
                f"On {self.tally.same_texts} of {counted(self.size, 'item')} both wrote the same: nobody was asked, "
                "and they count as ties."
            )
        if self.position is not None:
            parts.append(str(self.position))
        return tuple(part for part in parts if part)

    @property
    def more_sentence(self) -> str:
        """How many more comparisons or items would settle it."""
        if self.settled or self.leader is None:
            return ""
        if self.more is None:
            return f"A difference this small takes too many {self.unit}s to settle."
        verb = "takes" if self.more else "took"
        about = f"about {self.more:,} more {self.unit}s" if self.more else f"this many {self.unit}s"
        left = self.size - (self.n if self.tally is None else self.tally.items + self.tally.same_texts)
        beyond = ""
        if self.more > left:
            beyond = f"; {left:,} are left here" if left else "; all items here are judged, so bring new ones"
        return f"A difference of this size {verb} {about} to settle with {100 * POWER:g} % power{beyond}."

    def _wins_sentence(self) -> str:
        tally = self.tally
        assert tally is not None
        ahead = self.leader
        mirrored = ahead == self.second
        wins, losses = (tally.losses, tally.wins) if mirrored else (tally.wins, tally.losses)
        counts = f"{_count(wins, 'win')}, {_count(losses, 'loss', 'losses')}, {_count(tally.ties, 'tie')}"
        if not tally.decided:
            return f"All {counted(tally.votes, 'comparison')} of {self.first} and {self.second} are ties."
        if ahead is None:
            return f"{self.first} and {self.second} are level: {counts}; p = 1, not settled."
        rate, low, high = self.estimate, self.low, self.high
        if mirrored:
            rate, low, high = 1.0 - rate, 1.0 - high, 1.0 - low
        ends = f"[{_floor(100 * low)}, {_ceil(100 * high)}]"
        state = "settled" if self.settled else "not settled"
        return (
            f"{ahead} won {100 * rate:.0f} % of decided comparisons {ends}: {counts}; "
            f"{p_text(self.p_value)}, {state}."
        )

    def _scores_sentence(self) -> str:
        assert self.scores is not None
        ahead, state = self.leader, "settled" if self.settled else "not settled"
        if ahead is None:
            return (
                f"{self.first} and {self.second} have the same score, "
                f"{score_text(self.scores[0], is_rate=self.is_rate)}, on {counted(self.n, 'judged item')}: not settled."
            )
        other = self.second if ahead == self.first else self.first
        sign = 1.0 if ahead == self.first else -1.0
        ends = sorted((sign * self.low, sign * self.high))
        scale = 100.0 if self.is_rate else 1.0
        texts = [number_text(round(scale * value, 1) if self.is_rate else value) for value in (
            abs(self.estimate), *ends)]
        interval = f" [{texts[1]}, {texts[2]}]" if np.isfinite(ends).all() else ""
        what = " points" if self.is_rate else ""
        verb = "passes" if self.is_rate else "scores"
        of = {self.first: self.scores[0], self.second: self.scores[1]}
        both = " against ".join(score_text(of[name], is_rate=self.is_rate) for name in (ahead, other))
        only = ""
        if self.wins_by_item is not None:
            mine, theirs = self.wins_by_item if ahead == self.first else self.wins_by_item[::-1]
            only = f"; only {ahead} passes on {counted(mine, 'item')}, only {other} on {theirs}"
        return (
            f"{ahead} {verb} {texts[0]}{what} more than {other}{interval}: {both}{only}; "
            f"{p_text(self.p_value)}, {state}."
        )

    @property
    def headline(self) -> str:
        """What was compared, in one line."""
        of = "" if self.aspect == "preferences" else f" on {self.aspect}"
        return (
            f"{self.first} and {self.second} compared{of}, {counted(self.n, self.unit)}"
            f"{' judged' if self.tally is None else ''}, about {target_text(self.target)}"
        )

    def __repr__(self) -> str:
        return f"HeadToHead({self.sentence})"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        row = (self.first, self.second, self.estimate, self.low, self.high, self.p_value)
        heads = ("first", "second", "win rate" if self.tally else "difference", "low", "high", "p")
        return html_table(heads, [row], " ".join(self.sentences), "; ".join(self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        answers = {"settled": self.settled, "leader": self.leader, "sentence": self.sentence}
        margin = None if self.margin is None else {**vars(self.margin), "answer": self.margin.answer}
        return dict(plain({**asdict(self), "margin": margin, **answers}))


def p_text(p_value: float) -> str:
    """Return a p-value as papers print it: p = .05, p < .001."""
    if p_value < 0.001:
        return "p < .001"
    text = f"{p_value:.2g}" if p_value < 0.995 else "1"
    return f"p = {text.removeprefix('0')}"


def _count(value: float, one: str, many: str | None = None) -> str:
    if value == round(value):
        return counted(round(value), one, many)
    return f"{value:.1f} {many or one + 's'}"


def _floor(value: float) -> int:
    return math.floor(value + 1e-9)


def _ceil(value: float) -> int:
    return math.ceil(value - 1e-9)


# --- the verb ---


def compare(
    data: DataLike,
    first: str | None = None,
    second: str | None = None,
    *,
    selection: Selection | None = None,
    aspect: str | None = None,
    target: Target = "population",
    margin: float | str | None = None,
    judge: str | None = None,
    estimator: str | Method | None = None,
    scale: Ends | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> HeadToHead | WinMatrix:
    """Compare two models: who wins, by how much, whether that is settled, and how much more would settle it.

    Where outputs were compared two at a time, by wins, losses and ties; else by scores, with the difference and
    the p-value that ``estimate`` and ``rank`` give for this pair. Without names the only two models are meant;
    of more than two whose outputs were compared, all are: a matrix of wins, and strengths.

    Args:
        data: The evaluation set (or its file, or a frame) with the judgements.
        first, second: The models; the only two unless given.
        selection: What was chosen to be judged; without it the judged items are taken for a uniform sample.
        aspect: What was judged; the only aspect unless given, or a metric.
        target: What the answer is about: inputs like these (``population``), or this very ``set``.
        margin: Also ask whether the first is at most so much worse: "2%" for rates and wins, else a number.
        judge: The rater or metric whose votes on everything are a judge's; all metrics unless given.
        estimator: How scores are estimated; see ``estimate``.
        scale: The lowest and the highest possible score.
        alpha: The error rate of the test; one less it is the level of intervals.
        seed: Seed of folds.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> found = sparingly.compare(data, "Juniper", "Elm + rerank (beam = 4)", aspect="overall")
        >>> found.leader, found.settled
        ('Elm + rerank (beam = 4)', False)
    """
    data = as_evalset(data)
    check_alpha(alpha)
    if compares_outputs(data, aspect):
        if selection is not None:
            raise UsageError("Comparisons are given without a selection: leave it out.")
        return compare_votes(
            data, first, second, aspect=aspect, target=target, margin=margin, judge=judge, alpha=alpha
        )
    if selection is not None and selection.judged is not None:
        data = data.take(models=selection.judged)
    names = pair_of(data, first, second)
    if judge is not None:
        if judge not in data.metrics:
            raise UnknownNameError("metric", judge, data.metrics)
        data = data.only(name for name in data.fields if not name.startswith("metric:") or name == f"metric:{judge}")
    how: dict[str, Any] = {"target": target, "level": round(1.0 - alpha, 12), "scale": scale, "seed": seed}
    found = estimate(data, selection, aspect, estimator=estimator, **how)
    base = None
    if estimator is None and found.estimator == "greg" and not found.outcome.fallen_back:
        base = estimate(data, selection, found.aspect, estimator="weighted_mean", **how)
    return compare_scores(found, *names, alpha=alpha, margin=margin, without_metrics=base, metrics=tuple(data.metrics))


def compares_outputs(data: EvalSet, aspect: str | None) -> bool:
    """Whether a comparison goes by votes between two outputs: these are there, and no scores that are meant."""
    table = data.preferences
    if not len(table):
        return False
    scored = [name for name in data.aspects if not np.isnan(data.aspects[name]).all()]
    if aspect is None:
        return not scored
    return aspect in table.aspects and aspect not in scored


def pair_of(data: EvalSet, first: str | None, second: str | None) -> tuple[str, str]:
    """Return the names of the two models, in the order given; the only two unless they are named."""
    models = data.models
    for name in (first, second):
        if name is not None and name not in models:
            raise UnknownNameError("model", name, models)
    if first is not None and first == second:
        raise UsageError(f"A comparison is of two models, not of {first} and itself.")
    if first is not None and second is not None:
        return first, second
    if len(models) < 2:
        raise UsageError(f"There is only one model, {listing(models)}: give a second file, or a file with both.")
    if len(models) > 2:
        raise UsageError(
            f"There are {len(models)} models: name two of them ({listing(models, 6)}), or rank them all: sparingly rank."
        )
    given = first if first is not None else second
    if given is None:
        return models[0], models[1]
    other = models[1] if given == models[0] else models[0]
    return (given, other) if first is not None else (other, given)


# --- by votes ---


def compare_votes(
    data: EvalSet,
    first: str | None = None,
    second: str | None = None,
    *,
    aspect: str | None = None,
    target: Target = "population",
    margin: float | str | None = None,
    judge: str | None = None,
    alpha: float = 0.05,
) -> HeadToHead | WinMatrix:
    """Compare two models, or all, by votes between two outputs."""
    if first is None and second is None and len(data.models) > 2:
        if margin is not None:
            raise UsageError("A margin is about two models: name them.")
        return win_matrix(data, aspect, judge=judge, target=target, alpha=alpha)
    names = pair_of(data, first, second)
    places = data.models.index(names[0]), data.models.index(names[1])
    votes = people_votes(data, aspect, judge)
    frame = frame_of(data, votes)
    pair = votes.of_pair(*places)
    if len(np.unique(pair.item)) < 2:
        compared = "never" if not len(pair) else "on one item only"
        raise DataError(
            f"{names[0]} and {names[1]} were compared {compared}, too few to say who is better: compare them on at "
            "least 10 items."
        )
    of_judge = judge_votes(data, votes, frame, judge)
    found = tally(votes, frame, places, target=target, alpha=alpha, judge=of_judge)
    gain = None
    if of_judge is not None and (extra := round(found.votes * (found.judge_worth - 1.0))) > 0:
        gain = JudgeGain(of_judge.names, of_judge.voted_items, extra)
    margin_answer = None
    if margin is not None:
        size = parse_margin(margin, is_share=True, of="wins")
        margin_answer = MarginAnswer(*names, size, found.lead_low, found.lead_high, 1.0 - alpha, is_share=True)
    result = HeadToHead(
        first=names[0],
        second=names[1],
        aspect=aspect or "preferences",
        unit="comparison",
        n=found.votes,
        size=found.size,
        estimate=found.rate,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        alpha=alpha,
        target=target,
        tally=found,
        margin=margin_answer,
        judge=gain,
        position=position_bias(pair, alpha),
    )
    return replace(result, more=0 if result.settled else more_comparisons(found, alpha))


def more_comparisons(found: WinTally, alpha: float) -> int | None:
    """Return how many more comparisons a win rate like this takes to settle with 90 % power."""
    if not found.decided or abs(found.rate - 0.5) < 1e-9:
        return None
    try:
        needed = comparisons_for(found.rate, alpha, POWER) / found.vote_worth
    except UsageError:
        return None
    return about(max(needed / (found.decided / found.votes) - found.votes, 0.0))


def about(number: float) -> int:
    """Return a number rounded up to what is worth saying: 5s below 100, 10s below 1,000, two digits beyond."""
    step = 5 if number <= 100 else 10 if number <= 1000 else 10 ** (math.floor(math.log10(number)) - 1)
    return int(step * math.ceil(number / step - 1e-9))


# --- by scores ---


def compare_scores(
    found: Estimate,
    first: str,
    second: str,
    *,
    alpha: float = 0.05,
    margin: float | str | None = None,
    without_metrics: Estimate | None = None,
    metrics: Sequence[str] = (),
) -> HeadToHead:
    """Compare two models by their scores: the difference, interval and p-value that the estimate has for them."""
    if found.target == CHOSEN_ITEMS or found.pairs is None:
        raise DataError(
            "These items were picked, not sampled, so nothing can be said of inputs like these: sparingly rank "
            "shows the order on the chosen items."
        )
    places = found.models.index(first), found.models.index(second)
    one, other = (np.array([place]) for place in places)
    lacking = [name for name, place in zip((first, second), places, strict=True) if np.isnan(found.scores[place])]
    if lacking:
        raise DataError(f"{' and '.join(lacking)} {'was' if len(lacking) == 1 else 'were'} never judged.")
    common = int(found.pairs.common_items(one, other)[0])
    if not common:
        raise DataError(f"No item was judged for both {first} and {second}: have both judged on the same items.")
    check_errors(found)
    difference = found.difference(first, second)
    counts = found.pairs.discordant(one, other, np.array([difference.difference]))
    p_value = float(found.pair_p_values()[places])
    error = difference.standard_error
    result = HeadToHead(
        first=first,
        second=second,
        aspect=found.aspect,
        unit="item",
        n=common,
        size=found.size,
        estimate=difference.difference,
        low=difference.low,
        high=difference.high,
        p_value=1.0 if np.isnan(p_value) else p_value,
        alpha=alpha,
        target=found.target,
        scores=(float(found.scores[places[0]]), float(found.scores[places[1]])),
        wins_by_item=None if counts is None else (int(counts[0][0]), int(counts[1][0])),
        is_rate=found.is_rate,
        margin=None if margin is None else _margin(found, (one, other), (first, second), margin, alpha),
        notes=found.notes,
    )
    gain = None
    if without_metrics is not None:
        before = without_metrics.difference(first, second).standard_error
        extra = round(common * ((before / error) ** 2 - 1.0)) if error > 0 and np.isfinite(before) else 0
        gain = JudgeGain(tuple(metrics), found.size, extra) if extra > 0 else None
    return replace(result, judge=gain, more=0 if result.settled else _more_items(result, error))


def _margin(
    found: Estimate, places: tuple[Ints, Ints], names: tuple[str, str], margin: float | str, alpha: float
) -> MarginAnswer:
    amount = parse_margin(margin, is_share=found.is_rate, of=f"scores of {found.aspect}")
    pairs = found.pairs
    assert pairs is not None
    centre = found.scores[places[0]] - found.scores[places[1]]
    bounds = replace(pairs, level=1.0 - 2.0 * alpha)
    ends = bounds.intervals(*places, centre, [" − ".join(names)])[1]
    low, high = (float(end[0]) for end in (ends.low, ends.high))
    low, high = (-math.inf if math.isnan(low) else low), (math.inf if math.isnan(high) else high)
    return MarginAnswer(*names, amount, low, high, 1.0 - alpha, is_share=found.is_rate)


def _more_items(result: HeadToHead, error: float) -> int | None:
    """Return how many more items a difference like this takes to settle with 90 % power."""
    if result.leader is None:
        return None
    try:
        if result.wins_by_item is not None:
            wins, losses = result.wins_by_item
            rate, decided = wins / (wins + losses), (wins + losses) / result.n
            needed: float | None = comparisons_for(rate, result.alpha, POWER) / decided
        else:
            remaining = 1.0 - result.n / result.size if result.target == "set" else 1.0
            spread = error * math.sqrt(result.n / remaining) if remaining > 0 else 0.0
            if not spread > 0:
                return None
            effect = abs(result.estimate) / spread
            needed = items_for(effect, 2, 1.0 - result.alpha, POWER, MOST_LABELS)
    except SparinglyError:
        return None
    if needed is None:
        return None
    if result.target == "set":
        needed = needed / (1.0 + needed / result.size)
    return about(max(needed - result.n, 0.0))
