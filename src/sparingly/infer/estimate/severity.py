"""Severity: how much higher or lower each rater scores than the others would, and how much raters vary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError
from sparingly.base.format import html_table
from sparingly.base.stats.crossed_effects import fit_crossed_effects
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.plain import plain
from sparingly.infer.estimate.rated import Rated, rated

NOISE, OUTPUT, ITEM, DOCUMENT, RATER, TASTE = (
    "noise",
    "item × model",
    "item",
    "document",
    "rater",
    "rater × model",
)
UNCONNECTED = (
    "the raters fall into {count} groups that share no item: severities across groups rest on the items "
    "having been handed out by chance."
)
ONE_RATER = "only one rater judged: nothing can be said of how others would score."
FEW = "with {count} raters, how much raters vary is little more than a guess."
MERGED = "no output was judged by two raters: the noise of a rating cannot be told from item × model."
UNKNOWN = "{count} ratings are left out because they do not say who gave them."
_FEW_RATERS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Severity:
    """How severe every rater is, and where the variance of ratings comes from.

    y_ijr = μ_j + θ_i + γ_ij + s_r + δ_rj + ε for item i, model j, rater r. A rater with a negative severity
    scores lower than the others would have scored the same outputs.

    Attributes:
        aspect: What was judged.
        raters: The raters.
        judgements: How many outputs each judged.
        severity: s_r, in points of the scale; sums to 0.
        standard_errors: Its standard errors; NaN with one rater.
        covariance: Its covariance, raters × raters.
        variances: By name, the variance that raters (s), their tastes for models (δ), items (θ), items ×
            models (γ), documents and noise (ε) add to a rating; what cannot be told is missing.
        components: Raters that are connected through items which two of them judged, largest group first.
        models: The number of models that were judged.
        notes: What to mind.
    """

    aspect: str
    raters: tuple[str, ...]
    judgements: Ints
    severity: Floats
    standard_errors: Floats
    covariance: Floats
    variances: dict[str, float]
    components: tuple[tuple[str, ...], ...]
    models: int
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        spread = np.sqrt(self.variances.get(RATER, float("nan")))
        return f"Severity({self.aspect}: {len(self.raters)} raters, standard deviation {spread:.3g})"

    def _repr_html_(self) -> str:
        columns = ("rater", "judgements", "severity", "standard error")
        rows = [
            (
                name,
                int(self.judgements[place]),
                float(self.severity[place]),
                float(self.standard_errors[place]),
            )
            for place, name in enumerate(self.raters)
        ]
        return html_table(columns, rows, repr(self), "; ".join(self.notes))

    @property
    def freedom(self) -> tuple[float, float]:
        """Degrees of freedom of the variances of severities and of tastes."""
        raters = float(len(self.raters) - 1)
        return raters, raters * max(self.models - 1, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        rows = [
            {
                "rater": name,
                "judgements": int(self.judgements[place]),
                "severity": plain(self.severity[place]),
                "standard_error": plain(self.standard_errors[place]),
            }
            for place, name in enumerate(self.raters)
        ]
        return {
            "aspect": self.aspect,
            "raters": rows,
            "variances": plain(self.variances),
            "components": [list(names) for names in self.components],
            "notes": list(self.notes),
        }


def severity(data: EvalSet, aspect: str | None = None) -> Severity:
    """Estimate how severe every rater is, and how much raters vary, from who judged what.

    Variance components by restricted maximum likelihood; severities by generalised least squares given them.
    Raters who judged the same items are compared on these; others through the items having been handed out by
    chance. It decides whether scores of different raters can be put side by side as they are, and how much
    wider the scores' intervals must be (``with_rater_errors``).

    Args:
        data: The evaluation set with its ratings.
        aspect: What was judged; the only one unless given.

    Examples:
        >>> import sparingly
        >>> found = sparingly.severity(sparingly.load_demo(), "overall")
        >>> found.raters[int(found.severity.argmin())], round(float(found.severity.min()), 1)
        ('Dana', -4.2)
    """
    held = rated(data, aspect)
    components = connected(held)
    notes = _notes(held, components)
    models = np.unique(held.model, return_inverse=True)[1].astype(np.int64)
    count = int(models.max()) + 1
    if len(held.raters) < 2:
        nothing = np.full((1, 1), np.nan)
        known = (held.aspect, held.raters, held.judgements, np.zeros(1), nothing[0], nothing)
        return Severity(*known, {}, components, count, notes)
    names, nested = _nested(held, data)
    taste = _has_taste(held)
    if len(held) < count + len(held.raters) + len(names) + 2:
        raise DataError(
            f'{len(held)} ratings of "{held.aspect}" by {len(held.raters)} raters are too few to tell how '
            "severe they are."
        )
    found = fit_crossed_effects(held.score, models, held.rater, nested, taste=taste)
    variances = {RATER: found.rater, **({TASTE: found.taste} if taste else {})}
    variances |= {**dict(zip(names, found.nested, strict=True)), NOISE: found.noise}
    return Severity(
        aspect=held.aspect,
        raters=held.raters,
        judgements=held.judgements,
        severity=found.severity,
        standard_errors=np.sqrt(np.maximum(np.diag(found.severity_covariance), 0.0)),
        covariance=found.severity_covariance,
        variances=variances,
        components=components,
        models=count,
        notes=notes,
    )


def connected(held: Rated) -> tuple[tuple[str, ...], ...]:
    """Return the groups of raters that are connected through items which two of them judged."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    items = np.unique(held.item, return_inverse=True)[1]
    shape = (len(held.raters), int(items.max()) + 1)
    judged = csr_array((np.ones(len(held)), (held.rater, items)), shape=shape)
    count, label = connected_components(judged @ judged.T, directed=False)
    groups = [
        tuple(name for name, own in zip(held.raters, label, strict=True) if own == one)
        for one in range(count)
    ]
    return tuple(sorted(groups, key=lambda names: (-len(names), names)))


def _nested(held: Rated, data: EvalSet) -> tuple[list[str], list[Ints]]:
    """Return the nested effects that the ratings can tell apart, from the innermost."""
    names: list[str] = []
    codes: list[Ints] = []
    several = len(np.unique(held.model)) > 1
    if several and (held.per_cell > 1).any():
        names, codes = [OUTPUT], [held.cell]
    if np.bincount(held.item).max() > 1:
        names, codes = [*names, ITEM], [*codes, held.item]
    if fields.DOCUMENT in data.columns:
        labels = data.columns[fields.DOCUMENT]
        # An item without a document is one by itself.
        own = [f"item {row}" if labels[row] is None else f"document {labels[row]}" for row in held.item]
        document = np.unique(own, return_inverse=True)[1].astype(np.int64)
        items = len(np.unique(held.item))
        if 1 < int(document.max()) + 1 < items:
            names, codes = [*names, DOCUMENT], [*codes, document]
    return names, codes


def _has_taste(held: Rated) -> bool:
    """Say whether a rater judged several outputs of a model, so that a taste can be told from noise."""
    liked = held.rater * (int(held.model.max()) + 1) + held.model
    return len(np.unique(held.model)) > 1 and int(np.bincount(liked).max()) > 1


def _notes(held: Rated, components: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    notes = [UNKNOWN.format(count=held.of_unknown)] if held.of_unknown else []
    raters = len(held.raters)
    if raters == 1:
        return (*notes, ONE_RATER)
    if len(components) > 1:
        notes.append(UNCONNECTED.format(count=len(components)))
    if raters < _FEW_RATERS:
        notes.append(FEW.format(count=raters))
    if not (held.per_cell > 1).any():
        notes.append(MERGED)
    return tuple(notes)
