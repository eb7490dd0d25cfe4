"""Two models compared: the numbers, and the sentences that say them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.base.format import (
    counted,
    decimal_text,
    decimals_for,
    ends_text,
    number_text,
    p_text,
    score_text,
)
from sparingly.base.summary import IntervalCell, Summary, Tabular
from sparingly.data.values import plain
from sparingly.infer.compare.wins import PositionBias, WinTally, percents
from sparingly.infer.estimate.assemble import target_text
from sparingly.infer.plan.sample_size import PERCENT, SD, Quantity
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.ranking import WIN_RATE, RankedModel, Ranking

# --- A question with a margin ---

Answer = Literal["yes", "no", "not yet"]


@dataclass(frozen=True)
class MarginLook:
    """At which look a question that may be asked again was answered."""

    number: int  # the number of the look; 0 before the first
    of: int  # how many looks there are at most
    items: int  # how many items it saw
    following: int | None  # after how many items the next look is; None after the last
    ready: int  # how many items are judged in the order in which they were drawn


@dataclass(frozen=True)
class MarginAnswer:
    """Whether a model is at most a margin worse than another.

    ``yes`` where the low end of the interval of level 1 − 2α is above −margin, ``no`` where the high end is
    below it, else ``not yet``: each of the two is wrong with probability α at most (non-inferiority).
    """

    # The model in question, and the one that it is held against.
    model: str
    against: str
    margin: float  # the margin, in the unit of the scores; a share for rates
    # The ends of the interval of the difference, ``model`` less ``against``.
    low: float
    high: float
    level: float  # the confidence of each end by itself, 1 − α
    is_share: bool  # whether all of these are shares, which are printed in points
    # The look that gave the answer, where it may be asked again; ``level`` then holds over all looks.
    look: MarginLook | None = None

    @property
    def answer(self) -> Answer:
        """The answer."""
        if self.low > -self.margin:
            return "yes"
        return "no" if self.high < -self.margin else "not yet"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; an end that is not known is None."""
        ends = {
            name: end if math.isfinite(end) else None
            for name, end in (("low", self.low), ("high", self.high))
        }
        return {**asdict(self), **ends, "answer": self.answer}

    def __str__(self) -> str:
        """Return question and answer."""
        return self._sentence() if self.look is None else f"{self._sentence()} {self._look_text(self.look)}"

    def _look_text(self, look: MarginLook) -> str:
        """Say at which look this was answered, and when the next one is."""
        if not look.number:
            return f"The first look is at {counted(look.following or 0, 'item')}; {look.ready} are judged."
        spot = f"look {look.number} of at most {look.of}, at {counted(look.items, 'item')}"
        if self.answer != "not yet":
            return f"Answered at {spot}: later labels do not change it."
        if look.following is None:
            return "That was the last look: the budget is spent."
        return f"This is {spot}; the next is at {look.following}, and {look.ready} are judged."

    def _sentence(self) -> str:
        head = f"Is {self.model} at most {self._amount(self.margin)} worse than {self.against}?"
        over = "" if self.look is None else " over all looks"
        confidence = f"with {number_text(100 * self.level)} % confidence{over}"
        # Whether the two are within the margin of each other, by two one-sided tests (Schuirmann 1987).
        if -self.margin < self.low and self.high < self.margin:
            return f"{head} Yes: the two are within {self._amount(self.margin)} of each other, {confidence}."
        if self.answer == "no":
            return f"{head} No: at least {self._amount(-self.high, down=True)} worse, {confidence}."
        if self.low >= 0:
            return f"{head} Yes: at least as good, {confidence}."
        if not math.isfinite(self.low):
            return f"{head} Not yet: too little is known ({confidence})."
        worst = self._amount(-self.low)
        if self.answer == "yes":
            return f"{head} Yes: at most {worst} worse, {confidence}."
        return f"{head} Not yet: it may be up to {worst} worse ({confidence})."

    def _amount(self, value: float, *, down: bool = False) -> str:
        """Return an amount in points, or in the unit of the scores, rounded away from what is claimed."""
        if not self.is_share:
            return number_text(value, 3)
        points = (math.floor if down else math.ceil)(1000.0 * value + (1e-9 if down else -1e-9)) / 10.0
        return f"{points:g} point{'' if points == 1 else 's'}"


