"""Answers of statsmodels, ppi_py, krippendorff and choix on the data of this folder.

python -m venv peers && peers/bin/pip install statsmodels ppi-python krippendorff choix
peers/bin/python tests/known_answers/peers.py

Each line is a name in one of the test modules of this folder and a number.
"""

from __future__ import annotations

import csv
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import choix
import krippendorff
import numpy as np
import ppi_py
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import ttost_paired

FOLDER = Path(__file__).resolve().parent


def columns(name: str) -> dict[str, Any]:
    """Return the columns of a table."""
    rows = list(csv.DictReader((FOLDER / name).open()))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def show(name: str, value: float) -> None:
    """Print a name and a number."""
    sys.stdout.write(f"{name} {float(value):.12g}\n")


def of_statsmodels() -> None:
    """Holm, equivalence, exact intervals, cluster-robust regressions."""
    p = [0.011, 0.002, 0.04, 0.3, 0.0495, 0.012]
    for place, value in enumerate(multipletests(p, method="holm")[1]):
        show(f"holm_{place}", value)
    items = columns("items.csv")
    drawn = items["simple"] == 1
    first, second = items["first"][drawn], items["second"][drawn]
    show("tost_p", ttost_paired(first, second, -1.0, 1.0)[0])
    show("non_inferior_p", ttost_paired(first, second, -0.5, 9.0)[1][1])
    # Clopper and Pearson's, the limit of ours.
    for count, n in ((18, 20), (20, 20), (98, 100)):
        low, high = proportion_confint(count, n, 0.05, "beta")
        show(f"exact_low_{count}_{n}", low)
        show(f"exact_high_{count}_{n}", high)
    # The mean with errors by document: cov_type="cluster" multiplies by G/(G − 1)·(n − 1)/(n − k).
    ones = np.ones((60, 1))
    for name in ("first", "second"):
        fit = sm.OLS(items[name], ones).fit(cov_type="cluster", cov_kwds={"groups": items["document"]})
        show(f"cluster_mean_{name}", fit.params[0])
        show(f"cluster_se_{name}", fit.bse[0])
    # Bradley–Terry as a logistic regression without a constant, model 0 fixed at 0, errors by item.
    table = columns("comparisons.csv")
    design = np.zeros((len(table["won"]), 5))
    rows = np.arange(len(design))
    design[rows, table["first"].astype(int)] += 1
    design[rows, table["second"].astype(int)] -= 1
    model = sm.GLM(table["won"], design[:, 1:], family=sm.families.Binomial())
    fit = model.fit(tol=1e-12, cov_type="cluster", cov_kwds={"groups": table["item"].astype(int)})
    for place in range(4):
        show(f"lead_{place + 1}", fit.params[place])
        show(f"lead_se_{place + 1}", fit.bse[place])


def of_ppi() -> None:
    """Prediction-powered means of the first model, x its prediction, 20 items judged and 40 not."""
    items = columns("items.csv")
    drawn = items["simple"] == 1
    y, f, other = items["first"][drawn], items["x"][drawn], items["x"][~drawn]
    for name, lam in (("tuned", None), ("one", 1.0), ("half", 0.5)):
        show(f"ppi_{name}", ppi_py.ppi_mean_pointestimate(y, f, other, lam=lam)[0])
        low, high = ppi_py.ppi_mean_ci(y, f, other, alpha=0.1, lam=lam)
        show(f"ppi_{name}_low", low[0])
        show(f"ppi_{name}_high", high[0])


def of_krippendorff() -> None:
    """α at every level of measurement, values missing."""
    rows = [line.split(",") for line in (FOLDER / "codes.csv").read_text().splitlines()]
    values = np.array([[float(value) if value else np.nan for value in row] for row in rows])
    for level in ("nominal", "ordinal", "interval", "ratio"):
        show(f"alpha_{level}", krippendorff.alpha(values.T, level_of_measurement=level))


def of_choix() -> None:
    """Bradley–Terry strengths without ties, by maximum likelihood, their mean 0."""
    table = columns("comparisons.csv")
    won = table["won"] == 1
    winner = np.where(won, table["first"], table["second"]).astype(int)
    loser = np.where(won, table["second"], table["first"]).astype(int)
    pairs = list(zip(winner.tolist(), loser.tolist(), strict=True))
    for place, value in enumerate(choix.opt_pairwise(5, pairs, alpha=0.0, method="Newton-CG", tol=1e-12)):
        show(f"strength_{place}", value)
    show("chance_4_0", choix.probabilities([4, 0], choix.ilsr_pairwise(5, pairs, alpha=0.0))[0])


if __name__ == "__main__":
    for name in ("statsmodels", "ppi-python", "krippendorff", "choix"):
        sys.stdout.write(f"# {name} {version(name)}\n")
    of_statsmodels()
    of_ppi()
    of_krippendorff()
    of_choix()
