"""Probability designs and what they have in common; ``uniform``, ``pivotal`` and ``systematic``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.checks import check_names
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.rng import round_to_range
from sparingly.base.syntax import argument
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_cube, draw_local_pivotal, draw_pivotal, draw_systematic
from sparingly.choose.design.probability import (
    FEWEST,
    PilotEvidence,
    Spend,
    affordable_probabilities,
    greatest_cost,
    inclusion_probabilities,
    sizes_of,
    tau_from_pilot,
)
from sparingly.choose.design.selector import (
    COST_HELP,
    Chosen,
    Selector,
    amount_text,
    chances_note,
    cost_columns,
    cost_to_count,
    file_stamp,
    remembered,
    unit_fields,
    units_of,
)
from sparingly.choose.design.units import (
    Units,
    random_order,
    rows_with_same_outputs,
    skipped_note,
)
from sparingly.choose.design.variables import (
    METRICS,
    Space,
    column_labels,
    column_numbers,
    field_of,
    has_documents,
    importance,
    indicators,
    is_column,
    item_numbers,
    metric_points,
    principal,
    resolve_names,
    scores_of,
    text_points,
    with_documents,
    with_means,
)
from sparingly.choose.utility.base import Utility
from sparingly.choose.utility.residual_size import ResidualSize
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.cost import item_costs
from sparingly.signals.embed.evalset import EMBEDDING_HELP, embedding_fields
from sparingly.signals.length import SOURCE_LENGTH

VOUCHED_TAU = 0.5
PILOT = "pilot"
UNIFORM_PILOT = "taken for a uniform sample"
RANDOM, BY_UTILITY = "random", "utility"
_WELL_SPENT = 0.8


# How large every candidate item counts, the utilities of all items, and what to say of them.
Sizes = tuple[Floats, Floats | None, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Frame:
    """What a draw is made from."""

    data: EvalSet  # as far as the design reads it
    units: Units
    chances: Floats  # the inclusion probability of every unit
    charges: Floats | None = None  # what the budget counts of every unit; None where that is the same for all

    @property
    def count(self) -> int:
        """The number of units that are drawn."""
        return round(float(self.chances.sum()))

    def dearest_first(self, generator: np.random.Generator) -> Ints | None:
        """Return the units sorted by charge, equal ones at random; None where all are the same."""
        if self.charges is None:
            return None
        return np.lexsort((generator.permutation(len(self.charges)), -self.charges))


@dataclass(frozen=True, kw_only=True)
class DrawDesign(Selector):
    """A design that draws units with known inclusion probabilities, so that scores can be estimated."""

    kind: ClassVar[str] = "design"
    how: ClassVar[str] = "drawn"
    # Whether the draw goes along the costs where these differ (see ``greatest_cost``), or keeps them in steps
    in_order_of_cost: ClassVar[bool] = True

    unit: Literal["item", "document"] = parameter("item", "what is drawn: items or whole documents")
    cost: str | None = parameter(None, COST_HELP)
    spend: Spend = parameter(  # noqa: RUF009 - a field
        "at_most", "where units differ in cost or size: the budget holds for every draw, or on average"
    )
    same_outputs: Literal["keep", "skip"] = parameter(
        "keep",
        "skip: never draw items on which all models wrote the same; then only differences are estimated",
    )

    @abstractmethod
    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Take units, each with its probability, as many as the probabilities add up to."""

    def sizes(self, data: EvalSet, units: Units) -> Sizes:
        """Return how large the candidate items count; all the same unless a design says otherwise."""
        return np.ones(len(units.rows)), None, ()

    def probabilities(self, sizes: Floats, charges: Floats | None, limit: float) -> Floats:
        """Return the inclusion probabilities of units by their sizes, under a number or a charge."""
        if charges is None:
            return inclusion_probabilities(sizes, limit, **self._shares)
        return affordable_probabilities(
            sizes, charges, limit, **self._shares, spend=self.spend, in_order=self.in_order_of_cost
        )

    @property
    def _shares(self) -> dict[str, Any]:
        """The share of the probabilities that goes by size, tau, and where they end."""
        return {"tau": 0.0}

    def greatest(self, frame: Frame, charges: Floats) -> float:
        """Return the most that a draw can count against the budget."""
        return greatest_cost(frame.chances, charges, in_order=self.in_order_of_cost)

    def remarks(self, frame: Frame) -> tuple[str, ...]:
        """Return what else there is to say of a draw."""
        return ()

    def coordinates(self, data: EvalSet) -> Floats | None:
        """Return where the items lie in the space over which the draw is spread; None for other draws."""
        return None

    def balance_variables(self, data: EvalSet) -> Floats | None:
        """Return the variables of the items whose totals the draw matches; None for other draws."""
        return None

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the cost."""
        return replace(self, cost=cost_to_count(data, budget, self.cost))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the columns of the documents and the costs."""
        outputs = {"outputs"} if self.same_outputs == "skip" else set()
        return unit_fields(data, self.unit, self.cost) | (outputs & set(data.fields))

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw units and tell their probabilities."""
        skipped = rows_with_same_outputs(data, candidates) if self.same_outputs == "skip" else None
        if skipped is not None:
            candidates = np.setdiff1d(candidates, skipped)
        units = units_of(data, candidates, self.unit)
        costs, cost_unit = (None, "") if self.cost is None else item_costs(data, self.cost)
        sizes, utility, size_notes = self.sizes(data, units)
        # What the budget counts of every unit; None where it counts one each.
        charges = None if units.are_items else units.sizes
        if budget.kind == "cost":
            if costs is None:
                raise UsageError(
                    f"A cost budget needs costs: add {argument('cost', 'length')}, or name a column."
                )
            charges = units.total(costs[units.rows])
        limit = budget.limit_of(len(units.rows) if charges is None else float(charges.sum()))
        # Residuals of a document's items are taken for independent: their squares add up.
        of_unit = sizes if units.are_items else np.sqrt(units.total(sizes**2))
        chances = self.probabilities(of_unit, charges, limit)
        even = charges is None or float(np.ptp(charges)) == 0.0
        frame = Frame(data, units, chances, None if even else charges)
        chosen = np.flatnonzero(self.draw(frame, rng.generator(seed, self.name)))
        chosen = chosen[random_order(units.keys_at(chosen), seed)]
        rows, lengths = units.rows_of(chosen), units.sizes[chosen].astype(np.int64)
        charge_unit = cost_unit if budget.kind == "cost" else "items"
        names = None if units.are_items else np.array(list(units.names), object)[chosen]
        return Chosen(
            rows=rows,
            utility=None if utility is None else utility[rows],
            probability=np.repeat(chances[chosen], lengths),
            unit=None if names is None else np.repeat(names, lengths),
            reason=self.how,
            same_outputs=skipped,
            notes=(
                *(() if skipped is None else (skipped_note(len(skipped)),)),
                self._chances_note(chances),
                *size_notes,
                *self._spent_note(frame, limit, charge_unit),
                *self.remarks(frame),
            ),
            **cost_columns(costs, cost_unit, rows, candidates),
        )

    def _chances_note(self, chances: Floats) -> str:
        return chances_note(chances, self.unit)

    def _spent_note(self, frame: Frame, limit: float, charge_unit: str) -> tuple[str, ...]:
        """Return a note on what the draw takes of the budget on average and at most."""
        if frame.charges is None:
            return ()
        maximum, expected = self.greatest(frame, frame.charges), float(frame.charges @ frame.chances)
        # A bound on a number of items need not be a whole number, but they are.
        maximum = float(np.floor(maximum + 1e-9)) if charge_unit == "items" else maximum
        mean, top, budget = (amount_text(amount, charge_unit) for amount in (expected, maximum, limit))
        noun = " items" if charge_unit == "items" else ""
        more = ""
        if maximum > limit * (1 + 1e-9):
            more = ", so the budget can be overspent by chance"
        elif expected < _WELL_SPENT * limit:
            more = "; spend=on_average takes more, and can overspend"
        return (f"a draw like this takes {mean}{noun} on average and at most {top} of the {budget}{more}.",)


@dataclass(frozen=True, kw_only=True)
class ProbabilityDesign(DrawDesign):
    """A probability design whose units may be drawn with unequal probabilities, by a utility."""

    needs: ClassVar[tuple[str, ...]] = ("what its utility needs",)

    utility: Utility | None = parameter(  # noqa: RUF009 - a field
        None, "what makes an item more likely to be drawn"
    )
    tau: float | Literal["pilot"] | None = parameter(
        None,
        "how much the utility counts; 0.5 with a utility or weights, else 0, unless given; pilot: as much "
        "as the ratings in the data support",
        minimum=0.0,
    )
    pilot: ResidualSize | None = parameter(  # noqa: RUF009 - a field
        None, "with tau=pilot: how residuals are learned from ratings; default: residual_size"
    )
    floor: float = parameter(0.0, "the least probability of any unit", minimum=0.0)
    cap: float = parameter(1.0, "the largest probability of any unit", minimum=0.0)
    weights: str | None = parameter(None, "a column of importance: it multiplies the utility")

    def __post_init__(self) -> None:
        super().__post_init__()
        tau = self.tau
        if isinstance(tau, float | int) and not 0.0 <= tau <= 1.0:
            raise UsageError(
                f"tau is a share from 0 (equal probabilities) to 1 (utility alone), not {tau:g}."
            )
        if tau and self.utility is None and self.weights is None:
            value = tau if tau == PILOT else f"{tau:g}"
            raise UsageError(f"tau={value} has no effect: name a utility=(…) or weights=, or leave tau out.")
        if self.pilot is not None and not isinstance(self.pilot, ResidualSize):
            raise UsageError("The pilot of a design is a residual_size: pilot=(residual_size:aspect=…).")
        if self.pilot is not None and tau is None:
            raise UsageError("A pilot is used for tau only with tau=pilot: add it.")

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the utility, tau and the cost."""
        utility, pilot = None if self.utility is None else self.utility.resolve(data), self.pilot
        if pilot is None and self.tau == PILOT:
            pilot = self.utility if isinstance(self.utility, ResidualSize) else ResidualSize()
        pilot = None if pilot is None else pilot.resolve(data)
        resolved = replace(super().resolve(data, budget), utility=utility, pilot=pilot)
        tau = resolved.pilot_evidence(data).tau if self.tau == PILOT else self._resolved_tau
        return replace(resolved, tau=tau)

    @property
    def _resolved_tau(self) -> float:
        if self.tau is None:
            return 0.0 if self.utility is None and self.weights is None else VOUCHED_TAU
        if isinstance(self.tau, str):
            raise UsageError("tau=pilot is a number only after the design has seen the ratings: resolve it.")
        return self.tau

    def pilot_evidence(self, data: EvalSet) -> PilotEvidence:
        """Return what the ratings of a pilot say of the probabilities of this design, item by item."""
        if self.pilot is None:
            raise UsageError("This design has no pilot: name one with pilot=(residual_size).")
        count = self.pilot.judged(data)
        if count < FEWEST:
            return PilotEvidence(0.0, count, 0.0, 0.0, np.zeros(count), np.ones(count))
        residuals = self.pilot.residuals(data)
        weights = np.ones(len(data)) if self.weights is None else importance(data, self.weights)
        sizes = weights if self.utility is None else weights * sizes_of(self.utility.values(data))
        squares = residuals.own * weights[residuals.rows] ** 2 / self.pilot.chances(data)[residuals.rows]
        return tau_from_pilot(squares, (sizes / sizes.mean())[residuals.rows], residuals.within)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the utility and the pilot read, and the columns of weights, documents and costs."""
        parts = [part.reads(data) for part in (self.utility, self.pilot) if part is not None]
        if self.weights is not None:
            parts.append(frozenset({fields.column(self.weights)} & set(data.fields)))
        return super().reads(data).union(*parts)

    def sizes(self, data: EvalSet, units: Units) -> Sizes:
        """Return the utilities of the candidate items as sizes, times their importance."""
        weights = np.ones(len(data)) if self.weights is None else importance(data, self.weights)
        weights, notes = weights[units.rows], tuple[str, ...]()
        if self.pilot is not None:
            pilot_design = UNIFORM_PILOT if self.pilot.probability is None else "with the probabilities given"
            notes = (self.pilot_evidence(data).note(self._resolved_tau, pilot_design),)
        if self.utility is None:
            return weights, None, notes
        utility = np.asarray(self.utility.values(data), np.float64)
        inside = utility[units.rows]
        sizes = sizes_of(inside)
        unknown = int(np.isnan(inside).sum())
        if unknown:
            notes += (f"{unknown} of {len(inside)} items have no utility and count as average.",)
        if np.ptp(sizes) == 0.0:
            notes += ("all utilities are equal, so they make nothing likelier to be drawn.",)
        return sizes * weights, utility, notes

    @property
    def _shares(self) -> dict[str, Any]:
        return {"tau": self._resolved_tau, "floor": self.floor, "cap": self.cap}

    def _chances_note(self, chances: Floats) -> str:
        return f"tau {self._resolved_tau:g}: {super()._chances_note(chances)}"


@register("uniform")
@dataclass(frozen=True)
class Uniform(DrawDesign):
    """Draws items (or documents) with equal probabilities, also under a cost.

    π_i = n / N, and a simple random sample of n units. Where units differ in what the budget counts of them
    (costs, or documents of different sizes), n is as large as the budget surely affords, and the units meet
    in the order of their costs, so that each sample gets its share of expensive and cheap ones.

    Choose it when nothing is known about the items: scores are unbiased and intervals
    exact. ``random`` is the baseline that takes until the budget is spent, and then knows no probabilities.
    """

    reference: ClassVar[str] = "Cochran 1977, chapter 2; Deville and Tillé 1998 where costs differ"
    how: ClassVar[str] = "drawn uniformly"

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw a simple random sample, or along the charges where these differ."""
        if frame.charges is not None:
            return draw_pivotal(frame.chances, generator, frame.dearest_first(generator))
        chosen = np.zeros(len(frame.chances), bool)
        chosen[generator.permutation(len(chosen))[: frame.count]] = True
        return chosen


