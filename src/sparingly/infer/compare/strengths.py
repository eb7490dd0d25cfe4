"""Many models by votes: who won against whom, and strengths with a judge's votes as control variates.

Bradley and Terry's strengths solve Σ_S s_i(θ) = 0, with s the derivative of the log-likelihood of a
comparison of j and k on item i, (share won − expected)·(e_j − e_k). A judge's vote on the same comparison,
less its mean over all items of the pair, c_i = ½(f_ijk − f̄_jk)(e_j − e_k), has mean 0, as items are drawn
alike within a pair. So has s − λ·c for every λ, and its sum varies less where the judge follows people. One
Newton step from θ̂ solves Σ_S (s_i − λ·c_i) = 0:

    θ̃ = θ̂ − λ·A⁻¹ Σ_S c_i,    A = −∂Σs/∂θ,

prediction-powered inference for an M-estimator (Angelopoulos et al. 2023; Fisch et al. 2024), in one step.
λ makes the variance least, tr Cov(A⁻¹s, A⁻¹c)/tr Var(A⁻¹c) over items, shrunk by max(0, ρ² − 1/(G − 2))/ρ²
for G items, and is 0 with fewer than 30. What an item adds is u_i = s_i − λ·c_i for the compared ones, plus
λ·W_jk(f_ijk − f̄_jk)/(2N) for every one of the N items, since f̄ has an error, too; the covariance is G/(G
− 1 − p)·A⁻¹ Σuuᵀ A⁻¹ with items as clusters and Student's t, p the number of fitted numbers. There is no
bootstrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.format import counted
from sparingly.base.summary import Summary, Tabular
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.tables import Preferences
from sparingly.data.values import plain
from sparingly.infer.compare.votes import (
    FEWEST_FOR_JUDGE,
    JudgeVotes,
    VoteFrame,
    VoteTable,
    frame_of,
    judge_votes,
    people_votes,
)
from sparingly.infer.compare.wins import PositionBias, position_bias
from sparingly.infer.estimate.bradley_terry import (
    BradleyTerry,
    FittedStrengths,
    Ties,
    fit_preferences,
    products,
    sums_by_item,
)
from sparingly.infer.rank.rank import rank_strengths
from sparingly.infer.rank.ranking import Ranking


@dataclass(frozen=True, eq=False, repr=False)
class WinMatrix(Tabular):
    """Many models by votes between two at a time."""

    rows_key: ClassVar[str] = "rows"

    models: tuple[str, ...]  # the models, the strongest first
    wins: Floats  # models × models: how often the model of the row won against that of the column
    # models × models: how often the two tied, outputs with the same text that nobody compares
    # included.
    ties: Floats
    strengths: BradleyTerry  # the strengths, in the order of the data
    ranking: Ranking  # ranks and groups by the strengths, corrected for all pairs
    same_texts: int = 0  # how many ties nobody compared, as both wrote the same
    # The names of the judge or the metrics whose votes are in the strengths; empty without.
    judge: tuple[str, ...] = ()
    judge_items: int = 0  # how many items have these votes
    judge_worth: float = 1.0  # how many comparisons without the judge are worth one with it
    position: PositionBias | None = None  # whether people prefer what is shown first, where that was saved
    notes: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything there is to say, the answer first."""
        votes, ties = self.strengths.comparisons, round(float(self.ties.sum()) / 2.0) - self.same_texts
        asked = counted(round(float(self.wins.sum())) + ties, "comparison")
        parts = [self.ranking.answer()]
        parts.append(f"{counted(len(self.models), 'model')}, {asked}, of them {counted(ties, 'tie')}.")
        if self.same_texts:
            parts.append(
                f"{counted(self.same_texts, 'pair')} of outputs have the same text: nobody compares "
                "these; they count as ties."
            )
        if self.judge and (extra := round(votes * (self.judge_worth - 1.0))) > 0:
            whose = f"The votes of {self.judge[0]}" if len(self.judge) == 1 else "The metrics' votes"
            parts.append(
                f"{whose} on all {self.judge_items:,} items count as {counted(extra, 'more comparison')}."
            )
        if self.position is not None:
            parts.append(str(self.position))
        return tuple(parts)

    def rate(self, first: str, second: str) -> float:
        """Return the share of decided comparisons that the first won against the second; NaN without any."""
        row, column = self.models.index(first), self.models.index(second)
        decided = float(self.wins[row, column] + self.wins[column, row])
        return float(self.wins[row, column]) / decided if decided else float("nan")

    def summary(self) -> Summary:
        """Return who may be best, and the strengths with their intervals and possible ranks."""
        strengths, ranks = self.strengths.summary(), {row.model: row.ranks for row in self.ranking.models}
        rows = tuple((ranks.get(str(row[0]), "-"), *row) for row in strengths.rows)
        return replace(
            strengths,
            sentences=self.sentences,
            columns=("ranks", *strengths.columns),
            rows=rows,
            texts=2,
            next_steps=("sparingly plan --win-rate 60%",),
            notes=self.notes,
        )

    def __repr__(self) -> str:
        return f"WinMatrix({self.sentences[0]})"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: a row for every pair of models."""
        rows = [
            {
                "first": one,
                "second": other,
                "wins": plain(self.wins[row, column]),
                "losses": plain(self.wins[column, row]),
                "ties": plain(self.ties[row, column]),
                "rate": plain(self.rate(one, other)),
            }
            for row, one in enumerate(self.models)
            for column, other in enumerate(self.models)
            if row < column
        ]
        position = None if self.position is None else vars(self.position)
        more = {
            "strengths": self.strengths.to_dict(),
            "ranking": self.ranking.to_dict(),
            "position": position,
        }
        names = ("same_texts", "judge", "judge_items", "judge_worth", "notes")
        own = {name: plain(getattr(self, name)) for name in names}
        return {"models": list(self.models), "rows": rows, "sentences": list(self.sentences), **own, **more}


@dataclass(frozen=True, eq=False)
class JudgedStrengths:
    """Strengths, the votes that they are of, and what a judge's votes add to them.

    ``judge`` names the judge or the metrics; it is empty where their votes tell nothing. ``worth`` is how
    many comparisons without the judge are worth one with it.
    """

    strengths: BradleyTerry
    votes: VoteTable
    frame: VoteFrame
    judge: tuple[str, ...] = ()
    judge_items: int = 0
    worth: float = 1.0


def judged_strengths(
    data: EvalSet,
    aspect: str | None = None,
    *,
    judge: str | None = None,
    rounds: Sequence[Selection] = (),
    sampled: bool = True,
    ties: Ties | None = None,
    covariates: tuple[str, ...] = (),
    level: float = 0.95,
) -> JudgedStrengths:
    """Estimate strengths from people's votes, with a judge's votes as control variates where there are any.

    Every command that shows strengths takes them from here. The options are those of ``bradley_terry``;
    ties have a parameter of their own unless some votes are soft, and then count as half a win. Where items
    were picked and not ``sampled``, a judge's votes are of no use.
    """
    votes = people_votes(data, aspect, judge)
    frame = frame_of(data, votes)
    fitted = fit_preferences(data, as_preferences(votes), ties, covariates, rounds)
    of_judge = judge_votes(data, votes, frame, judge) if sampled else None
    if of_judge is None:
        return JudgedStrengths(fitted.result(level), votes, frame)
    fitted, worth, freedom = with_judge(fitted, votes, of_judge)
    names = of_judge.names if worth > 1.0 else ()
    return JudgedStrengths(fitted.result(level, freedom), votes, frame, names, of_judge.voted_items, worth)


def win_matrix(
    data: EvalSet,
    aspect: str | None = None,
    *,
    judge: str | None = None,
    rounds: Sequence[Selection] = (),
    sampled: bool = True,
    target: str = "population",
    alpha: float = 0.05,
) -> WinMatrix:
    """Count who won against whom, and turn it into strengths with intervals that hold."""
    if target != "population":
        raise UsageError("Strengths describe inputs like these: leave out the target, or name two models.")
    how: dict[str, Any] = {"judge": judge, "rounds": rounds, "sampled": sampled}
    found = judged_strengths(data, aspect, **how, level=round(1.0 - alpha, 12))
    votes, frame, strengths, count = found.votes, found.frame, found.strengths, len(data.models)
    wins, ties = np.zeros((2, count, count))
    np.add.at(wins, (votes.first, votes.second), np.maximum(votes.value, 0.0))
    np.add.at(wins, (votes.second, votes.first), np.maximum(-votes.value, 0.0))
    np.add.at(ties, (votes.first, votes.second), 1.0 - np.abs(votes.value))
    same = np.zeros((count, count))
    if frame.text is not None and not frame.same_are_asked:
        for model in range(count):
            same[model] = frame.same(model).sum(axis=0)
        np.fill_diagonal(same, 0.0)
    order = np.argsort(-np.nan_to_num(strengths.strengths, nan=-np.inf), kind="stable")
    square = np.ix_(order, order)
    return WinMatrix(
        models=tuple(data.models[place] for place in order),
        wins=wins[square],
        ties=(ties + ties.T + same)[square],
        strengths=strengths,
        ranking=rank_strengths(strengths, aspect=aspect or "preferences", target="population", alpha=alpha),
        same_texts=round(float(same.sum()) / 2.0),
        judge=found.judge,
        judge_items=found.judge_items,
        judge_worth=found.worth,
        position=position_bias(votes, alpha),
        notes=strengths.notes,
    )


def as_preferences(votes: VoteTable) -> Preferences:
    """Return votes as preferences."""
    columns = {name: getattr(votes, name).astype(np.int32) for name in ("item", "first", "second")}
    none = np.full(len(votes), -1, np.int32)
    return Preferences(
        **columns, value=votes.value, rater=none, aspect=none, seconds=np.full(len(votes), np.nan)
    )


def with_judge(
    fitted: FittedStrengths, votes: VoteTable, judge: JudgeVotes
) -> tuple[FittedStrengths, float, float | None]:
    """Return the fit with a judge's votes as control variates, what it is worth, and its degrees of freedom.

    ``votes`` are those that were fitted, in the same order. As they were, where the judge tells nothing.
    """
    fit, rows = fitted.fit, fitted.rows
    if fit.items < FEWEST_FOR_JUDGE:
        return fitted, 1.0, None
    usable = np.isin(votes.first, rows) & np.isin(votes.second, rows)
    part, place = votes.at(usable), np.full(judge.models, -1)
    place[rows] = np.arange(len(rows))
    # Comparisons count by their weights; one that no round drew counts 0.
    counts = fitted.compared.weight
    half, width = 0.5 * counts * judge.control(part), fit.scores.shape[1]
    weighted = np.flatnonzero(counts > 0)
    part, half, counts = part.at(weighted), half[weighted], counts[weighted]
    items, code = np.unique(part.item, return_inverse=True)
    places = [place[part.first], place[part.second]]
    control = sums_by_item(code, places, [half, -half], (len(items), width))
    strengths = fit.solve[: len(rows)]
    mean = np.asarray(control.mean(axis=0)).ravel()
    joint, of_scores = products(fit.scores, control), products(fit.scores, fit.scores)
    squares = products(control, control) - len(items) * np.outer(mean, mean)
    # Sums over items of products of influences on all strengths.
    both, own, all_scores = (
        float(np.trace(strengths @ m @ strengths.T)) for m in (joint, squares, of_scores)
    )
    gain, cost = (both**2 / (own * all_scores) if own * all_scores > 0 else 0.0), 1.0 / (len(items) - 2.0)
    freedom = fit.items - 2.0 - judge.parameters
    if both <= 0 or gain <= cost or freedom < 1:
        return fitted, 1.0, None
    slope = both / own * (gain - cost) / gain
    left = fit.scores - slope * control
    weight = np.zeros((judge.models, judge.models))
    np.add.at(weight, (part.first, part.second), counts)
    spread = judge.spread(weight + weight.T)[:, rows]
    everywhere = np.zeros((len(spread), width))
    everywhere[:, : len(rows)] = slope * 0.5 * spread
    at_items = products(left, everywhere[items])
    total = products(left, left) + at_items + at_items.T + everywhere.T @ everywhere
    total = total - len(items) * slope**2 * np.outer(mean, mean)
    covariance = len(items) / freedom * fit.solve @ total @ fit.solve.T
    moved = slope * fit.solve @ (len(items) * mean)
    before, after = (float(np.trace(m[: len(rows), : len(rows)])) for m in (fit.covariance, covariance))
    if not after < before:
        return fitted, 1.0, None
    ties = fit.log_ties - float(moved[len(rows)]) if np.isfinite(fit.log_ties) else fit.log_ties
    changed = replace(fit, strengths=fit.strengths - moved[: len(rows)], log_ties=ties, covariance=covariance)
    return replace(fitted, fit=changed), before / after, freedom
