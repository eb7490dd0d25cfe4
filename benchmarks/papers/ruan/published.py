"""The published figures of Ruan et al. 2024, as far as their sets are here: 17 aspects of 6 of 16 sets."""

from __future__ import annotations

from collections.abc import Mapping

# Table 1: Kendall's tau at half of the items, by (set, aspect).
METHODS = ("random", "heuristic", "8M", "SM", "OL", "CASF")
TAU: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("newsroom", "coherence"): (0.81, 0.90, 1.00, 1.00, 1.00, 1.00),
    ("newsroom", "fluency"): (0.84, 0.81, 1.00, 1.00, 1.00, 1.00),
    ("newsroom", "informativeness"): (1.00, 0.87, 0.71, 1.00, 1.00, 1.00),
    ("newsroom", "relevance"): (0.84, 0.90, 1.00, 1.00, 1.00, 1.00),
    ("thumb_mscoco", "human_score"): (0.93, 1.00, 1.00, 1.00, 1.00, 1.00),
    ("personachat_usr", "Understandable"): (-0.11, -0.11, 0.33, 0.33, 0.33, 0.33),
    ("personachat_usr", "Natural"): (0.11, 0.11, 0.33, 0.33, 0.33, 1.00),
    ("personachat_usr", "Maintains Context"): (1.00, 1.00, -1.00, 1.00, 1.00, 1.00),
    ("personachat_usr", "Engaging"): (1.00, 0.78, 1.00, 1.00, 1.00, 1.00),
    ("personachat_usr", "Uses Knowledge"): (1.00, 0.33, 1.00, 1.00, 1.00, 1.00),
    ("personachat_usr", "Overall"): (1.00, 1.00, 1.00, 1.00, 1.00, 1.00),
    ("casf_newstest2021_zhen", "mqm"): (-0.06, -0.04, 0.46, 0.13, 0.00, 0.03),
    ("summeval", "coherence"): (0.61, 0.81, 0.42, 0.42, 0.87, 0.95),
    ("summeval", "consistency"): (0.39, 0.45, 0.30, 0.17, 0.53, 0.53),
    ("summeval", "fluency"): (0.42, 0.40, 0.35, 0.37, 0.52, 0.33),
    ("summeval", "relevance"): (0.67, 0.60, 0.40, 0.60, 0.45, 0.82),
    ("realsumm", "litepyramid_recall"): (0.46, 0.39, 0.33, 0.37, 0.54, 0.54),
}
# Over all 44 aspects: Kendall (Table 1), top-ranked accuracy (Table 2), the significant pairs retained at .05
# and .001 (text of the appendix).
OVERALL_TAU = dict(zip(METHODS, (0.68, 0.72, 0.67, 0.72, 0.68, 0.83), strict=True))
OVERALL_TOP1 = dict(zip(METHODS, (0.76, 0.78, 0.84, 0.91, 0.77, 0.93), strict=True))
RETAINED = {"random": (0.5992, 0.4156), "heuristic": (0.5976, 0.4138), "CASF": (0.6030, 0.4344)}
CASF_FIRST, CASF_FIRST_OR_SECOND = 0.7955, 0.9091
# Table 2, by task, in the order of METHODS.
TOP1: Mapping[str, tuple[float, ...]] = {
    "SUM": (0.76, 0.80, 0.83, 0.90, 0.69, 0.93),
    "MT": (0.87, 0.67, 0.80, 1.00, 0.80, 0.80),
    "DGen": (0.78, 0.78, 0.83, 0.83, 1.00, 1.00),
    "MMGen": (1.00, 1.00, 1.00, 1.00, 1.00, 1.00),
}
# Table 3, column by column: the mean Kendall for 2 to 10 phases.
PHASES: Mapping[str, tuple[float, ...]] = {
    "average": (0.75, 0.76, 0.76, 0.83, 0.72, 0.72, 0.70, 0.73, 0.75),
    "0.1": (0.73, 0.75, 0.80, 0.83, 0.75, 0.69, 0.73, 0.72, 0.73),
    "0.05": (0.74, 0.74, 0.77, 0.77, 0.73, 0.69, 0.72, 0.72, 0.75),
    "0.15": (0.73, 0.77, 0.76, 0.76, 0.71, 0.73, 0.79, 0.75, 0.70),
}
# Tables 4 (Kendall) and 9 (top-ranked accuracy): by the metric of the first phase and by task.
FIRST_TAU: Mapping[str, Mapping[str, float]] = {
    "BERT-SCORE": {"SUM": 0.74, "MT": 0.58, "DGen": 0.67, "MMGen": 1.00, "all": 0.73},
    "MOVER-SCORE": {"SUM": 0.84, "MT": 0.58, "DGen": 0.89, "MMGen": 1.00, "all": 0.83},
    "ROUGE-1": {"SUM": 0.73, "MT": 0.57, "DGen": 0.67, "MMGen": 1.00, "all": 0.70},
    "ROUGE-2": {"SUM": 0.73, "MT": 0.55, "DGen": 0.56, "MMGen": 0.80, "all": 0.70},
    "ROUGE-L": {"SUM": 0.72, "MT": 0.52, "DGen": 0.89, "MMGen": 1.00, "all": 0.75},
    "BART-SCORE": {"SUM": 0.60, "MT": 0.44, "DGen": 0.89, "MMGen": 0.80, "all": 0.64},
    "BLEU": {"SUM": 0.72, "MT": 0.37, "DGen": 0.56, "MMGen": 0.80, "all": 0.67},
    "METEOR": {"SUM": 0.78, "MT": 0.54, "DGen": 0.89, "MMGen": 1.00, "all": 0.79},
}
FIRST_TOP1: Mapping[str, Mapping[str, float]] = {
    "BERT-SCORE": {"SUM": 0.8276, "MT": 0.80, "DGen": 0.8333, "MMGen": 1.00, "all": 0.8409},
    "MOVER-SCORE": {"SUM": 0.9310, "MT": 0.80, "DGen": 1.0000, "MMGen": 1.00, "all": 0.9318},
    "ROUGE-1": {"SUM": 0.7586, "MT": 1.00, "DGen": 0.8333, "MMGen": 1.00, "all": 0.8182},
    "ROUGE-2": {"SUM": 0.7931, "MT": 1.00, "DGen": 0.8333, "MMGen": 1.00, "all": 0.8409},
    "ROUGE-L": {"SUM": 0.7241, "MT": 1.00, "DGen": 0.8333, "MMGen": 1.00, "all": 0.7955},
    "BART-SCORE": {"SUM": 0.8621, "MT": 1.00, "DGen": 1.0000, "MMGen": 1.00, "all": 0.8864},
    "BLEU": {"SUM": 0.8621, "MT": 1.00, "DGen": 0.8333, "MMGen": 1.00, "all": 0.8864},
    "METEOR": {"SUM": 0.7931, "MT": 1.00, "DGen": 0.8333, "MMGen": 1.00, "all": 0.8409},
}
# Table 10: Kendall by (set, aspect), in the order of sets.ORDERINGS.
FIRST_BY_ASPECT: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("newsroom", "coherence"): (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    ("newsroom", "fluency"): (1.0, 1.0, 1.0, 0.5238, 1.0, 0.9048, 1.0, 1.0),
    ("newsroom", "informativeness"): (0.7143, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    ("newsroom", "relevance"): (1.0, 1.0, 0.9048, 0.9048, 0.9048, 0.4286, 1.0, 1.0),
    ("thumb_mscoco", "human_score"): (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    ("personachat_usr", "Understandable"): (1.0, 0.3333, -1.0, 0.3333, 1.0, 0.3333, 0.3333, 1.0),
    ("personachat_usr", "Natural"): (-0.3333, 1.0, 1.0, -0.3333, 0.3333, 1.0, -1.0, 0.3333),
    ("personachat_usr", "Maintains Context"): (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    ("personachat_usr", "Engaging"): (0.3333, 1.0, 1.0, 0.3333, 1.0, 1.0, 1.0, 1.0),
    ("personachat_usr", "Uses Knowledge"): (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    ("personachat_usr", "Overall"): (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    ("casf_newstest2021_zhen", "mqm"): (
        -0.0769,
        0.0256,
        0.2308,
        0.1026,
        0.1282,
        0.5897,
        0.0256,
        0.5128,
    ),
    ("summeval", "coherence"): (0.5333, 0.9500, 0.7333, 0.7000, 0.6333, 0.1667, 0.8167, 0.5500),
    ("summeval", "consistency"): (-0.0167, 0.5333, 0.5833, 0.3500, 0.6500, 0.4833, 0.2833, 0.5667),
    ("summeval", "fluency"): (0.2500, 0.3333, 0.5833, 0.2667, 0.3500, 0.2500, 0.0500, 0.1667),
    ("summeval", "relevance"): (0.6167, 0.8167, 0.7000, 0.3833, 0.5333, 0.3833, 0.6833, 0.6500),
    ("realsumm", "litepyramid_recall"): (
        0.4928,
        0.5435,
        0.3333,
        0.4493,
        0.5507,
        0.3841,
        0.5217,
        0.4493,
    ),
}
# Table 7: the mean Kendall of three runs by (set, aspect), in the order of REGRESSORS.
REGRESSORS = ("linear", "adaboost", "bagging", "tree", "extra_trees", "knn", "forest", "svm", "boosting")
BY_REGRESSOR: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("newsroom", "coherence"): (1.000, 0.841, 1.000, 1.000, 0.968, 1.000, 1.000, 1.000, 1.000),
    ("newsroom", "fluency"): (1.000, 0.841, 0.968, 0.968, 0.968, 1.000, 0.619, 1.000, 1.000),
    ("newsroom", "informativeness"): (0.714, 1.000, 0.905, 1.000, 0.873, 1.000, 0.873, 0.714, 1.000),
    ("newsroom", "relevance"): (0.905, 0.968, 0.905, 0.651, 1.000, 0.905, 0.778, 0.619, 1.000),
    ("thumb_mscoco", "human_score"): (1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
    ("personachat_usr", "Understandable"): (1.000, 0.778, 0.556, 0.778, 0.333, 1.000, 1.000, 0.333, 0.333),
    ("personachat_usr", "Natural"): (1.000, 0.111, 0.333, 0.111, 1.000, 1.000, 0.556, 0.333, 1.000),
    ("personachat_usr", "Maintains Context"): (1.000, 0.333, 1.000, 0.333, 1.000, 1.000, 0.333, 1.000, 1.000),
    ("personachat_usr", "Engaging"): (1.000, 1.000, 0.778, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
    ("personachat_usr", "Uses Knowledge"): (1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
    ("personachat_usr", "Overall"): (1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000),
    ("casf_newstest2021_zhen", "mqm"): (0.026, 0.368, 0.376, 0.120, 0.017, 0.000, -0.060, -0.077, 0.026),
    ("summeval", "coherence"): (0.617, 0.628, 0.583, 0.622, 0.672, 0.650, 0.522, 0.717, 0.950),
    ("summeval", "consistency"): (0.600, 0.567, 0.478, 0.494, 0.494, 0.567, 0.472, 0.117, 0.533),
    ("summeval", "fluency"): (0.467, 0.406, 0.300, 0.311, 0.256, 0.200, 0.378, 0.367, 0.333),
    ("summeval", "relevance"): (0.750, 0.472, 0.450, 0.611, 0.461, 0.817, 0.567, 0.383, 0.817),
    ("realsumm", "litepyramid_recall"): (0.399, 0.430, 0.394, 0.333, 0.403, 0.601, 0.529, 0.464, 0.543),
}
# Over all 44 aspects: the mean and the spread over three runs.
OVERALL_REGRESSOR = {
    "linear": (0.828, 0.000),
    "adaboost": (0.727, 0.158),
    "bagging": (0.729, 0.126),
    "tree": (0.732, 0.171),
    "extra_trees": (0.738, 0.150),
    "knn": (0.740, 0.000),
    "forest": (0.701, 0.154),
    "svm": (0.724, 0.000),
    "boosting": (0.833, 0.000),
}
# Table 12: the mean Kendall over a set's aspects, in the order of RATIOS.
RATIOS = ("90%", "80%", "70%", "60%", "40%", "30%", "20%", "10%")
BY_RATIO: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("summeval", "random"): (0.6167, 0.6236, 0.5847, 0.4625, 0.4306, 0.3306, 0.3403, 0.1097),
    ("summeval", "heuristic"): (0.6403, 0.5792, 0.5403, 0.5306, 0.4042, 0.3611, 0.3069, 0.0625),
    ("summeval", "CASF"): (0.5833, 0.6417, 0.5875, 0.8167, 0.5000, 0.4917, 0.4833, -0.0708),
    ("newsroom", "random"): (0.9762, 1.0000, 0.9286, 0.9524, 0.8492, 0.6667, 0.5714, 0.3810),
    ("newsroom", "heuristic"): (0.9524, 0.9444, 0.9762, 0.8810, 0.6746, 0.5635, 0.3016, 0.1667),
    ("newsroom", "CASF"): (1.0000, 1.0000, 1.0000, 1.0000, 0.9762, 0.9524, 0.2619, 0.8095),
    ("casf_newstest2021_zhen", "random"): (
        0.4103,
        0.2051,
        0.2222,
        0.2564,
        -0.0342,
        -0.1624,
        -0.1880,
        -0.1966,
    ),
    ("casf_newstest2021_zhen", "heuristic"): (
        0.0855,
        0.1282,
        0.1282,
        0.1966,
        -0.0342,
        -0.1197,
        -0.0085,
        -0.1624,
    ),
    ("casf_newstest2021_zhen", "CASF"): (
        0.1026,
        0.0769,
        0.1282,
        0.4615,
        0.0769,
        -0.0513,
        -0.0513,
        -0.1026,
    ),
    ("personachat_usr", "random"): (0.9259, 0.7037, 0.7037, 0.8148, 0.4444, 0.1852, 0.0741, -0.0370),
    ("personachat_usr", "heuristic"): (0.8519, 0.7778, 0.8148, 0.6667, 0.3333, 0.4444, 0.1481, -0.2593),
    ("personachat_usr", "CASF"): (1.0000, 0.8889, 1.0000, 0.8889, 0.6667, 0.6667, 0.8889, 0.4444),
    ("thumb_mscoco", "random"): (1.0000, 1.0000, 1.0000, 1.0000, 0.9333, 1.0000, 1.0000, 0.9333),
    ("thumb_mscoco", "heuristic"): (1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 0.8000),
    ("thumb_mscoco", "CASF"): (1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000),
}
# Over all 16 sets, at 20 and at 10 % of the items.
OVERALL_RATIO = {"random": (0.4735, 0.2211), "heuristic": (0.4406, 0.1534), "CASF": (0.6668, 0.3855)}
# Table 13: over all sets with more items than the sample, by its size.
SIZES = (50, 100, 150, 200, 250, 300)
BY_SIZE = {
    "random": (0.6496, 0.7478, 0.7167, 0.7806, 0.6596, 0.6736),
    "heuristic": (0.6476, 0.7497, 0.7137, 0.7712, 0.6412, 0.6725),
    "CASF": (0.7156, 0.7514, 0.7757, 0.8264, 0.7706, 0.7010),
}
PUBLISHED_SETS = dict(zip(SIZES, (16, 14, 10, 10, 6, 6), strict=True))
