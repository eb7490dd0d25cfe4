"""sparingly: choose which outputs people should judge, and learn what judging everything would have said.

Everything a user needs is imported from here: the verbs (``load``, ``select``, ``agree`` …), the objects they
hand to each other (``EvalSet``, ``Selection`` …) and the methods (``MetricVar``, ``Random`` …). Names are
loaded when they are first used, so that importing the package takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sparingly._version import __version__

if TYPE_CHECKING:
    from sparingly.base.errors import AnswerIsNo, DataError, InputError, SparinglyError, UsageError
    from sparingly.base.registry import methods, parse_method
    from sparingly.base.stats.holm import holm
    from sparingly.base.stats.hypergeometric import chance_of_lead
    from sparingly.base.stats.signed_rank import pair_signed_rank
    from sparingly.base.stats.signflip import pair_p_values
    from sparingly.base.stats.soft_pairwise import soft_pairwise_accuracy
    from sparingly.choose import (
        Cube,
        DiffUse,
        Diversity,
        Documents,
        Guided,
        Heuristic,
        Irt,
        KMeans,
        LocalPivotal,
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
    from sparingly.choose.select import select
    from sparingly.data.combine import Combination
    from sparingly.data.describe import Description, Representation, describe, representation
    from sparingly.data.evalset import EvalSet
    from sparingly.data.io import formats, load, save
    from sparingly.data.io.table.format import from_frame, to_frame
    from sparingly.data.selection import Row, Selection
    from sparingly.data.signature import Signature
    from sparingly.data.synthetic import load_demo, make_evalset
    from sparingly.data.tables import Preferences, Ratings
    from sparingly.infer import ControlVariate, Greg, Mean, Ppi, StratifiedMean, WeightedMean
    from sparingly.infer.analysis.chosen_norms import ChosenNorms, chosen_norms
    from sparingly.infer.analysis.cluster_norms import ClusterNorms, cluster_norms
    from sparingly.infer.analysis.difference_map import DifferenceMap, difference_map
    from sparingly.infer.analysis.irt_check import IrtCheck, irt_check
    from sparingly.infer.analysis.item_curves import ItemCurves, item_curves
    from sparingly.infer.analysis.success_by_norm import SuccessByNorm, success_by_norm
    from sparingly.infer.analysis.winning_distances import WinningDistances, winning_distances
    from sparingly.infer.estimate.arrays import estimate_scores
    from sparingly.infer.estimate.bounds import empirical_bernstein, hoeffding_serfling
    from sparingly.infer.estimate.bradley_terry import BradleyTerry, bradley_terry
    from sparingly.infer.estimate.estimate import estimate
    from sparingly.infer.estimate.full_set_p import full_set_p_values
    from sparingly.infer.estimate.result import Difference, Estimate
    from sparingly.infer.estimate.sequences import bernstein_sequence, betting_interval, betting_sequence
    from sparingly.infer.plan.judge_mix import JudgeMix, judge_mix
    from sparingly.infer.plan.plan import plan
    from sparingly.infer.plan.precision import Precision, precision
    from sparingly.infer.plan.result import Plan
    from sparingly.infer.rank.agreement import Agreement, agreement
    from sparingly.infer.rank.compare import Comparison, CurveComparison, agree, curve, parity
    from sparingly.infer.rank.crowd import CrowdCurve, crowd
    from sparingly.infer.rank.draws import Draws, draws
    from sparingly.infer.rank.group_rules import any_member_groups, last_member_groups
    from sparingly.infer.rank.groups import significance_groups
    from sparingly.infer.rank.margin_tests import MarginTest, margin_test
    from sparingly.infer.rank.measures import significance_retained
    from sparingly.infer.rank.metric_quality import MetricQualities, MetricQuality, metric_quality
    from sparingly.infer.rank.pair_tests import PairTests, permutation_tests, t_tests, wilcoxon_tests
    from sparingly.infer.rank.parity import Parity
    from sparingly.infer.rank.preference_margins import pair_margins_from_preferences
    from sparingly.infer.rank.preferred import PairWinner, Winners, winners
    from sparingly.infer.rank.rank import rank, rank_scores
    from sparingly.infer.rank.rank_sets import RankSets, chance_of_best, rank_sets
    from sparingly.infer.rank.ranking import RankedModel, Ranking
    from sparingly.infer.rank.stability import Stability, StabilityOverSets, stability, stability_over_sets
    from sparingly.infer.rank.standings import Standing, standings
    from sparingly.infer.rank.winners import SuccessRate, pair_margins, success_rate
    from sparingly.run.rounds import Casf, DiffuseIterative, DOptimal, IncrementalStrata, OneShot
    from sparingly.run.rounds.next_round import next_round
    from sparingly.run.rounds.replay import replay
    from sparingly.run.rounds.state import Finished, State
    from sparingly.run.verify import Verification, verify
    from sparingly.show.figures.draw import figure
    from sparingly.show.figures.save import save_figure
    from sparingly.show.report.score_tables import ranking_table, score_table
    from sparingly.show.report.writeup import writeup

_HOMES = {
    "sparingly.base.errors": ("AnswerIsNo", "DataError", "InputError", "SparinglyError", "UsageError"),
    "sparingly.base.registry": ("methods", "parse_method"),
    "sparingly.base.stats.holm": ("holm",),
    "sparingly.base.stats.hypergeometric": ("chance_of_lead",),
    "sparingly.base.stats.signed_rank": ("pair_signed_rank",),
    "sparingly.base.stats.signflip": ("pair_p_values",),
    "sparingly.base.stats.soft_pairwise": ("soft_pairwise_accuracy",),
    "sparingly.choose": (
        "Cube",
        "DiffUse",
        "Diversity",
        "Documents",
        "Guided",
        "Heuristic",
        "Irt",
        "KMeans",
        "LocalPivotal",
        "MaxNorm",
        "MetricAvg",
        "MetricCons",
        "MetricVar",
        "Mix",
        "Pivotal",
        "Random",
        "Snippets",
        "Stratified",
        "SubsetSearch",
        "Systematic",
        "Top",
        "Uncertainty",
        "Uniform",
    ),
    "sparingly.choose.design.budget": ("Budget",),
    "sparingly.choose.select": ("select",),
    "sparingly.data.combine": ("Combination",),
    "sparingly.data.describe": ("Description", "Representation", "describe", "representation"),
    "sparingly.data.evalset": ("EvalSet",),
    "sparingly.data.io": ("formats", "load", "save"),
    "sparingly.data.io.table.format": ("from_frame", "to_frame"),
    "sparingly.data.selection": ("Row", "Selection"),
    "sparingly.data.signature": ("Signature",),
    "sparingly.data.synthetic": ("load_demo", "make_evalset"),
    "sparingly.data.tables": ("Preferences", "Ratings"),
    "sparingly.infer": ("ControlVariate", "Greg", "Mean", "Ppi", "StratifiedMean", "WeightedMean"),
    "sparingly.infer.analysis.chosen_norms": ("ChosenNorms", "chosen_norms"),
    "sparingly.infer.analysis.cluster_norms": ("ClusterNorms", "cluster_norms"),
    "sparingly.infer.analysis.difference_map": ("DifferenceMap", "difference_map"),
    "sparingly.infer.analysis.irt_check": ("IrtCheck", "irt_check"),
    "sparingly.infer.analysis.item_curves": ("ItemCurves", "item_curves"),
    "sparingly.infer.analysis.success_by_norm": ("SuccessByNorm", "success_by_norm"),
    "sparingly.infer.analysis.winning_distances": ("WinningDistances", "winning_distances"),
    "sparingly.infer.estimate.arrays": ("estimate_scores",),
    "sparingly.infer.estimate.bradley_terry": ("BradleyTerry", "bradley_terry"),
    "sparingly.infer.estimate.bounds": ("empirical_bernstein", "hoeffding_serfling"),
    "sparingly.infer.estimate.estimate": ("estimate",),
    "sparingly.infer.estimate.full_set_p": ("full_set_p_values",),
    "sparingly.infer.estimate.result": ("Difference", "Estimate"),
    "sparingly.infer.estimate.sequences": ("bernstein_sequence", "betting_interval", "betting_sequence"),
    "sparingly.infer.plan.judge_mix": ("JudgeMix", "judge_mix"),
    "sparingly.infer.plan.plan": ("plan",),
    "sparingly.infer.plan.precision": ("Precision", "precision"),
    "sparingly.infer.plan.result": ("Plan",),
    "sparingly.infer.rank.agreement": ("Agreement", "agreement"),
    "sparingly.infer.rank.compare": ("Comparison", "CurveComparison", "agree", "curve", "parity"),
    "sparingly.infer.rank.crowd": ("CrowdCurve", "crowd"),
    "sparingly.infer.rank.draws": ("Draws", "draws"),
    "sparingly.infer.rank.group_rules": ("any_member_groups", "last_member_groups"),
    "sparingly.infer.rank.groups": ("significance_groups",),
    "sparingly.infer.rank.margin_tests": ("MarginTest", "margin_test"),
    "sparingly.infer.rank.measures": ("significance_retained",),
    "sparingly.infer.rank.metric_quality": ("MetricQualities", "MetricQuality", "metric_quality"),
    "sparingly.infer.rank.pair_tests": ("PairTests", "permutation_tests", "t_tests", "wilcoxon_tests"),
    "sparingly.infer.rank.parity": ("Parity",),
    "sparingly.infer.rank.preference_margins": ("pair_margins_from_preferences",),
    "sparingly.infer.rank.preferred": ("PairWinner", "Winners", "winners"),
    "sparingly.infer.rank.rank": ("rank", "rank_scores"),
    "sparingly.infer.rank.rank_sets": ("RankSets", "chance_of_best", "rank_sets"),
    "sparingly.infer.rank.ranking": ("RankedModel", "Ranking"),
    "sparingly.infer.rank.stability": ("Stability", "StabilityOverSets", "stability", "stability_over_sets"),
    "sparingly.infer.rank.standings": ("Standing", "standings"),
    "sparingly.infer.rank.winners": ("SuccessRate", "pair_margins", "success_rate"),
    "sparingly.run.rounds": ("Casf", "DOptimal", "DiffuseIterative", "IncrementalStrata", "OneShot"),
    "sparingly.run.rounds.next_round": ("next_round",),
    "sparingly.run.rounds.replay": ("replay",),
    "sparingly.run.rounds.state": ("Finished", "State"),
    "sparingly.run.verify": ("Verification", "verify"),
    "sparingly.show.figures.draw": ("figure",),
    "sparingly.show.figures.save": ("save_figure",),
    "sparingly.show.report.score_tables": ("ranking_table", "score_table"),
    "sparingly.show.report.writeup": ("writeup",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Agreement",
    "AnswerIsNo",
    "BradleyTerry",
    "Budget",
    "Casf",
    "ChosenNorms",
    "ClusterNorms",
    "Combination",
    "Comparison",
    "ControlVariate",
    "CrowdCurve",
    "Cube",
    "CurveComparison",
    "DOptimal",
    "DataError",
    "Description",
    "DiffUse",
    "Difference",
    "DifferenceMap",
    "DiffuseIterative",
    "Diversity",
    "Documents",
    "Draws",
    "Estimate",
    "EvalSet",
    "Finished",
    "Greg",
    "Guided",
    "Heuristic",
    "IncrementalStrata",
    "InputError",
    "Irt",
    "IrtCheck",
    "ItemCurves",
    "JudgeMix",
    "KMeans",
    "LocalPivotal",
    "MarginTest",
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
    "Pivotal",
    "Plan",
    "Ppi",
    "Precision",
    "Preferences",
    "Random",
    "RankSets",
    "RankedModel",
    "Ranking",
    "Ratings",
    "Representation",
    "Row",
    "Selection",
    "Signature",
    "Snippets",
    "SparinglyError",
    "Stability",
    "StabilityOverSets",
    "Standing",
    "State",
    "Stratified",
    "StratifiedMean",
    "SubsetSearch",
    "SuccessByNorm",
    "SuccessRate",
    "Systematic",
    "Top",
    "Uncertainty",
    "Uniform",
    "UsageError",
    "Verification",
    "WeightedMean",
    "Winners",
    "WinningDistances",
    "__version__",
    "agree",
    "agreement",
    "any_member_groups",
    "bernstein_sequence",
    "betting_interval",
    "betting_sequence",
    "bradley_terry",
    "chance_of_best",
    "chance_of_lead",
    "chosen_norms",
    "cluster_norms",
    "crowd",
    "curve",
    "describe",
    "difference_map",
    "draws",
    "empirical_bernstein",
    "estimate",
    "estimate_scores",
    "figure",
    "formats",
    "from_frame",
    "full_set_p_values",
    "hoeffding_serfling",
    "holm",
    "irt_check",
    "item_curves",
    "judge_mix",
    "last_member_groups",
    "load",
    "load_demo",
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
    "precision",
    "rank",
    "rank_scores",
    "rank_sets",
    "ranking_table",
    "replay",
    "representation",
    "save",
    "save_figure",
    "score_table",
    "select",
    "significance_groups",
    "significance_retained",
    "soft_pairwise_accuracy",
    "stability",
    "stability_over_sets",
    "standings",
    "success_by_norm",
    "success_rate",
    "t_tests",
    "to_frame",
    "verify",
    "wilcoxon_tests",
    "winners",
    "winning_distances",
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
