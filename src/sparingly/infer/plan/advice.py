"""The recommendation: how many items to judge, what to expect, what to type next."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass

from sparingly.base.format import error_text
from sparingly.choose.auto import AUTO
from sparingly.infer.estimate.small_sample import FEWEST
from sparingly.infer.plan.outlook import SURE_OF_WINNER, Outlook
from sparingly.infer.plan.quantities import chance, points, spoken
from sparingly.infer.plan.sample_size import NEARLY_ALL

PILOT = 40
# Where a plan rounds up, or nothing is printed of fewer items, more is reached than was asked for.
_CLEARLY_LESS = 0.9
OPTIMISM = (
    "On 20 public sets, people needed 0.2 to 6 times as many items as such a plan said (median 1.0), and "
    "metrics explained 4 to 62 % of the variance of people's scores."
)


@dataclass(frozen=True)
class Advice:
    """What to do.

    Attributes:
        method: The method for ``sparingly select``, ``auto`` for its default; None where everything is to be
            judged.
        estimator: What an estimate from so many items will use, as text.
        budget: How many items to judge.
        aspect: What to estimate; None where nothing was judged yet.
        unit: What is drawn.
        sentences: The recommendation in words, the answer first.
        result: The command that shows what was planned for, with its options: ``estimate`` for the width of
            intervals, ``rank`` for differences and for the best model.
    """

    method: str | None
    estimator: str
    budget: int
    aspect: str | None
    unit: str
    sentences: tuple[str, ...]
    result: tuple[str, ...] = ("estimate",)

    def commands(self, data: str = "DATA", selection: str = "chosen.json") -> tuple[str, ...]:
        """Return the commands to type, with the names of the files."""
        aspect = "" if self.aspect is None else f" --aspect {shlex.quote(self.aspect)}"
        data, selection = shlex.quote(data), shlex.quote(selection)
        result, *options = self.result
        aspect = " ".join((aspect, *options))
        if self.method is None:
            return (f"sparingly {result} {data}{aspect}",)
        method = "" if self.method == AUTO else f" --method {shlex.quote(self.method)}"
        unit = " --unit document" if self.unit == "document" else ""
        draw = f"sparingly select {data}{method} --budget {self.budget}{unit} --out {selection}"
        if self.aspect is None:
            return (draw, f"sparingly plan {data} {selection}")
        return (draw, f"sparingly {result} {data} {selection}{aspect}")


def advise(outlook: Outlook, needed: int | None) -> Advice:
    """Return the recommendation."""
    if outlook.pilot.stands_in:
        return _pilot_first(outlook)
    size, goal = outlook.pilot.size, _goal(outlook)
    if needed is None:
        first, expected = _not_enough(outlook), ""
    elif needed >= NEARLY_ALL * size:
        expected = ""
        first = f"Judge all {size} items: {needed} are needed, so sampling saves too little. {goal}."
    else:
        first = f"Judge {needed} of the {size} items ({100 * needed / size:.0f} %). {goal}."
        expected = _expected(outlook, needed)
    some = needed is not None and needed < NEARLY_ALL * size
    budget = needed if needed is not None and some else size
    uses = some and outlook.uses_predictions(budget)
    sentences = tuple(sentence for sentence in (first, expected, _why(outlook, needed)) if sentence)
    return Advice(
        AUTO if some else None,
        "greg" if uses else "weighted_mean",
        budget,
        outlook.pilot.truth,
        outlook.wanted.unit,
        sentences,
        _result(outlook),
    )


def _result(outlook: Outlook) -> tuple[str, ...]:
    """Return the command that shows what was planned for, with its options."""
    wanted = outlook.wanted
    if outlook.pilot.models < 2 or (wanted.width is not None and wanted.detect is None):
        return ("estimate",)
    return ("rank", "--target set") if wanted.target == "set" else ("rank",)


def _goal_text(goal: float, outlook: Outlook) -> str:
    """Return a half-width or a difference that was asked for: of rates in points."""
    return spoken(goal) if outlook.pilot.values.is_rate else f"{goal:.3g}"


def _expected_text(value: float, outlook: Outlook) -> str:
    """Return a half-width or a difference that is expected: of rates in points."""
    return error_text(value, is_rate=outlook.pilot.values.is_rate)


def _goal(outlook: Outlook) -> str:
    """Return what is reached, as a sentence without its full stop."""
    wanted, parts = outlook.wanted, list[str]()
    if wanted.width is not None:
        parts.append(f"scores are known to ± {_goal_text(wanted.width, outlook)}")
    if wanted.detect is not None:
        parts.append(
            f"a difference of {_goal_text(wanted.detect, outlook)} is significant with a probability of "
            f"about {points(wanted.power)}"
        )
    if not parts:
        parts.append(f"the best model comes out best with a probability of about {points(SURE_OF_WINNER)}")
    return f"Then {' and '.join(parts)}"


def _not_enough(outlook: Outlook) -> str:
    """Say what all items together would show."""
    size, wanted = outlook.pilot.size, outlook.wanted
    # All items give any width and show the winner on this set, so only a difference can be out of reach.
    if wanted.detect is None:
        return "There is one model: name the width that its interval should have."
    smallest = outlook.detectable(size)
    if not math.isfinite(smallest):
        return (
            f"All {size} items are too few: with {outlook.pilot.models} models no difference could be "
            "significant, however large. Add items, or compare fewer models."
        )
    return (
        f"All {size} items are too few: judged in full, they show differences of "
        f"{_expected_text(smallest, outlook)}, not of {_goal_text(wanted.detect, outlook)}. Add items, or "
        "ask for less."
    )


def _why(outlook: Outlook, needed: int | None) -> str:
    """Say what the metrics are worth."""
    saving = outlook.pilot.saving
    if saving is None:
        return ""
    shares = (
        f"The metrics explain {100 * saving.scores:.0f} % of the variance of scores and "
        f"{100 * saving.differences:.0f} % of that of differences"
    )
    if not outlook.predicts:
        return f"{shares}: too little to help."
    if needed is not None and not outlook.uses_predictions(needed):
        return f"{shares}, but an estimate does not use them below {FEWEST} {outlook.wanted.unit}s."
    return f"{shares}: about that much fewer labels are needed."


def _expected(outlook: Outlook, n: int) -> str:
    """Say what n judged items will show."""
    row = outlook.precision(n)
    hours = "" if row.hours is None else f" Time: {row.hours:.1f} hours."
    if outlook.pilot.models < 2:
        as_wanted = outlook.wanted.width is None or row.half_width >= _CLEARLY_LESS * outlook.wanted.width
        return hours.strip() if as_wanted else f"Expect ± {_expected_text(row.half_width, outlook)}.{hours}"
    where = "on inputs like these" if outlook.wanted.target == "population" else "on this set"
    differences = f"differences of {_expected_text(row.detectable, outlook)} to be significant {where}"
    if math.isnan(row.detectable):
        differences = f"no difference to be significant {where}"
    return (
        f"Expect scores to ± {_expected_text(row.half_width, outlook)}, {differences}, and the best model to "
        f"come out best with a probability of {chance(row.right_winner)}.{hours}"
    )


def _pilot_first(outlook: Outlook) -> Advice:
    """Recommend a pilot: it tells more than any metric."""
    pilot = outlook.pilot
    budget = min(PILOT, pilot.size)
    if budget >= NEARLY_ALL * pilot.size:
        first = f"Judge all {pilot.size} items: sampling would save too little."
        return Advice(None, "weighted_mean", pilot.size, None, "item", (first,))
    first = (
        f"Judge a pilot of {budget} random items, then plan again with its ratings: metrics alone do not "
        "show what they are worth."
    )
    rough = (
        f"Until then the table is rough: it takes {pilot.truth} for people's scores, in its unit, and counts "
        "on no help from the other metrics."
    )
    return Advice("uniform", "weighted_mean", budget, None, "item", (first, rough, OPTIMISM))
