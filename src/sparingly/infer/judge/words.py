"""An audit in sentences: the answer first, then how the judge errs, and what it saves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparingly.base.errors import listing
from sparingly.base.format import counted, decimal_text, decimals_for, number_text, p_text
from sparingly.infer.judge.error_rates import Rate

if TYPE_CHECKING:
    from sparingly.infer.judge.agreement import PairCoefficients
    from sparingly.infer.judge.audit import JudgeAudit
    from sparingly.infer.judge.bias import JudgeBias, JudgeError

# A judge that hardly errs is worth so many labels or more: how many more, few labels cannot say.
_MOST = 1000
# A plan that needs more than this share of the labels says nothing of what is saved.
_SAVES = 0.97
NO_LABEL = (
    "No label is a {kind}, so how the judge treats such answers is unknown: label more, drawn with "
    "sparingly select DATA --question judge."
)


def percent_text(value: float, rounding: Callable[[float], float] = round) -> str:
    """Return a share in whole percent, without the sign; under 1 and over 99 with one decimal."""
    scaled = 100.0 * value
    if 0.0 < scaled < 1.0 or 99.0 < scaled < 100.0:
        return f"{rounding(10.0 * scaled + _slack(rounding)) / 10.0 + 0.0:g}"
    return f"{rounding(scaled + _slack(rounding)) + 0.0:.0f}"


def _slack(rounding: Callable[[float], float]) -> float:
    """Return what keeps a whole number whole when it is rounded down or up."""
    return 1e-9 if rounding is math.floor else -1e-9 if rounding is math.ceil else 0.0


def _decimals(rate: Rate) -> int | None:
    """Return the decimals of a number with its interval: a quarter of it is about a standard error."""
    return decimals_for([(rate.high - rate.low) / 4.0])


@dataclass(frozen=True)
class AuditNumbers:
    """How scores of an audit are written: rates in percent and points, others as numbers."""

    is_rate: bool

    def value(self, score: float) -> str:
        """Return a score."""
        return f"{percent_text(score)} %" if self.is_rate else number_text(score, 3)

    def with_ends(self, rate: Rate) -> str:
        """Return a score with its interval, both with the same decimals."""
        ends = self.ends(rate)
        if self.is_rate or not ends:
            return f"{self.value(rate.value)}{ends}"
        return f"{decimal_text(rate.value, _decimals(rate))}{ends}"

    def ends(self, rate: Rate) -> str:
        """Return an interval behind a space, rounded outwards; nothing where there is none, or no error."""
        if not (math.isfinite(rate.low) and math.isfinite(rate.high)) or rate.low == rate.high:
            return ""
        if self.is_rate:
            return f" [{percent_text(rate.low, math.floor)}, {percent_text(rate.high, math.ceil)}]"
        decimals = _decimals(rate)
        return f" [{decimal_text(rate.low, decimals)}, {decimal_text(rate.high, decimals)}]"

    def difference(self, rate: Rate, *, signed: bool = False) -> str:
        """Return how far scores differ, with its interval; without the sign, unless it is asked for."""
        sign = 1.0 if signed or rate.value >= 0 else -1.0
        low, high = sorted((sign * rate.low, sign * rate.high))
        number = f"{'+' if signed else ''}.{0 if self.is_rate else 2}{'f' if self.is_rate else 'g'}"
        if not self.is_rate and low < high:
            number = f"{'+' if signed else ''}.{_decimals(rate)}f"
        times = 100.0 if self.is_rate else 1.0
        ends = f" [{times * low:{number}}, {times * high:{number}}]" if low < high else ""
        return f"{sign * times * rate.value:{number}}{' points' if self.is_rate else ''}{ends}"

    def points(self, width: float) -> str:
        """Return a half-width."""
        return f"{100 * width:.3g} points" if self.is_rate else number_text(width, 3)


def answer(audit: JudgeAudit) -> tuple[str, ...]:
    """Return the answer: the true score, what the judge says, how it errs, and what it saves."""
    sentences = (true_score(audit), how_it_errs(audit), what_it_saves(audit))
    return tuple(sentence for sentence in sentences if sentence)


def true_score(audit: JudgeAudit) -> str:
    """Say what the true score is, and what the judge says."""
    words, found = audit.words, audit.estimate
    noun = "pass rate" if audit.is_rate else f"mean of {audit.aspect}"
    if audit.corrected is not None:
        score = words.with_ends(audit.corrected.score)
        says = words.value(audit.judge_mean)
        return f"True {noun} {score}, if it errs here as it does elsewhere. {audit.judge} says {says}."
    if found is None:
        return ""
    places = [place for place in found.order if found.models[place] in audit.judge_means]
    scores = [Rate(float(found.scores[at]), float(found.low[at]), float(found.high[at])) for at in places]
    means = [words.value(audit.judge_means[found.models[at]]) for at in places]
    says = (
        ""
        if audit.level_unknown
        else f" {audit.judge} says {' and '.join((means[-1], means[0])[-len(places) :])}."
    )
    if len(places) == 1:
        return f"True {noun} {words.with_ends(scores[0])}.{says}"
    best, worst = found.models[places[0]], found.models[places[-1]]
    return (
        f"True {noun} of {len(places)} models: from {words.with_ends(scores[-1])} ({worst}) to "
        f"{words.with_ends(scores[0])} ({best}).{says}"
    )


def how_it_errs(audit: JudgeAudit) -> str:
    """Say how often it passes bad answers and fails good ones, or how its grades lie beside people's."""
    words, rates, line = audit.words, audit.rates, audit.line
    if rates is not None:
        if not rates.passed or not rates.failed:
            every = "passes" if rates.passed else "fails"
            return f"It {every} everything, so it cannot distinguish good answers from bad ones."
        share = AuditNumbers(is_rate=True)
        parts = [
            f"{verb} {share.with_ends(rate)} of {whom}"
            for verb, rate, whom in (
                ("passes", rates.passes_bad, "bad answers"),
                ("fails", rates.fails_good, "good ones"),
            )
            if math.isfinite(rate.value)
        ]
        for kind, row in zip(("pass", "fail"), rates.table, strict=True):
            if not sum(row):
                known = f"It {parts[0].replace('good ones', 'good answers')}. " if parts else ""
                return f"{known}{NO_LABEL.format(kind=kind)}"
        return f"It {' and '.join(parts)}."
    if line is None or not math.isfinite(line.slope.value):
        return "It gives every labelled output the same score, so it cannot be used."
    level = f"scores {words.difference(line.shift)} {'above' if line.shift.value > 0 else 'below'} people"
    if not (line.shift.low > 0 or line.shift.high < 0):
        level = "is level with people on average"
    slope = AuditNumbers(is_rate=False).with_ends(line.slope)
    by = f"Where {audit.judge} is 1 higher, people's score is {slope} higher"
    if audit.level_unknown:
        return f"{by} (after giving it people's mean and spread)."
    return f"It {level}. {by}."