@register("pivotal")
@dataclass(frozen=True)
class Pivotal(ProbabilityDesign):
    """Draws a fixed number of units, with a higher known probability for a higher utility.

    π_i = min(1, (1 − τ)·n/N + τ·κ·u_i), κ such that Σ_i π_i = n; with costs u_i/√c_i and a budget that no
    draw exceeds. Units meet in random order; in each meeting one of the two is taken or left for good, and
    the other goes on with what remains.

    Choose it for informative items *and* unbiased scores. If the utility does
    not know where the models' scores vary, a uniform sample is better.
    """

    reference: ClassVar[str] = "Deville and Tillé 1998; Chauvet 2012"
    how: ClassVar[str] = "drawn by the pivotal method"

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw in random order, or along the charges where these differ."""
        return draw_pivotal(frame.chances, generator, frame.dearest_first(generator))


@register("systematic")
@dataclass(frozen=True)
class Systematic(ProbabilityDesign):
    """Draws every k-th unit along a list that is sorted (or shuffled), from a random start.

    With V_k the running sum of π along the list and one uniform u, unit k is taken when the interval
    (V_{k−1}, V_k] holds u + m = a whole step; π_i as for all designs. Sorted by something that goes with the
    scores, every stretch of the list gets its share. Under a cost the list is sorted by cost, unless another
    order is asked for; then the budget can be overspent by chance.

    Choose it for a sample that is spread along one thing: length, a metric, the order of the collection.
    Beware of lists with a period, and of its variance, which cannot be estimated without assumptions.
    """

    reference: ClassVar[str] = "Madow 1949"
    how: ClassVar[str] = "drawn in equal steps along a list"
    needs: ClassVar[tuple[str, ...]] = ("what its utility and order need",)

    order: str = parameter(
        RANDOM, "random, or what the list is sorted by: utility, a metric, a column, a length"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the order of the list."""
        if self.order == BY_UTILITY and self.utility is None:
            raise UsageError("order=utility needs a utility: name one with utility=(…).")
        resolved = super().resolve(data, budget)
        if self.order in (RANDOM, BY_UTILITY):
            return resolved
        return replace(resolved, order=resolve_names(data, [self.order])[0])

    def greatest(self, frame: Frame, charges: Floats) -> float:
        """Return the most that a draw can cost: a list in another order may give the dearest units."""
        if self.order == RANDOM:
            return super().greatest(frame, charges)
        return float(np.sort(charges)[::-1][: frame.count].sum())

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the probabilities need, and what the list is sorted by."""
        by_name = () if self.order in (RANDOM, BY_UTILITY) else (field_of(data, self.order),)
        return super().reads(data) | (frozenset(by_name) & set(data.fields))

    def coordinates(self, data: EvalSet) -> Floats | None:
        """Return what the list is sorted by, as one dimension; None for a shuffled list."""
        if self.order == RANDOM:
            return None
        if self.order == BY_UTILITY:
            values = None if self.utility is None else self.utility.values(data)
        else:
            values = item_numbers(data, self.order)
            if values is None:
                # Texts stand at their places in alphabetical order.
                labels = column_labels(data, self.order).astype(str)
                values = np.unique(labels, return_inverse=True)[1].astype(np.float64)
        return None if values is None else with_means(np.asarray(values, np.float64)[:, None])

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw along the list."""
        places = self.coordinates(frame.data)
        if places is None:
            return draw_systematic(frame.chances, generator, frame.dearest_first(generator))
        keys = round_to_range(frame.units.mean(places[frame.units.rows, 0]))
        order = np.lexsort((generator.permutation(len(keys)), keys))
        return draw_systematic(frame.chances, generator, order)


