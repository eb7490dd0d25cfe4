"""The rows of the comparison: what is measured on which data, beside whom, and the least ratio wanted."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks._data import STRONG, USUAL, Kind

SUBSET2EVALUATE, PY_IRT = "subset2evaluate", "py-irt"


@dataclass(frozen=True)
class Row:
    """A line of the comparison.

    Attributes:
        name: What ``--only`` takes.
        label: What the table says.
        items: How many items there are.
        quick_items: The same with ``--quick``.
        compared: How the two answers are compared: a name in ``_answers.COMPARED``.
        wanted: The least ratio of the peer's time to ours; None for a row that is only shown.
        peer: Beside whom; None where the peers have no such thing.
        data: What the data are made of.
        work: What we do: a name in ``_ours.WORK``; the row's own unless given.
        peer_work: What the peer does: a name in its ``WORK``; ours unless given.
        noise: The spread of the metric's noise.
    """

    name: str
    label: str
    items: int
    quick_items: int
    compared: str
    wanted: float | None = None
    peer: str | None = SUBSET2EVALUATE
    data: Kind = "numbers"
    work: str = ""
    peer_work: str = ""
    noise: float = USUAL

    @property
    def our_work(self) -> str:
        """What we are asked to do."""
        return self.work or self.name

    @property
    def their_work(self) -> str:
        """What the peer is asked to do."""
        return self.peer_work or self.our_work


ROWS = (
    Row("metric_cons", "metric_cons, Kendall", 100_000, 2_000, "utilities", 150),
    Row("metric_cons_spearman", "metric_cons, Spearman (ours only)", 100_000, 2_000, "nothing", peer=None),
    Row("metric_var", "metric_var", 100_000, 2_000, "utilities", 50),
    Row("agreement", "soft pairwise accuracy, ten budgets, 1000 flips", 100_000, 2_000, "agreement", 40),
    Row("agreement_analytic", "the same, analytic limit (ours only)", 100_000, 2_000, "nothing", peer=None),
    Row("cost_aware", "cost-aware selection", 10_000, 1_000, "objective", 20),
    Row("parity", "parity curve", 300, 100, "parity", 40),
    # The peer stops at the first crossing, so a better method makes it quicker: shown, without a verdict.
    Row("parity_strong", "parity curve, stronger metric", 300, 100, "parity", work="parity", noise=STRONG),
    Row("diversity_chrf", "diversity, chrF", 1_000, 30, "diversity", 80, data="texts"),
    Row("diversity_bleu", "diversity, BLEU", 1_000, 30, "diversity", 40, data="texts"),
    Row(
        "irt_variational",
        "item response theory, binary, variational",
        1_000,
        100,
        "log_loss",
        40,
        PY_IRT,
        peer_work="irt",
    ),
    Row("irt_map", "the same, most probable values", 1_000, 100, "log_loss", 40, PY_IRT, peer_work="irt"),
    Row("irt_held_out", "the same, variational, a tenth held out", 1_000, 100, "held_out", peer=PY_IRT),
    Row(
        "irt_held_out_strong",
        "the same, stronger metric",
        1_000,
        100,
        "held_out",
        peer=PY_IRT,
        work="irt_held_out",
        noise=STRONG,
    ),
    Row("diffuse", "diffuse, 10 %, embeddings given", 3_000, 300, "clusters", 40, data="output vectors"),
    # Not what the peer does: it clusters a number per pair of models, as the row above.
    Row(
        "diffuse_concat",
        "diffuse, 10 %, whole difference vectors",
        3_000,
        300,
        "clusters",
        data="output vectors",
        peer_work="diffuse",
    ),
    Row(
        "diffuse_sweep",
        "diffuse, every budget from 5 to 200 (ours only)",
        3_000,
        300,
        "sweep",
        peer=None,
        data="output vectors",
    ),
    Row("search", "greedy search, 1000 draws, 10 %", 1_000, 100, "search", 80),
    Row("kmeans", "k-means, 10 %, embeddings given", 1_000, 200, "nearness", 1, data="source vectors"),
)