def what_it_saves(audit: JudgeAudit) -> str:
    """Say what 100 labels are worth with it, and how many labels a rounder interval takes."""
    worth, needed = audit.worth, audit.needed
    own = next((line.worth for line in audit.judges if line.judge == audit.judge), None)
    if worth is None or own is None:
        return ""
    if round(max(own.value, worth.value)) <= 100:
        return "With it, labels are worth no more than without: it explains nothing of unseen labels."
    text = f"With it, 100 labels are worth {'about ' if own.value <= _MOST else ''}{worth_text(own)}"
    if audit.metrics > 1:
        text += f", with all {audit.metrics} metrics {worth_text(worth)}"
    if needed is None or needed.with_judge is None or needed.without is None:
        return f"{text}."
    noun = "labels" if len(audit.judge_means) == 1 else "labelled items"
    width, them = audit.words.points(needed.width), "the judge" if audit.metrics == 1 else "them"
    if needed.with_judge > _SAVES * needed.without:
        # Counts are exact only to a few labels, since intervals of a set are of whole outputs.
        return (
            f"{text}; but for ±{width} on this set you need about {needed.without:,} {noun} "
            "with or without it."
        )
    return (
        f"{text}: for ±{width} you need about {needed.with_judge:,} {noun} with {them}, "
        f"{needed.without:,} without."
    )


def worth_text(worth: Rate) -> str:
    """Return what 100 labels are worth, with its interval."""
    if worth.value > _MOST:
        return f"over {_MOST:,}"
    ends = f" [{worth.low:.0f}, {min(worth.high, _MOST):.0f}]" if worth.low < worth.high else ""
    return f"{worth.value:.0f}{ends}"