# --- probability designs that spread or balance the sample: ``local_pivotal`` and ``cube`` ---


@register("local_pivotal")
@dataclass(frozen=True)
class LocalPivotal(ProbabilityDesign):
    """Draws units spread over a space, so that near ones are rarely both drawn, with known probabilities.

    π_i = min(1, (1 − τ)·n/N + τ·κ·u_i) as for ``pivotal``, but nearest neighbours meet. Points are the
    models' metric scores (standardised), embeddings of the sources, mean embeddings of the outputs, or the
    distances between outputs, in the ``dimensions`` directions in which they vary most; where there are
    documents, their items lie together. A drawn document lies at the mean of its items. Under a cost three
    neighbours meet, and no draw exceeds the budget.

    Choose it for varied items and unbiased scores. It helps as far as near items score alike; otherwise it is
    as good as ``pivotal``.
    """

    reference: ClassVar[str] = "Grafström, Lundström and Schelin 2012; Grafström and Tillé 2013 with costs"
    how: ClassVar[str] = "drawn by the local pivotal method"
    in_order_of_cost: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("what its space and utility need",)

    space: Space = parameter("metrics", "what items are near in")  # noqa: RUF009 - a field
    metrics: tuple[str, ...] = parameter((), "with space=metrics: the metrics; default: all")
    embedding: str = parameter("tfidf", EMBEDDING_HELP)
    dimensions: int = parameter(5, "how many directions are used; more is slower", minimum=1)
    documents: bool | None = parameter(
        None, "whether items of a document are near, too; default: yes where documents have several"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the metrics and the documents."""
        are_shared = has_documents(data)
        if self.documents and not are_shared:
            raise MissingDataError(
                "No document has several items, so none can be near: leave out documents=true."
            )
        if self.documents and self.unit == "document":
            raise UsageError("With unit=document whole documents are drawn: leave out documents=true.")
        documents = are_shared and self.unit == "item" if self.documents is None else self.documents
        resolved = replace(super().resolve(data, budget), documents=documents)
        if self.space != "metrics":
            return resolved
        check_names("metric", self.metrics, data.metrics)
        if not len(data.metrics):
            raise MissingDataError(
                "The space of metrics needs metrics, and the evaluation set has none. Name another space: "
                "space=source or space=output_mean."
            )
        return replace(resolved, metrics=self.metrics or tuple(data.metrics))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the probabilities need, and the metrics or texts of the space."""
        if self.space == "metrics":
            metric_fields = frozenset(map(fields.metric, self.metrics))
        else:
            metric_fields = embedding_fields(self.embedding, outputs=self.space != "source")
        document_fields = {fields.column(fields.DOCUMENT)} if self.documents else set()
        return super().reads(data) | metric_fields | document_fields

    def coordinates(self, data: EvalSet) -> Floats:
        """Return where the items lie (items × dimensions)."""

        def compute() -> Floats:
            if self.space == "metrics":
                points = metric_points(data, self.metrics or tuple(data.metrics))
            else:
                points = text_points(data, self.space, self.embedding)
            points = principal(points, self.dimensions)
            return with_documents(points, data.columns[fields.DOCUMENT]) if self.documents else points

        points_of = (self.space, self.metrics, self.embedding, file_stamp(self.embedding))
        return remembered(data, ("coordinates", *points_of, self.dimensions, self.documents), compute)

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw by meetings of neighbours."""
        inside = self.coordinates(frame.data)[frame.units.rows]
        points = np.column_stack([frame.units.mean(column) for column in inside.T])
        return draw_local_pivotal(frame.chances, points, generator, frame.charges)


_MOST_SCORES = 20
_MOST_GROUPS = 50


@register("cube")
@dataclass(frozen=True)
class Cube(ProbabilityDesign):
    """Draws a sample whose weighted totals of metrics and columns equal those of all items.

    Σ_{i∈S} x_i/π_i = Σ_i x_i for every balancing variable x, as nearly as whole units allow; π_i as for
    ``pivotal``. Variables: the models' scores by every metric (the items' means where these are over 20
    columns), an indicator for each group of a column of texts, a column of numbers, lengths. Under a cost the
    cost is matched too, and no draw exceeds the budget.

    Choose it when a regression of the scores on the metrics explains something: the design then has the gain
    of a control variate before any label is there. Many variables for few units balance loosely.
    """

    reference: ClassVar[str] = "Deville and Tillé 2004; Chauvet and Tillé 2006"
    how: ClassVar[str] = "drawn by the cube method"
    in_order_of_cost: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("what its balance and utility need",)

    balance: tuple[str, ...] = parameter(
        (), "what to balance on: metrics, columns, source_length, output_length; default: all there is"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the variables to balance."""
        names = resolve_names(data, self.balance or _usual(data))
        if not names:
            raise MissingDataError(
                "There are no metrics, domains or sources to balance on: name columns with balance=[…]."
            )
        return replace(super().resolve(data, budget), balance=names)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the probabilities need, and what is balanced."""
        return super().reads(data) | ({field_of(data, name) for name in self.balance} & set(data.fields))

    def balance_variables(self, data: EvalSet) -> Floats:
        """Return the balancing variables of the items (items × variables): 1, groups, scores, lengths."""

        def compute() -> Floats:
            columns = [name for name in self.balance if is_column(data, name)]
            scores = [scores_of(data, name) for name in self.balance if name not in columns]
            if sum(part.shape[1] for part in scores) > _MOST_SCORES:
                scores = [part.mean(axis=1, keepdims=True) for part in scores]
            groups = [_of_column(data, name) for name in columns]
            return np.column_stack([np.ones(len(data)), *groups, *scores])

        return remembered(data, ("balance", self.balance), compute)

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw by the cube method."""
        inside = self.balance_variables(frame.data)[frame.units.rows]
        variables = np.column_stack([frame.units.total(column) for column in inside.T])
        return draw_cube(frame.chances, variables, generator, frame.charges)

    def remarks(self, frame: Frame) -> tuple[str, ...]:
        """Return notes on how much is balanced, and whether that is too much."""
        count = self.balance_variables(frame.data).shape[1]
        note = f"balanced on {count} variables."
        if 2 * count > frame.count:
            note = f"balanced on {count} variables, loosely: they are many for {frame.count} drawn units."
        return (note,)


def _usual(data: EvalSet) -> list[str]:
    """Return what is balanced unless something is named: all metrics, the domain, the source's length."""
    names = [METRICS] if len(data.metrics) else []
    if fields.DOMAIN in data.columns and 1 < len(set(column_labels(data, fields.DOMAIN))) <= _MOST_SCORES:
        names.append(fields.column(fields.DOMAIN))
    return [*names, SOURCE_LENGTH] if data.sources is not None else names


def _of_column(data: EvalSet, name: str) -> Floats:
    numbers = column_numbers(data, name)
    if numbers is not None:
        return with_means(numbers[:, None])
    groups = indicators(column_labels(data, name))
    if groups.shape[1] > _MOST_GROUPS:
        raise UsageError(
            f'"{name}" has {groups.shape[1]} groups, too many to balance on; at most {_MOST_GROUPS} are.'
        )
    return groups