def parse_margin(text: float | str, *, is_share: bool, of: str) -> float:
    """Return a margin in the unit of what is compared: "2%" or 0.02 for rates, else a number."""
    quantity, whose = Quantity.parse(text), f"{of[:1].upper()}{of[1:]}"
    if quantity.unit == SD:
        unit = "in percent, such as 2%" if is_share else "in the unit of the scores, such as 2"
        raise UsageError(f"A margin is not in standard deviations: write it {unit}.")
    if is_share:
        if quantity.unit == PERCENT:
            return quantity.value / 100.0
        if quantity.value >= 1.0:
            raise UsageError(f"{whose} are rates: write the margin in percent, --margin {quantity.value:g}%.")
        return quantity.value
    if quantity.unit == PERCENT:
        raise UsageError(
            f"{whose} are not rates: write the margin in their unit, --margin {quantity.value:g}."
        )
    return quantity.value


# --- Two models compared: the numbers, and the sentences that say them ---

# With which power the number of labels that is named settles a difference.
POWER = 0.9


@dataclass(frozen=True)
class JudgeGain:
    """What a judge's votes on everything add to people's labels."""

    names: tuple[str, ...]  # the judge, or the metrics
    items: int  # how many items have them
    labels: int  # how many more labels they are worth


@dataclass(frozen=True, repr=False)
class HeadToHead(Tabular):
    """Two models compared. With the models in the other order all numbers are mirrored."""

    # The models.
    first: str
    second: str
    aspect: str  # what was judged; ``preferences`` for comparisons without a name
    unit: str  # what was counted: ``comparison`` or ``item``
    n: int  # how many of them
    size: int  # how many items there are
    # The first's share of wins among what was decided, or the first's score less the second's.
    estimate: float
    # The ends of its interval; NaN where one is withheld.
    low: float
    high: float
    p_value: float  # the p-value of no difference
    alpha: float  # the error rate
    target: str  # what this describes: ``population``, inputs like these, or this ``set``
    # How many more comparisons or items a difference of this size takes to settle with 90 % power; 0 where it
    # is settled, None where no number can be named.
    more: int | None = None
    tally: WinTally | None = None  # wins, losses and ties, where outputs were compared
    scores: tuple[float, float] | None = None  # the two scores, where outputs were scored
    # On how many items just the first, and just the second passes; None unless scores are passes and fails on
    # the same items.
    wins_by_item: tuple[int, int] | None = None
    is_rate: bool = False  # whether scores are rates, printed in percent
    margin: MarginAnswer | None = None  # the answer to a question with a margin
    judge: JudgeGain | None = None  # what a judge's votes add
    position: PositionBias | None = None  # whether people prefer what is shown first, where that was saved
    notes: tuple[str, ...] = ()  # what to mind

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
        return self._scores_sentence() if self.tally is None else self._wins_sentence(self.tally)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything there is to say, the answer first."""
        parts = [self.sentence, self._more_sentence(), "" if self.margin is None else str(self.margin)]
        parts += ["" if self.judge is None else self._judge_sentence(self.judge)]
        if self.tally is not None and self.tally.same_texts:
            parts.append(
                f"On {self.tally.same_texts} of {counted(self.size, 'item')} both wrote the same: "
                "nobody is shown these; they count as ties."
            )
        parts += ["" if self.position is None else str(self.position)]
        return tuple(part for part in parts if part)

    def _wins_sentence(self, tally: WinTally) -> str:
        if not tally.decided or self.leader is None:
            return self.wins_text(tally)
        return f"{self.wins_text(tally)}; {p_text(self.p_value)}, {self._state}."

    def wins_text(self, tally: WinTally) -> str:
        """Return the leader's share of the decided comparisons and the votes, without the test."""
        if not tally.decided:
            ties = counted(tally.votes, "comparison")
            return f"All {ties} of {self.first} and {self.second} are ties: neither is ahead."
        mirrored = self.leader == self.second
        wins, losses = (tally.losses, tally.wins) if mirrored else (tally.wins, tally.losses)
        counts = f"{_count(wins, 'win')}, {_count(losses, 'loss', 'losses')}, {_count(tally.ties, 'tie')}"
        if self.leader is None:
            return f"{self.first} and {self.second} are level: {counts}; not settled."
        rate, low, high = self.estimate, self.low, self.high
        if mirrored:
            rate, low, high = 1.0 - rate, 1.0 - high, 1.0 - low
        return f"{self.leader} won {100 * rate:.0f} % of decided comparisons {percents(low, high)}: {counts}"

    def _scores_sentence(self) -> str:
        ahead, (one, other) = self.leader, self.scores or (math.nan, math.nan)
        if ahead is None:
            score = score_text(one, is_rate=self.is_rate, decimals=self._decimals)
            what = counted(self.n, "judged item")
            return f"{self.first} and {self.second} have the same score, {score}, on {what}: not settled."
        names, sign = (self.first, self.second), 1.0
        if ahead == self.second:
            names, sign, one, other = names[::-1], -1.0, other, one
        low, high = sorted((sign * self.low, sign * self.high))
        interval = f" [{self._amount(low)}, {self._amount(high)}]" if math.isfinite(low + high) else ""
        lead = f"{self._amount(abs(self.estimate))}{' points' if self.is_rate else ''}"
        how: dict[str, Any] = {"is_rate": self.is_rate, "decimals": self._decimals}
        scores = " against ".join(score_text(score, **how) for score in (one, other))
        only = ""
        if self.wins_by_item is not None:
            mine, theirs = self.wins_by_item[:: int(sign)]
            only = f"; only {ahead} passes on {counted(mine, 'item')}, only {names[1]} on {theirs}"
        verb = "passes" if self.is_rate else "scores"
        return (
            f"{ahead} {verb} {lead} more than {names[1]}{interval}: {scores}{only}; "
            f"{p_text(self.p_value)}, {self._state}."
        )

    @property
    def _left(self) -> int:
        """How many items, or comparisons, nobody has judged."""
        return self.size - (self.n if self.tally is None else self.tally.items + self.tally.same_texts)

    def _more_sentence(self) -> str:
        """Say how many more comparisons or items would settle it, and whether so many are left."""
        if self.settled or self.leader is None:
            return ""
        if self.more is None:
            return f"A difference this small takes too many {self.unit}s to settle."
        power = f"{100 * POWER:g} % power"
        if not self.more:
            return f"A difference of this size is settled by this many {self.unit}s with {power}."
        left, beyond = self._left, ""
        if self.more > left:
            beyond = f"; only {left:,} are left here" if left else f"; none are left here: add {self.unit}s"
        about = f"about {self.more:,} more {self.unit}s"
        return f"A difference of this size takes {about} to settle with {power}{beyond}."

    def _judge_sentence(self, judge: JudgeGain) -> str:
        what, unit = ("scores", "judged item") if self.tally is None else ("votes", "comparison")
        whose = f"The {what} of {judge.names[0]}" if len(judge.names) == 1 else f"The metrics' {what}"
        without = ""
        if self.tally is not None and self.leader is not None:
            share = self.tally.wins / self.tally.decided
            plain_rate = share if self.leader == self.first else 1.0 - share
            without = f"; without them it is {100 * plain_rate:.0f} %"
        return (
            f"{whose} on all {judge.items:,} items count as {counted(judge.labels, f'more {unit}')}{without}."
        )

    @property
    def _state(self) -> str:
        return "settled" if self.settled else "not settled"

    def _amount(self, value: float) -> str:
        """Return a difference as text: points of a rate with one decimal, else three digits."""
        return f"{100 * value + 0.0:.1f}" if self.is_rate else decimal_text(value, self._decimals, 3)

    @property
    def _decimals(self) -> int | None:
        return decimals_for([(self.high - self.low) / 4.0])

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

    def summary(self) -> Summary:
        """Return who is ahead, how far, and what would settle it."""
        rows: list[tuple[str | IntervalCell, ...]] = []
        if self.tally is not None:
            tally = self.tally
            rows = [
                (f"{self.first} wins", _votes(tally.wins), "█" * round(30 * tally.wins / tally.votes)),
                ("ties", _votes(tally.ties), "█" * round(30 * tally.ties / tally.votes)),
                (f"{self.second} wins", _votes(tally.losses), "█" * round(30 * tally.losses / tally.votes)),
            ]
        elif math.isfinite(self.low + self.high):
            unit = " points" if self.is_rate else ""
            ends = f"[{self._amount(self.low)}, {self._amount(self.high)}]{unit}"
            value = f"{self._amount(self.estimate)}{unit}"
            rows = [
                (
                    f"{self.first} − {self.second}",
                    value,
                    ends,
                    IntervalCell(self.low, self.estimate, self.high),
                ),
                ("no difference", "0", "", IntervalCell(0.0, 0.0, 0.0)),
            ]
        return Summary(
            self.sentences,
            ("",) * (len(rows[0]) if rows else 0),
            tuple(rows),
            next_steps=(
                "sparingly report DATA" if self.settled or not self._left else "sparingly serve DATA",
            ),
            notes=self.notes,
            method=(f"{self.headline}.",),
        )

    @property
    def ranking(self) -> Ranking:
        """The two models by their win rates, decided by the same test: what ``rank`` gives for votes."""
        decided = self.tally is not None and self.tally.decided > 0
        first = {"model": self.first, "score": self.estimate, "low": self.low, "high": self.high}
        second = {"score": 1 - self.estimate, "low": 1 - self.high, "high": 1 - self.low}
        both: list[dict[str, Any]] = [first, {"model": self.second, **second}]
        rows = sorted(both, key=lambda row: (-row["score"], row["model"]))
        if not decided:
            # Where all are ties, neither wins more often, and how often is unknown.
            rows = [{**row, "score": 0.5, "low": math.nan, "high": math.nan} for row in rows]
        scores, p_values = np.array([row["score"] for row in rows]), np.full((2, 2), self.p_value)
        np.fill_diagonal(p_values, np.nan)
        found = decide(p_values, scores, alpha=self.alpha)
        models = tuple(
            RankedModel(
                **{name: plain(value) for name, value in row.items()},
                standard_error=None,
                standardised=None,
                rank=place + 1,
                best_rank=int(found.best_rank[place]),
                worst_rank=int(found.worst_rank[place]),
                group=int(found.group[place]),
                chance_of_best=None,
                interval=ends_text(row["low"], row["high"], is_rate=True),
            )
            for place, row in enumerate(rows)
        )
        return Ranking(
            models=models,
            p_values=p_values,
            corrected=found.adjusted,
            covariance=np.full((2, 2), np.nan),
            freedom=math.inf,
            test="sign",
            alpha=self.alpha,
            aspect=self.aspect,
            target=self.target,
            scores_of=self.target,
            estimator=WIN_RATE,
            n=self.n,
            size=self.n,
            unit="comparisons",
            is_rate=True,
            notes=self.notes,
            certain=False,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the comparison as one row."""
        values = self.to_dict()
        names = ("first", "second", "aspect", "unit", "n", "estimate", "low", "high", "p_value", "settled")
        return [{name: values[name] for name in names}]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        answers = {"settled": self.settled, "leader": self.leader, "sentence": self.sentence}
        margin = None if self.margin is None else self.margin.to_dict()
        return dict(plain({**asdict(self), "margin": margin, **answers}))


def _votes(value: float) -> str:
    """Return a number of votes; soft votes leave parts of one."""
    return str(round(value)) if abs(value - round(value)) < 1e-9 else f"{value:.1f}"


def _count(value: float, one: str, many: str | None = None) -> str:
    """Return a number of votes with its noun."""
    return f"{_votes(value)} {one if _votes(value) == '1' else many or one + 's'}"