def biases(audit: JudgeAudit, most: int = 4) -> tuple[str, ...]:
    """Say which biases hold after correction, how many were tried, and by what."""
    if not audit.biases:
        return ()
    tests = counted(len(audit.biases), "test")
    significant = audit.significant
    if not significant:
        factors = listing(dict.fromkeys(bias.factor for bias in audit.biases))
        return (f"No bias found by {factors} ({tests}, Holm-corrected).",)
    sentences = [f"- {bias_text(audit, bias)}" for bias in significant[:most]]
    if (hidden := len(significant) - len(sentences)) > 0:
        sentences.append(f"- and {hidden} more (-v)")
    return (f"Biases that hold after correction (Holm, {tests}):", *sentences)


def bias_text(audit: JudgeAudit, bias: JudgeBias, *, short: bool = False) -> str:
    """Return one bias in words: the judge's score less people's, beside the rest; or its size."""
    words = AuditNumbers(is_rate=True) if bias.factor == "position" else audit.words
    effect = Rate(bias.effect, bias.low, bias.high)
    if short:
        return words.difference(effect, signed=True)
    size, kind = words.difference(effect), bias.effect > 0
    if bias.factor == "position":
        return f"What comes {'first' if kind else 'second'} wins {size} more often; {p_text(bias.corrected)}."
    what = "long outputs" if bias.factor == "length" else f"{bias.factor} {bias.level}"
    rest = "short ones (third against first quartile)" if bias.factor == "length" else "the rest"
    tone = ("kinder to", "to") if kind else ("stricter on", "on")
    return f"It is {tone[0]} {what} than {tone[1]} {rest}: {size}; {p_text(bias.corrected)}."


def agreement_text(audit: JudgeAudit) -> str:
    """Say how well the judge agrees with people, beside what two people reach with each other."""
    found = audit.agreement
    text = f"Agreement with labels: {_coefficients(found.labels)}."
    if found.judge_and_person is None or found.two_people is None:
        return text
    return (
        f"{text} With one person on {found.two_people.outputs} outputs that several judged: "
        f"{_coefficients(found.judge_and_person)}; two people reach {_coefficients(found.two_people)}."
    )


def _coefficients(pair: PairCoefficients) -> str:
    parts = [("κ", pair.kappa), ("AC1", pair.ac1), ("correlation", pair.correlation)]
    return (
        ", ".join(
            f"{name} {number_text(round(rate.value, 2), 2)}"
            for name, rate in parts
            if rate is not None and math.isfinite(rate.value)
        )
        or "undefined, since one of them never varies"
    )


def alternative_text(audit: JudgeAudit) -> str:
    """Say whether the judge may stand in for a person, where enough people judged."""
    test = audit.alternative
    if test is None:
        return ""
    verdict = "may" if test.passes else "may not"
    rates = (
        f"winning rate ω {number_text(test.winning_rate, 2)}, advantage ρ {number_text(test.advantage, 2)}"
    )
    return (
        f"It {verdict} replace a person: {rates} beside {test.people} people "
        f"(ω of one half is needed, ε = {number_text(test.epsilon)})."
    )


# --- tables ---

_LONGEST = 300


def band_rows(audit: JudgeAudit) -> list[tuple[str, str, str]]:
    """Return where the judge gives this or that: its scores, how many labels, and what people give."""
    if audit.line is None:
        return []
    bands = audit.line.bands
    decimals = decimals_for([(bands[-1].high - bands[0].low) / 25.0])
    return [
        (
            " to ".join(dict.fromkeys(decimal_text(end, decimals, 3) for end in (band.low, band.high))),
            str(band.labels),
            audit.words.with_ends(band.people),
        )
        for band in audit.line.bands
    ]


def error_row(audit: JudgeAudit, error: JudgeError) -> tuple[str, str, str, str]:
    """Return of an error which output it is, how the judge errs, and both scores."""
    verdict = "higher than people" if error.judge_is_higher else "lower than people"
    if audit.rates is not None:
        verdict = "passed, people failed it" if error.judge_is_higher else "failed, people passed it"
    name = f"{error.item}, {error.model}" if len(audit.judge_means) > 1 else error.item
    return name, verdict, number_text(error.judge, 3), number_text(error.people, 3)


def short(text: str) -> str:
    """Return a text in one line, cut where it is long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"
