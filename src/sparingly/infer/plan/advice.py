"""The recommendation: which method, which budget, what to expect, or that it is not worth it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from sparingly.infer.estimate.small_sample import FEWEST
from sparingly.infer.plan.outlook import Outlook, Wanted
from sparingly.infer.plan.sample_size import NEARLY_ALL

PILOT = 40
OPTIMISM = (
    "On 20 public sets people needed from 0.2 to 6 times as many items as a plan from a metric said (median "
    "1.0), and the metrics explained 4 to 62 % of the variance of people's scores."
)


@dataclass(frozen=True)
class Advice:
    """What to do.

    Attributes:
        method: The method for ``sparingly select``, as text; None where everything is to be judged.
        estimator: The estimator for ``sparingly estimate``, as text.
        budget: How many items to judge.
        aspect: What to estimate; None where nothing was judged yet.
        unit: What is drawn.
        sentences: The recommendation in words.
    """

    method: str | None
    estimator: str
    budget: int
    aspect: str | None
    unit: str
    sentences: tuple[str, ...]

    def commands(self, data: str = "DATA", selection: str = "chosen.json") -> tuple[str, ...]:
        """Return the commands to type, with the names of the files."""
        asked = "" if self.aspect is None else f" --aspect {shlex.quote(self.aspect)}"
        end = f"{asked} --estimator {shlex.quote(self.estimator)}"
        data, selection = shlex.quote(data), shlex.quote(selection)
        if self.method is None:
            return (f"sparingly estimate {data}{end}",)
        unit = " --unit document" if self.unit == "document" else ""
        draw = f"sparingly select {data} --method {shlex.quote(self.method)} --budget {self.budget}{unit}"
        if self.aspect is None:
            return (f"{draw} --out {selection}", f"sparingly plan {data} {selection}")
        return (f"{draw} --out {selection}", f"sparingly estimate {data} {selection}{end}")


def advise(outlook: Outlook, needed: int | None) -> Advice:
    """Return the recommendation."""
    if outlook.pilot.stands_in:
        return _pilot_first(outlook)
    size = outlook.pilot.size
    used = needed is not None and outlook.uses_predictions(needed)
    estimator = "greg" if used else "weighted_mean"
    method: str | None = method_text(outlook)
    why, wish = _why(outlook, needed), _wish(outlook.wanted)
    if needed is None:
        method, needed, estimator = None, size, "weighted_mean"
        first = _not_enough(outlook, wish)
    elif needed >= NEARLY_ALL * size:
        first = f"{_start(wish)} takes {needed} of {size} items: choosing is not worth it, judge all of them."
        method, needed, estimator = None, size, "weighted_mean"
    else:
        share = f"{needed} of the {size} items ({100 * needed / size:.0f} %)"
        how = f"drawn with `{method}`, and estimate with `{estimator}`"
        first = f"Judge {share}, {how}: {wish} takes that many."
    expected = "" if method is None else _expected(outlook, needed)
    sentences = tuple(sentence for sentence in (first, why, expected) if sentence)
    return Advice(method, estimator, needed, outlook.pilot.truth, outlook.wanted.unit, sentences)


def method_text(outlook: Outlook) -> str:
    """Return the method as text: spread over the metrics where they tell something, by utility if earned."""
    if not outlook.predicts or not len(outlook.pilot.data.metrics):
        return "uniform"
    told = outlook.pilot.unequal
    if not outlook.unequal or told is None or told.trial is None:
        return "local_pivotal"
    return f"local_pivotal:utility=({told.trial.utility}),tau={told.trial.tau:g}"


def _start(text: str) -> str:
    return text[:1].upper() + text[1:]


def _wish(wanted: Wanted) -> str:
    """Return what is wanted, as the subject of a sentence."""
    parts = []
    if wanted.width is not None:
        parts.append(f"a half-width of {wanted.width:g}")
    if wanted.detect is not None:
        parts.append(f"finding a difference of {wanted.detect:g} with a power of {100 * wanted.power:.0f} %")
    return " and ".join(parts) or "a chance of 90 % that the best model comes out best"


def _not_enough(outlook: Outlook, wish: str) -> str:
    """Say what all items together would tell."""
    if not (outlook.wanted.width or outlook.wanted.detect) and outlook.pilot.models < 2:
        return "There is one model, so tell which width is wanted; the table shows what a budget buys."
    size = outlook.pilot.size
    found = (
        "" if outlook.wanted.detect is None else f" judged in full they find {outlook.detectable(size):.3g}."
    )
    return f"All {size} items are too few for {wish}:{found} Add items, or settle for less."


def _why(outlook: Outlook, needed: int | None) -> str:
    """Say what the metrics are worth."""
    saving, told = outlook.pilot.saving, outlook.pilot.unequal
    if saving is None:
        return "" if not len(outlook.pilot.data.metrics) else "What the metrics are worth is not known yet."
    shares = (
        f"The metrics explain {100 * saving.scores:.0f} % of the variance of scores and "
        f"{100 * saving.differences:.0f} % of that of differences"
    )
    if not outlook.predicts:
        return f"{shares}: too little to build on, so draw uniformly and take plain means."
    if needed is not None and not outlook.uses_predictions(needed):
        return f"{shares}, but with fewer than {FEWEST} {outlook.wanted.unit}s an estimate does not use them."
    gain = ""
    if outlook.unequal and told is not None and told.trial is not None:
        left = f"left {100 * told.trial.found:.0f} % of the variance on the pilot"
        gain = f" Unequal probabilities {left}, so they have earned their place."
    return f"{shares}; an estimate that uses them needs that much fewer items.{gain}"


def _expected(outlook: Outlook, n: int) -> str:
    """Say what n judged items will tell."""
    told = outlook.precision(n)
    hours = "" if told.hours is None else f" It takes {told.hours:.1f} hours of judging."
    first = f"Expect scores within ± {told.half_width:.3g}"
    if outlook.pilot.models < 2:
        return f"{first}.{hours}"
    where = "on inputs like these" if outlook.wanted.target == "population" else "on this set"
    return (
        f"{first}, differences of {told.detectable:.3g} found {where}, and the best model to come out best "
        f"{100 * told.right_winner:.0f} % of the time.{hours}"
    )


def _pilot_first(outlook: Outlook) -> Advice:
    """Say that a pilot tells more than any metric."""
    pilot = outlook.pilot
    budget = min(PILOT, pilot.size)
    if budget >= NEARLY_ALL * pilot.size:
        first = f"The set has {pilot.size} items: judge all of them, choosing is not worth it."
        return Advice(None, "weighted_mean", pilot.size, None, "item", (first,))
    first = (
        f"Judge a pilot of {budget} items, drawn with `uniform`, and plan again with its ratings: metrics "
        "alone do not tell what they are worth."
    )
    taken = (
        f"Until then the table takes {pilot.truth} for people's scores, in its unit, and counts on no help "
        "from the other metrics."
    )
    return Advice("uniform", "weighted_mean", budget, None, "item", (first, taken, OPTIMISM))
