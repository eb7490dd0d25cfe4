"""sparingly: choose which outputs people should judge, and learn what judging everything would have said.

Everything a user needs is imported from here: the verbs (``load``, ``select``, ``agree`` …), the objects they
hand to each other (``EvalSet``, ``Selection`` …) and the methods (``MetricVar``, ``Random`` …). Names are
loaded when they are first used, so that importing the package takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sparingly._homes import HOMES
from sparingly._version import __version__

if TYPE_CHECKING:
    from sparingly.base.errors import AnswerIsNo, DataError, InputError, SparinglyError, UsageError
    from sparingly.base.registry import methods, parse_method
    from sparingly.base.stats.krippendorff import krippendorff_alpha
    from sparingly.base.stats.multiple_tests import holm
    from sparingly.base.stats.pairs import chance_of_lead, soft_pairwise_accuracy
    from sparingly.base.stats.sign_flip import pair_p_values
    from sparingly.base.stats.signed_rank import pair_signed_rank
    from sparingly.choose import (
        AnchorPoints,
        Cube,
        DiffUse,
        Distilled,
        Diversity,
        Documents,
        FacilityLocation,
        Guided,
        Heuristic,
        Irt,
        KMeans,
        LocalPivotal,
        MaxDiscrepancy,
        MaxNorm,
        MetricAvg,
        MetricCons,
        MetricVar,
        Mix,
        Pivotal,
        Random,
        Snippets,
        Stratified,
        SubsetSearch,
        Systematic,
        Top,
        Uncertainty,
        Uniform,
    )
    from sparingly.choose.design.budget import Budget
    from sparingly.choose.distil.encoder.training import EncoderTraining
    from sparingly.choose.distil.model import DistilledModel
    from sparingly.choose.distil.saved import load_distilled
    from sparingly.choose.distil.train import distil
    from sparingly.choose.pool.result import PoolSelection
    from sparingly.choose.pool.score import score_pool
    from sparingly.choose.pool.scored import ScoredPool
    from sparingly.choose.pool.select import select_pool
    from sparingly.choose.select import select
    from sparingly.data.combine import Combination
    from sparingly.data.describe import Description, Representation, describe, representation
    from sparingly.data.evalset import EvalSet
    from sparingly.data.io import formats, load, save
    from sparingly.data.io.table import from_frame, to_frame
    from sparingly.data.selection import Row, Selection
    from sparingly.data.signature import Signature
    from sparingly.data.synthetic import load_demo, make_evalset
    from sparingly.data.tables import Preferences, Ratings
    from sparingly.infer import ControlVariate, Greg, Mean, Ppi, StratifiedMean, WeightedMean
    from sparingly.infer.analysis.changes import Changes, changes
    from sparingly.infer.analysis.chosen_norms import ChosenNorms, chosen_norms
    from sparingly.infer.analysis.cluster_norms import ClusterNorms, cluster_norms
    from sparingly.infer.analysis.difference_map import DifferenceMap, difference_map
    from sparingly.infer.analysis.irt_check import IrtCheck, irt_check
    from sparingly.infer.analysis.item_curves import ItemCurves, item_curves
    from sparingly.infer.analysis.success_by_norm import SuccessByNorm, success_by_norm
    from sparingly.infer.analysis.winning_distances import WinningDistances, winning_distances
    from sparingly.infer.estimate.bradley_terry import BradleyTerry, bradley_terry
    from sparingly.infer.estimate.estimate import estimate, estimate_scores
    from sparingly.infer.estimate.full_set_p import full_set_p_values
    from sparingly.infer.estimate.rater_effects import Severity, rater_covariance, severity, with_rater_errors
    from sparingly.infer.estimate.result import Difference, Estimate
    from sparingly.infer.estimate.scale import (
        bernstein_sequence,
        betting_interval,
        betting_sequence,
        empirical_bernstein,
        hoeffding_serfling,
    )
    from sparingly.infer.expect.expect import Expected, expect
    from sparingly.infer.plan.growth import growth
    from sparingly.infer.plan.judge_mix import judge_mix
    from sparingly.infer.plan.plan import Plan, plan
    from sparingly.infer.plan.sample_size import sample_size
    from sparingly.infer.rank.agreement import Agreement, agreement
    from sparingly.infer.rank.best import chance_of_best
    from sparingly.infer.rank.compare import Comparison, CurveComparison, agree, curve, parity
    from sparingly.infer.rank.crowd import CrowdCurve, crowd
    from sparingly.infer.rank.curve import Parity
    from sparingly.infer.rank.decisions import (
        Decisions,
        MarginTest,
        any_member_groups,
        decide,
        last_member_groups,
        margin_test,
    )
    from sparingly.infer.rank.measures import significance_groups, significance_retained
    from sparingly.infer.rank.metric_quality import MetricQualities, MetricQuality, metric_quality
    from sparingly.infer.rank.pair_tests import PairTests, permutation_tests, t_tests, wilcoxon_tests
    from sparingly.infer.rank.rank import rank, rank_scores
    from sparingly.infer.rank.ranking import RankedModel, Ranking
    from sparingly.infer.rank.stability import (
        Draws,
        Stability,
        StabilityOverSets,
        Standing,
        draws,
        stability,
        stability_over_sets,
        standings,
    )
    from sparingly.infer.rank.winners import (
        PairWinner,
        SuccessRate,
        Winners,
        pair_margins,
        pair_margins_from_preferences,
        success_rate,
        winners,
    )
    from sparingly.run.campaign.answers import Answer
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.campaign.oracle import Patience
    from sparingly.run.campaign.questions import Question
    from sparingly.run.exchange.report import Taken
    from sparingly.run.exchange.verbs import Exported, export_tasks, import_answers
    from sparingly.run.raters.agreement import RaterAgreement, rater_agreement
    from sparingly.run.raters.assignment import Assignment, Task, assign
    from sparingly.run.raters.controls import ControlReport, control_items, control_report
    from sparingly.run.raters.predictability import Predictability, predictability
    from sparingly.run.raters.ratings import standardised, with_ratings_of
    from sparingly.run.raters.report import RaterFlag, RaterReport, rater_flags, rater_report
    from sparingly.run.rounds import (
        ActiveTesting,
        Allocate,
        Auto,
        Casf,
        DiffuseIterative,
        DOptimal,
        IncrementalStrata,
        OneShot,
        Waves,
    )
    from sparingly.run.rounds.next_round import next_round
    from sparingly.run.rounds.replay import Ended, replay, replay_until
    from sparingly.run.rounds.stop import (
        AllSettled,
        BestSettled,
        BudgetSpent,
        Futility,
        MarginSettled,
        Progress,
        Stopped,
        WidthReached,
    )
    from sparingly.run.rounds.strategy import Finished, State
    from sparingly.run.verify import Verification, verify, verify_pool
    from sparingly.show.figures.draw import figure
    from sparingly.show.figures.save import save_figure
    from sparingly.show.report.report import Report, report
    from sparingly.show.report.score_tables import ranking_table, score_table
    from sparingly.show.report.writeup import writeup

_HOME_OF = {name: home for home, names in HOMES.items() for name in names}

__all__ = [
    "ActiveTesting",
    "Agreement",
    "AllSettled",
    "Allocate",
    "AnchorPoints",
    "Answer",
    "AnswerIsNo",
    "Assignment",
    "Auto",
    "BestSettled",
    "BradleyTerry",
    "Budget",
    "BudgetSpent",
    "Campaign",
    "Casf",
    "Changes",
    "ChosenNorms",
    "ClusterNorms",
    "Combination",
    "Comparison",
    "ControlReport",
    "ControlVariate",
    "CrowdCurve",
    "Cube",
    "CurveComparison",
    "DOptimal",
    "DataError",
    "Decisions",
    "Description",
    "DiffUse",
    "Difference",
    "DifferenceMap",
    "DiffuseIterative",
    "Distilled",
    "DistilledModel",
    "Diversity",
    "Documents",
    "Draws",
    "EncoderTraining",
    "Ended",
    "Estimate",
    "EvalSet",
    "Expected",
    "Exported",
    "FacilityLocation",
    "Finished",
    "Futility",
    "Greg",
    "Guided",
    "Heuristic",
    "IncrementalStrata",
    "InputError",
    "Irt",
    "IrtCheck",
    "ItemCurves",
    "KMeans",
    "LocalPivotal",
    "MarginSettled",
    "MarginTest",
    "MaxDiscrepancy",
    "MaxNorm",
    "Mean",
    "MetricAvg",
    "MetricCons",
    "MetricQualities",
    "MetricQuality",
    "MetricVar",
    "Mix",
    "OneShot",
    "PairTests",
    "PairWinner",
    "Parity",
    "Patience",
    "Pivotal",
    "Plan",
    "PoolSelection",
    "Ppi",
    "Predictability",
    "Preferences",
    "Progress",
    "Question",
    "Random",
    "RankedModel",
    "Ranking",
    "RaterAgreement",
    "RaterFlag",
    "RaterReport",
    "Ratings",
    "Report",
    "Representation",
    "Row",
    "ScoredPool",
    "Selection",
    "Severity",
    "Signature",
    "Snippets",
    "SparinglyError",
    "Stability",
    "StabilityOverSets",
    "Standing",
    "State",
    "Stopped",
    "Stratified",
    "StratifiedMean",
    "SubsetSearch",
    "SuccessByNorm",
    "SuccessRate",
    "Systematic",
    "Taken",
    "Task",
    "Top",
    "Uncertainty",
    "Uniform",
    "UsageError",
    "Verification",
    "Waves",
    "WeightedMean",
    "WidthReached",
    "Winners",
    "WinningDistances",
    "__version__",
    "agree",
    "agreement",
    "any_member_groups",
    "assign",
    "bernstein_sequence",
    "betting_interval",
    "betting_sequence",
    "bradley_terry",
    "chance_of_best",
    "chance_of_lead",
    "changes",
    "chosen_norms",
    "cluster_norms",
    "control_items",
    "control_report",
    "crowd",
    "curve",
    "decide",
    "describe",
    "difference_map",
    "distil",
    "draws",
    "empirical_bernstein",
    "estimate",
    "estimate_scores",
    "expect",
    "export_tasks",
    "figure",
    "formats",
    "from_frame",
    "full_set_p_values",
    "growth",
    "hoeffding_serfling",
    "holm",
    "import_answers",
    "irt_check",
    "item_curves",
    "judge_mix",
    "krippendorff_alpha",
    "last_member_groups",
    "load",
    "load_demo",
    "load_distilled",
    "make_evalset",
    "margin_test",
    "methods",
    "metric_quality",
    "next_round",
    "pair_margins",
    "pair_margins_from_preferences",
    "pair_p_values",
    "pair_signed_rank",
    "parity",
    "parse_method",
    "permutation_tests",
    "plan",
    "predictability",
    "rank",
    "rank_scores",
    "ranking_table",
    "rater_agreement",
    "rater_covariance",
    "rater_flags",
    "rater_report",
    "replay",
    "replay_until",
    "report",
    "representation",
    "sample_size",
    "save",
    "save_figure",
    "score_pool",
    "score_table",
    "select",
    "select_pool",
    "severity",
    "significance_groups",
    "significance_retained",
    "soft_pairwise_accuracy",
    "stability",
    "stability_over_sets",
    "standardised",
    "standings",
    "success_by_norm",
    "success_rate",
    "t_tests",
    "to_frame",
    "verify",
    "verify_pool",
    "wilcoxon_tests",
    "winners",
    "winning_distances",
    "with_rater_errors",
    "with_ratings_of",
    "writeup",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sparingly' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
